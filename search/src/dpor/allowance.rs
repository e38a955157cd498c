//! The number of steps that a search may take before another one replaces it.

use super::Dpor;
use intermezzo_engine::schedule::Choice;

/// The part that a search must seem to have completed in order to get more steps.
const WORTHWHILE: f64 = 0.25;

/// The number of times that a search may get as many steps again.
const MORE: u32 = 3;

/// The early checks of the progress of a search that may end early: after these parts of its steps.
const LOOKS: [u64; 2] = [32, 8];

/// If a search has completed less than this at its last early check, and no more than at the check before, it ends.
const EARLY: f64 = 1.0 / 32.0;

/// If it has completed less than this, it ends in any case.
const HOPELESS: f64 = 1.0 / 1024.0;

/// The number of steps after which a search is replaced by another one.
pub struct Allowance {
    /// The number of steps that it is given at a time, and the number of them that are left.
    steps: u64,
    left: u64,
    /// The number of times that it may be given as many steps again.
    more: u32,
    /// The early checks that are still to come, and the part that seemed to be completed at the last one.
    looks: &'static [u64],
    seen: f64,
}

impl Allowance {
    /// Returns an allowance of this many steps, in all executions.
    pub fn of(steps: u64) -> Allowance {
        Allowance {
            steps,
            left: steps,
            more: 0,
            looks: &[],
            seen: 0.0,
        }
    }

    /// Ends the search early, if it seems far from its end after an eighth of the steps.
    pub fn that_may_end_early(self) -> Allowance {
        Allowance {
            looks: &LOOKS,
            ..self
        }
    }

    /// Gives the search as many steps again whenever it seems to have completed a quarter by their end, up to four
    /// times as many in all.
    pub fn that_may_go_on(self) -> Allowance {
        Allowance { more: MORE, ..self }
    }

    /// Returns the maximum number of steps that it may give.
    pub fn most(&self) -> u64 {
        self.steps.saturating_mul(u64::from(1 + self.more))
    }

    /// Returns `true` if an early check is due.
    fn is_look_due(&self) -> bool {
        let next = self.looks.first();
        next.is_some_and(|part| self.left <= self.steps - self.steps / part)
    }

    /// Grants more steps, or ends the search, given the part that it seems to have completed.
    fn look_at(&mut self, progress: f64) {
        while self.is_look_due() {
            self.looks = &self.looks[1..];
            let is_far = progress < HOPELESS || progress < EARLY && progress <= self.seen;
            if self.looks.is_empty() && is_far {
                self.left = 0;
            }
            self.seen = progress;
        }
        if self.left == 0 && self.more > 0 && progress >= WORTHWHILE {
            self.left = self.steps;
            self.more -= 1;
        }
    }
}

impl Dpor {
    /// Limits the search to this allowance. If it has not ended by then, another search replaces it.
    pub fn up_to(self, allowance: Allowance) -> Dpor {
        Dpor {
            allowance: Some(allowance),
            ..self
        }
    }

    /// Subtracts an execution of this many steps from the allowance, if there is one.
    pub(super) fn spend(&mut self, choices: &[Choice], steps: u64) {
        let Some(allowance) = &mut self.allowance else {
            return;
        };
        allowance.left = allowance.left.saturating_sub(steps);
        if allowance.is_look_due() || allowance.left == 0 && allowance.more > 0 {
            let progress = self.progress(choices);
            if let Some(allowance) = &mut self.allowance {
                allowance.look_at(progress);
            }
        }
    }

    /// Returns `true` if the search has an allowance, and has used it up.
    pub(super) fn is_too_large(&self) -> bool {
        self.allowance
            .as_ref()
            .is_some_and(|allowance| allowance.left == 0)
    }
}
