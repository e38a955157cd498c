//! The tasks that can take the next step.
//!
//! A task whose next operation is possible is *enabled*. A task that waits is not, unless its deadline has passed. A
//! task whose wait without a schedule point is over *must run*: it continues before anything is decided, and is not
//! among the enabled tasks until it announces its next operation.

use super::fair::Fairness;
use super::tasks::Tasks;
use crate::record::{TaskSet, TimesOut};
use crate::strategy::Hold;

/// The tasks that can take the next step, and those that wait.
pub(super) struct Ready {
    /// The tasks whose next operation is possible.
    enabled: TaskSet,
    /// The tasks to run up to their next visible operation before anything is decided.
    must_run: TaskSet,
    /// The waiting tasks that a time-out may wake.
    timed_waiters: TaskSet,
    /// The tasks of `timed_waiters` whose deadline has passed: they are enabled, whatever their gates.
    expired: TaskSet,
    /// The task that took the last visible step: continuing with it is the default.
    last: u32,
    /// `true` if it has yielded since.
    yielded: bool,
    /// `true` if it only yields because a wait was over as soon as it began. For fairness, that is not a yield.
    wait_over: bool,
    /// `true` if a decision may need more than one word of tasks: after a yield, if fairness may hold a task back, with
    /// more than 64 tasks, or if points may be closed.
    slow_path: bool,
    /// `true` if fairness held back a task that could have continued.
    unfair_left_out: bool,
    /// `true` if a task has waited with a limit.
    timed: bool,
    /// `true` if the order of steps that commute may matter to this decision: see [`Ready::order_matters`].
    order_matters: bool,
    /// `true` if fairness holds back a task that could continue.
    holds_back: bool,
    /// The enabled tasks that fairness held back at the last decision, if a monitor needs them.
    held_back: TaskSet,
    /// The task that may go at this decision although fairness holds it back, with `true` if no other enabled task may.
    excused: Option<(u32, bool)>,
    /// `true` if tasks that fairness holds back are alternatives, too.
    lists_all: bool,
    holds: Vec<Hold>,
    fair: Fairness,
}

impl Ready {
    /// Returns the initial state. Every `fair_yields`-th yield of a task counts for fairness.
    pub(super) fn new(fair_yields: u32) -> Ready {
        Ready {
            enabled: TaskSet::default(),
            must_run: TaskSet::default(),
            timed_waiters: TaskSet::default(),
            expired: TaskSet::default(),
            last: 0,
            yielded: false,
            wait_over: false,
            slow_path: false,
            unfair_left_out: false,
            timed: false,
            order_matters: false,
            holds_back: false,
            held_back: TaskSet::default(),
            excused: None,
            lists_all: false,
            holds: Vec::new(),
            fair: Fairness::new(fair_yields),
        }
    }

    /// Resets the state for a new execution, in which points may be closed if it `is_scoped`.
    pub(super) fn begin(&mut self, is_scoped: bool) {
        self.enabled.clear();
        self.must_run.clear();
        self.timed_waiters.clear();
        self.expired.clear();
        self.last = 0;
        (self.yielded, self.wait_over) = (false, false);
        self.slow_path = is_scoped;
        (self.unfair_left_out, self.timed) = (false, false);
        (self.order_matters, self.holds_back) = (false, false);
        self.held_back.clear();
        self.excused = None;
        self.fair.reset();
    }

    /// Returns the tasks whose next operation is possible.
    #[inline(always)]
    pub(super) fn enabled(&self) -> &TaskSet {
        &self.enabled
    }

    /// Returns the tasks that are enabled because their deadline has passed.
    #[inline(always)]
    pub(super) fn expired(&self) -> &TaskSet {
        &self.expired
    }

    /// Returns the waiting tasks that a time-out may wake.
    pub(super) fn timed_waiters(&self) -> &TaskSet {
        &self.timed_waiters
    }

    /// Returns `true` if one of the first 64 tasks waits and a time-out may wake it.
    #[inline(always)]
    pub(super) fn any_sleeper(&self) -> bool {
        self.timed_waiters.low() != 0
    }

    /// Returns `true` if the task's next operation is possible.
    #[inline(always)]
    pub(super) fn is_enabled(&self, task: u32) -> bool {
        self.enabled.contains(task)
    }

    /// Makes the task's next operation possible.
    #[inline(always)]
    pub(super) fn enable(&mut self, task: u32) {
        self.enabled.insert(task);
    }

    /// Makes the task's next operation impossible: it waits, or has ended.
    #[inline(always)]
    pub(super) fn disable(&mut self, task: u32) {
        self.enabled.remove(task);
    }

