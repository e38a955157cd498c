//! Random delays, like those that stress testing tools insert. They were a baseline in the evaluation of Maple (Yu,
//! Narayanasamy, Pereira, Pokam, OOPSLA 2012), which delayed one of 50,000 accesses.
//!
//! Tasks run in the default order: one continues until it waits or ends, then the next one in the order of creation
//! does. A number of moments are drawn beforehand. At each of them, the task that would run is delayed: it runs again
//! after a number of steps of the others, or earlier if no other task can continue. The number of steps is drawn from 1
//! to the maximum number of steps of the executions that were learned from.
//!
//! Differs: the number of delays is fixed for each execution, because tests are short. Time is counted in steps, and
//! there is one processor: without a delay, tasks do not overlap. Moments are counted where there is a choice between
//! tasks, and are drawn from 1 to the same maximum number of steps. So an execution may end before some of them. If a
//! choice is not about tasks, each alternative has the same probability.
//!
//! Misses: bugs that need more delays, and bugs that need another order of tasks that do not wait.

use super::{Draw, Generator, Policy, Profile, uniform};
use intermezzo_engine::schedule::ChoiceKind;
use intermezzo_engine::strategy::ChoicePoint;
use rand::RngExt;

/// Random delays of the tasks that would run.
pub(crate) struct RandomDelays {
    delays: u32,
    /// The moments of the execution, as counts of choices between tasks, with the next one last. Two may be equal.
    moments: Vec<u64>,
    /// The number of choices between tasks so far.
    count: u64,
    /// For each task, the step until which it is delayed. Tasks beyond the end of the list are not delayed.
    until: Vec<u64>,
}

impl RandomDelays {
    /// Returns the policy with this many delays in each execution.
    pub(crate) fn new(delays: u32) -> RandomDelays {
        RandomDelays {
            delays,
            moments: Vec::new(),
            count: 0,
            until: Vec::new(),
        }
    }

    /// Returns the first alternative whose task is not delayed. If all are delayed, returns the one whose delay ends
    /// first.
    fn first(&self, point: &ChoicePoint<'_>) -> u32 {
        let (mut best, mut at) = ((u64::MAX, 0), 0);
        point.for_each_task(|task| {
            let until = self.until.get(task.index()).copied().unwrap_or(0);
            let left = until.saturating_sub(point.step);
            if left < best.0 {
                best = (left, at);
            }
            at += 1;
        });
        best.1
    }

    /// Delays the task of this alternative by a random number of steps from 1 to `most`.
    fn delay(&mut self, taken: u32, point: &ChoicePoint<'_>, most: u64, random: &mut Generator) {
        let task = point.task(taken).expect("a choice between tasks").index();
        if task >= self.until.len() {
            self.until.resize(task + 1, 0);
        }
        let from = self.until[task].max(point.step);
        self.until[task] = from.saturating_add(random.random_range(1..=most));
    }
}

impl Policy for RandomDelays {
    fn name(&self) -> String {
        format!("random-delays({})", self.delays)
    }

    fn begin(&mut self, draw: Draw, known: &Profile, random: &mut Generator) {
        let steps = known.steps_of(draw).max(1);
        let moment = |_| random.random_range(1..=steps);
        self.moments = (0..self.delays).map(moment).collect();
        self.moments.sort_unstable_by(|a, b| b.cmp(a));
        self.count = 0;
        self.until.clear();
    }

    fn choose(&mut self, point: &ChoicePoint<'_>, known: &Profile, random: &mut Generator) -> u32 {
        if point.kind != ChoiceKind::Task {
            return uniform(point, random);
        }
        self.count += 1;
        while self.moments.pop_if(|moment| *moment <= self.count).is_some() {
            let taken = self.first(point);
            self.delay(taken, point, known.steps().max(1), random);
        }
        self.first(point)
    }

    fn fork(&self) -> Box<dyn Policy> {
        Box::new(RandomDelays::new(self.delays))
    }
}
