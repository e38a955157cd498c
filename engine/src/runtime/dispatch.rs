//! The decision at a schedule point: which task goes next.
//!
//! Alternatives come in a fixed order: first the default continuation (the task that took the last step, while it is
//! enabled and has not yielded), then the others in cyclic order of creation. They are represented by a word of bits,
//! or by a list if the environment may wake a waiting task or fairness holds one back.

use super::stop::Stop;
use super::{BEFORE, Runtime};
use crate::record::{TimesOut, Wake};
use crate::schedule::ChoiceKind;
use crate::strategy::Candidates;
use crate::trace::{Class, Key, Limit, StepEnd};
use intermezzo_sdk::Interests;

/// The next action of the task that called for a decision.
pub(super) enum Next {
    /// Continue.
    Stay,
    /// Switch to the task that is now current.
    Switch,
    /// Leave for good: the execution has ended.
    Stop,
}

/// A step that the previous execution took under the same choices.
#[derive(Clone, Copy)]
pub(super) struct KnownStep {
    pub(super) task: u32,
    /// The number of choices at its end.
    choices_end: usize,
}

impl Runtime {
    /// Decides which task goes next, and makes it current.
    #[inline(always)]
    pub(super) fn dispatch(&mut self) -> Next {
        if let Some(task) = self.ready.pop_must_run_low() {
            return self.hand_over(task);
        }
        if self.ready.slow_path()
            && let Some(task) = self.next_eager()
        {
            return self.hand_over(task);
        }
        let listed = self.ready.slow_path() || self.ready.any_sleeper();
        let enabled = self.ready.enabled().low();
        if !listed && let Some(known) = self.known_next(enabled) {
            self.ready.end_fair_step_low();
            return self.step_known(known);
        }
        let is_over = !self.tasks.any_live();
        if enabled == 0
            && !is_over
            && let Some(next) = self.released_by_outsiders()
        {
            return next;
        }
        if self.record.is_observed() && !self.observe() {
            return Next::Stop;
        }
        if !listed && enabled != 0 {
            self.ready.end_fair_step_low();
            self.pick(enabled)
        } else if is_over {
            self.give_up()
        } else {
            self.dispatch_slow()
        }
    }

    /// Returns the next step, if it is known and nothing comes before it. [`dispatch`](Self::dispatch) handles all
    /// cases, including this one.
    #[inline(always)]
    pub(super) fn known_step(&self) -> Option<KnownStep> {
        let known = self.known_next(self.ready.enabled().low())?;
        let is_simple = !self.ready.is_special() && self.record.steps < self.looks.after;
        is_simple.then_some(known)
    }

    /// Takes the known step of the current task, which waits at no gate, if it took the last step as well and no point
    /// was closed. Otherwise does nothing and returns `false`.
    #[inline(always)]
    pub(super) fn continue_as_known(&mut self, known: KnownStep) -> bool {
        if self.ready.last() != known.task || self.decisions.any_closed() {
            return false;
        }
        // This is not a preemption, because the task continues.
        self.decisions.repeat(known.choices_end);
        self.record.steps += 1;
        true
    }

    /// Notes that the current task performs its operation now, and notifies the monitors.
    #[inline(always)]
    pub(super) fn begin_operation(&mut self) {
        #[cfg(feature = "unmodified")]
        (self.in_operation = true);
        if self.monitors.listening.intersects(BEFORE) {
            self.tell_schedule_point();
        }
    }

    /// Returns the next step of the previous execution, if all steps so far are the same as there: then the other
    /// enabled tasks need not be computed. `None` also if its task cannot continue here, so that the departure is
    /// noticed.
    #[inline(always)]
    fn known_next(&self, enabled: u64) -> Option<KnownStep> {
        let known = self.record.trace.steps().get(self.record.steps as usize + 1)?;
        let (task, choices_end) = (known.task, known.choices_end);
        (task < 64 && enabled & 1 << task != 0).then_some(KnownStep { task, choices_end })
    }

    /// Returns the next task that must run before anything is decided, among all tasks.
    #[inline(never)]
    fn next_eager(&mut self) -> Option<u32> {
        if self.constraints.spins.busy() {
            self.look_at_changes();
        }
        if self.constraints.breakpoints.is_some() && !self.ready.any_must_run() {
            self.look_at_breakpoints();
        }
        if self.constraints.symmetric.any() {
            self.begin_at_rest();
        }
        self.ready.pop_must_run()
    }

