//! Recorded executions as values. The JSON form of a recording has the format [`RECORDING_FORMAT`]. Names are in tables, and
//! events refer to them by place, so that ten thousand events stay small.

use serde::{Deserialize, Serialize};

/// The format of a recording's JSON form.
pub const RECORDING_FORMAT: &str = "intermezzo-recording/1";

/// What was recorded for a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recorded {
    /// Which of the report's findings it is, from 0.
    pub finding: usize,
    /// Its execution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution: Option<Recording>,
    /// The execution nearest to it, of those tried, in which nothing was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nearest_pass: Option<Recording>,
    /// What is missing, and why; how the other one was found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// One execution, event by event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recording {
    /// [`RECORDING_FORMAT`].
    pub format: String,
    /// The test, by name.
    pub program: String,
    /// The token of the schedule that gives this execution again.
    pub schedule: String,
    /// Whether every task came to its end.
    pub complete: bool,
    /// The tasks, in order of creation.
    pub tasks: Vec<RecordedTask>,
    /// The variables, in order of first use.
    pub vars: Vec<RecordedVar>,
    /// Places in the source, as `file:line:column`, in order of first use.
    pub sites: Vec<String>,
    /// The visible operations, in the order in which they happened.
    pub events: Vec<RecordedEvent>,
    /// Accesses to plain memory that is tracked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub data: Vec<RecordedAccess>,
    /// Operations of an object under test.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<RecordedOperation>,
    /// What the test said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub said: Vec<Said>,
}

/// A task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedTask {
    /// Its name.
    pub name: String,
}

/// A variable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedVar {
    /// Its name.
    pub name: String,
    /// What it is: `mutex`, `atomic`.
    pub kind: String,
}

/// A visible operation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedEvent {
    /// Whose it is, by place in the table of tasks.
    pub task: usize,
    /// The how-manieth of its task, from 1.
    pub index: u32,
    /// What was done: `lock`, `store`.
    pub op: String,
    /// The memory ordering, of atomics and fences.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<String>,
    /// The variable, by place in their table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub var: Option<usize>,
    /// The value read, as bits, where one was; addresses are numbered in order of appearance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<u64>,
    /// The value written, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<u64>,
    /// Where in the source, by place in their table; not of the beginning and end of the test's own body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site: Option<usize>,
    /// The tasks that could have taken this step, this one's included. Left out where they are those of the event before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<Vec<usize>>,
    /// The tasks that had not ended and could not. Left out likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disabled: Option<Vec<usize>>,
    /// Whether the task before was preempted: it could have gone on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub preempts: bool,
    /// Events of other tasks, by place, that come before this one in happens-before with nothing between. What its own
    /// task did last comes before it too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<usize>,
    /// Whether the finding is about this event.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub concerned: bool,
}

/// An access to plain memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedAccess {
    /// Whose it is, by place in the table of tasks.
    pub task: usize,
    /// How many events there had been when it happened.
    pub at: usize,
    /// The name of the cell or block.
    pub location: String,
    /// Whether it was written.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_write: bool,
    /// Whether a pointer was asked for, by which it may be written or only read: that counts as a write.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_pointer: bool,
    /// Where in it the access begins, in bytes.
    pub offset: u32,
    /// Bytes accessed.
    pub size: u32,
    /// Where in the source, by place in their table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site: Option<usize>,
}

/// An operation of an object under test, from its call to its return.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedOperation {
    /// Whose it is, by place in the table of tasks.
    pub task: usize,
    /// What was called: the attribute `operation` of the call's event, or the operation's number.
    pub name: String,
    /// What it returned: the attribute `returned` of the last event before the return.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// The event of the call, by place.
    pub call: usize,
    /// The event of the return, if it did return.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ret: Option<usize>,
}

/// Something that the test said, or attached to an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// Who, by place in the table of tasks.
    pub task: usize,
    /// How many events there had been.
    pub at: usize,
    /// What.
    pub text: String,
}
