//! The decisions of an execution, and the strategy that makes them.

use super::alike::Alike;
use super::journal::Journal;
use crate::schedule::{Choice, ChoiceKind};
use crate::strategy::{ChoicePoint, Plan, Strategy};

/// The decisions of an execution, and the strategy that makes them.
pub(super) struct Decisions {
    /// The decisions of this execution: the first `prescribed` of them were prescribed by the strategy, and `decided`
    /// were made so far.
    pub(super) plan: Plan,
    prescribed: usize,
    decided: usize,
    /// The prescribed choices, once the execution has departed from them.
    departed: Option<Vec<Choice>>,
    /// The evidence of the reason, for the report of a departure.
    pub(super) alike: Alike,
    /// The points closed in this execution, and the number of those about which the strategy was not asked.
    closed: Vec<Closed>,
    not_asked: usize,
    /// The alternatives of a decision, if they are not simply the enabled tasks; kept to reuse its memory.
    pub(super) candidates: Vec<u32>,
    pub(super) strategy: Box<dyn Strategy>,
    /// `true` if the strategy is asked even if there is only one alternative.
    pub(super) asks_always: bool,
    /// `true` if the strategy wants points to be closed.
    pub(super) heeds_scope: bool,
    pub(super) journal: Journal,
}

/// A decision at which the strategy is not asked, or is offered only some of the alternatives that a schedule contains.
struct Closed {
    /// Its index among the decisions, or the next decision's index if the strategy was not asked.
    at: usize,
    is_asked: bool,
    choice: Choice,
}

impl Decisions {
    /// Returns the number of prescribed choices of the execution, and how many of them, from the first, the previous
    /// execution had as well.
    pub(super) fn prefix(&self) -> (u64, u64) {
        let repeated = self.plan.kept().min(self.prescribed);
        (self.prescribed as u64, repeated as u64)
    }

    /// Returns the choices that were prescribed for this execution, even if it departed from them.
    pub(super) fn prescribed(&self) -> &[Choice] {
        match &self.departed {
            Some(prescribed) => prescribed,
            None => self.plan.choices().get(..self.prescribed).unwrap_or_default(),
        }
    }

    /// Forgets the choices that were prescribed for the last execution.
    pub(super) fn forget_prescribed(&mut self) {
        (self.prescribed, self.departed) = (0, None);
    }

    pub(super) fn new(strategy: Box<dyn Strategy>) -> Decisions {
        let needs = strategy.needs();
        Decisions {
            plan: Plan::default(),
            prescribed: 0,
            decided: 0,
            departed: None,
            alike: Alike::default(),
            closed: Vec::new(),
            not_asked: 0,
            candidates: Vec::new(),
            strategy,
            asks_always: needs.every_step,
            heeds_scope: needs.scope,
            journal: Journal::none(),
        }
    }

    /// Begins an execution whose first choices are in `plan`.
    pub(super) fn begin(&mut self) {
        self.alike.begin();
        self.closed.clear();
        self.not_asked = 0;
        self.prescribed = self.plan.choices().len();
        self.decided = 0;
        self.departed = None;
    }

    /// Returns the number of decisions that this execution has made.
    #[inline(always)]
    pub(super) fn decided(&self) -> usize {
        self.decided
    }

    /// Returns the prescribed choice that the execution has to make next, if there is one.
    #[inline(always)]
    pub(super) fn next_prescribed(&self) -> Option<Choice> {
        self.plan.choices()[..self.prescribed].get(self.decided).copied()
    }

    /// Makes and returns the prescribed decision, if there is one and it fits this choice.
    #[inline(always)]
    pub(super) fn take_prescribed(
        &mut self,
        kind: ChoiceKind,
        preempts: bool,
        alternatives: u32,
    ) -> Option<u32> {
        let choice = self.next_prescribed()?;
        if choice.alternatives == alternatives && choice.kind == kind && choice.preempts == preempts {
            self.note_repeated(choice);
            return Some(choice.taken);
        }
        None
    }

    /// Makes the decision about the task of a step that is the same as in the previous execution, where the step ended
    /// with `choices_end` decisions. Returns `true` if it is a preemption.
    #[inline(always)]
    pub(super) fn repeat(&mut self, choices_end: usize) -> bool {
        // The choice of a step's task is the first of the step's choices.
        if choices_end > self.decided
            && let Some(&choice) = self.plan.choices().get(self.decided)
            && choice.kind == ChoiceKind::Task
        {
            self.note_repeated(choice);
            return choice.preempts && choice.taken != 0;
        }
        false
    }

