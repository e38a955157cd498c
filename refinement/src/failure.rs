//! A scenario in which the object fails, for people.

mod columns;
mod steps;
mod timeline;
mod why;

pub use steps::{ToldOperation, ToldStep};
pub use why::{ToldDeadEnd, ToldOrders};

use crate::history::{ComparedHistory, Order, Outcome, Same};
use crate::run::body::FILE;
use crate::run::record::{Mark, Story, Texts};
use crate::scenario::{Description, Place, Scenario, shortened};
use crate::serial::search::Question;
use crate::serial::{OneByOne, Within};
use crate::settings::Progress;
use intermezzo_explorer::report::VarNames;
use intermezzo_explorer::{Finding, FindingEvent, Report, Schedule};
use intermezzo_sdk::FindingKind;
use serde::{Serialize, Serializer};
use steps::Steps;

/// The largest number of operations whose results explain why orders fail.
const ASKED_MAX: usize = 20_000;

/// The explanation of a history that is not allowed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Why {
    pub(crate) orders: Option<ToldOrders>,
    pub(crate) explanation: Option<String>,
}

/// The operations of a scenario, and their results, in words.
pub(crate) struct Words<'a> {
    pub(crate) scenario: &'a Scenario,
    /// Each operation as text, by place.
    pub(crate) calls: &'a [String],
    pub(crate) texts: &'a Texts,
    /// The text for an operation that does not return: that it waits, if that is why.
    pub(crate) pending: &'static str,
}

impl Words<'_> {
    /// Returns an operation's result; nothing if it does not return.
    fn outcome(&self, outcome: Outcome) -> Option<String> {
        match outcome {
            Outcome::Returned(text) => Some(self.texts.text(text).to_string()),
            _ => None,
        }
    }

    /// Describes an operation and its outcome: `push(1)`, `pop() = Some(1)`, `pop() waits`.
    fn done(&self, place: Place, outcome: Outcome) -> String {
        let call = shortened(&self.calls[place.index()]);
        match self.outcome(outcome).as_deref() {
            Some("()") => call,
            Some(text) => format!("{call} = {}", shortened(text)),
            None => format!("{call} {}", self.pending),
        }
    }

    /// Describes an operation and its task.
    pub(crate) fn who(&self, place: Place) -> String {
        let call = shortened(&self.calls[place.index()]);
        match self.scenario.performers()[place.index()] {
            0 if place.index() < self.scenario.init.len() => format!("{call} before the tasks"),
            0 => format!("{call} after the tasks"),
            task => format!("{call} of task {task}"),
        }
    }

    /// Explains why the history does not match sequential behaviour.
    pub(crate) fn why(&self, history: &ComparedHistory, same: Same, by: &mut dyn OneByOne) -> Why {
        let question = Question::new(self.scenario, history, same);
        let mut by = Within { by, left: ASKED_MAX };
        let reasons = question.reasons(&mut by, why::LISTED);
        let (_, outcomes) = Order::of(history, self.scenario.len());
        match reasons.dead_ends.is_empty() {
            true => Why::default(),
            false => Why {
                explanation: Some(why::in_words(&reasons, self, &outcomes)),
                orders: Some(ToldOrders::new(&reasons, self)),
            },
        }
    }
}

/// A scenario in which the object fails.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Failure {
    /// The kind of finding: `Refinement`, or an earlier failure before there was a history.
    pub kind: FindingKind,
    /// A description.
    pub message: String,
    /// The violated progress property, if operations do not return.
    pub progress: Option<Progress>,
    /// The scenario.
    pub scenario: Description,
    /// Its operations by place: all before the tasks, then each task's, then those after.
    pub operations: Vec<ToldOperation>,
    /// The operations as intervals, one line a task, if there is a history to draw. There is none under a memory model,
    /// because the order of steps is not a time that all tasks share.
    pub timeline: Option<String>,
    /// Under a memory model, the pairs of operations of different tasks, by place, of which the first happens before the
    /// second, without those that follow from others. `None` if real time orders operations, or no history was refused.
    pub happens_before: Option<Vec<(u32, u32)>>,
    /// The point where each order of the operations fails, if there is a history that none explains.
    pub orders: Option<ToldOrders>,
    /// The same in words.
    pub explanation: Option<String>,
    /// The names of the columns: the main task, tasks of the scenario, tasks of the object's own.
    pub columns: Vec<String>,
    /// The steps, in order.
    pub steps: Vec<ToldStep>,
    /// The number of further steps, which are left out because they repeat the same.
    pub steps_left_out: usize,
    /// The schedule that reproduces it.
    pub schedule: Schedule,
    /// The exploration in which it was found last, with its executions recorded, if requested.
    pub report: Option<Report>,
    /// The names that the source gives its variables, by their identities.
    pub names: VarNames,
    events: Vec<FindingEvent>,
    /// The message, line by line.
    pub(crate) lines: Vec<String>,
}

