//! The limit on the analysis of an execution: it ends when the time of the search is over.
//!
//! The time of the analysis grows with the square of the execution's length. With a hundred thousand steps it takes
//! minutes, while the time of the search may be a second. If the analysis ends early, the plan is not complete, and the
//! search ends.

use intermezzo_engine::strategy::TimeIsOver;
use std::cell::Cell;

/// The work between two checks of the clock: some milliseconds.
const WORK: usize = 1 << 22;

/// The limit on the analysis of one execution.
#[derive(Default)]
pub(super) struct AnalysisLimit {
    is_over: Option<TimeIsOver>,
    /// The work since the last check of the clock.
    work: Cell<usize>,
    ended: Cell<bool>,
}

impl AnalysisLimit {
    /// Ends the analysis once this function returns `true`.
    pub(super) fn heed(&mut self, is_over: &TimeIsOver) {
        self.is_over = Some(is_over.clone());
    }

    /// Counts work of this many steps. Returns `true` if the analysis must end.
    #[inline]
    pub(super) fn ends_after(&self, steps: usize) -> bool {
        let work = self.work.get() + steps;
        self.work.set(work);
        if work >= WORK {
            self.look();
        }
        self.ended.get()
    }

    #[cold]
    fn look(&self) {
        self.work.set(0);
        if self.is_over.as_ref().is_some_and(|is_over| is_over()) {
            self.ended.set(true);
        }
    }

    /// Returns `true` if the analysis has ended early.
    pub(super) fn has_ended(&self) -> bool {
        self.ended.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn the_clock_is_only_looked_at_after_some_work() {
        let mut limit = AnalysisLimit::default();
        assert!(!limit.ends_after(WORK), "without a limit there is no end");
        limit.heed(&(Arc::new(|| true) as TimeIsOver));
        assert!(!limit.ends_after(WORK - 1));
        assert!(limit.ends_after(1));
        assert!(limit.ends_after(0) && limit.has_ended());
    }
}
