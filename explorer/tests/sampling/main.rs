//! Executions drawn at random: how likely they are, that each is the same whoever runs it, and what comes of them.

#[path = "../common/mod.rs"]
mod common;

mod auto;
mod probability;
mod same;
mod strategies;
mod uniformity;

use std::sync::{Mutex, PoisonError};

/// Who took which step, in order: written right after each step, so that it is the order of the steps.
#[derive(Default)]
pub(crate) struct Order(Mutex<Vec<u8>>);

impl Order {
    /// This was done.
    pub(crate) fn did(&self, what: u8) {
        self.lock().push(what);
    }

    /// What was done since this was last asked.
    pub(crate) fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
