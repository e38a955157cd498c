//! The steps that a search has before it gives way to another one.

use super::Dpor;
use intermezzo_engine::schedule::Choice;

/// The part that a search seems to have completed if it is to go on.
const WORTHWHILE: f64 = 0.25;

/// The number of times that a search may go on for as many steps again.
const MORE: u32 = 3;

/// The parts of the steps after which the progress of a search that may end early is looked at.
const LOOKS: [u64; 2] = [32, 8];

/// The part without which a search ends at its last early look, if it has completed no more than at the look before; and
/// the part without which it does in any case.
const EARLY: f64 = 1.0 / 32.0;
const HOPELESS: f64 = 1.0 / 1024.0;

/// The steps after which a search gives way to another one.
pub struct Allowance {
    /// The number of steps that it is given at a time, and how many of them are left.
    steps: u64,
    left: u64,
    /// The number of times that it may be given as many again.
    more: u32,
    /// The early looks that are still to come, and the part that seemed to be completed at the last one.
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

    /// If the search seems far from its end after an eighth of the steps, it has no more of them.
    pub fn that_may_end_early(self) -> Allowance {
        Allowance {
            looks: &LOOKS,
            ..self
        }
    }

    /// If the search seems to have completed a quarter by the end, it has as many steps again; at most four times as many.
    pub fn that_may_go_on(self) -> Allowance {
        Allowance { more: MORE, ..self }
    }

    /// Returns the largest number of steps that it may give.
    pub fn most(&self) -> u64 {
        self.steps.saturating_mul(u64::from(1 + self.more))
    }

    /// Returns `true` if it is time for an early look.
    fn is_look_due(&self) -> bool {
        let next = self.looks.first();
        next.is_some_and(|part| self.left <= self.steps - self.steps / part)
    }

    /// Gives more steps, or no more, to a search that seems to have completed this part.
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
    /// Has the search give way to another one if it has not ended after the steps of the allowance.
    pub fn up_to(self, allowance: Allowance) -> Dpor {
        Dpor {
            allowance: Some(allowance),
            ..self
        }
    }

    /// Takes an execution of this many steps off the allowance, if there is one.
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

    /// Returns `true` if the search was to give way to another one, and has no step left.
    pub(super) fn is_too_large(&self) -> bool {
        self.allowance
            .as_ref()
            .is_some_and(|allowance| allowance.left == 0)
    }
}
