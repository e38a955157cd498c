//! The interface between the places in the code and the implementation of waits there: in real time, or by a controlled
//! runtime.

use crate::switch;
use crate::table::Ticket;
use crate::visit::Visit;
use std::sync::OnceLock;

/// The outcome of a visit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passed {
    /// `true` if the task met a partner.
    pub hit: bool,
    /// The turn whose end must be reported.
    pub turn: Option<Ticket>,
}

/// A runtime that itself decides which task runs: an explorer.
pub trait Controller: Sync {
    /// `true` if the caller is one of its tasks. Otherwise real time applies to the caller.
    fn in_charge(&self) -> bool;
    /// `true` if a breakpoint of this name is armed for the calling task.
    fn armed(&self, name: &str) -> bool;
    /// Called when the calling task is at a place; returns when it may continue.
    fn visit(&self, visit: Visit<'_>) -> Passed;
    /// Called when the calling task, or another, ends a turn.
    fn turn_over(&self, turn: Ticket);
    /// Called when the calling task holds the lock at this address.
    fn hold(&self, lock: usize);
    /// Called when the calling task no longer holds it.
    fn release(&self, lock: usize);
    /// Called when the code under control arms or disarms breakpoints itself.
    fn arming(&self);
}

static CONTROLLER: OnceLock<&'static dyn Controller> = OnceLock::new();

/// Puts a runtime in charge of its own tasks, for as long as the process lives. Only the first call has an effect.
pub fn control(controller: &'static dyn Controller) {
    if CONTROLLER.set(controller).is_ok() {
        switch::controlled();
    }
}

/// Returns `true` if a runtime controls some tasks of this process.
pub(crate) fn is_any() -> bool {
    CONTROLLER.get().is_some()
}

/// Returns the runtime that is in charge of the calling task.
pub(crate) fn in_charge() -> Option<&'static dyn Controller> {
    CONTROLLER
        .get()
        .copied()
        .filter(|controller| controller.in_charge())
}
