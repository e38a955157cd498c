//! The facade without the explorer: `std`, and the explorer's additions in their simplest form.
//!
//! `rand` is not here: it is a source of random numbers for explored tests.

pub mod alloc;
pub mod cell;
pub mod future;
pub mod primitive;
pub mod ptr;
pub mod task;

/// Concurrent breakpoints: places in the code at which two tasks meet, and their order.
pub use intermezzo_breakpoint as breakpoint;
pub use std::{collections, hash, hint, sync, thread, thread_local, time};

/// Returns a value from 0 to `n - 1`: 0.
///
/// # Panics
/// If `n` is 0.
#[track_caller]
pub fn choose(n: usize) -> usize {
    assert!(n > 0, "choose(0): there is nothing to choose from");
    0
}

/// Returns `false` or `true`: `false`.
pub fn any_bool() -> bool {
    false
}

/// Returns the decisions of the execution so far: there is no schedule.
pub fn choices() -> Option<Vec<std::convert::Infallible>> {
    None
}

/// Sends the monitors a message: there are no monitors.
pub fn event(_: &str) {}

/// Attaches an attribute to the last event for the monitors: there are no monitors.
pub fn attribute(_: &str, _: &str) {}

/// Says in which state the program is: there are no monitors.
pub fn state(_: &(impl std::hash::Hash + ?Sized)) {}

/// Names an object: there are no reports to show the name.
pub fn name<T: ?Sized>(_: &T, _: &str) {}

/// An object that [`name`] can give a name: any. A type of your own that names the objects in it in explorations has
/// these functions here, too.
pub trait Nameable {
    /// Gives the objects in this one a name: never called.
    fn give_name(&self, name: &str) {
        let _ = name;
    }
}

/// Runs this: no monitor has to know that it is meant to be atomic.
pub fn atomically<R>(_name: &str, body: impl FnOnce() -> R) -> R {
    body()
}

/// `true` if the caller is inside an exploration: never.
pub fn is_exploring() -> bool {
    false
}

/// Runs this: there is no scheduler to hold back.
pub fn preemptions_off<R>(body: impl FnOnce() -> R) -> R {
    body()
}

/// Runs this: there is no scheduler to hold back.
pub fn preemptions_on<R>(body: impl FnOnce() -> R) -> R {
    body()
}

/// Runs this: there is no scheduler to prefer anything.
pub fn preemptions_preferred<R>(body: impl FnOnce() -> R) -> R {
    body()
}

/// A schedule point: there is no scheduler.
pub fn schedule_point() {}

/// Waits until no other task can do anything: there is no scheduler to tell.
pub fn quiesce() {}
