//! The steps that a search has before it gives way to another one.

use super::Dpor;
use intermezzo_engine::schedule::Choice;

/// The part that a search seems to have completed if it is to go on.
const WORTHWHILE: f64 = 0.25;

/// The number of times that a search may go on for as many steps again.
const MORE: u32 = 3;

/// The steps after which a search gives way to another one.
pub struct Allowance {
    /// The number of steps that it is given at a time, and how many of them are left.
    steps: u64,
    left: u64,
    /// The number of times that it may be given as many again.
    more: u32,
}

impl Allowance {
    /// Returns an allowance of this many steps, in all executions.
    pub fn of(steps: u64) -> Allowance {
        Allowance {
            steps,
            left: steps,
            more: 0,
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
        if allowance.left == 0 && allowance.more > 0 {
            let progress = self.progress(choices);
            if let Some(allowance) = self.allowance.as_mut().filter(|_| progress >= WORTHWHILE) {
                allowance.left = allowance.steps;
                allowance.more -= 1;
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
