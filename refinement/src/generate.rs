//! The choice of scenarios: all of the smallest, then random ones.

use crate::arguments::Source;
use crate::operation::Operation;
use crate::scenario::{Scenario, Step};
use crate::settings::Settings;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

/// The largest number of times that a random scenario is drawn again because it was drawn before.
const REPEATS_MAX: usize = 1000;

/// Returns the distinct scenarios of a test, the smallest first.
///
/// All assignments of one operation to each of the fewest tasks are included, with no operations before and with as
/// many as allowed before, as long as they are no more than half. The rest is drawn at random.
pub(crate) fn scenarios<T>(operations: &[Operation<T>], settings: &Settings) -> Vec<Scenario> {
    let mut generator = Generator {
        operations,
        settings,
        source: Source::new(settings.seed),
        drawn: 0,
    };
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    let mut keep = |scenario: Scenario, found: &mut Vec<Scenario>| {
        let is_new = seen.insert(format!("{scenario:?}"));
        if is_new {
            found.push(scenario);
        }
        is_new
    };
    for scenario in generator.smallest(settings.scenarios / 2) {
        keep(scenario, &mut found);
    }
    let mut repeats = 0;
    while found.len() < settings.scenarios && repeats < REPEATS_MAX {
        let scenario = generator.random();
        if scenario.tasks.is_empty() || !keep(scenario, &mut found) {
            repeats += 1;
        }
    }
    found.sort_by_key(Scenario::len);
    found
}

struct Generator<'a, T> {
    operations: &'a [Operation<T>],
    settings: &'a Settings,
    source: Source,
    drawn: u64,
}

impl<T> Generator<'_, T> {
    /// Creates a scenario's own source of arguments: fresh ones start again.
    fn renew(&mut self) -> Source {
        self.drawn += 1;
        Source::new(self.settings.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ self.drawn)
    }

    /// Returns every choice of one operation for each of the fewest tasks, in which each group of operations has one
    /// task.
    fn smallest(&mut self, most: usize) -> Vec<Scenario> {
        let tasks = *self.settings.threads.start();
        let kinds = self.operations.len();
        let ranges = [*self.settings.init.start(), *self.settings.init.end()];
        let mut found = Vec::new();
        // The assignment of operations to tasks does not matter, so the choices are sorted.
        let mut choice = vec![0; tasks];
        loop {
            for init in BTreeSet::from(ranges) {
                if found.len() >= most {
                    return found;
                }
                let mut source = self.renew();
                let init = self.outside(&mut source, init);
                let step = |operation: &usize| vec![self.step(&mut source, *operation)];
                let tasks = choice.iter().map(step).collect();
                let post = self.outside(&mut source, *self.settings.post.end());
                let scenario = Scenario { init, tasks, post };
                if self.respects_groups(&scenario) {
                    found.push(scenario);
                }
            }
            let Some(at) = (0..tasks).rev().find(|&at| choice[at] + 1 < kinds) else {
                return found;
            };
            let next = choice[at] + 1;
            choice[at..].fill(next);
        }
    }

    fn respects_groups(&self, scenario: &Scenario) -> bool {
        let groups = |steps: &[Step]| -> BTreeSet<String> {
            let all = steps
                .iter()
                .map(|step| &self.operations[step.operation].exclusive);
            all.flatten().cloned().collect()
        };
        let mut seen = BTreeSet::new();
        scenario
            .tasks
            .iter()
            .all(|task| groups(task).into_iter().all(|group| seen.insert(group)))
    }

    fn random(&mut self) -> Scenario {
        let mut source = self.renew();
        let init_length = self.length(self.settings.init.clone());
        let init = self.outside(&mut source, init_length);
        let count = self.length(self.settings.threads.clone());
        let (owners, count) = self.owners(count);
        let owner = |group: &String| {
            let first = self
                .operations
                .iter()
                .position(|operation| operation.exclusive.as_ref() == Some(group));
            first.map(|first| owners[first])
        };
        let allowed: Vec<Vec<usize>> = (0..count)
            .map(|task| {
                let may = |&at: &usize| match &self.operations[at].exclusive {
                    Some(group) => owner(group) == Some(task),
                    None => true,
                };
                (0..self.operations.len()).filter(may).collect()
            })
            .collect();
        let mut tasks = Vec::new();
        for allowed in allowed {
            let length = self.length(self.settings.ops.clone());
            let mut steps = Vec::new();
            for _ in 0..length {
                if !allowed.is_empty() {
                    let operation = allowed[self.source.below(allowed.len())];
                    steps.push(self.step(&mut source, operation));
                }
            }
            if !steps.is_empty() {
                tasks.push(steps);
            }
        }
        let post_length = self.length(self.settings.post.clone());
        let post = self.outside(&mut source, post_length);
        Scenario { init, tasks, post }
    }

    /// Draws the task that owns each operation's group, by operation, for `count` tasks. Also returns the number of
    /// tasks that can have operations.
    ///
    /// If every operation is in a group, each task owns a group, and there are no more tasks than groups: a task that
    /// owns none would do nothing.
    fn owners(&mut self, count: usize) -> (Vec<usize>, usize) {
        let groups: BTreeSet<&String> = self
            .operations
            .iter()
            .filter_map(|operation| operation.exclusive.as_ref())
            .collect();
        if self
            .operations
            .iter()
            .any(|operation| operation.exclusive.is_none())
        {
            let draw = |_| self.source.below(count.max(1));
            return (self.operations.iter().map(draw).collect(), count);
        }
        let count = count.min(groups.len());
        let mut order: Vec<&String> = groups.into_iter().collect();
        let mut owner_of = BTreeMap::new();
        for turn in 0..order.len() {
            let group = order.swap_remove(self.source.below(order.len()));
            let owner = if turn < count {
                turn
            } else {
                self.source.below(count)
            };
            owner_of.insert(group, owner);
        }
        let owner =
            |operation: &Operation<T>| operation.exclusive.as_ref().map_or(0, |group| owner_of[group]);
        (self.operations.iter().map(owner).collect(), count)
    }

    /// Draws operations before or after the tasks, where every operation is allowed.
    fn outside(&mut self, source: &mut Source, length: usize) -> Vec<Step> {
        let mut steps = Vec::new();
        for _ in 0..length {
            let operation = self.source.below(self.operations.len());
            steps.push(self.step(source, operation));
        }
        steps
    }

    fn step(&self, source: &mut Source, operation: usize) -> Step {
        Step {
            operation,
            argument: self.operations[operation].draw(source),
        }
    }

    fn length(&mut self, range: RangeInclusive<usize>) -> usize {
        range.start() + self.source.below(range.end() - range.start() + 1)
    }
}