impl Failure {
    /// Creates a failure from a finding in a scenario. [`Failure::tell`] adds the steps.
    pub(crate) fn new(finding: &Finding, scenario: Description, why: Why) -> Failure {
        Failure {
            kind: finding.kind.clone(),
            message: finding.message.clone(),
            // The first task waits until an operation is done, if one runs at a time.
            lines: finding
                .lines()
                .into_iter()
                .filter(|line| !line.contains(FILE))
                .collect(),
            progress: None,
            scenario,
            operations: Vec::new(),
            timeline: None,
            happens_before: None,
            orders: why.orders,
            explanation: why.explanation,
            columns: Vec::new(),
            steps: Vec::new(),
            steps_left_out: 0,
            schedule: finding.schedule.clone(),
            report: None,
            names: finding.names.clone(),
            events: finding.events.clone(),
        }
    }

    /// Adds the steps, from the story of another run of the same execution.
    pub(crate) fn tell(&mut self, words: Words<'_>, story: &Story) {
        let pending = match self.kind {
            FindingKind::Refinement => words.pending,
            _ => "does not return",
        };
        let words = &Words { pending, ..words };
        let Steps {
            columns,
            steps,
            operations,
        } = Steps::new(words.scenario, words.calls, words.texts, &self.events, story);
        (self.columns, self.steps, self.operations) = (columns, steps, operations);
        let marks: Vec<Mark> = story.marks.iter().map(|(mark, _)| *mark).collect();
        let is_drawn = !marks.is_empty() && !self.schedule.environment.has_memory_model();
        self.timeline = is_drawn.then(|| timeline::draw(words, &marks));
    }

    /// Draws the relevant steps in columns, in lines of at most `width` characters as far as possible.
    pub fn interleaving(&self, width: usize) -> String {
        let steps = Steps {
            columns: self.columns.clone(),
            steps: self.steps.clone(),
            operations: self.operations.clone(),
        };
        let mut text = columns::draw(&steps, &self.names, width);
        if self.steps_left_out > 0 {
            text += &format!("and {} more steps\n", self.steps_left_out);
        }
        text
    }
}

#[derive(Serialize)]
struct FailureJson<'a> {
    kind: String,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    progress: Option<String>,
    scenario: &'a Description,
    operations: &'a [ToldOperation],
    #[serde(skip_serializing_if = "Option::is_none")]
    orders: Option<&'a ToldOrders>,
    columns: &'a [String],
    steps: &'a [ToldStep],
    steps_left_out: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeline: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    happens_before: Option<&'a [(u32, u32)]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<&'a str>,
    schedule: String,
    #[serde(skip_serializing_if = "VarNames::is_empty")]
    names: &'a VarNames,
}

impl Serialize for Failure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        FailureJson {
            kind: self.kind.as_str().into_owned(),
            message: &self.message,
            progress: self.progress.map(|progress| progress.to_string()),
            scenario: &self.scenario,
            operations: &self.operations,
            orders: self.orders.as_ref(),
            columns: &self.columns,
            steps: &self.steps,
            steps_left_out: self.steps_left_out,
            timeline: self.timeline.as_deref(),
            happens_before: self.happens_before.as_deref(),
            explanation: self.explanation.as_deref(),
            schedule: self.schedule.token(),
            names: &self.names,
        }
        .serialize(serializer)
    }
}
