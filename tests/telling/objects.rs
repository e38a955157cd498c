//! Concurrent objects that violate their specifications, and invalid specifications.

use intermezzo::refinement::{RefinementReport, refine};
use intermezzo::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// Returns each failure with its name.
pub(crate) fn reports() -> [(&'static str, RefinementReport); 2] {
    [("refinement", counter()), ("nondeterministic_spec", dice())]
}

/// A counter whose increments are two steps.
fn counter() -> RefinementReport {
    refine(|| AtomicUsize::new(0))
        .name("a counter")
        .op("increment", (), |counter, ()| {
            let seen = counter.load(SeqCst);
            counter.store(seen + 1, SeqCst);
            seen
        })
        .show(|counter| counter.load(SeqCst))
        .run()
}

/// An object that does not do the same thing twice.
fn dice() -> RefinementReport {
    refine(|| std::sync::atomic::AtomicUsize::new(0))
        .name("dice")
        .op("throw", (), |_, ()| intermezzo::choose(2))
        .pin(|s| s.task(|t| t.op("throw", ())))
        .run()
}
