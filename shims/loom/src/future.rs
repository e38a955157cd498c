//! `loom::future`: an executor of one future, and a place for a waker.

pub use intermezzo::future::block_on;

use intermezzo::sync::Mutex;
use std::sync::PoisonError;
use std::task::Waker;

/// A waker that one task leaves and others take: `futures::task::AtomicWaker`.
#[derive(Debug, Default)]
pub struct AtomicWaker(Mutex<Option<Waker>>);

impl AtomicWaker {
    /// Creates an empty place.
    pub fn new() -> AtomicWaker {
        AtomicWaker::default()
    }

    /// Sets the waker to wake, in place of the one before.
    #[track_caller]
    pub fn register(&self, waker: Waker) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(waker);
    }

    /// Like `register`.
    #[track_caller]
    pub fn register_by_ref(&self, waker: &Waker) {
        self.register(waker.clone());
    }

    /// Wakes the registered waker, if there is one.
    #[track_caller]
    pub fn wake(&self) {
        if let Some(waker) = self.take_waker() {
            waker.wake();
        }
    }

    /// Takes the waker away.
    #[track_caller]
    pub fn take_waker(&self) -> Option<Waker> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