    /// Makes the decision if more than the enabled tasks must be considered, or if there are many tasks.
    #[inline(never)]
    pub(super) fn dispatch_slow(&mut self) -> Next {
        self.world.let_time_pass();
        let mut time_passed = false;
        if std::mem::take(&mut self.record.released) {
            self.record.forced_by_idle = self.record.is_next_observed();
        }
        if self.ready.enabled().is_empty() {
            if self.ready.timed_waiters().is_empty() || self.only_outside_goes_on() {
                return self.stuck();
            }
            self.world.pass_time(&mut self.ready, &mut self.tasks);
            time_passed = true;
            // Only for a step that the trace does not have yet: `observe` resets it.
            self.record.forced_by_idle = self.record.is_next_observed();
        }
        if self.ready.has_yielded() || self.ready.is_fair() {
            let counts = self.ready.yields() && !self.constraints.spins.take_void_yield();
            let step = self.record.steps as u32;
            self.ready.end_fair_step(counts, step);
        }
        self.pick_listed(time_passed)
    }

    /// Chooses among the enabled tasks, given as a word.
    #[inline(always)]
    fn pick(&mut self, enabled: u64) -> Next {
        let last = self.ready.last();
        let others = enabled & !(1 << last);
        let goes_on = others != enabled;
        if others & others.wrapping_sub(1 - u64::from(goes_on)) == 0 {
            // There is one task: `last`, or the only other one.
            if self.record.must_ask() && !self.tell_only_enabled(goes_on, others) {
                return Next::Stop;
            }
            return self.step(if goes_on { last } else { others.trailing_zeros() });
        }
        let mut alternatives = u32::from(goes_on);
        let mut rest = others;
        while rest != 0 {
            rest &= rest - 1;
            alternatives += 1;
        }
        let taken = match self
            .decisions
            .take_prescribed(ChoiceKind::Task, goes_on, alternatives)
        {
            Some(taken) => taken,
            None => match self.decide_among_enabled(goes_on, alternatives, others) {
                Some(taken) => taken,
                None => return Next::Stop,
            },
        };
        let Some(mut skip) = taken.checked_sub(u32::from(goes_on)) else {
            return self.step(last);
        };
        if goes_on {
            self.note_preemption();
        }
        let mut rest = others.rotate_right(last + 1);
        while skip > 0 {
            rest &= rest - 1;
            skip -= 1;
        }
        self.step((rest.trailing_zeros() + last + 1) % 64)
    }

    /// Chooses among tasks that have to be listed, because the environment may wake some, or some are held back.
    /// `time_passed` is `true` if no task could continue before time passed.
    #[inline(never)]
    fn pick_listed(&mut self, time_passed: bool) -> Next {
        self.find_excused();
        if self.monitors.listening.intersects(Interests::ENABLED_SETS) {
            self.ready.find_held_back();
        }
        let mut listed = std::mem::take(&mut self.decisions.candidates);
        listed.clear();
        let goes_on = self.list(&mut listed);
        self.note_capped();
        if self.constraints.spins.in_last_rounds() {
            let first = listed.iter().copied().find(|&task| self.ready.is_enabled(task));
            self.decisions.candidates = listed;
            return self.wake(first.expect("fairness never holds back every enabled task"));
        }
        self.ready.note_held_back();
        // Time has ended the wait of the task that ran last, so a switch is a preemption. If another task had taken the
        // last step, it would not be.
        self.ready
            .note_order_matters(time_passed && goes_on && listed.len() > 1);
        self.note_waits_for_time();
        if self.ready.find_holds() {
            self.decisions.journal.list_all();
        }
        let next = match listed.len() {
            0 => unreachable!("fairness never holds back every enabled task"),
            1 => {
                if self.record.must_ask() && !self.tell_only_alternative(goes_on, Candidates::List(&listed)) {
                    Next::Stop
                } else {
                    self.wake(listed[0])
                }
            }
            alternatives if goes_on && self.constraints.scoped && self.closes(alternatives as u32) => {
                self.wake(listed[0])
            }
            alternatives => {
                match self.decide(
                    ChoiceKind::Task,
                    goes_on,
                    alternatives as u32,
                    Candidates::List(&listed),
                ) {
                    Some(taken) => self.wake(listed[taken as usize]),
                    None => Next::Stop,
                }
            }
        };
        self.ready.forget_order_matters();
        self.ready.forget_holds();
        self.decisions.candidates = listed;
        next
    }

