//! Waits with a limit, and the virtual time that would end them in another order of steps.

use super::{Class, Key, StepAccess, Trace};
use crate::record::{Gates, Task, TimesOut};
use intermezzo_sdk::SyncVarOp;

/// The time at which a wait times out.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// `true` if the environment may let it time out early.
    may_be_early: bool,
    /// The virtual time from which on it may time out in any case.
    deadline: u64,
    /// The gates of the operation's own variable at which it waits; 0 if it waits for a notification or a token.
    gates: Gates,
}

impl Limit {
    /// Returns the limit of a task's wait.
    pub(crate) fn of(task: &Task) -> Limit {
        Limit {
            may_be_early: task.times_out == TimesOut::Early,
            deadline: task.deadline,
            gates: match task.pending.access.op {
                SyncVarOp::Park | SyncVarOp::CondvarWake => 0,
                _ => task.pending.gates,
            },
        }
    }

    /// Returns the gates of the operation's own variable at which it waits; 0 if it waits for a notification or a
    /// token. It passes if one is open, whatever the time.
    pub fn gates(&self) -> Gates {
        self.gates
    }

    /// Returns the class of the access to virtual time of a time-out at this time. A time-out that is due reads the
    /// time, and an early one moves it. Returns `None` if the task would have to wait longer.
    pub fn class_at(&self, time: u64) -> Option<Class> {
        if self.deadline <= time {
            return Some(Class::Read);
        }
        self.may_be_early.then_some(Class::Write)
    }
}

/// A wait with a limit that was ended by something else.
#[derive(Clone, Copy, Debug)]
pub struct EndedWait {
    /// The waiting task.
    pub task: u32,
    /// The key that it waited for.
    pub key: Key,
    /// The step in which the wait began.
    pub begin: u32,
    /// The step that ended it.
    pub ender: u32,
    /// The time at which it would have timed out.
    pub limit: Limit,
    /// The step in which the task continued.
    pub(crate) end: u32,
}

/// A step that ended a wait with a limit, by its gate or because the time was over.
pub(super) struct TimedWait {
    step: u32,
    limit: Limit,
}

impl Trace {
    /// Notes that the current step ends a wait with this limit.
    pub(crate) fn end_timed_wait(&mut self, limit: Limit) {
        self.timed_waits.push(TimedWait {
            step: self.steps.len() as u32,
            limit,
        });
    }

    /// Notes a wait with a limit that did not time out.
    pub(crate) fn add_ended_wait(&mut self, wait: EndedWait) {
        self.ended_waits.push(wait);
    }

    /// Returns the waits with a limit that did not time out, in the order in which their tasks continued.
    pub fn ended_waits(&self) -> &[EndedWait] {
        &self.ended_waits
    }

    /// Notes virtual time at the end of the current step.
    #[inline(always)]
    pub fn note_time(&mut self, time: u64) {
        if self.times.last().map_or(0, |&(_, last)| last) != time {
            self.times.push((self.steps.len() as u32, time));
        }
    }

    /// Returns `true` if virtual time has passed in some step.
    pub fn has_time_passed(&self) -> bool {
        !self.times.is_empty()
    }

    /// Returns virtual time after a step.
    pub fn time_after(&self, step: usize) -> u64 {
        let later = self.times.partition_point(|&(at, _)| at as usize <= step);
        later.checked_sub(1).map_or(0, |last| self.times[last].1)
    }

    /// Returns `true` if a step ended a wait with a limit.
    #[inline(always)]
    pub fn is_timed_wait(&self, step: usize) -> bool {
        self.limit(step).is_some()
    }

    /// Returns the limit of the wait that a step ended, if there is one.
    #[inline(always)]
    pub fn limit(&self, step: usize) -> Option<Limit> {
        match self.timed_waits.is_empty() {
            true => None,
            false => self.limit_among(step),
        }
    }

    #[inline(never)]
    fn limit_among(&self, step: usize) -> Option<Limit> {
        let found = self
            .timed_waits
            .binary_search_by_key(&(step as u32), |wait| wait.step);
        found.ok().map(|at| self.timed_waits[at].limit)
    }

    /// Returns `true` if a step moves virtual time, or makes an advance of time final.
    pub fn writes_time(&self, step: usize) -> bool {
        self.footprint(step).contains(&StepAccess {
            key: Key::CLOCK,
            class: Class::Write,
        })
    }

    /// Forgets the data of steps from this one on.
    pub(super) fn take_back_timed(&mut self, steps: usize) {
        let is_gone = |step: u32| step as usize >= steps;
        while self.timed_waits.pop_if(|wait| is_gone(wait.step)).is_some() {}
        while self.ended_waits.pop_if(|wait| is_gone(wait.end)).is_some() {}
        while self.times.pop_if(|&mut (step, _)| is_gone(step)).is_some() {}
    }
}
