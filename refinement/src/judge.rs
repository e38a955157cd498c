//! The judgement of a scenario's histories: by observations, or by a specification.

use crate::check::Violation;
use crate::failure::{Why, Words};
use crate::history::{ComparedHistory, HappensBefore, History, Operation, Order, Outcome, Same};
use crate::locks::held;
use crate::model::{Asked, Model, Orders};
use crate::observations::{Observations, Undetermined};
use crate::run::record::{Mark, Record, Texts};
use crate::scenario::{Place, Scenario, shortened};
use crate::serial::Unknown;
use crate::serial::oracle::Oracle;
use crate::serial::search::{ProgramOrder, Question};
use hashbrown::HashMap;
use intermezzo_sdk as sdk;
use sdk::{Context, Execution, FindingKind, Interests, Monitor, Synchronisation, VectorClock};
use std::sync::{Arc, Mutex};

/// The standard with which histories are compared.
pub(crate) enum Against {
    /// The object itself, in all sequential orders.
    Itself(Observations),
    /// The object itself, in the sequential orders that histories need. `None` when no more orders are run.
    OnDemand(Mutex<Option<Oracle>>),
    /// A model.
    Model(Arc<dyn Model>),
}

/// Judges the histories of one scenario.
pub(crate) struct Judge {
    pub(crate) scenario: Scenario,
    /// Each operation as text, by place.
    pub(crate) calls: Vec<String>,
    pub(crate) texts: Arc<Texts>,
    pub(crate) against: Against,
    pub(crate) same: Same,
    /// Operations that may take effect late, by place.
    pub(crate) late: Vec<bool>,
    /// The number of different histories.
    pub(crate) histories: Mutex<u64>,
    /// The histories that are not allowed, by the messages of their reports.
    pub(crate) refused: Mutex<HashMap<String, Refused>>,
    /// The number of histories that could not be decided, and the reason for the last.
    pub(crate) undecided: Mutex<(u64, String)>,
}

/// A history that is not allowed.
#[derive(Clone)]
pub(crate) struct Refused {
    pub(crate) history: ComparedHistory,
    /// The message of its report, line by line.
    pub(crate) lines: Vec<String>,
}

/// The verdict about a history.
enum Verdict {
    Allowed,
    Refused,
    /// It is not known, for this reason.
    Unknown(String),
    /// The object is not deterministic.
    Undetermined(Undetermined),
}

impl Judge {
    /// Judges the history. An operation that has not returned waits for ever.
    fn verdict(&self, history: &ComparedHistory) -> Verdict {
        let allowed = match &self.against {
            Against::Itself(observations) => observations.allow(history, self.same),
            Against::OnDemand(oracle) => {
                let mut oracle = held(oracle);
                let oracle = oracle.as_mut().expect("it is taken out when the search is over");
                let question = Question::new(&self.scenario, history, self.same);
                let explained = question.is_explained(oracle);
                if let Some(undetermined) = &oracle.undetermined {
                    return Verdict::Undetermined(undetermined.clone());
                }
                match explained {
                    Ok(explained) => explained,
                    Err(Unknown(why)) => return Verdict::Unknown(why),
                }
            }
            Against::Model(model) => self.compare(&**model, history).is_ok(),
        };
        match allowed {
            true => Verdict::Allowed,
            false => Verdict::Refused,
        }
    }

    /// Explains why the history is not allowed.
    pub(crate) fn why(&self, history: &ComparedHistory) -> Why {
        let words = self.words_of_operations();
        // An operation that may come late has more than one place in an order.
        if self.late.contains(&true) {
            return Why::default();
        }
        match &self.against {
            Against::Itself(observations) => words.why(history, self.same, &mut &*observations),
            Against::OnDemand(oracle) => match &mut *held(oracle) {
                Some(oracle) => words.why(history, self.same, oracle),
                None => Why::default(),
            },
            Against::Model(model) => {
                let mut asked = Asked {
                    model: &**model,
                    scenario: &self.scenario,
                    texts: &self.texts,
                };
                words.why(history, self.same, &mut asked)
            }
        }
    }