    /// Makes the task take no step until it is enabled.
    pub(super) fn hold(&mut self, task: u32) {
        self.enabled.remove(task);
        self.must_run.remove(task);
        self.stop_waiting(task);
    }

    /// Returns `true` if the gate is closed at which the task waits.
    #[inline(always)]
    pub(super) fn is_waiting(&self, task: u32) -> bool {
        !self.enabled.contains(task) || self.expired.contains(task)
    }

    /// Lets the waiting task time out from `deadline` on; `clock` is the current time.
    #[inline(always)]
    pub(super) fn wait_until(&mut self, task: u32, deadline: u64, clock: u64) {
        self.timed_waiters.insert(task);
        // The next decision reads it: see `note_waits_for_time`.
        self.slow_path |= !self.timed;
        self.timed = true;
        if deadline <= clock {
            self.expire(task);
        }
    }

    /// Notes that the deadline of a waiting task has passed.
    #[inline(always)]
    fn expire(&mut self, task: u32) {
        self.expired.insert(task);
        self.enabled.insert(task);
    }

    /// Notes that no time-out may wake the task any more.
    #[inline(always)]
    pub(super) fn stop_waiting(&mut self, task: u32) {
        self.timed_waiters.remove(task);
        self.expired.remove(task);
    }

    /// Notes that the gate opened at which the task waits before a visible operation.
    #[inline(always)]
    pub(super) fn gate_opened(&mut self, task: u32) {
        self.expired.remove(task);
        self.enabled.insert(task);
    }

    /// Notes that the gate opened at which the task waits without a schedule point. The task continues at once, so it
    /// no longer waits: nothing may time it out, or enable it twice.
    #[inline(always)]
    pub(super) fn gate_opened_to_run(&mut self, task: u32) {
        self.must_run.insert(task);
        self.enabled.remove(task);
        self.stop_waiting(task);
    }

    /// Notes that the gate is closed at which the task waits. `deadline` is the task's, in case it may time out;
    /// `clock` is the current time.
    #[inline(always)]
    pub(super) fn gate_closed(&mut self, task: u32, deadline: u64, clock: u64) {
        if self.timed_waiters.contains(task) && deadline <= clock {
            self.expire(task);
        } else {
            self.expired.remove(task);
            self.enabled.remove(task);
        }
    }

    /// Returns the first deadline of a task that cannot continue before. A wait that is over counts no more, even if a
    /// breakpoint holds its task back.
    pub(super) fn first_deadline(&self, tasks: &Tasks) -> Option<u64> {
        let waiters = self
            .timed_waiters
            .iter()
            .filter(|&task| !self.enabled.contains(task));
        waiters.map(|task| tasks[task].deadline).min()
    }

    /// Lets the waiting tasks time out whose deadline has passed at this time.
    pub(super) fn expire_until(&mut self, clock: u64, tasks: &Tasks) {
        let mut next = self.timed_waiters.first_from(0);
        while let Some(task) = next {
            if tasks[task].deadline <= clock && !self.enabled.contains(task) {
                self.expire(task);
            }
            next = self.timed_waiters.first_from(task + 1);
        }
    }

    /// Disables the expired tasks whose deadline has not passed at this time.
    pub(super) fn unexpire_after(&mut self, clock: u64, tasks: &Tasks) {
        let mut next = self.expired.first_from(0);
        while let Some(task) = next {
            if tasks[task].deadline > clock {
                self.expired.remove(task);
                self.enabled.remove(task);
            }
            next = self.expired.first_from(task + 1);
        }
    }

    /// Lets the task run before anything is decided.
    #[inline(always)]
    pub(super) fn run_first(&mut self, task: u32) {
        self.must_run.insert(task);
    }

    /// Returns `true` if a task must run before anything is decided.
    pub(super) fn any_must_run(&self) -> bool {
        !self.must_run.is_empty()
    }

    /// Removes and returns the first task that must run before anything is decided.
    pub(super) fn pop_must_run(&mut self) -> Option<u32> {
        self.must_run.pop_first()
    }

    /// Does the same among the first 64 tasks.
    #[inline(always)]
    pub(super) fn pop_must_run_low(&mut self) -> Option<u32> {
        self.must_run.pop_low()
    }

    /// Returns `true` if the next step needs more than a choice among the first 64 enabled tasks: some task must run
    /// first, some may time out, the slow path is due, or fairness has to note the step.
    #[inline(always)]
    pub(super) fn is_special(&self) -> bool {
        self.slow_path || self.fair.active() || (self.must_run.low() | self.timed_waiters.low()) != 0
    }

