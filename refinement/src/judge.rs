//! Whether histories of a scenario are allowed: by what was observed, or by a specification.

use crate::check::{Same, Violation};
use crate::history::{History, Operation};
use crate::model::Model;
use crate::observations::Observations;
use crate::run::record::{Mark, Record, Texts};
use crate::scenario::Scenario;
use hashbrown::HashMap;
use intermezzo_sdk as sdk;
use sdk::{Context, Execution, FindingKind, Interests, Monitor};
use std::sync::{Arc, Mutex, PoisonError};

/// What histories are compared with.
pub(crate) enum Against {
    /// What the object itself does, one operation at a time.
    Itself(Observations),
    /// A model.
    Model(Arc<dyn Model>),
}

/// Judges the histories of one scenario.
pub(crate) struct Judge {
    pub(crate) scenario: Scenario,
    /// Each operation as it is written, by place.
    pub(crate) calls: Vec<String>,
    pub(crate) texts: Arc<Texts>,
    pub(crate) against: Against,
    pub(crate) same: Same,
    /// Operations that may take effect late, by place.
    pub(crate) late: Vec<bool>,
    /// How many different histories there were.
    pub(crate) histories: Mutex<u64>,
    /// The histories that are not allowed, by the words of their reports.
    pub(crate) refused: Mutex<HashMap<String, Vec<Mark>>>,
}

impl Judge {
    /// Whether the history is allowed. What has not returned waits for ever.
    fn allows(&self, marks: &[Mark]) -> bool {
        match &self.against {
            Against::Itself(observations) => observations.allow(marks, self.same),
            Against::Model(model) => self.compare(&**model, marks).is_ok(),
        }
    }

    /// Compares the history with a model: each operation that waits, alone, has to wait after all that returned.
    pub(crate) fn compare(&self, model: &dyn Model, marks: &[Mark]) -> Result<(), Violation<()>> {
        let history = self.history(marks);
        let waiting = history
            .operations()
            .iter()
            .filter(|operation| operation.is_pending());
        let waiting: Vec<u32> = waiting.map(|operation| operation.call).collect();
        let completed = history.filter(|operation| !operation.is_pending());
        if waiting.is_empty() {
            return model.check(self, &completed, None);
        }
        waiting
            .iter()
            .try_for_each(|&alone| model.check(self, &completed, Some(alone)))
    }

    /// The history with calls by place and returns by text.
    pub(crate) fn history(&self, marks: &[Mark]) -> History<u32, Arc<str>> {
        let performers = self.scenario.performers();
        let mut recorder = History::recorder();
        let mut called = HashMap::new();
        for mark in marks {
            match mark {
                Mark::Call(place) => {
                    let id = recorder.call(performers[place.index()], place.0);
                    called.insert(*place, id);
                }
                Mark::Return(place, text) => recorder.returned(called[place], self.texts.text(*text)),
            }
        }
        recorder.history()
    }

    /// The words of a report about a history that is not allowed: the same for the same history.
    fn words(&self, marks: &[Mark]) -> String {
        let performers = self.scenario.performers();
        let mut told: Vec<Vec<String>> = vec![Vec::new(); self.scenario.tasks.len() + 1];
        for operation in self.history(marks).operations() {
            let performer = performers[operation.call as usize] as usize;
            told[performer].push(self.outcome(operation));
        }
        let who = |number: usize| match number {
            0 => "before and after".to_owned(),
            task => format!("task {task}"),
        };
        let told = told.iter().enumerate().filter(|(_, calls)| !calls.is_empty());
        let told: Vec<String> = told
            .map(|(number, calls)| format!("{}: {}", who(number), calls.join(", ")))
            .collect();
        format!(
            "no order of the operations explains what they returned: {}",
            told.join("; ")
        )
    }

    /// An operation and what became of it: `push(1) = true`, or `pop() waits`.
    pub(crate) fn outcome(&self, operation: &Operation<u32, Arc<str>>) -> String {
        let call = &self.calls[operation.call as usize];
        match &operation.returned {
            Some(text) if &**text == "()" => call.clone(),
            Some(text) => format!("{call} = {text}"),
            None => format!("{call} waits"),
        }
    }
}

/// Hears of each execution's end, and has its history judged.
pub(crate) struct HistoryMonitor {
    pub(crate) judge: Arc<Judge>,
    /// Histories already judged.
    pub(crate) judged: HashMap<Vec<Mark>, bool>,
}

impl Monitor for HistoryMonitor {
    fn name(&self) -> &str {
        "refinement"
    }
    fn interests(&self) -> Interests {
        Interests::NONE
    }
    fn reduction_compatible(&self) -> bool {
        // Executions of one trace have the same returns, and the same of them before each call.
        true
    }
    fn on_execution_end(&mut self, execution: &Execution<'_>, cx: &mut Context<'_>) {
        let stuck = !execution.complete && cx.enabled().is_empty();
        if !execution.complete && !stuck {
            return;
        }
        let marks = Record::with(|record| match record.panicked {
            true => None,
            false => Some(std::mem::take(&mut record.marks)),
        });
        let Some(mut marks) = marks else { return };
        Mark::normalise(&mut marks);
        let allowed = match self.judged.get(&marks) {
            Some(&allowed) => allowed,
            None => {
                let allowed = self.judge.allows(&marks);
                *self
                    .judge
                    .histories
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner) += 1;
                self.judged.insert(marks.clone(), allowed);
                allowed
            }
        };
        if !allowed {
            let words = self.judge.words(&marks);
            let mut refused = self.judge.refused.lock().unwrap_or_else(PoisonError::into_inner);
            refused.entry(words.clone()).or_insert_with(|| marks.clone());
            cx.report(sdk::Report::new(FindingKind::Refinement, words));
        }
        Record::with(|record| record.marks = marks);
    }
}
