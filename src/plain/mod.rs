//! The facade without the explorer: `std`, and what the explorer adds to it in its simplest form.
//!
//! `rand` is not here: it is a source of random numbers for explored tests.

pub mod alloc;
pub mod cell;
pub mod future;
pub mod ptr;
pub mod task;

/// Concurrent breakpoints: places in the code at which two tasks meet, and which of them goes first.
pub use intermezzo_breakpoint as breakpoint;
pub use std::{collections, hash, hint, sync, thread, thread_local, time};

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

/// Tells the monitors something about what was done last: there are none.
pub fn attribute(_: &str, _: &str) {}

/// Runs this: there is no monitor to tell that it is meant to be atomic.
pub fn atomically<R>(_name: &str, body: impl FnOnce() -> R) -> R {
    body()
}

/// Whether the caller is inside an exploration: never.
pub fn is_exploring() -> bool {
    false
}

/// Runs this: nobody else decides who is preempted.
pub fn preemptions_off<R>(body: impl FnOnce() -> R) -> R {
    body()
}

/// Runs this: nobody else decides who is preempted.
pub fn preemptions_on<R>(body: impl FnOnce() -> R) -> R {
    body()
}
