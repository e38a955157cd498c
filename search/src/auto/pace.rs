//! The pace of the search of every trace, which tells whether its end is within reach.
//!
//! Its progress alone does not tell: it is estimated from the choices tried so far, and that of a search with millions of
//! executions may be a quarter after the first thousand. But then it hardly grows any more.

/// The progress of a search after each number of executions that is a power of two, for the last two of them: the number,
/// and the completed part. The earlier one comes first.
#[derive(Clone, Copy, Default)]
pub(super) struct Pace([(u64, f64); 2]);

impl Pace {
    /// Notes the progress after this many executions.
    pub(super) fn note(&mut self, executions: u64, progress: impl FnOnce() -> f64) {
        if executions.is_power_of_two() {
            self.0 = [self.0[1], (executions, progress())];
        }
    }

    /// Returns `true` if a search with this progress after this many executions ends within `more` executions, at its pace
    /// since the earlier note.
    pub(super) fn ends_within(&self, more: u64, executions: u64, progress: f64) -> bool {
        let [(then, before), _] = self.0;
        if then == 0 || executions <= then {
            return false;
        }
        let pace = (progress - before) / (executions - then) as f64;
        pace * more as f64 >= 1.0 - progress
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(progress: impl Fn(u64) -> f64, executions: u64) -> (Pace, f64) {
        let mut pace = Pace::default();
        for executions in 1..=executions {
            pace.note(executions, || progress(executions));
        }
        (pace, progress(executions))
    }

    #[test]
    fn a_search_that_keeps_its_pace_is_within_reach() {
        let (pace, progress) = after(|executions| executions as f64 / 60_000.0, 25_000);
        assert!(pace.ends_within(35_001, 25_000, progress));
        assert!(!pace.ends_within(34_000, 25_000, progress));
    }

    #[test]
    fn a_search_that_seems_far_but_stands_still_is_not() {
        let (pace, progress) = after(|executions| if executions < 8_000 { 0.2 } else { 0.27 }, 25_000);
        assert!(!pace.ends_within(150_000, 25_000, progress));
        let (pace, progress) = after(|executions| 0.3 - executions as f64 / 1e6, 25_000);
        assert!(!pace.ends_within(u64::MAX, 25_000, progress));
    }

    #[test]
    fn nothing_is_known_after_a_few_executions() {
        for executions in [0, 1] {
            let (pace, progress) = after(|_| 0.9, executions);
            assert!(!pace.ends_within(1_000, executions, progress));
        }
        // The progress of a search without an estimate.
        let (pace, progress) = after(|_| 0.0, 25_000);
        assert!(!pace.ends_within(150_000, 25_000, progress));
    }
}
