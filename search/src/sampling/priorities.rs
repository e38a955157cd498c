//! Priorities of tasks: random at first, and lowered at change points. The enabled task with the highest one runs.

use super::Generator;
use intermezzo_engine::strategy::ChoicePoint;
use rand::RngExt;

/// The lowest initial priority. Those after changes are lower.
const INITIAL: u64 = 1 << 63;

/// The lowest priority after a change. Those of tasks that yielded are lower.
const CHANGED: u64 = 1 << 62;

/// The priorities of the tasks of an execution.
#[derive(Default)]
pub(crate) struct Priorities {
    /// The priorities by task; 0 for a task that has none yet.
    of: Vec<u64>,
    /// The number of times that tasks yielded.
    yields: u64,
    /// `true` if initial priorities are not random, but decrease in the order of creation.
    in_order: bool,
}

impl Priorities {
    /// Begins an execution.
    pub(crate) fn begin(&mut self) {
        self.of.clear();
        self.yields = 0;
    }

    /// Begins an execution in which initial priorities decrease in the order of creation, except that this task has the
    /// lowest one.
    pub(crate) fn begin_in_order(&mut self, lowest: u32) {
        self.begin();
        self.in_order = true;
        self.set(lowest, INITIAL);
    }

    /// Returns the alternative whose task has the highest priority. Tasks without a priority get one first. All orders
    /// have the same probability.
    ///
    /// A task that just yielded gets the lowest priority, so the others continue until none of them can.
    pub(crate) fn highest(&mut self, point: &ChoicePoint<'_>, random: &mut Generator) -> u32 {
        let last = point.running.0;
        if !point.preempts && point.is_enabled(last) {
            self.yields += 1;
            self.set(last, CHANGED - self.yields);
        }
        let (mut best, mut at) = ((0, 0), 0);
        point.for_each_task(|task| {
            let priority = self.of(task.0, random);
            if priority > best.0 {
                best = (priority, at);
            }
            at += 1;
        });
        best.1
    }

    /// Lowers the task's priority below all initial ones. Among the tasks lowered in this way, a higher `level` is a
    /// higher priority.
    pub(crate) fn lower(&mut self, task: u32, level: u64) {
        self.set(task, CHANGED + level);
    }

    fn of(&mut self, task: u32, random: &mut Generator) -> u64 {
        let known = self.of.get(task as usize).copied().unwrap_or(0);
        if known != 0 {
            return known;
        }
        let first = match self.in_order {
            true => INITIAL + u64::from(u32::MAX - task) + 1,
            false => INITIAL | random.random::<u64>() | 1,
        };
        self.set(task, first);
        first
    }

    fn set(&mut self, task: u32, priority: u64) {
        let task = task as usize;
        if task >= self.of.len() {
            self.of.resize(task + 1, 0);
        }
        self.of[task] = priority;
    }
}

/// The points at which priorities change, by counting the operations that are about to be done.
#[derive(Default)]
pub(crate) struct Changes {
    /// The counts at which they change, each with the level to which the task's priority is lowered.
    at: Vec<(u64, u64)>,
    /// The count so far.
    count: u64,
}

impl Changes {
    /// Begins an execution: draws `most` different counts from 1 to `range` in random order, or all if there are fewer.
    pub(crate) fn draw(&mut self, most: u32, range: u64, random: &mut Generator) {
        self.begin();
        for level in 0..u64::from(most).min(range) {
            loop {
                let count = random.random_range(1..=range);
                if self.at.iter().all(|&(known, _)| known != count) {
                    self.at.push((count, level));
                    break;
                }
            }
        }
    }

    /// Begins an execution without changes.
    pub(crate) fn begin(&mut self) {
        self.at.clear();
        self.count = 0;
    }

    /// Adds a change at this count, to this level.
    pub(crate) fn add(&mut self, count: u64, level: u64) {
        self.at.push((count, level));
    }

    /// Lowers priorities at change points, and returns the alternative whose task then has the highest one. Each task
    /// that would run is counted, if `counts` returns `true` for its alternative.
    pub(crate) fn choose(
        &mut self,
        priorities: &mut Priorities,
        point: &ChoicePoint<'_>,
        random: &mut Generator,
        mut counts: impl FnMut(u32) -> bool,
    ) -> u32 {
        loop {
            let taken = priorities.highest(point, random);
            if !counts(taken) {
                return taken;
            }
            let Some(level) = self.next() else {
                return taken;
            };
            let task = point.task(taken).expect("a choice between tasks");
            priorities.lower(task.0, level);
        }
    }

    /// Counts an operation that is about to happen. At a change point, returns the level to which its task's priority
    /// is lowered instead.
    fn next(&mut self) -> Option<u64> {
        self.count += 1;
        let count = self.count;
        let change = self.at.iter().find(|(at, _)| *at == count);
        change.map(|&(_, level)| level)
    }
}