    /// Forgets the tasks that must run.
    pub(super) fn clear_must_run(&mut self) {
        self.must_run.clear();
    }

    /// Returns the task that took the last visible step.
    #[inline(always)]
    pub(super) fn last(&self) -> u32 {
        self.last
    }

    /// Notes that the task takes the next visible step.
    #[inline(always)]
    pub(super) fn take_step(&mut self, task: u32) {
        self.last = task;
    }

    /// Notes that the current task yields: if it took the last step, the default is to continue with another.
    #[inline(always)]
    pub(super) fn give_way(&mut self, current: u32) {
        if self.last == current {
            (self.yielded, self.slow_path) = (true, true);
        }
    }

    /// Notes that a wait of the current task is over as soon as it began: another task may continue instead.
    pub(super) fn wait_over(&mut self, current: u32) {
        self.wait_over = !self.yielded;
        self.give_way(current);
    }

    /// Takes back the task's yield.
    pub(super) fn undo_yield(&mut self, task: u32) {
        if self.last == task {
            self.yielded = false;
        }
    }

    /// Returns `true` if the task that took the last step has yielded since.
    pub(super) fn has_yielded(&self) -> bool {
        self.yielded
    }

    /// Returns `true` if it has done so by a yield that counts for fairness.
    pub(super) fn yields(&self) -> bool {
        self.yielded && !self.wait_over
    }

    /// Returns `true` if the next decision takes the slow path.
    #[inline(always)]
    pub(super) fn slow_path(&self) -> bool {
        self.slow_path
    }

    /// Makes the next decision take the slow path.
    #[inline(always)]
    pub(super) fn take_slow_path(&mut self) {
        self.slow_path = true;
    }

    /// Notes that a step was decided on the slow path. The next decision takes it too if fairness may hold a task back,
    /// or if `is_needed`.
    #[inline(always)]
    pub(super) fn leave_slow_path(&mut self, is_needed: bool) {
        (self.yielded, self.wait_over) = (false, false);
        self.slow_path = self.fair.restrains() || is_needed;
    }

    /// Returns `true` if any task has yielded, so that fairness is active.
    #[inline(always)]
    pub(super) fn is_fair(&self) -> bool {
        self.fair.active()
    }

    /// Ends the step of this number for fairness; `yielded` is `true` if it was a yield that counts.
    pub(super) fn end_fair_step(&mut self, yielded: bool, step: u32) {
        self.fair.step(self.last, &self.enabled, yielded.then_some(step));
    }

    /// From now on, tasks that fairness holds back are alternatives, too; or are not.
    pub(super) fn list_all(&mut self, lists_all: bool) {
        self.lists_all = lists_all;
    }

    /// Returns `true` if tasks that fairness holds back are alternatives, too.
    pub(super) fn lists_all(&self) -> bool {
        self.lists_all
    }

    /// Finds the tasks that fairness holds back at this decision, if they count as alternatives. Returns `true` if
    /// there are any.
    pub(super) fn find_holds(&mut self) -> bool {
        if !self.lists_all || !self.holds_back {
            return false;
        }
        let mut holds = std::mem::take(&mut self.holds);
        for task in self.enabled.iter().filter(|&task| !self.may_go(task)) {
            self.fair.add_holds(task, &self.enabled, &mut holds);
        }
        self.holds = holds;
        true
    }

    /// Returns the alternatives that fairness holds back at this decision.
    pub(super) fn holds(&self) -> &[Hold] {
        &self.holds
    }

    /// Notes that the decision has been made.
    pub(super) fn forget_holds(&mut self) {
        self.holds.clear();
    }

    /// Notes that a task goes, which fairness no longer holds back.
    pub(super) fn go_although_held_back(&mut self, task: u32) {
        if self.lists_all && !self.may_go(task) {
            self.fair.let_go(task);
        }
    }

    /// Ends a step without a yield for fairness. The decision that follows must not take the slow path.
    #[inline(always)]
    pub(super) fn end_fair_step_low(&mut self) {
        if self.fair.active() {
            self.fair.step_low(self.last, self.enabled.low());
        }
    }

    /// Returns `true` if fairness may hold a task back.
    pub(super) fn restrains(&self) -> bool {
        self.fair.restrains()
    }

    /// Lets a task that fairness holds back go at this decision, as the only task if the flag is `true`. `None` excuses
    /// no task.
    pub(super) fn excuse(&mut self, excused: Option<(u32, bool)>) {
        self.excused = excused;
    }

