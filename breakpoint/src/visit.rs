//! A task at a place of a breakpoint: its side, its objects and its state.

use crate::arming::Refinements;
use std::any::Any;
use std::panic::Location;

/// The side of a breakpoint on which a place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Continues first when both have arrived.
    First,
    /// Waits until the first task has completed its step.
    Second,
    /// Continues when both have arrived, in any order.
    Either,
}

/// The objects that two tasks must have in common to meet, by address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Objects {
    /// Nothing.
    None,
    /// One object.
    Same(
        /// Its address.
        usize,
    ),
    /// Locks: each task holds the lock that the next one wants, in a circle.
    Crosswise {
        /// The lock that the task holds.
        held: usize,
        /// The lock that it is about to take.
        wanted: usize,
    },
}

/// A task at a place of a breakpoint.
pub struct Visit<'a> {
    /// The breakpoint.
    pub name: &'a str,
    /// The side.
    pub role: Role,
    /// The objects that it must have in common with its partner.
    pub objects: Objects,
    /// The task's own state, as far as it matters for the joint predicate.
    pub state: Option<Box<dyn Any + Send>>,
    /// The joint predicate. Its arguments are the states of the first and the second task, or if neither is first, of this
    /// task and the other one.
    pub agree: &'a dyn Fn(&dyn Any, &dyn Any) -> bool,
    /// The lock that the task must hold.
    pub while_held: Option<usize>,
    /// The refinements in the code.
    pub refined: Refinements,
    /// `true` if the end of its step will be reported, if it goes first.
    pub guarded: bool,
    /// Its place in the source, if the code names the breakpoint there.
    pub site: Option<&'static Location<'static>>,
}
