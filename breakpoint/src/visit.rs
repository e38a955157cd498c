//! A task at a place of a breakpoint: its side, its objects and its state.

use crate::arming::Refinements;
use std::any::Any;
use std::panic::Location;

/// Which side of a breakpoint a place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Goes first once both are there.
    First,
    /// Waits until the first has done its step.
    Second,
    /// Goes on when both are there, in any order.
    Either,
}

/// What two tasks must have in common to meet, by address.
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
    /// What it must have in common with its partner.
    pub objects: Objects,
    /// The task's own state, as far as it matters for the joint predicate.
    pub state: Option<Box<dyn Any + Send>>,
    /// The joint predicate: of the first's state and the second's; where neither is first, of this one's and the other's.
    pub agree: &'a dyn Fn(&dyn Any, &dyn Any) -> bool,
    /// Only if the task holds this lock.
    pub while_held: Option<usize>,
    /// What the code says.
    pub refined: Refinements,
    /// Whether the end of its step will be told, if it goes first.
    pub guarded: bool,
    /// Where it is.
    pub site: &'static Location<'static>,
}
