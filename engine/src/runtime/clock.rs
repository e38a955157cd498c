//! Virtual time: it passes when somebody looks at it or sleeps, when nobody can go on, and when those who can do
//! nothing but give way. A wait whose deadline it has reached may time out, like anything else that is enabled;
//! a time-out before that is the environment's doing.
//!
//! A look is a visible operation, a read of the clock as a variable: so every order of looks, sleeps and time-outs is
//! explored. A sleep and a wait with a limit look, too, when they work out their deadline.
//!
//! Each look at the clock moves it: by a microsecond the first time, and by twice as much with each further look of the
//! same task at the same place. Where the task did something in between the look begins with a microsecond again, so that
//! work takes little time; but only for the first looks, so that every loop that waits for time to pass ends. By how
//! much a look moves the clock does not depend on what other tasks do: so their steps commute with it, unless they touch the clock.

use super::{Engine, Runtime};
use crate::record::{Access, Event, Site, Task, VarKind};
use crate::trace::{Class, Key};
use intermezzo_sdk::SyncVarOp;
use std::time::Duration;

/// Virtual nanoseconds by which a first look at the clock moves it, and the most it is moved by at once.
const TICK: u64 = 1_000;
const TICK_MAX: u64 = 1 << 40;

/// Looks of a task at one place after which each moves the clock by twice as much, whatever the task does. A loop then
/// takes some forty rounds more to wait for any length of time.
const LOOKS_SLOW: u32 = 64;

/// The looks at the clock of an execution.
#[derive(Default)]
pub(super) struct Looks {
    /// The clock as a variable, once somebody looks at it.
    var: Option<u32>,
    places: Vec<Place>,
}

impl Looks {
    /// Forgets all of them, and keeps their memory.
    pub(super) fn clear(&mut self) {
        self.var = None;
        self.places.clear();
    }
}

/// A task's looks at the clock at one place.
struct Place {
    task: u32,
    site: Site,
    count: u32,
    /// Events of the execution at the last look.
    events: usize,
    /// How far the last look moved the clock, in nanoseconds.
    tick: u64,
}

/// `true` if the event says that its task does more than to wait.
fn does_something(event: &Event) -> bool {
    match event.op {
        SyncVarOp::AtomicRmw => event.read != event.written,
        // A lock is taken and released to look at what it guards.
        SyncVarOp::LockAcquire
        | SyncVarOp::LockTryAcquire
        | SyncVarOp::LockRelease
        | SyncVarOp::SharedAcquire
        | SyncVarOp::SharedTryAcquire
        | SyncVarOp::SharedRelease
        | SyncVarOp::CondvarWait
        | SyncVarOp::CondvarWake
        | SyncVarOp::Park => false,
        op => op.is_write(),
    }
}

impl Engine {
    /// Looks at the clock, which moves it. Returns virtual time in nanoseconds since the execution began.
    pub fn look_at_clock(self, site: Site) -> u64 {
        self.read_clock(Class::Write, site);
        let rt = self.rt();
        let task = rt.current;
        let events = rt.events.as_slice();
        let same = |place: &&mut Place| place.task == task && place.site == site;
        let tick = match rt.looks.places.iter_mut().find(same) {
            Some(place) => {
                let mut since = events[place.events..].iter();
                let waits = !since.any(|event| event.task == task && does_something(event));
                place.count += 1;
                place.events = events.len();
                place.tick = if waits || place.count > LOOKS_SLOW {
                    place.tick.saturating_mul(2).min(TICK_MAX)
                } else {
                    TICK
                };
                place.tick
            }
            None => {
                rt.looks.places.push(Place {
                    task,
                    site,
                    count: 1,
                    events: events.len(),
                    tick: TICK,
                });
                TICK
            }
        };
        rt.advance_time(rt.clock.saturating_add(tick));
        rt.clock
    }

    /// Moves virtual time on to `time`, if it is not past it.
    pub fn advance_clock(self, time: u64) {
        self.add_to_footprint(Key::CLOCK, Class::Write);
        self.rt().advance_time(time);
    }

