//! `std::future`, with an executor as simple as can be: a thread polls one future to its end.

pub use std::future::*;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

struct Unparker(Thread);

impl Wake for Unparker {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs a future to its end on this thread.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Arc::new(Unparker(thread::current())).into();
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            // A token that was meant for something else only costs a poll.
            Poll::Pending => thread::park(),
        }
    }
}

/// The state that a spawned future shares with its handle: its output, and the waker of the waiting task.
type Shared<T> = Arc<Mutex<(Option<thread::Result<T>>, Option<Waker>)>>;

/// Runs a future on a new thread. If the handle is dropped it continues by itself.
///
/// # Panics
/// If the system has no more threads.
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let handle = JoinHandle(Shared::default());
    let shared = handle.0.clone();
    thread::spawn(move || {
        let outcome = catch_unwind(AssertUnwindSafe(|| block_on(future)));
        let waiting = {
            let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
            shared.0 = Some(outcome);
            shared.1.take()
        };
        waiting.into_iter().for_each(Waker::wake);
    });
    handle
}

/// A handle on a spawned future: a future itself, whose output is that of the other, or its panic.
#[must_use = "a future's panic is only seen by awaiting its handle"]
#[derive(Debug)]
pub struct JoinHandle<T>(Shared<T>);

impl<T> JoinHandle<T> {
    /// `true` if the future is complete.
    pub fn is_finished(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).0.is_some()
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = thread::Result<T>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut shared = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match shared.0.take() {
            Some(outcome) => Poll::Ready(outcome),
            None => {
                shared.1 = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}
