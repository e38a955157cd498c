//! Sleeping tasks and fairness: a task that waits for its own time need not give way to one that sleeps longer.
//!
//! Fairness makes a task that yields give way to all others (`fair.rs`), also to one that is about to sleep, which
//! moves the clock by its whole sleep. A loop that yields several times before it reads the clock again would then
//! never find that its own time is over while the other task still sleeps. With a real clock, it always can.
//!
//! A task's next step is *due* at the end of the sleep that it is about to begin, or else now. A task that fairness
//! holds back is *excused* if it has ever read the clock and all other enabled tasks are due later. Then the execution
//! in the order of time is among the alternatives: the others *sleep on*. They do not become alternatives again until
//! the task is no longer excused, so an excuse adds one execution, and not one for each round of the loop.
//!
//! A task that has just slept has moved the clock, and the excused task could have seen that before. So it is due later
//! than a task that has not read the clock since. The same holds for a task whose wait is over because time has passed
//! up to its limit, as it does if all tasks that can continue only yield.
//!
//! **Misses.** If several tasks are due now, each gives way to the others, and to those that sleep. So does a task that
//! was excused too often, because a loop that waits for what a sleeping task will do must end.

use super::{Engine, Runtime};
use crate::site::Site;
use intermezzo_sdk::SyncVarOp;
use std::time::Duration;

/// The number of decisions for which a task sleeps on, before it moves the clock and again afterwards. Loops that are
/// made to yield at their reads yield some thirty times before they read the clock.
const EXCUSES_MAX: u32 = 256;

/// The sleeps of all tasks, in one execution.
#[derive(Default)]
pub(super) struct Sleepers {
    tasks: Vec<Sleeper>,
    /// The number of reads of the clock, beginnings and ends of sleeps, and advances of time to the end of a wait.
    moments: u32,
    /// The last moment at which time advanced to the end of a wait.
    passed: u32,
}

/// A task's times.
#[derive(Clone, Default)]
struct Sleeper {
    /// The moment at which it last read the clock; 0 if it never did.
    looked: u32,
    /// The number of its events when its last sleep was announced, and `true` if that has moved the clock; `None` if it
    /// never slept.
    last: Option<(u32, bool)>,
    /// The virtual time in nanoseconds at which that sleep is over.
    until: u64,
    /// The moment of its last sleep: when it was announced, then when it moved the clock.
    slept: u32,
    /// The number of decisions for which it slept on.
    excuses: u32,
    /// `true` if it sleeps on.
    sleeps_on: bool,
}

impl Sleepers {
    /// Forgets all sleeps, and keeps their memory.
    pub(super) fn clear(&mut self) {
        self.tasks.clear();
        (self.moments, self.passed) = (0, 0);
    }

    fn of(&mut self, task: u32) -> &mut Sleeper {
        let at = task as usize;
        if self.tasks.len() <= at {
            self.tasks.resize(at + 1, Sleeper::default());
        }
        &mut self.tasks[at]
    }

    /// Notes that the task reads the clock.
    pub(super) fn look(&mut self, task: u32) {
        self.moments += 1;
        let looked = self.moments;
        let of = self.of(task);
        of.looked = looked;
        // It continues, or begins to wait.
        (of.excuses, of.sleeps_on) = (0, false);
    }

    /// Notes that time has passed up to the end of a wait, because all tasks that can continue only yield.
    pub(super) fn pass(&mut self) {
        self.moments += 1;
        self.passed = self.moments;
    }

    /// Notes a sleep of the task, of which `events` events came before: it is announced, or it has moved the clock.
    fn sleep(&mut self, task: u32, events: u32, has_moved: bool) {
        self.moments += 1;
        let slept = self.moments;
        let of = self.of(task);
        (of.last, of.slept) = (Some((events, has_moved)), slept);
        (of.excuses, of.sleeps_on) = (0, false);
    }
}

impl Engine {
    /// Announces a sleep of the current task, which yields next. Returns the virtual time at which it is over.
    pub fn announce_sleep(self, time: Duration, site: Site) -> u64 {
        let until = self.deadline(time, site);
        self.note_sleep(until, false);
        until
    }

    /// Ends a sleep that was announced: moves the clock to its end, unless it is already later.
    pub fn end_sleep(self, until: u64) {
        self.advance_clock(until);
        self.note_sleep(until, true);
    }

    fn note_sleep(self, until: u64, has_moved: bool) {
        self.with(|rt| {
            let task = rt.tasks.current();
            let events = rt.tasks[task].events;
            rt.world.sleepers.sleep(task, events, has_moved);
            rt.world.sleepers.of(task).until = until;
        });
    }
}

impl Runtime {
    /// Finds the task that is excused at this decision.
    pub(super) fn find_excused(&mut self) {
        self.ready.excuse(None);
        // Without a sleep there is nothing to look for.
        if self.world.sleepers.tasks.is_empty() || !self.ready.restrains() {
            return;
        }
        let is_excused = |&task: &u32| !self.ready.may_go(task) && self.is_excused(task);
        let excused = self.ready.enabled().iter().find(is_excused);
        let excused = excused.map(|task| (task, self.all_others_sleep_on(task)));
        self.ready.excuse(excused);
    }

    /// Returns `true` if all other enabled tasks sleep on. Each has slept.
    fn all_others_sleep_on(&self, task: u32) -> bool {
        let mut others = self.ready.enabled().iter().filter(|&other| other != task);
        others.all(|other| self.world.sleepers.tasks[other as usize].sleeps_on)
    }

    /// Returns `true` if the task has read the clock, and all other enabled tasks are due later and have not slept on
    /// for too long.
    fn is_excused(&self, task: u32) -> bool {
        let sleepers = &self.world.sleepers.tasks;
        let Some(own) = sleepers.get(task as usize).filter(|own| own.looked > 0) else {
            return false;
        };
        let due = self.due(task, own);
        let mut others = self.ready.enabled().iter().filter(|&other| other != task);
        others.all(|other| {
            let sleeper = sleepers.get(other as usize);
            sleeper.is_some_and(|sleeper| sleeper.excuses < EXCUSES_MAX && self.due(other, own) > due)
        })
    }

    /// Returns the virtual time at which a task's next step is due, from the point of view of the task with the times
    /// `seen_by`.
    fn due(&self, task: u32, seen_by: &Sleeper) -> u64 {
        let now = self.world.clock();
        let entry = &self.tasks[task];
        let sleeper = &self.world.sleepers.tasks[task as usize];
        match sleeper.last {
            Some((events, false))
                if events == entry.events && entry.pending.access.op == SyncVarOp::Sleep =>
            {
                sleeper.until.max(now)
            }
            Some((events, true)) if events == entry.events && seen_by.looked < sleeper.slept => now + 1,
            _ if self.ready.expired().contains(task) && seen_by.looked < self.world.sleepers.passed => {
                now + 1
            }
            _ => now,
        }
    }

    /// Notes that an excused task continues: the other enabled tasks sleep on.
    pub(super) fn sleep_on(&mut self, task: u32) {
        for other in self.ready.enabled().iter().filter(|&other| other != task) {
            let sleeper = self.world.sleepers.of(other);
            sleeper.sleeps_on = true;
            sleeper.excuses += 1;
        }
    }
}
