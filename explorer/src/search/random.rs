//! Random walk: each choice uniform over its alternatives. The baseline.
//!
//! Each execution has a generator of its own, seeded from the search's seed and the execution's number,
//! so that any one can be run again alone. With a preemption bound, a walk that has used it up takes the
//! default wherever another alternative would preempt. Misses: anything; it says how many it ran.

use super::{ChoicePoint, Plan, Strategy};
use crate::report::Coverage;
use crate::schedule::Choice;
use crate::trace::Trace;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A random walk, for ever.
pub struct RandomWalk {
    seed: u64,
    preemptions_max: Option<u32>,
    executions: u64,
    preemptions: u32,
    /// The product of the numbers of alternatives in the running walk, and the sum of those of all walks before: on
    /// average, the number of schedules (Knuth 1975).
    schedules_like: f64,
    schedules: f64,
    random: Xoshiro256PlusPlus,
}

impl RandomWalk {
    /// A walk with this seed, and at most that many preemptions in each execution if a bound is given.
    pub fn new(seed: u64, preemptions_max: Option<u32>) -> RandomWalk {
        RandomWalk {
            seed,
            preemptions_max,
            executions: 0,
            preemptions: 0,
            schedules_like: 0.0,
            schedules: 0.0,
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
        }
    }
}

impl RandomWalk {
    /// Begins the walk of this number.
    fn restart(&mut self) {
        // An odd multiplier keeps the seeds of different executions different.
        let seed = self
            .seed
            .wrapping_add((self.executions - 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        self.random = Xoshiro256PlusPlus::seed_from_u64(seed);
        self.preemptions = 0;
        self.schedules_like = 1.0;
    }
}

impl Strategy for RandomWalk {
    fn next(&mut self, plan: &mut Plan, _: &Trace) -> bool {
        plan.truncate(0);
        self.schedules += self.schedules_like;
        self.executions += 1;
        self.restart();
        true
    }

    fn again(&mut self) {
        self.restart();
    }

    fn choose(&mut self, point: &ChoicePoint<'_>) -> Option<u32> {
        if point.preempts && self.preemptions_max.is_some_and(|max| self.preemptions >= max) {
            return Some(0);
        }
        self.schedules_like *= f64::from(point.alternatives);
        let taken = self.random.random_range(0..point.alternatives);
        self.preemptions += u32::from(point.preempts && taken != 0);
        Some(taken)
    }

    /// As if no walk had been drawn twice.
    fn share(&self, _: &[Choice]) -> Option<f64> {
        let executions = self.executions as f64;
        Some(executions * executions / (self.schedules + self.schedules_like))
    }

    fn coverage(&self, _: bool) -> Coverage {
        Coverage::Sampled {
            executions: self.executions,
        }
    }

    fn name(&self) -> String {
        "random".into()
    }
}
