//! Requests to the strategy for decisions: which alternative of a choice to take.

use super::Runtime;
use super::execution_record::ExecutionRecord;
use super::ready::Ready;
use super::stop::Stop;
use super::tasks::Tasks;
use crate::record::Vars;
use crate::schedule::{Choice, ChoiceKind};
use crate::strategy::{Candidates, ChoicePoint};
use intermezzo_sdk::TaskId;

/// Returns the choice point for the strategy.
#[inline(always)]
fn choice_point<'a>(
    choice: Choice,
    candidates: Candidates<'a>,
    choices: usize,
    ready: &'a Ready,
    record: &'a ExecutionRecord,
    tasks: &'a Tasks,
    vars: &'a Vars,
) -> ChoicePoint<'a> {
    ChoicePoint {
        kind: choice.kind,
        preempts: choice.preempts,
        alternatives: choice.alternatives,
        choices,
        fair: ready.is_fair(),
        order_matters: ready.order_matters(),
        holds: ready.holds(),
        step: record.steps,
        context_switches: record.switches,
        running: TaskId(ready.last()),
        candidates,
        events: record.events.as_slice(),
        trace: &record.trace,
        created: tasks.created(),
        tasks: tasks.with_earlier(),
        vars,
        enabled: ready.enabled(),
        expired: ready.expired(),
    }
}

impl Runtime {
    /// Returns the enabled tasks as candidates: the one that took the last step, if it `goes_on`, and the others.
    #[inline(always)]
    fn enabled_candidates(&self, goes_on: bool, others: u64) -> Candidates<'static> {
        let last = self.ready.last();
        Candidates::Word {
            default: goes_on.then_some(last),
            others,
            after: last,
        }
    }

    /// Does the same as [`tell_only_alternative`](Self::tell_only_alternative) for an enabled task. The candidates are
    /// made here and not passed in memory: their parts would be written one by one and read as a whole, which stalls
    /// the processor.
    #[inline(never)]
    pub(super) fn tell_only_enabled(&mut self, goes_on: bool, others: u64) -> bool {
        self.show_only_alternative(goes_on, self.enabled_candidates(goes_on, others))
    }

    /// Returns the strategy's decision among enabled tasks; `None` if another was prescribed, or none was expected.
    #[inline(never)]
    pub(super) fn decide_among_enabled(
        &mut self,
        goes_on: bool,
        alternatives: u32,
        others: u64,
    ) -> Option<u32> {
        let candidates = self.enabled_candidates(goes_on, others);
        self.ask(ChoiceKind::Task, goes_on, alternatives, candidates)
    }

    /// Shows the strategy a point with only one alternative, because it needs every step. Returns `false` if the
    /// strategy abandons the execution.
    #[inline(never)]
    pub(super) fn tell_only_alternative(&mut self, goes_on: bool, candidates: Candidates<'_>) -> bool {
        self.show_only_alternative(goes_on, candidates)
    }

    #[inline(always)]
    fn show_only_alternative(&mut self, goes_on: bool, candidates: Candidates<'_>) -> bool {
        let choice = Choice {
            kind: ChoiceKind::Task,
            preempts: goes_on,
            alternatives: 1,
            taken: 0,
        };
        let answer = self.decisions.strategy.choose(&choice_point(
            choice,
            candidates,
            self.decisions.decided(),
            &self.ready,
            &self.record,
            &self.tasks,
            &self.objects.vars,
        ));
        answer.is_some() || !self.given_up()
    }

    /// Records a decision among `alternatives` (at least 2): the prescribed one, or the strategy's. Returns `None` if
    /// the execution has departed from what was prescribed; it must then stop.
    pub(super) fn decide(
        &mut self,
        kind: ChoiceKind,
        preempts: bool,
        alternatives: u32,
        candidates: Candidates<'_>,
    ) -> Option<u32> {
        let prescribed = self.decisions.take_prescribed(kind, preempts, alternatives);
        let taken = prescribed.or_else(|| self.ask_out_of_line(kind, preempts, alternatives, candidates));
        if preempts && taken.is_some_and(|taken| taken != 0) {
            self.note_preemption();
        }
        taken
    }

    /// Returns the strategy's decision; `None` if another was prescribed, or none was expected. Not inlined, because it
    /// is large and rarely called.
    #[inline(never)]
    fn ask_out_of_line(
        &mut self,
        kind: ChoiceKind,
        preempts: bool,
        alternatives: u32,
        candidates: Candidates<'_>,
    ) -> Option<u32> {
        self.ask(kind, preempts, alternatives, candidates)
    }

    #[inline(always)]
    fn ask(
        &mut self,
        kind: ChoiceKind,
        preempts: bool,
        alternatives: u32,
        candidates: Candidates<'_>,
    ) -> Option<u32> {
        let choice = Choice {
            kind,
            preempts,
            alternatives,
            taken: 0,
        };
        let taken = self.decisions.ask(&choice_point(
            choice,
            candidates,
            self.decisions.decided(),
            &self.ready,
            &self.record,
            &self.tasks,
            &self.objects.vars,
        ));
        if taken.is_none() && !self.given_up() {
            self.diverged(choice);
        }
        taken
    }

    /// Stops the execution if the strategy, which returned no alternative, abandons it. Returns `true` if it does.
    #[cold]
    fn given_up(&mut self) -> bool {
        // Where choices were prescribed, the strategy was not asked.
        let given_up = self.decisions.is_beyond_prescribed() && self.decisions.strategy.gives_up();
        if given_up {
            self.end.stop = Some(Stop::GivenUp);
        }
        given_up
    }

    /// Stops the execution, because it reached this choice while another was prescribed, or none was expected.
    #[cold]
    fn diverged(&mut self, found: Choice) {
        if self.record.events.differs().is_some() {
            // The first departure is more informative.
            return self.differed();
        }
        let at = self.decisions.decided();
        let expected = self.decisions.plan.choices().get(at).copied();
        self.depart();
        self.end.stop = Some(Stop::Diverged {
            at,
            expected,
            found: Some(found),
        });
    }
}
