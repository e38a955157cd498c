//! Priorities of tasks: random at first, lowered at changes; the highest that can go on goes.

use super::Generator;
use intermezzo_engine::strategy::ChoicePoint;
use rand::RngExt;

/// Priorities at first are at least this; those after changes are below.
const INITIAL: u64 = 1 << 63;

/// Priorities after changes are at least this; those of tasks that yielded are below.
const CHANGED: u64 = 1 << 62;

/// The priorities of an execution's tasks.
#[derive(Default)]
pub(crate) struct Priorities {
    /// By task; 0 for one that was not met yet.
    of: Vec<u64>,
    /// The number of times a task yielded.
    yields: u64,
    /// `true` if priorities at first are not random, but fall from task to task.
    in_order: bool,
}

impl Priorities {
    /// An execution begins.
    pub(crate) fn begin(&mut self) {
        self.of.clear();
        self.yields = 0;
    }

    /// An execution begins, in which priorities fall from task to task at first, but that this one's is the lowest.
    pub(crate) fn begin_in_order(&mut self, lowest: u32) {
        self.begin();
        self.in_order = true;
        self.set(lowest, INITIAL);
    }

    /// Returns the alternative whose task has the highest priority. Tasks that were not met before get one: all orders
    /// are as likely.
    ///
    /// A task that just yielded gets the lowest: others go on until none of them can.
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

    /// The task's priority falls below all initial ones: to the place `level` among the others that were lowered so, the
    /// highest being the last.
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

/// Where priorities change: places in a count of what tasks were about to do.
#[derive(Default)]
pub(crate) struct Changes {
    /// The counts at which they change, each with the level that the task falls to.
    at: Vec<(u64, u64)>,
    /// How much was counted.
    count: u64,
}

impl Changes {
    /// An execution begins: `most` different counts from 1 to `range` are drawn, in random order, or as many as there are.
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

    /// An execution begins, without changes.
    pub(crate) fn begin(&mut self) {
        self.at.clear();
        self.count = 0;
    }

    /// One more change, at this count, to this level.
    pub(crate) fn add(&mut self, count: u64, level: u64) {
        self.at.push((count, level));
    }

    /// Returns the alternative whose task has the highest priority, once those whose turn it is were lowered. Each that
    /// would go is counted, if what it would do `counts`.
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

    /// Returns a task is about to go on in a way that counts: the level to which it falls instead, if it does.
    fn next(&mut self) -> Option<u64> {
        self.count += 1;
        let count = self.count;
        let change = self.at.iter().find(|(at, _)| *at == count);
        change.map(|&(_, level)| level)
    }
}
