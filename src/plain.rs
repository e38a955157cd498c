//! The facade without the explorer: `std`, and what the explorer adds to it in its simplest form.

pub use std::{cell, hint, sync, task, thread, thread_local, time};

pub mod future {
    //! `std::future`, and a simple executor.

    pub use std::future::*;
    use std::pin::pin;
    use std::sync::Arc;
    use std::task::{Context, Poll, Wake};
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
                Poll::Pending => thread::park(),
            }
        }
    }
}

/// A value from 0 to `n - 1`: 0.
///
/// # Panics
/// If `n` is 0.
#[track_caller]
pub fn choose(n: usize) -> usize {
    assert!(n > 0, "choose(0): there is nothing to choose from");
    0
}

/// `false` or `true`: `false`.
pub fn any_bool() -> bool {
    false
}

/// Tells the monitors something: there are none.
pub fn event(_: &str) {}

/// Whether the caller is inside an exploration: never.
pub fn is_exploring() -> bool {
    false
}
