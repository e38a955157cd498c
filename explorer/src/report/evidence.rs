//! What a finding of the engine knows beside its words: the place, and who waits for what.

use serde::{Deserialize, Serialize};

/// What a finding of the engine knows beside its words. Empty for findings of monitors.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// Where the first panic was, as `file:line:column`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// The tasks that could not go on when the execution ended in a deadlock or a livelock, in order of creation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<WaitingTask>,
}

/// A task that waits for ever.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitingTask {
    /// Its name.
    pub task: String,
    /// The operation that it cannot perform.
    pub op: String,
    /// Name of the variable, or empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub var: String,
    /// `file:line:column` of that operation.
    pub site: String,
    /// Name of the task that holds the variable, if it is a lock that is held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_by: Option<String>,
    /// `file:line:column` where that task took it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_since: Option<String>,
}
