//! The environment of an execution: its bounds, and virtual time.

use super::Capped;
use super::at_rest::AT_REST;
use super::clock::Looks;
use super::ready::Ready;
use super::real_time::RealTime;
use super::sleepers::Sleepers;
use super::tasks::Tasks;
use crate::environment::Environment;
use crate::record::Task;
use std::time::Duration;

/// The environment of an execution, and its actions so far.
pub(super) struct World {
    pub(super) environment: Environment,
    /// The number of early time-outs that late answers may still take in this execution. All other bounds of the
    /// environment are for each task.
    pub(super) late_timeouts_left: u32,
    /// Virtual time in nanoseconds since the execution began.
    clock: u64,
    /// The time before `pass_time` advanced it for the step that is being decided; `None` if it did not.
    time_passes: Option<u64>,
    /// The reads of the clock.
    pub(super) looks: Looks,
    /// The sleeps of the tasks, and their last reads of the clock.
    pub(super) sleepers: Sleepers,
    /// The actions that the environment's bounds prevented.
    pub(super) capped: Capped,
    real_time: RealTime,
}

impl World {
    /// Returns the environment of a worker's executions, in which a task may do nothing visible for as long as `hang`.
    pub(super) fn new(environment: Environment, hang: Option<Duration>) -> World {
        World {
            environment,
            late_timeouts_left: environment.timeouts,
            clock: 0,
            time_passes: None,
            looks: Looks::default(),
            sleepers: Sleepers::default(),
            capped: Capped::default(),
            real_time: RealTime::new(hang),
        }
    }

    /// Resets the state for a new execution, with this number.
    pub(super) fn begin(&mut self, execution: u64) {
        self.real_time.begin(execution);
        self.late_timeouts_left = self.environment.timeouts;
        self.clock = 0;
        self.looks.clear();
        self.sleepers.clear();
        self.capped = Capped::default();
    }

    /// Returns virtual time in nanoseconds since the execution began.
    #[inline(always)]
    pub(super) fn clock(&self) -> u64 {
        self.clock
    }

    /// Advances virtual time to `time`, unless it is already later. Waits whose deadline is reached may time out.
    pub(super) fn advance_time(&mut self, time: u64, ready: &mut Ready, tasks: &Tasks) {
        self.real_time.pass(time.saturating_sub(self.clock));
        self.clock = self.clock.max(time);
        ready.expire_until(self.clock, tasks);
    }

    /// Advances virtual time by `tick` nanoseconds, because a task reads the clock, and real time by `real` nanoseconds
    /// if that may matter.
    pub(super) fn advance_time_by_look(&mut self, tick: u64, real: u64, ready: &mut Ready, tasks: &Tasks) {
        self.real_time.pass(real);
        self.clock = self.clock.saturating_add(tick);
        ready.expire_until(self.clock, tasks);
    }

    /// Advances time to the first deadline, because no task can do anything else. So tasks whose closures have returned
    /// count as ended, unless the environment lets time pass early. If no wait has a time limit, the waits until all
    /// tasks are at rest end, and such tasks have ended in any case.
    pub(super) fn pass_time(&mut self, ready: &mut Ready, tasks: &mut Tasks) {
        if ready.first_deadline(tasks) == Some(AT_REST) {
            over(tasks).for_each(|task| task.found_ended = true);
            return ready.expire_until(AT_REST, tasks);
        }
        self.time_passes = Some(self.clock);
        for task in over(tasks) {
            task.passed_since_over += 1;
        }
        if let Some(first) = ready.first_deadline(tasks) {
            self.advance_time(first, ready, tasks);
        }
    }

    /// Makes the last advance of time final.
    pub(super) fn let_time_pass(&mut self) {
        self.time_passes = None;
    }

    /// Takes back the last advance of time unless it is final: a task woke for another reason, so the time need not
    /// have passed.
    pub(super) fn take_time_back(&mut self, ready: &mut Ready, tasks: &mut Tasks) {
        let Some(then) = self.time_passes.take() else {
            return;
        };
        for task in over(tasks) {
            task.passed_since_over -= 1;
        }
        self.clock = then;
        ready.unexpire_after(then, tasks);
    }
}

/// Returns the tasks whose closures have returned.
fn over(tasks: &mut Tasks) -> impl Iterator<Item = &mut Task> {
    let tasks = tasks.as_mut_slice().iter_mut();
    tasks.filter(|task| task.over_at.is_some())
}
