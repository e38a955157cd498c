//! Atomics that are identified by their addresses, as in crates that are tested unmodified. They have the layout and
//! the functions of std's, and give the same executions as the ordinary ones.

#![allow(clippy::duplicate_mod, reason = "one list of cases, two subjects")]
#![allow(
    clippy::incompatible_msrv,
    reason = "the cases cover the std of the current toolchain"
)]

mod layout;
mod places;
mod program;
mod same_executions;

use intermezzo_engine::runtime::{ByAddress, Embedded};
use intermezzo_explorer::{Environment, Explorer};
use intermezzo_lookalikes::sync::atomic::Atomic;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Returns the message with which the closure panics.
fn message_of<R>(f: impl FnOnce() -> R) -> String {
    match catch_unwind(AssertUnwindSafe(f)) {
        Ok(_) => "no panic".into(),
        Err(panic) => match (panic.downcast_ref::<String>(), panic.downcast_ref::<&str>()) {
            (Some(text), _) => text.clone(),
            (_, Some(text)) => (*text).to_string(),
            _ => "something else than text".into(),
        },
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

#[path = "../like_std"]
mod outside {
    mod subject {
        pub(super) use intermezzo_explorer::thread;
        pub(super) mod sync {
            pub(in super::super) mod atomic {
                pub(crate) use intermezzo_lookalikes::sync::atomic::by_address::*;
                pub(crate) use intermezzo_lookalikes::sync::atomic::{Ordering, compiler_fence, fence};
            }
        }
    }

    mod atomics;
}

/// Runs the named cases in each of their executions.
macro_rules! cases {
    ($($case:ident)*) => {
        mod run {
            $(#[test] fn $case() { crate::explored(super::$case) })*
        }
    };
}

#[path = "../like_std"]
mod inside {
    mod subject {
        pub(super) use intermezzo_explorer::thread;
        pub(super) mod sync {
            pub(in super::super) mod atomic {
                pub(crate) use intermezzo_lookalikes::sync::atomic::by_address::*;
                pub(crate) use intermezzo_lookalikes::sync::atomic::{Ordering, compiler_fence, fence};
            }
        }
    }

    mod atomics;
}