    /// The current task has given way. If that is all that anybody does who can go on, and some wait has a
    /// deadline, time passes until the first: a loop that waits for what comes after a time-out ends. Who is parked at a
    /// breakpoint has then waited in vain.
    pub(super) fn time_passes_while_all_give_way(self) {
        let rt = self.rt();
        if rt.timed_waiters.is_empty() && rt.breakpoints.is_none()
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
            if rt.timed_waiters.is_empty() {
                rt.let_go_while_all_give_way();
                return;
            }
            rt.add_to_footprint(Key::CLOCK, Class::Write);
            rt.pass_time();
        }
    }

    /// A visible operation that looks at the clock: others may move it first.
    fn read_clock(self, class: Class, site: Site) {
        let rt = self.rt();
        if rt.teardown {
            return;
        }
        let clock = *(rt.looks.var).get_or_insert_with(|| rt.vars.add(VarKind::Clock, 0, 0, 0));
        let access = Access::new(SyncVarOp::DataRead, clock, site);
        self.enter(access);
        self.add_to_footprint(Key::CLOCK, class);
        self.commit(access, 0, 0);
    }

    /// The virtual time at which a wait gives up that may take this long. The task looks at the clock for it, which is a visible
    /// operation of its own, unless the wait gives up at once.
    pub fn deadline(self, limit: Duration, site: Site) -> u64 {
        if !limit.is_zero() {
            self.read_clock(Class::Read, site);
        }
        self.after(limit)
    }

    /// As `deadline`, where the step under way is the one in which the wait begins.
    pub fn deadline_in_step(self, limit: Duration) -> u64 {
        self.add_to_footprint(Key::CLOCK, Class::Read);
        self.after(limit)
    }

    /// The virtual time that much later.
    fn after(self, limit: Duration) -> u64 {
        let limit = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
        self.rt().clock.saturating_add(limit)
    }

    /// Records that the current task's operation gave up waiting, which counts as a yield.
    pub fn timed_out(self, access: Access) {
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
            (rt.yielded, rt.slow_path) = (true, true);
        }
    }
}

impl Runtime {
    /// Time passes until the first deadline, because nobody can do anything else: so tasks that are over have ended, unless
    /// the environment lets time pass early.
    pub(super) fn pass_time(&mut self) {
        self.time_passes = Some(self.clock);
        for task in self.tasks_over() {
            task.passed_since_over += 1;
        }
        let deadlines = self
            .timed_waiters
            .iter()
            .map(|task| self.tasks[task as usize].deadline);
        if let Some(first) = deadlines.min() {
            self.advance_time(first);
        }
    }

    /// A task woke for another reason than the time that has just passed, before which it was `then`: it need not have passed.
    pub(super) fn take_time_back(&mut self, then: u64) {
        for task in self.tasks_over() {
            task.passed_since_over -= 1;
        }
        self.clock = then;
        let mut next = self.expired.first_from(0);
        while let Some(task) = next {
            if self.tasks[task as usize].deadline > then {
                self.expired.remove(task);
                self.enabled.remove(task);
            }
            next = self.expired.first_from(task + 1);
        }
    }

    /// The tasks whose closures have returned.
    fn tasks_over(&mut self) -> impl Iterator<Item = &mut Task> {
        let tasks = self.tasks[..self.created as usize].iter_mut();
        tasks.filter(|task| task.over_at != usize::MAX)
    }

    /// Moves virtual time on to `time`, if it is not past it: waits whose deadline that reaches may time out.
    pub(super) fn advance_time(&mut self, time: u64) {
        self.clock = self.clock.max(time);
        let mut next = self.timed_waiters.first_from(0);
        while let Some(task) = next {
            if self.tasks[task as usize].deadline <= self.clock && !self.enabled.contains(task) {
                self.enabled.insert(task);
                self.expired.insert(task);
            }
            next = self.timed_waiters.first_from(task + 1);
        }
    }
}
