//! The look-alikes behave like std: one list of cases, run three times. On std itself, which shows that the case is
//! right; on the look-alikes outside any exploration; and on the look-alikes inside one, in every execution with up to
//! two preemptions.

#![allow(clippy::duplicate_mod, reason = "one list of cases, three subjects")]
#![allow(
    clippy::incompatible_msrv,
    reason = "the cases cover the std of the current toolchain"
)]

use intermezzo_explorer::{Environment, Explorer};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Returns the message of a panic.
fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    match (panic.downcast_ref::<String>(), panic.downcast_ref::<&str>()) {
        (Some(text), _) => text.clone(),
        (_, Some(text)) => (*text).to_string(),
        _ => "something else than text".into(),
    }
}

/// Returns the message with which the closure panics.
fn message_of<R>(f: impl FnOnce() -> R) -> String {
    match catch_unwind(AssertUnwindSafe(f)) {
        Ok(_) => "no panic".into(),
        Err(panic) => panic_text(&*panic),
    }
}

/// Asserts that every execution of the case passes.
fn explored(case: impl Fn() + Send + Sync) {
    let explorer = Explorer::new()
        .environment(Environment::calm())
        .preemptions(2)
        .executions(20_000);
    let report = explorer.explore(case);
    assert!(report.verdict().is_pass(), "{report}");
}

/// Runs the named cases as they are.
macro_rules! cases {
    ($($case:ident)*) => {
        mod run {
            $(#[test] fn $case() { super::$case() })*
        }
    };
}

#[path = "like_std"]
mod of_std {
    mod subject {
        pub(super) use std::{
            alloc, cell, collections, hash, hint, ptr, sync, task, thread, thread_local, time,
        };

        pub(super) mod future {
            pub(crate) use std::future::{pending, poll_fn, ready};
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

            pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
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
    }

    mod atomics;
    mod cells;
    mod collections;
    mod locals;
    mod locks;
    mod memory;
    mod scopes;
    mod threads;
    mod waiting;
}

#[path = "like_std"]
mod outside {
    mod subject {
        pub(super) use intermezzo_explorer::thread::thread_local;
        pub(super) use intermezzo_explorer::{
            alloc, cell, collections, future, hash, hint, ptr, sync, task, thread, time,
        };
    }

    mod atomics;
    mod cells;
    mod collections;
    mod locals;
    mod locks;
    mod memory;
    mod scopes;
    mod threads;
    mod waiting;
}

/// Runs the named cases in each of their executions.
macro_rules! cases {
    ($($case:ident)*) => {
        mod run {
            $(#[test] fn $case() { crate::explored(super::$case) })*
        }
    };
}

#[path = "like_std"]
mod inside {
    mod subject {
        pub(super) use intermezzo_explorer::thread::thread_local;
        pub(super) use intermezzo_explorer::{
            alloc, cell, collections, future, hash, hint, ptr, sync, task, thread, time,
        };
    }

    mod atomics;
    mod cells;
    mod collections;
    mod locals;
    mod locks;
    mod memory;
    mod scopes;
    mod threads;
    mod waiting;
}
