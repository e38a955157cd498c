//! Recorded executions as values. The JSON form of a recording has the format [`RECORDING_FORMAT`]. Names are in
//! tables, and events refer to them by index, so that ten thousand events stay small.

use intermezzo_engine::described::Effect;
use intermezzo_engine::serial::{Deserialize, Serialize};

/// The format of a recording's JSON form.
pub const RECORDING_FORMAT: &str = "intermezzo-recording/1";

/// The recordings for a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recorded {
    /// The index of the finding in the report, from 0.
    pub finding: usize,
    /// Its execution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution: Option<Recording>,
    /// The execution nearest to it in which nothing was found, of those tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nearest_pass: Option<Recording>,
    /// Notes on what is missing and why, and on how the passing execution was found.
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
    /// The token of the schedule that reproduces this execution.
    pub schedule: String,
    /// `true` if every task came to its end.
    pub complete: bool,
    /// The tasks, in order of creation.
    pub tasks: Vec<RecordedTask>,
    /// The variables, in order of first use.
    pub vars: Vec<RecordedVar>,
    /// Places in the source, as `file:line:column`: those of events and accesses in order of first use, then those of
    /// functions.
    pub sites: Vec<String>,
    /// Functions of the program that are on call stacks, in order of first use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<RecordedFunction>,
    /// Call stacks, innermost function first, each function by index in the table of functions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stacks: Vec<Vec<usize>>,
    /// The visible operations, in the order in which they happened.
    pub events: Vec<RecordedEvent>,
    /// Accesses to tracked plain memory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub data: Vec<RecordedAccess>,
    /// Operations of an object under test.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<RecordedOperation>,
    /// Texts that the test attached.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub said: Vec<Said>,
}

/// A task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedTask {
    /// Its name.
    pub name: String,
    /// The function that it runs, if its thread has no name and the source shows one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
}

impl RecordedTask {
    /// Returns its name, with the function that it runs: `task 1 (producer)`.
    pub fn label(&self) -> String {
        match &self.function {
            Some(function) => format!("{} ({function})", self.name),
            None => self.name.clone(),
        }
    }
}

/// A variable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedVar {
    /// Its name.
    pub name: String,
    /// The name that the source gives it, if it has one there: `tail`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_name: Option<String>,
    /// Its kind: `mutex`, `atomic`.
    pub kind: String,
}

/// A function of the program on a call stack, and the place that it has reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedFunction {
    /// Its path, as far as it is known.
    pub name: String,
    /// The place in the source, by index in the table of places.
    pub site: usize,
}

/// A visible operation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedEvent {
    /// Its task, by index in the table of tasks.
    pub task: usize,
    /// Its index in its task, from 1.
    pub index: u32,
    /// The operation: `lock`, `store`.
    pub op: String,
    /// The effect that it had, if it is not the usual one. It is that of the report's event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    /// The event whose store it read, by index, if a newer one was there. Absent for a value that no operation has stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<usize>,
    /// The events whose stores were there already and are newer than the one that it read or made, by index, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub newer: Vec<usize>,
    /// The memory ordering, of atomics and fences.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<String>,
    /// The variable, by index in the table of variables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub var: Option<usize>,
    /// The value read, as bits, if any. Addresses are numbered in order of appearance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<u64>,
    /// The value written, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<u64>,
    /// The place in the source, by index in the table of places. The beginning and the end of the test's own body have
    /// none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site: Option<usize>,
    /// The call stack, by index in the table of stacks; `None` if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack: Option<usize>,
    /// The tasks that could have taken this step, including its own. Omitted if they are those of the event before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<Vec<usize>>,
    /// The tasks that had not ended and could not take a step. Omitted likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disabled: Option<Vec<usize>>,
    /// `true` if the task of the event before was preempted: it could have continued.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub preempts: bool,
    /// The events of other tasks, by index, that happen before this one with nothing between. The last event of its own
    /// task happens before it too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<usize>,
    /// `true` if the finding is about this event.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub concerned: bool,
}

/// An access to plain memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedAccess {
    /// Its task, by index in the table of tasks.
    pub task: usize,
    /// The number of events before the access.
    pub at: usize,
    /// The name of the cell or block.
    pub location: String,
    /// `true` if it is a write.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_write: bool,
    /// `true` if a pointer was obtained, through which the memory may be written or only read. That counts as a write.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_pointer: bool,
    /// The offset of the access in the cell or block, in bytes.
    pub offset: u32,
    /// The number of bytes accessed.
    pub size: u32,
    /// The place in the source, by index in the table of places.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site: Option<usize>,
    /// The call stack, by index in the table of stacks; `None` if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack: Option<usize>,
}

/// An operation of an object under test, from its call to its return.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedOperation {
    /// Its task, by index in the table of tasks.
    pub task: usize,
    /// The operation's name: the attribute `operation` of the call's event, or the operation's number.
    pub name: String,
    /// Its result: the attribute `returned` of the last event before the return.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// The event of the call, by index.
    pub call: usize,
    /// The event of the return, if it returned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ret: Option<usize>,
}

/// A text that the test said, or attached to an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// The task, by index in the table of tasks.
    pub task: usize,
    /// The number of events before it.
    pub at: usize,
    /// The text.
    pub text: String,
}
