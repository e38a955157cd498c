//! The line between the places in the code and whoever makes tasks wait there: real time, or a controlled runtime.

use crate::arming::Refinements;
use crate::table::Ticket;
use std::any::Any;
use std::panic::Location;
use std::sync::OnceLock;

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

/// What came of a visit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passed {
    /// Whether the task met a partner.
    pub hit: bool,
    /// The turn whose end is to be told.
    pub turn: Option<Ticket>,
}

/// A runtime that decides itself which task goes: an explorer.
pub trait Controller: Sync {
    /// Whether the caller is one of its tasks. If not, real time goes for it.
    fn in_charge(&self) -> bool;
    /// Whether a breakpoint of this name is armed for the calling task.
    fn armed(&self, name: &str) -> bool;
    /// The calling task is at a place; returns when it is to go on.
    fn visit(&self, visit: Visit<'_>) -> Passed;
    /// The calling task, or another, ended a turn.
    fn turn_over(&self, turn: Ticket);
    /// The calling task holds the lock at this address.
    fn hold(&self, lock: usize);
    /// It does not any more.
    fn release(&self, lock: usize);
    /// The code under control arms or disarms breakpoints itself.
    fn arming(&self);
}

static CONTROLLER: OnceLock<&'static dyn Controller> = OnceLock::new();

/// Puts a runtime in charge of its own tasks, for as long as the process lives. The first that comes stays.
pub fn control(controller: &'static dyn Controller) {
    if CONTROLLER.set(controller).is_ok() {
        crate::switch::controlled();
    }
}

/// The runtime that is in charge of the calling task.
pub(crate) fn in_charge() -> Option<&'static dyn Controller> {
    CONTROLLER
        .get()
        .copied()
        .filter(|controller| controller.in_charge())
}
