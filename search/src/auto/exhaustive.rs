//! An exhaustive search that takes turns with others.

use intermezzo_engine::schedule::Choice;
use intermezzo_engine::strategy::{Parallel, Plan, Resumable, SoFar, Strategy};

/// An exhaustive part of the search.
pub(super) struct Exhaustive {
    pub(super) search: Box<dyn Strategy>,
    /// The choices from which it continues: for `Whole` those that its next execution must make first, for `Bounds`
    /// those of its last execution. `None` before its first execution, and while there is no work for this worker.
    pub(super) at: Option<Vec<Choice>>,
    pub(super) begun: bool,
    /// `true` if this worker has no work of this part, and counts as waiting.
    pub(super) idle: bool,
}

impl Exhaustive {
    pub(super) fn parallel(&mut self) -> &mut dyn Parallel {
        self.search.parallel().expect("`Auto::parallel` has asked for it")
    }

    pub(super) fn resumable(&mut self) -> &mut dyn Resumable {
        self.search
            .resumable()
            .expect("`Auto::resumable` has asked for it")
    }

    pub(super) fn new(search: Box<dyn Strategy>) -> Exhaustive {
        Exhaustive {
            search,
            at: None,
            begun: false,
            idle: false,
        }
    }

    /// Keeps the choices from which to continue.
    pub(super) fn keep(&mut self, plan: &Plan) {
        let at = self.at.get_or_insert_default();
        at.clear();
        at.extend_from_slice(plan.choices());
    }

    /// Returns the plan of these choices.
    pub(super) fn plan(&self) -> Plan {
        let mut plan = Plan::default();
        plan.replace(self.at.as_deref().unwrap_or_default());
        plan
    }

    /// Returns the completed part of the search, which has run this many executions; 0 if it does not tell.
    pub(super) fn progress(&self, executions: u64) -> f64 {
        let so_far = SoFar {
            executions,
            choices: self.at.as_deref().unwrap_or_default(),
        };
        self.search.status(&so_far).progress.unwrap_or(0.0)
    }
}
