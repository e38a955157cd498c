//! Virtual time: it passes when somebody looks at it or sleeps, when nobody can go on, and when those who can do
//! nothing but give way. A wait whose deadline it has reached may time out, like anything else that is enabled;
//! a time-out before that is the environment's doing.

use super::event::Event;
use super::{Access, Engine, Runtime};
use crate::trace::{Class, Key};
use intermezzo_sdk::SyncVarOp;

/// Virtual nanoseconds by which a look at the clock moves it, and the most it is moved by at once.
pub(super) const TICK: u64 = 1_000;
const TICK_MAX: u64 = 1 << 40;

impl Engine {
    /// Virtual time in nanoseconds since the execution began. Each look moves the clock on, by twice as
    /// much as the look before if nothing but giving way happened in between: a loop that waits for time to
    /// pass ends.
    pub(crate) fn look_at_clock(self) -> u64 {
        let rt = self.rt();
        let giving_way = |event: &&Event| matches!(event.op, SyncVarOp::Yield | SyncVarOp::Sleep);
        let events = rt.events.as_slice();
        let happened = events.len() - events.iter().rev().take_while(giving_way).count();
        if happened != rt.looked_after {
            (rt.looked_after, rt.tick) = (happened, TICK);
        }
        rt.also_touches(Key::CLOCK, Class::Write);
        let now = rt.clock.saturating_add(rt.tick);
        rt.tick = rt.tick.saturating_mul(2).min(TICK_MAX);
        rt.advance_time(now);
        now
    }

    /// Virtual time in nanoseconds, unmoved.
    pub(crate) fn clock(self) -> u64 {
        self.rt().clock
    }

    /// Moves virtual time on to `time`, if it is not past it.
    pub(crate) fn advance_clock(self, time: u64) {
        self.also_touches(Key::CLOCK, Class::Write);
        self.rt().advance_time(time);
    }

    /// The current task has given way. If that is all that anybody does who can go on, and some wait has a
    /// deadline, time passes until the first: a loop that waits for what comes after a time-out ends. Who is parked at a
    /// breakpoint has then waited in vain.
    pub(super) fn time_passes_while_all_give_way(self) {
        let rt = self.rt();
        if rt.timed.is_empty() && rt.breakpoints.is_none()
            || !rt.enabled.iter().all(|task| rt.tasks[task as usize].yielded)
        {
            return;
        }
        let current = rt.current;
        let gives_way = |event: &Event| matches!(event.op, SyncVarOp::Yield | SyncVarOp::Sleep);
        let since = rt.events.as_slice().iter().rev().skip(1);
        let mut since = since.take_while(|event| !event.op.is_write() || gives_way(event));
        // Nothing was written since this task gave way the last time.
        if since.any(|event| event.task == current && gives_way(event)) {
            if rt.timed.is_empty() {
                rt.let_go_while_all_give_way();
                return;
            }
            rt.also_touches(Key::CLOCK, Class::Write);
            rt.pass_time();
        }
    }

    /// The virtual time at which a wait that begins now, and may take this long, gives up.
    pub(crate) fn deadline(self, limit: std::time::Duration) -> u64 {
        self.also_touches(Key::CLOCK, Class::Read);
        self.clock()
            .saturating_add(u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX))
    }

    /// Records that the current task's operation gave up waiting, which counts as a yield.
    pub(crate) fn timed_out(self, access: Access) {
        self.commit(
            Access {
                op: SyncVarOp::TimeOut,
                ..access
            },
            0,
            0,
        );
        let rt = self.rt();
        if rt.last == rt.current {
            (rt.yielded, rt.elaborate) = (true, true);
        }
    }
}

impl Runtime {
    /// Time passes until the first deadline.
    pub(super) fn pass_time(&mut self) {
        let deadlines = self.timed.iter().map(|task| self.tasks[task as usize].deadline);
        if let Some(first) = deadlines.min() {
            self.advance_time(first);
        }
    }

    /// Moves virtual time on to `time`, if it is not past it: waits whose deadline that reaches may time out.
    pub(super) fn advance_time(&mut self, time: u64) {
        self.clock = self.clock.max(time);
        let mut next = self.timed.first_from(0);
        while let Some(task) = next {
            if self.tasks[task as usize].deadline <= self.clock && !self.enabled.contains(task) {
                self.enabled.insert(task);
                self.overdue.insert(task);
            }
            next = self.timed.first_from(task + 1);
        }
    }
}
