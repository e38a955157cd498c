//! Random walk: each choice is uniform over its alternatives. This is the baseline.
//!
//! With a preemption bound, a walk that has used up its preemptions takes the default alternative wherever another one
//! would preempt. Misses: it guarantees nothing, and reports only the number of its executions.

use super::{Draw, Generator, Policy, Profile, uniform};
use intermezzo_engine::strategy::ChoicePoint;

/// A random walk.
pub(crate) struct RandomWalk {
    preemptions_max: Option<u32>,
    preemptions: u32,
    /// The product of the numbers of alternatives in the current walk, and the sum of these products over all walks
    /// before. The average product estimates the number of schedules (Knuth 1975).
    schedules_like: f64,
    schedules: f64,
}

impl RandomWalk {
    /// Returns a random walk with at most `preemptions_max` preemptions in each execution, if that is given.
    pub(crate) fn new(preemptions_max: Option<u32>) -> RandomWalk {
        RandomWalk {
            preemptions_max,
            preemptions: 0,
            schedules_like: 0.0,
            schedules: 0.0,
        }
    }
}

impl Policy for RandomWalk {
    fn name(&self) -> String {
        "random".into()
    }

    fn learns(&self) -> bool {
        false
    }

    fn begin(&mut self, _: Draw, _: &Profile, _: &mut Generator) {
        self.schedules += self.schedules_like;
        self.preemptions = 0;
        self.schedules_like = 1.0;
    }

    fn choose(&mut self, point: &ChoicePoint<'_>, _: &Profile, random: &mut Generator) -> u32 {
        if point.preempts && self.preemptions_max.is_some_and(|max| self.preemptions >= max) {
            return 0;
        }
        self.schedules_like *= f64::from(point.alternatives);
        let taken = uniform(point, random);
        self.preemptions += u32::from(point.preempts && taken != 0);
        taken
    }

    fn passed(&mut self, point: &ChoicePoint<'_>) {
        self.schedules_like *= f64::from(point.alternatives);
    }

    /// Returns the fraction of all schedules that were run, assuming that no walk was drawn twice.
    fn share(&self, executions: u64) -> Option<f64> {
        let executions = executions as f64;
        Some(executions * executions / (self.schedules + self.schedules_like))
    }

    fn fork(&self) -> Box<dyn Policy> {
        Box::new(RandomWalk::new(self.preemptions_max))
    }
}
