//! `loom::sync::Notify`: one thread waits for a notification.

use intermezzo::sync::{Condvar, Mutex};
use intermezzo::{any_bool, thread};
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

/// One thread waits for a notification. As in loom, one wait may return without it.
#[derive(Debug, Default)]
pub struct Notify {
    notified: Mutex<bool>,
    wakes: Condvar,
    /// `true` while a thread waits.
    waiting: AtomicBool,
    /// `true` once a wait has returned without a notification.
    returned: AtomicBool,
}

impl Notify {
    /// Creates it without a notification.
    pub fn new() -> Notify {
        Notify::default()
    }

    /// Notifies the thread that waits, or the next one that does.
    #[track_caller]
    pub fn notify(&self) {
        *self.notified.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.wakes.notify_one();
    }

    /// Waits for a notification.
    ///
    /// # Panics
    /// If another thread waits.
    #[track_caller]
    pub fn wait(&self) {
        assert!(
            !self.waiting.swap(true, SeqCst),
            "only a single thread may wait on `Notify`"
        );
        if !self.returned.load(SeqCst) && any_bool() {
            self.returned.store(true, SeqCst);
            thread::yield_now();
        } else {
            let mut notified = self.notified.lock().unwrap_or_else(PoisonError::into_inner);
            while !*notified {
                notified = self.wakes.wait(notified).unwrap_or_else(PoisonError::into_inner);
            }
            *notified = false;
        }
        self.waiting.store(false, SeqCst);
    }
}