    /// Returns the operations in words.
    pub(crate) fn words_of_operations(&self) -> Words<'_> {
        Words {
            scenario: &self.scenario,
            calls: &self.calls,
            texts: &self.texts,
            pending: "waits",
        }
    }

    /// Compares the history with a model: each operation that waits must also wait alone, after all that returned.
    pub(crate) fn compare(&self, model: &dyn Model, compared: &ComparedHistory) -> Result<(), Violation<()>> {
        let history = self.history(&compared.marks);
        let waiting = history
            .operations()
            .iter()
            .filter(|operation| operation.is_pending());
        let waiting: Vec<u32> = waiting.map(|operation| operation.call).collect();
        let orders = Orders {
            same: self.same,
            before: self.predecessors(compared, &history),
            late: &self.late,
        };
        if waiting.is_empty() {
            return model.check(&self.scenario, orders, &history, None);
        }
        waiting
            .iter()
            .try_for_each(|&alone| model.check(&self.scenario, orders.clone(), &history, Some(alone)))
    }

    /// Returns the operations that have to come before each operation, if the history is compared by happens-before; `None`
    /// for real time. Operations that wait or that may take effect late come before none.
    fn predecessors(
        &self,
        compared: &ComparedHistory,
        history: &History<u32, Arc<str>>,
    ) -> Option<Vec<Vec<usize>>> {
        compared.happens_before.as_ref()?;
        let (order, _) = Order::of(compared, self.scenario.len());
        let program_order = ProgramOrder::new(&self.scenario);
        let comes_before = |a: u32, b: u32| match self.same {
            Same::Sequential => program_order.precedes(Place(a), Place(b)),
            same => order.ordered(a as usize, b as usize, same),
        };
        let operations = history.operations();
        let before = operations.iter().map(|later| {
            let all = operations.iter().enumerate();
            let earlier = all.filter(|(_, earlier)| {
                !earlier.is_pending()
                    && !self.late[earlier.call as usize]
                    && earlier.call != later.call
                    && comes_before(earlier.call, later.call)
            });
            earlier.map(|(at, _)| at).collect()
        });
        Some(before.collect())
    }

    /// Returns the history with calls by place and returns by text.
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

    /// Returns the lines of a report about a history that is not allowed: the same for the same history.
    fn lines(&self, history: &ComparedHistory) -> Vec<String> {
        let performers = self.scenario.performers();
        let mut told: Vec<Vec<String>> = vec![Vec::new(); self.scenario.tasks.len() + 1];
        for operation in self.history(&history.marks).operations() {
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
        let order = history.happens_before.as_ref();
        let order = order.filter(|_| self.same != Same::Sequential);
        let Some(order) = order else {
            return vec![
                "no order of the operations explains what they returned".to_owned(),
                told.join("; "),
            ];
        };
        let words = self.words_of_operations();
        let pairs = order.across_tasks(&self.scenario).into_iter();
        let pairs = pairs.map(|(a, b)| format!("{} happens before {}", words.who(a), words.who(b)));
        let pairs: Vec<String> = pairs.collect();
        vec![
            "no order of the operations that keeps happens-before explains what they returned".to_owned(),
            told.join("; "),
            match pairs.is_empty() {
                true => "no operation of a task happens before one of another task".to_owned(),
                false => pairs.join("; "),
            },
        ]
    }

    /// Describes an operation and its outcome: `push(1) = true`, or `pop() waits`.
    pub(crate) fn outcome(&self, operation: &Operation<u32, Arc<str>>) -> String {
        let call = shortened(&self.calls[operation.call as usize]);
        match &operation.returned {
            Some(text) if &**text == "()" => call,
            Some(text) => format!("{call} = {}", shortened(text)),
            None => format!("{call} waits"),
        }
    }
}

/// A monitor that judges the history of each execution at its end.
pub(crate) struct HistoryMonitor {
    pub(crate) judge: Arc<Judge>,
    /// Histories already judged.
    judged: HashMap<ComparedHistory, bool>,
    /// The vector clock of each task of an execution, kept to reuse its memory.
    known: Synchronisation<VectorClock>,
}

impl HistoryMonitor {
    pub(crate) fn new(judge: Arc<Judge>) -> HistoryMonitor {
        HistoryMonitor {
            judge,
            judged: HashMap::new(),
            known: Synchronisation::default(),
        }
    }
}

impl Monitor for HistoryMonitor {
    fn name(&self) -> &str {
        "refinement"
    }
    fn interests(&self) -> Interests {
        Interests::NONE
    }
    fn reduction_compatible(&self) -> bool {
        // Executions of one trace have the same returns, and the same of them before each call. Under a memory model they
        // read the same stores and synchronise alike, so happens-before is the same.
        true
    }
    fn follows_stale_reads(&self) -> bool {
        true
    }
    fn on_execution_end(&mut self, execution: &Execution<'_>, cx: &mut Context<'_>) {
        let stuck = !execution.complete && cx.enabled().is_empty();
        if !execution.complete && !stuck {
            return;
        }
        let shown = Record::with(|record| match record.panicked {
            true => None,
            false => Some((std::mem::take(&mut record.marks), record.has_memory_model)),
        });
        let Some((marks, has_memory_model)) = shown else {
            return;
        };
        let mut order = || HappensBefore::of(execution.accesses, &self.judge.scenario, &mut self.known);
        let mut history = ComparedHistory {
            marks,
            happens_before: has_memory_model.then(&mut order),
        };
        history.normalise();
        let allowed = match self.judged.get(&history) {
            Some(&allowed) => allowed,
            None => {
                *held(&self.judge.histories) += 1;
                let allowed = match self.judge.verdict(&history) {
                    Verdict::Allowed => true,
                    Verdict::Refused => false,
                    Verdict::Unknown(why) => {
                        let mut undecided = held(&self.judge.undecided);
                        undecided.0 += 1;
                        undecided.1 = why;
                        true
                    }
                    Verdict::Undetermined(undetermined) => {
                        let words = in_words(&undetermined, &self.judge.calls);
                        return cx.report(sdk::MonitorFinding::new(FindingKind::NondeterministicSpec, words));
                    }
                };
                self.judged.insert(history.clone(), allowed);
                allowed
            }
        };
        if !allowed {
            let lines = self.judge.lines(&history);
            let message = lines.join(": ");
            let mut refused = held(&self.judge.refused);
            refused.entry(message.clone()).or_insert_with(|| Refused {
                history: history.clone(),
                lines,
            });
            cx.report(sdk::MonitorFinding::new(FindingKind::Refinement, message));
        }
        Record::with(|record| record.marks = history.marks);
    }
}

/// Describes it: the same operations, and two outcomes of the last one.
pub(crate) fn in_words(undetermined: &Undetermined, calls: &[String]) -> String {
    let before = undetermined.before.iter();
    let before: Vec<&str> = before.map(|(place, _)| calls[place.index()].as_str()).collect();
    let before = match before.is_empty() {
        true => "as the first operation".to_owned(),
        false => format!("after {}, one at a time,", before.join(", ")),
    };
    let waits = undetermined.outcomes.contains(&Outcome::Waits);
    let what = match waits {
        true => "once waits and once does not",
        false => "returns different things",
    };
    format!(
        "{before} {} {what}: what it does depends on more than the operations before it, so it is not a specification of \
         itself",
        calls[undetermined.operation.index()]
    )
}
