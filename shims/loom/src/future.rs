//! `loom::future`: an executor of one future, and a place for a waker.

use intermezzo::sync::Mutex;
use intermezzo::{any_bool, thread};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::PoisonError;
use std::task::Waker;

/// Runs a future to its end on the calling task, and returns its output. As in loom, it may be polled once without
/// having been woken.
#[track_caller]
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut polled = false;
    intermezzo::future::block_on(poll_fn(|context| {
        let mut poll = future.as_mut().poll(context);
        if poll.is_pending() && !polled && any_bool() {
            polled = true;
            thread::yield_now();
            poll = future.as_mut().poll(context);
        }
        poll
    }))
}

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
