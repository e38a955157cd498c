//! `std::task`, and further needs of asynchronous code: tasks of their own, and yielding.

pub use super::future::{JoinHandle, spawn};
pub use std::task::*;

use std::pin::Pin;

/// Returns a future that lets others go first.
pub fn yield_now() -> YieldNow {
    YieldNow(false)
}

/// The future of [`yield_now`]: pending once, then ready.
#[derive(Debug)]
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct YieldNow(bool);

impl Future for YieldNow {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.0 {
            return Poll::Ready(());
        }
        self.0 = true;
        context.waker().wake_by_ref();
        std::thread::yield_now();
        Poll::Pending
    }
}