    /// Notes that a prescribed decision was made.
    #[inline(always)]
    fn note_repeated(&mut self, choice: Choice) {
        if self.any_closed() {
            self.journal.push(self.decided + self.not_asked, choice);
        }
        self.decided += 1;
    }

    /// Returns `true` if a point was closed in this execution.
    #[inline(always)]
    pub(super) fn any_closed(&self) -> bool {
        !self.closed.is_empty()
    }

    /// Makes and returns the strategy's decision; `None` if another was prescribed, or the strategy expects none.
    #[inline(always)]
    pub(super) fn ask(&mut self, point: &ChoicePoint<'_>) -> Option<u32> {
        if self.decided < self.prescribed {
            return None;
        }
        let taken = self.strategy.choose(point)?;
        assert!(
            taken < point.alternatives,
            "a strategy picks one of the alternatives"
        );
        let choice = Choice {
            kind: point.kind,
            preempts: point.preempts,
            alternatives: point.alternatives,
            taken,
        };
        self.journal.push(self.decided + self.not_asked, choice);
        self.plan.push(choice);
        self.decided += 1;
        Some(taken)
    }

    /// Takes back the strategy's last decision.
    pub(super) fn take_back(&mut self) {
        self.decided -= 1;
        self.plan.truncate(self.decided);
    }

    /// Returns `true` if every prescribed choice was made.
    pub(super) fn is_beyond_prescribed(&self) -> bool {
        self.decided >= self.prescribed
    }

    /// Notes that the execution did not follow its prescribed choices, which are kept for another attempt.
    #[cold]
    pub(super) fn depart(&mut self) {
        self.departed = Some(self.plan.choices()[..self.prescribed].to_vec());
        self.plan.truncate(self.decided);
    }

    /// Returns `true` if the execution departed from its prescribed choices.
    pub(super) fn has_departed(&self) -> bool {
        self.departed.is_some()
    }

    /// Prescribes the choices once more that the last execution departed from.
    ///
    /// # Panics
    /// It did not depart.
    pub(super) fn prescribe_again(&mut self) {
        let prescribed = self.departed.take().expect("an execution that departed");
        self.plan.truncate(0);
        self.plan.replace(&prescribed);
    }

    /// Closes the current point, which has this many alternatives: the strategy is not asked, and the default is taken.
    pub(super) fn close(&mut self, kind: ChoiceKind, preempts: bool, alternatives: u32) {
        let choice = Choice {
            kind,
            preempts,
            alternatives,
            taken: 0,
        };
        self.add_closed(self.decided, false, choice);
    }

    /// Notes that the last decision offered only some of this many alternatives; `taken` is its index among all of
    /// them.
    pub(super) fn close_some(&mut self, alternatives: u32, taken: u32) {
        let at = self.decided - 1;
        let choice = Choice {
            alternatives,
            taken,
            ..self.plan.choices()[at]
        };
        self.add_closed(at, true, choice);
    }

    fn add_closed(&mut self, at: usize, is_asked: bool, choice: Choice) {
        let is_first = self.closed.is_empty();
        self.closed.push(Closed { at, is_asked, choice });
        match is_first {
            // Until then, the journal has the prescribed choices without closed points.
            true if self.journal.is_kept() => self.journal.rewrite(&self.so_far()),
            true => {}
            false => self.journal.push(at + self.not_asked, choice),
        }
        self.not_asked += usize::from(!is_asked);
    }

    /// Returns the decisions of the execution, including those at closed points.
    pub(super) fn with_closed(&self) -> Vec<Choice> {
        self.with_closed_among(self.plan.choices())
    }

    /// Returns the decisions that the execution has made so far, including those at closed points.
    pub(super) fn so_far(&self) -> Vec<Choice> {
        self.with_closed_among(&self.plan.choices()[..self.decided])
    }

    fn with_closed_among(&self, decided: &[Choice]) -> Vec<Choice> {
        let mut all = Vec::with_capacity(decided.len() + self.closed.len());
        let mut closed = self.closed.iter().peekable();
        for at in 0..=decided.len() {
            let mut choice = decided.get(at).copied();
            while let Some(point) = closed.next_if(|point| point.at == at) {
                match point.is_asked {
                    true => choice = choice.map(|_| point.choice),
                    false => all.push(point.choice),
                }
            }
            all.extend(choice);
        }
        all
    }
}
