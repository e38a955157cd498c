//! What a task is about to do, as searches see it.

use intermezzo_sdk::{SyncVar, SyncVarOp, TaskId};
use std::panic::Location;

/// The next operation of a task at a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The task.
    pub task: TaskId,
    /// What it is about to do.
    pub op: SyncVarOp,
    /// The variable, numbered by first use in the execution, or `SyncVar::NONE`.
    pub var: SyncVar,
    /// The place in the source.
    pub site: &'static Location<'static>,
}
