//! The line between the places in the code and whoever makes tasks wait there: real time, or a controlled runtime.

use crate::switch;
use crate::table::Ticket;
use crate::visit::Visit;
use std::sync::OnceLock;

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
        switch::controlled();
    }
}

/// The runtime that is in charge of the calling task.
pub(crate) fn in_charge() -> Option<&'static dyn Controller> {
    CONTROLLER
        .get()
        .copied()
        .filter(|controller| controller.in_charge())
}
