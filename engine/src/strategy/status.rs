//! The progress of a search, for reports.

use crate::schedule::Choice;

/// The executions that the exploration has run so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct SoFar<'a> {
    /// The number of executions, of all workers.
    pub executions: u64,
    /// The choices of this worker's last execution.
    pub choices: &'a [Choice],
}

/// The name of a strategy and its progress.
///
/// ```
/// use intermezzo_engine::strategy::Status;
///
/// let status = Status::named("bisect");
/// assert_eq!((status.reduction, status.progress), ("none", None));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Status {
    /// The strategy and its parameters: `"dfs"`, `"pct(3)"`.
    pub name: String,
    /// The reduction: `"none"`, `"dpor"`.
    pub reduction: &'static str,
    /// The number of executions that showed nothing new.
    pub redundant: u64,
    /// The number of blocked executions, which showed nothing because a loop waited for something that could not
    /// happen.
    pub blocked: u64,
    /// The completed fraction of the search, from 0 to 1; `None` if it cannot be estimated.
    pub progress: Option<f64>,
    /// Other remarks for the reader of the report.
    pub notes: Vec<String>,
    /// In a search that consists of several: the one that drew the last execution.
    pub drawn_by: Option<String>,
    /// In a search that consists of several: the number of executions that each drew.
    pub draws: Vec<(String, u64)>,
    /// The number of executions drawn in addition to an exhaustive search. A search that takes over begins after these.
    pub drawn: u64,
    /// The part of the search that the last execution belongs to, in words, for notes on its findings.
    pub part: Option<String>,
}

impl Status {
    /// Returns a status with this name, and nothing else.
    pub fn named(name: impl Into<String>) -> Status {
        Status {
            name: name.into(),
            reduction: "none",
            redundant: 0,
            blocked: 0,
            progress: None,
            notes: Vec::new(),
            drawn_by: None,
            draws: Vec::new(),
            drawn: 0,
            part: None,
        }
    }
}
