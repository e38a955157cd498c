//! `loom::sync::Notify`: one thread waits until it is told.

use intermezzo::sync::{Condvar, Mutex};
use std::sync::PoisonError;

/// One thread waits until it is told. As in loom it may return once without that.
#[derive(Debug, Default)]
pub struct Notify {
    told: Mutex<bool>,
    wakes: Condvar,
}

impl Notify {
    /// Nobody has told anything yet.
    pub fn new() -> Notify {
        Notify::default()
    }

    /// Tells whoever waits, or comes to wait next.
    #[track_caller]
    pub fn notify(&self) {
        *self.told.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.wakes.notify_one();
    }

    /// Waits until it is told.
    #[track_caller]
    pub fn wait(&self) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if !*told {
            told = self.wakes.wait(told).unwrap_or_else(PoisonError::into_inner);
        }
        *told = false;
    }
}