    /// Lists the alternatives: enabled tasks, and tasks whose wait may time out early. Returns `true` if the first is
    /// the default continuation.
    fn list(&self, listed: &mut Vec<u32>) -> bool {
        self.ready.list(listed, &self.tasks);
        if let Some(breakpoints) = &self.constraints.breakpoints {
            breakpoints.keep_to(&self.ready, &self.tasks, listed);
        }
        self.ready.put_default_first(listed)
    }

    /// Notes waits that could have ended here if the environment's bounds were larger.
    fn note_capped(&mut self) {
        self.world.capped.timeouts |= self.ready.is_capped(&self.tasks);
    }

    /// Notes that the wait of a task, whose gate is open as it begins, could have ended early. In another order of the steps it
    /// waits, and a reduction need not run that order.
    pub(super) fn note_capped_if_earlier(&mut self, task: u32) {
        self.world.capped.timeouts |=
            self.tasks[task].times_out == TimesOut::Capped && self.tasks.created() > 1;
    }

    /// Lets a task go. If no gate is open for it, its wait times out.
    fn wake(&mut self, task: u32) -> Next {
        if self.ready.is_excused(task) {
            self.sleep_on(task);
        } else {
            self.ready.go_although_held_back(task);
        }
        let expired = self.ready.expired().contains(task);
        if self.ready.is_enabled(task) && !expired {
            return self.step(task);
        }
        let is_early = self.tasks[task].times_out == TimesOut::Early;
        if expired {
            self.world.let_time_pass();
        } else {
            self.world.take_time_back(&mut self.ready, &mut self.tasks);
            let deadline = self.tasks[task].deadline;
            self.world.advance_time(deadline, &mut self.ready, &self.tasks);
        }
        self.ready.enable(task);
        let next = self.step(task);
        self.record.waited = None;
        if !expired {
            self.record.forced_by_idle = false;
            self.add_to_footprint(Key::CLOCK, Class::Write);
        } else if self.record.forced_by_idle {
            // Time passed because no other task could continue. That does not matter if the wait may time out early in
            // any case.
            self.record.forced_by_idle = !is_early && self.record.is_observed();
            self.add_to_footprint(Key::CLOCK, Class::Write);
        } else {
            self.add_to_footprint(Key::CLOCK, Class::Read);
        }
        self.tasks[task].wake = Wake::TimedOut;
        next
    }

    /// Takes a step of the task that the trace already knows.
    #[inline(always)]
    pub(super) fn step_known(&mut self, KnownStep { task, choices_end }: KnownStep) -> Next {
        if self.decisions.repeat(choices_end) {
            self.note_preemption();
        }
        self.record.steps += 1;
        if self.record.steps > self.looks.after
            && let Some(end) = self.look_at_limits()
        {
            return end;
        }
        self.record.switches += u64::from(task != self.ready.last());
        self.ready.take_step(task);
        self.hand_over(task)
    }

    /// Takes the next visible step of the task.
    #[inline(always)]
    fn step(&mut self, task: u32) -> Next {
        self.record.steps += 1;
        if self.record.steps > self.looks.after
            && let Some(end) = self.look_at_limits()
        {
            return end;
        }
        self.record.switches += u64::from(task != self.ready.last());
        self.ready.take_step(task);
        if self.record.is_observed() {
            let pending = &self.tasks[task].pending;
            // A wait that the environment may end did not need the gate.
            self.record.waited =
                (pending.gates != 0 && !pending.may_time_out).then_some((pending.gate_var, pending.gates));
            self.record.timed = pending.may_time_out.then(|| Limit::of(&self.tasks[task]));
        }
        if self.ready.slow_path() {
            if let Some(breakpoints) = &mut self.constraints.breakpoints {
                breakpoints.step(task);
            }
            if self.constraints.symmetric.any() {
                self.take_symmetric_step(task);
            }
            let is_needed = self.constraints.spins.busy()
                || self.tasks.created() > 64
                || self.constraints.scoped
                || self.constraints.symmetric.any();
            self.ready.leave_slow_path(is_needed);
        }
        self.hand_over(task)
    }

