//! Random walk: each choice uniform over its alternatives. The baseline.
//!
//! Each execution has a generator of its own, seeded from the search's seed and the execution's number,
//! so that any one can be run again alone. With a preemption bound, a walk that has used it up takes the
//! default wherever another alternative would preempt. Misses: anything; it says how many it ran.

use super::{ChoicePoint, Plan, Strategy};
use crate::report::Coverage;
use crate::trace::Trace;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A random walk, for ever.
pub struct RandomWalk {
    seed: u64,
    preemptions_max: Option<u32>,
    executions: u64,
    preemptions: u32,
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
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
        }
    }
}

impl Strategy for RandomWalk {
    fn next(&mut self, plan: &mut Plan, _: &Trace) -> bool {
        plan.truncate(0);
        // An odd multiplier keeps the seeds of different executions different.
        let seed = self
            .seed
            .wrapping_add(self.executions.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        self.random = Xoshiro256PlusPlus::seed_from_u64(seed);
        self.executions += 1;
        self.preemptions = 0;
        true
    }

    fn choose(&mut self, point: &ChoicePoint<'_>) -> Option<u32> {
        if point.preempts && self.preemptions_max.is_some_and(|max| self.preemptions >= max) {
            return Some(0);
        }
        let taken = self.random.random_range(0..point.alternatives);
        self.preemptions += u32::from(point.preempts && taken != 0);
        Some(taken)
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
