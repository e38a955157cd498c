//! The set of outcomes that a kernel has shown.
//!
//! It is written once per execution, from inside the test, out of every tool's sight: plain std
//! atomics, no lock and no allocation, because the fastest executions take a few hundred
//! nanoseconds.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Outcomes lie below this. Enough for the answers of two threads that push and pop twice: four
/// pops of five possible answers each, 625.
pub const OUTCOMES_MAX: usize = 1024;

/// The outcomes seen so far.
#[derive(Debug)]
pub struct Outcomes {
    seen: [AtomicBool; OUTCOMES_MAX],
}

impl Outcomes {
    /// Returns an empty set.
    pub fn new() -> Self {
        Outcomes {
            seen: [const { AtomicBool::new(false) }; OUTCOMES_MAX],
        }
    }

    /// Records the outcome of one execution.
    pub fn record(&self, outcome: usize) {
        self.seen[outcome].store(true, Relaxed);
    }

    /// Returns the outcomes seen, in order.
    pub fn to_set(&self) -> BTreeSet<usize> {
        (0..OUTCOMES_MAX)
            .filter(|&outcome| self.seen[outcome].load(Relaxed))
            .collect()
    }
}

impl Default for Outcomes {
    fn default() -> Self {
        Outcomes::new()
    }
}
