//! Executions drawn at random: their probability, their independence of the worker, and their results.

#![allow(clippy::print_stdout, reason = "the figures are there to be looked at")]

#[path = "../common/mod.rs"]
mod common;

mod auto;
mod clones;
mod delays;
mod lockstep;
mod probability;
mod same;
mod strategies;
mod uniformity;

use std::sync::{Mutex, PoisonError};

/// The task of each step, in order. It is recorded right after each step, so that it is the order of the steps.
#[derive(Default)]
pub(crate) struct Order(Mutex<Vec<u8>>);

impl Order {
    /// Records a step.
    pub(crate) fn did(&self, what: u8) {
        self.lock().push(what);
    }

    /// Returns the steps since the last call.
    pub(crate) fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
