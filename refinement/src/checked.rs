//! The result of checking one scenario.

use crate::failure::Failure;
use intermezzo_explorer::Limit;

/// What a scenario came to.
#[derive(Default)]
pub(crate) struct Checked {
    pub(crate) executions: u64,
    pub(crate) traces: u64,
    pub(crate) histories: u64,
    pub(crate) observations: usize,
    /// Orders that were run because a history asked for them.
    pub(crate) orders: u64,
    pub(crate) solo_runs: u64,
    /// The monitors that listened to the tasks at once.
    pub(crate) monitors: Vec<String>,
    /// Why not every execution was run, if not.
    pub(crate) short: Option<String>,
    /// What was not explored.
    pub(crate) limits: Vec<Limit>,
    pub(crate) failure: Option<Failure>,
}