    /// Returns `true` if the enabled task may go at this decision although fairness holds it back.
    #[inline(always)]
    pub(super) fn is_excused(&self, task: u32) -> bool {
        self.excused.is_some_and(|(excused, _)| excused == task)
    }

    /// Returns `true` if the enabled task may go at this decision.
    pub(super) fn may_go(&self, task: u32) -> bool {
        match self.excused {
            Some((excused, alone)) if alone || excused == task => excused == task,
            _ => !self.fair.active() || self.fair.may_go(task, &self.enabled),
        }
    }

    /// Notes if fairness holds back a task that could continue, even if that task is excused.
    pub(super) fn note_held_back(&mut self) {
        let may_go = |task| self.fair.may_go(task, &self.enabled);
        self.holds_back = self.fair.active() && !self.enabled.iter().all(may_go);
        self.unfair_left_out |= self.holds_back;
    }

    /// Notes if the order of steps that commute matters to the decision that is being made: because fairness holds back
    /// a task, or because of time.
    pub(super) fn note_order_matters(&mut self, because_of_time: bool) {
        self.order_matters = because_of_time || self.holds_back;
    }

    /// Notes that the decision has been made.
    pub(super) fn forget_order_matters(&mut self) {
        self.order_matters = false;
    }

    /// Returns `true` if the order of steps that commute may matter to the decision that is being made: see
    /// [`ChoicePoint::order_matters`](crate::strategy::ChoicePoint::order_matters).
    #[inline(always)]
    pub(super) fn order_matters(&self) -> bool {
        self.order_matters
    }

    /// Returns `true` if a task has waited with a limit.
    pub(super) fn is_timed(&self) -> bool {
        self.timed
    }

    /// Finds the enabled tasks that fairness holds back at this decision.
    pub(super) fn find_held_back(&mut self) {
        let mut held_back = std::mem::take(&mut self.held_back);
        held_back.copy_from(&self.enabled);
        for task in self.enabled.iter().filter(|&task| self.may_go(task)) {
            held_back.remove(task);
        }
        self.held_back = held_back;
    }

    /// Returns the enabled tasks that fairness held back at the last decision, if they were looked for and not
    /// forgotten.
    pub(super) fn held_back(&self) -> &TaskSet {
        &self.held_back
    }

    /// Forgets them: no decision is about the next step yet.
    pub(super) fn forget_held_back(&mut self) {
        self.held_back.clear();
    }

    /// Returns `true` if fairness excluded a schedule.
    pub(super) fn unfair_left_out(&self) -> bool {
        self.unfair_left_out
    }

    /// Notes that fairness excludes a schedule.
    pub(super) fn leave_out_unfair(&mut self) {
        self.unfair_left_out = true;
    }

    /// Lists the alternatives in cyclic order after the last task: enabled tasks, and tasks whose wait may time out
    /// early. Tasks that fairness holds back are among them only if `lists_all`.
    pub(super) fn list(&self, listed: &mut Vec<u32>, tasks: &Tasks) {
        let (last, created) = (self.last, tasks.created());
        let timed_waiters = !self.timed_waiters.is_empty();
        let may_go = |&task: &u32| {
            if self.enabled.contains(task) {
                self.lists_all || self.may_go(task)
            } else {
                self.timed_waiters.contains(task) && tasks[task].times_out == TimesOut::Early
            }
        };
        // The cyclic order after `last`: those beyond it, then those up to it.
        if timed_waiters {
            listed.extend((last + 1..created).chain(0..last + 1).filter(may_go));
        } else {
            let up_to_last = self.enabled.iter().take_while(|&task| task <= last);
            let beyond = self.enabled.iter_from(last + 1);
            listed.extend(beyond.chain(up_to_last).filter(may_go));
        }
    }

    /// Moves the default continuation from the end of the list to its beginning, if it is there. Returns `true` if it
    /// is.
    pub(super) fn put_default_first(&self, listed: &mut [u32]) -> bool {
        let goes_on = !self.yielded && self.is_enabled(self.last) && listed.last() == Some(&self.last);
        if goes_on {
            listed.rotate_right(1);
        }
        goes_on
    }

    /// Returns `true` if a task waits that could time out early if the environment's bound were larger.
    pub(super) fn is_capped(&self, tasks: &Tasks) -> bool {
        let is_capped = |task| tasks[task].times_out == TimesOut::Capped && !self.enabled.contains(task);
        !self.timed_waiters.is_empty() && self.timed_waiters.iter().any(is_capped)
    }
}
