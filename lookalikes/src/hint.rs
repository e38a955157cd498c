//! The part of `std::hint` that concerns schedulers.

pub use std::hint::{assert_unchecked, black_box, unreachable_unchecked};

/// Tells the processor and the scheduler that this is a waiting loop: a yield inside an exploration.
#[track_caller]
#[inline(always)]
pub fn spin_loop() {
    match intermezzo_engine::runtime::Engine::current() {
        Some(_) => crate::thread::yield_now(),
        None => std::hint::spin_loop(),
    }
}
