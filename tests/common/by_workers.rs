//! Comparisons of random programs on several threads.

#![allow(dead_code, reason = "not every suite uses all of it")]

use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::thread;

/// The number of threads. An exploration of a small program often waits for a thread that it has started, so two
/// threads leave two cores idle half of the time.
const WORKERS: usize = 4;

/// Does the work on several threads, and returns what each of them returns.
pub(crate) fn on_workers<T: Send>(work: impl Fn() -> T + Sync) -> Vec<T> {
    thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS).map(|_| scope.spawn(&work)).collect();
        let joined = workers.into_iter().map(|worker| worker.join());
        joined
            .map(|result| result.unwrap_or_else(|panic| resume_unwind(panic)))
            .collect()
    })
}

/// Calls a function with each number, on several threads, and returns what it returned, in order of the numbers.
pub(crate) fn by_workers<T: Send>(numbers: Range<u64>, work: impl Fn(u64) -> T + Sync) -> Vec<T> {
    let next = AtomicU64::new(numbers.start);
    let share = || {
        let drawn = || Some(next.fetch_add(1, SeqCst)).filter(|number| *number < numbers.end);
        std::iter::from_fn(drawn)
            .map(|number| (number, work(number)))
            .collect::<Vec<_>>()
    };
    let mut results: Vec<(u64, T)> = on_workers(share).into_iter().flatten().collect();
    results.sort_by_key(|(number, _)| *number);
    results.into_iter().map(|(_, result)| result).collect()
}
