//! The data of pages and exports: reports as they were read, and their executions.

use intermezzo::recording::Recording;
use intermezzo::report::VarNames;
use intermezzo::{FindingDeed, FindingDetail, FindingEvent, WaitingTask};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Reports, as they are shown.
#[derive(Serialize)]
pub(crate) struct Shown {
    pub(crate) reports: Vec<ShownReport>,
}

/// One report.
#[derive(Serialize)]
pub(crate) struct ShownReport {
    pub(crate) program: String,
    pub(crate) verdict: String,
    /// A description of the coverage.
    pub(crate) coverage: String,
    pub(crate) executions: u64,
    pub(crate) elapsed_seconds: f64,
    pub(crate) strategy: String,
    pub(crate) reduction: String,
    pub(crate) notes: Vec<String>,
    pub(crate) findings: Vec<ShownFinding>,
    /// The command that runs the test again, quoted for a shell; `None` if the test's package or path is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) run: Option<String>,
    /// The command that shows this report alone, if it was read from a directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) view: Option<String>,
}

/// One finding.
#[derive(Serialize)]
pub(crate) struct ShownFinding {
    #[serde(flatten)]
    pub(crate) said: FindingFile,
    /// The command that replays it, quoted for a shell, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) replay: Option<String>,
    /// The execution that shows the finding, and then the nearest one that passes, as far as they are known.
    pub(crate) executions: Vec<ShownExecution>,
    /// Notes about the recordings.
    pub(crate) notes: Vec<String>,
}

/// One execution of a finding.
#[derive(Serialize)]
pub(crate) struct ShownExecution {
    /// `true` if nothing was found in it.
    pub(crate) passes: bool,
    /// `true` if it was not recorded: it lacks the happens-before order, the enabled tasks and the preemptions.
    pub(crate) partial: bool,
    pub(crate) recording: Recording,
    /// Actions between events that the finding concerns, if they are not in the recording.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) deeds: Vec<ShownDeed>,
}

/// An action of a task between two events, in words: an access to plain memory.
#[derive(Serialize)]
pub(crate) struct ShownDeed {
    /// The index of its task in the recording's table.
    pub(crate) task: usize,
    /// The number of events before it.
    pub(crate) at: usize,
    pub(crate) what: String,
    /// The index of its source place in the recording's table.
    pub(crate) site: usize,
}

/// A finding in the form of reports; fields that pages do not show are skipped.
#[derive(Serialize, Deserialize)]
pub(crate) struct FindingFile {
    pub(crate) kind: String,
    #[serde(default = "error")]
    pub(crate) severity: String,
    #[serde(default)]
    pub(crate) monitor: String,
    pub(crate) message: String,
    #[serde(default)]
    pub(crate) suggestion: Option<String>,
    /// The stale operations, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) stale_operations: Vec<String>,
    #[serde(default)]
    pub(crate) tasks: Vec<String>,
    #[serde(default, skip_serializing)]
    pub(crate) events: Vec<FindingEvent>,
    /// The number of events of a long execution that were left out of the report.
    #[serde(default, skip_serializing)]
    pub(crate) events_left_out: usize,
    #[serde(default, skip_serializing)]
    pub(crate) deeds: Vec<FindingDeed>,
    pub(crate) schedule: String,
    #[serde(default = "one")]
    pub(crate) count: u64,
    #[serde(default)]
    pub(crate) place: Option<String>,
    #[serde(default)]
    pub(crate) waiting: Vec<WaitingTask>,
    #[serde(default, skip_serializing)]
    pub(crate) detail: Option<FindingDetail>,
    /// The names that the source gives variables, by their identities.
    #[serde(default, skip_serializing_if = "VarNames::is_empty")]
    pub(crate) names: VarNames,
    /// The functions that its tasks run, by the tasks' names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) functions: BTreeMap<String, String>,
    /// The message line by line, made from `detail`.
    #[serde(skip_deserializing)]
    pub(crate) lines: Vec<String>,
}

/// The severity of a finding in a file without this field.
fn error() -> String {
    "error".into()
}

/// The count of a finding in a file without this field.
fn one() -> u64 {
    1
}

impl Shown {
    /// Returns every finding, with its report.
    pub(crate) fn findings(&self) -> impl Iterator<Item = (&ShownReport, &ShownFinding)> {
        let of = |report| std::iter::repeat(report);
        self.reports
            .iter()
            .flat_map(move |report| of(report).zip(&report.findings))
    }
}

impl FindingFile {
    /// Returns the remarks below its message: its stale operations, and the suggestion.
    pub(crate) fn remarks(&self) -> impl Iterator<Item = &str> {
        let stale = self.stale_operations.iter();
        stale.chain(&self.suggestion).map(String::as_str)
    }
}

impl ShownFinding {
    /// Returns the execution that shows it, if the report has any event of it.
    pub(crate) fn failing(&self) -> Option<&ShownExecution> {
        self.executions.first().filter(|execution| !execution.passes)
    }

    /// Returns `file:line:column` of its subject: the place of a panic, the place where a task waits, or else its
    /// last event.
    pub(crate) fn place(&self) -> Option<&str> {
        let of_event = || {
            let recording = &self.failing()?.recording;
            let last = recording.events.iter().rev();
            let site = last
                .filter(|event| event.concerned)
                .find_map(|event| event.site)?;
            Some(recording.sites[site].as_str())
        };
        self.said
            .place
            .as_deref()
            .or_else(|| self.said.waiting.first().map(|waiting| waiting.site.as_str()))
            .or_else(of_event)
    }
}
