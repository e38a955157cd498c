//! The decisions of an execution, and the strategy that makes them.

use super::alike::Alike;
use super::journal::Journal;
use super::scope::Closed;
use crate::schedule::Choice;
use crate::strategy::{Plan, Strategy};

/// The decisions of an execution, and the strategy that makes them.
pub(super) struct Decisions {
    /// The decisions of this execution; the strategy gave the first `prescribed` of them.
    pub(super) plan: Plan,
    pub(super) prescribed: usize,
    pub(super) decided: usize,
    /// The prescribed choices, if the execution departed from them.
    pub(super) departed: Option<Vec<Choice>>,
    /// The evidence for the report if it departs.
    pub(super) alike: Alike,
    /// The points closed in this execution, with the reasons.
    pub(super) closed: Vec<Closed>,
    /// The alternatives of a decision, if they are not simply the enabled tasks.
    pub(super) candidates: Vec<u32>,
    pub(super) strategy: Box<dyn Strategy>,
    /// `true` if the strategy is asked even if there is only one alternative.
    pub(super) asks_always: bool,
    /// `true` if the strategy wants points to be closed.
    pub(super) heeds_scope: bool,
    pub(super) journal: Journal,
}

impl Decisions {
    pub(super) fn new(strategy: Box<dyn Strategy>) -> Decisions {
        let needs = strategy.needs();
        Decisions {
            plan: Plan::default(),
            prescribed: 0,
            decided: 0,
            departed: None,
            alike: Alike::default(),
            closed: Vec::new(),
            candidates: Vec::new(),
            strategy,
            asks_always: needs.every_step,
            heeds_scope: needs.scope,
            journal: Journal::none(),
        }
    }

    /// Resets the state for a new execution.
    pub(super) fn begin(&mut self) {
        self.alike.begin();
        self.closed.clear();
        self.prescribed = self.plan.choices().len();
        self.decided = 0;
        self.departed = None;
    }
}
