//! `loom::sync::Notify`: one thread waits for a notification.

use intermezzo::sync::{Condvar, Mutex};
use std::sync::PoisonError;

/// A thread waits for a notification. As in loom it may return once without one.
#[derive(Debug, Default)]
pub struct Notify {
    told: Mutex<bool>,
    wakes: Condvar,
}

impl Notify {
    /// Creates it without a notification.
    pub fn new() -> Notify {
        Notify::default()
    }

    /// Notifies the thread that waits, or the next one that does.
    #[track_caller]
    pub fn notify(&self) {
        *self.told.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.wakes.notify_one();
    }

    /// Waits for a notification.
    #[track_caller]
    pub fn wait(&self) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if !*told {
            told = self.wakes.wait(told).unwrap_or_else(PoisonError::into_inner);
        }
        *told = false;
    }
}
