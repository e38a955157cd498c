//! A test that returns different values in different executions.

use super::Case;
use intermezzo::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo::thread;

pub(crate) const CASES: &[Case] = &[Case {
    name: "determinism",
    settings: &[],
    body: || _ = counted_at_once(),
}];

/// Returns the count of two tasks.
pub(crate) fn counted_at_once() -> usize {
    let count = AtomicUsize::new(0);
    thread::scope(|scope| {
        scope.spawn(|| count.store(count.load(SeqCst) + 1, SeqCst));
        scope.spawn(|| count.store(count.load(SeqCst) + 1, SeqCst));
    });
    count.load(SeqCst)
}
