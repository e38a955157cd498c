//! The next operation of a task, for searches.

use crate::site::Site;
use intermezzo_sdk::{SyncVar, SyncVarOp, TaskId};

/// The next operation of a task at a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The task.
    pub task: TaskId,
    /// The operation.
    pub op: SyncVarOp,
    /// The variable, numbered by first use in the execution, or `SyncVar::NONE`.
    pub var: SyncVar,
    /// Its place in the source.
    pub site: Site,
}