    /// Makes the task run next.
    #[inline(always)]
    pub(super) fn hand_over(&mut self, task: u32) -> Next {
        let entry = &mut self.tasks[task];
        if entry.pending.gates != 0 {
            entry.wake = Wake::Ready;
            self.objects.vars[entry.pending.gate_var].watchers.remove(task);
            self.ready.stop_waiting(task);
        }
        if self.tasks.hand_over(task) {
            Next::Switch
        } else {
            Next::Stay
        }
    }

    /// Adds the step that has ended to the trace.
    ///
    /// Returns `false` if the execution differs from the previous one under the same choices; it must then stop.
    #[inline(never)]
    pub(super) fn observe(&mut self) -> bool {
        if self.constraints.spins.in_last_rounds() {
            return true;
        }
        let begin = self.record.trace.steps().last().map_or(0, |step| step.events_end);
        let events = self.record.events.as_slice();
        if self.record.events.differs().is_some() || events.len() < begin {
            self.differed();
            return false;
        }
        if let Some(limit) = self.record.timed {
            self.record.trace.end_timed_wait(limit);
            self.record.timed = None;
        }
        self.record.trace.note_time(self.world.clock());
        let end = || StepEnd {
            task: self.ready.last(),
            events: &events[begin..],
            events_end: events.len(),
            choices: self.decisions.decided(),
            extra_footprint: &self.record.extra_footprint,
            waited: self.record.waited,
            forced_by_idle: self.record.forced_by_idle,
            is_last: !self.tasks.any_live(),
            counts: self.world.environment.arc_counts,
            vars: &self.objects.vars,
            tasks: self.tasks.with_earlier(),
        };
        let is_plain = |(event, others)| {
            self.record
                .trace
                .is_plain(self.ready.last(), event, others, !self.tasks.any_live())
        };
        if self.record.extra_footprint.is_empty()
            && !self.record.forced_by_idle
            && events[begin..].split_first().is_some_and(is_plain)
        {
            self.record.trace.add_plain(&end());
        } else {
            self.record.trace.add(&end());
        }
        self.record.extra_footprint.clear();
        (self.record.waited, self.record.forced_by_idle) = (None, false);
        while let Some((task, first_event)) = self.constraints.spins.next_void_round() {
            self.record.events.elide(task, first_event);
            self.record
                .trace
                .elide(task, first_event, &self.objects.vars, self.tasks.with_earlier());
        }
        true
    }

    /// Adds an access to the current step, in addition to the accesses of its events.
    pub(super) fn add_to_footprint(&mut self, key: Key, class: Class) {
        let task = self.tasks.current();
        self.record.add_to_footprint(task, key, class);
        self.memory.forget_past(task, self.record.events.as_slice());
    }

    /// Decides what happens when no task can continue.
    fn stuck(&mut self) -> Next {
        if self.constraints.spins.any_parked() {
            let first = self.release_parked();
            return self.hand_over(first);
        }
        self.note_capped();
        self.give_up()
    }

    /// Ends the execution.
    fn give_up(&mut self) -> Next {
        self.end.stop = Some(if !self.tasks.any_live() {
            Stop::Complete
        } else {
            Stop::Deadlock
        });
        Next::Stop
    }

    /// Enables or disables the watchers of a variable whose gates have changed.
    #[inline(never)]
    pub(super) fn gates_changed(&mut self, var: u32) {
        let open = self.objects.vars[var].gates;
        let mut next = self.objects.vars[var].watchers.first_from(0);
        while let Some(task) = next {
            let entry = &mut self.tasks[task];
            if entry.pending.gates & open != 0 && self.ready.is_waiting(task) {
                entry.gate_opened = self.record.steps as u32;
            }
            if entry.pending.gates & open == 0 {
                self.ready.gate_closed(task, entry.deadline, self.world.clock());
                if entry.pending.may_time_out {
                    // The gate may have been open when the task reached it.
                    self.ready.wait_until(task, entry.deadline, self.world.clock());
                }
            } else if entry.pending.visible {
                self.ready.gate_opened(task);
            } else {
                self.objects.vars[var].watchers.remove(task);
                self.ready.gate_opened_to_run(task);
            }
            next = self.objects.vars[var].watchers.first_from(task + 1);
        }
    }

    /// Notes that the task that took the last step is preempted.
    #[inline(always)]
    pub(super) fn note_preemption(&mut self) {
        self.record.events.preempt(self.ready.last());
        if self.monitors.listening.intersects(Interests::ATTRIBUTES) {
            self.tell_status(self.ready.last(), "preempted");
        }
    }
}
