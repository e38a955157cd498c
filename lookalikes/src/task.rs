//! `std::task`, and additions for asynchronous tests: tasks of their own, and yielding.

pub use super::future::{JoinHandle, spawn};
pub use std::task::{Context, Poll, RawWaker, RawWakerVTable, Wake, Waker, ready};

use intermezzo_engine::runtime::{Access, Engine, Site};
use intermezzo_sdk::SyncVarOp;
use std::pin::Pin;

/// Returns a future that yields to others: futures of the same task, and other tasks.
#[track_caller]
pub fn yield_now() -> YieldNow {
    YieldNow {
        site: Site::caller(),
        yielded: false,
    }
}

/// The future of [`yield_now`]: pending once, then ready.
#[derive(Debug)]
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct YieldNow {
    site: Site,
    yielded: bool,
}

impl Future for YieldNow {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.yielded {
            return Poll::Ready(());
        }
        self.yielded = true;
        context.waker().wake_by_ref();
        match Engine::current() {
            Some(engine) => engine.yield_now(Access::nowhere(SyncVarOp::Yield, self.site)),
            None => std::thread::yield_now(),
        }
        Poll::Pending
    }
}
