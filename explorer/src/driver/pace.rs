//! The pace of a worker: how much it runs between two reads of the clock.

use std::time::{Duration, Instant};

/// The most executions between two reads of the clock.
const EXECUTIONS_MOST: u64 = 64;

/// The most steps between two reads of the clock.
const STEPS_MOST: u64 = 4096;

/// The time between two reads of the clock, roughly. A search of slow executions would otherwise take far longer than its
/// limit of time.
const TIME: Duration = Duration::from_millis(5);

/// The executions and steps of a worker since its last read of the clock.
pub(super) struct Pace {
    executions: u64,
    steps: u64,
    /// The executions between two reads.
    every: u64,
    last: Instant,
}

impl Pace {
    pub(super) fn new() -> Pace {
        Pace {
            executions: 0,
            steps: 0,
            every: 1,
            last: Instant::now(),
        }
    }

    /// Counts an execution of this many steps.
    #[inline]
    pub(super) fn count(&mut self, steps: u64) {
        self.executions += 1;
        self.steps += steps;
    }

    /// Returns the number of executions since the clock was last read if it is time to read it again.
    #[inline]
    pub(super) fn is_due(&mut self) -> Option<u64> {
        (self.executions >= self.every || self.steps >= STEPS_MOST).then(|| self.look(Instant::now()))
    }

    /// Reads the clock, and sets when to read it again.
    fn look(&mut self, now: Instant) -> u64 {
        let took = now.saturating_duration_since(std::mem::replace(&mut self.last, now));
        self.every = match took > TIME {
            true => (self.every / 2).max(1),
            false => (self.every * 2).min(EXECUTIONS_MOST),
        };
        self.steps = 0;
        std::mem::take(&mut self.executions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_executions_look_more_often_than_fast_ones() {
        let mut pace = Pace::new();
        let mut now = pace.last;
        for wanted in [2, 4, 8, 16, 32, 64, 64] {
            assert_eq!(pace.look(now), 0);
            assert_eq!(pace.every, wanted);
        }
        for wanted in [32, 16, 8, 4, 2, 1, 1] {
            now += 2 * TIME;
            pace.look(now);
            assert_eq!(pace.every, wanted);
        }
        pace.count(1);
        assert_eq!(pace.is_due(), Some(1));
        pace.every = EXECUTIONS_MOST;
        assert_eq!(pace.is_due(), None);
        pace.count(STEPS_MOST);
        assert_eq!(pace.is_due(), Some(1));
    }
}
