//! A task at a place of a breakpoint: its side, its objects and its state.

use crate::arming::Refinements;
use std::any::Any;
use std::panic::Location;

/// The side of a breakpoint on which a place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Goes first once both are there.
    First,
    /// Waits until the first has done its step.
    Second,
    /// Continues when both are there, in any order.
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
    /// Locks: each holds what the next one wants, in a circle.
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
    /// The joint predicate: of the first's state and the second's; where neither is first, of this one's and the other's.
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
