//! The result of checking one scenario.

use crate::failure::Failure;
use intermezzo_explorer::Limit;

/// The result of a scenario.
#[derive(Default)]
pub(crate) struct Checked {
    pub(crate) executions: u64,
    pub(crate) traces: u64,
    pub(crate) histories: u64,
    pub(crate) observations: usize,
    /// Orders that were run because a history needed them.
    pub(crate) orders: u64,
    pub(crate) solo_runs: u64,
    /// The monitors that observed the concurrent tasks.
    pub(crate) monitors: Vec<String>,
    /// The reason why not every execution was run, if so.
    pub(crate) short: Option<String>,
    /// The parts that were not explored.
    pub(crate) limits: Vec<Limit>,
    /// `true` if histories were compared by happens-before, under a memory model.
    pub(crate) by_happens_before: bool,
    pub(crate) failure: Option<Failure>,
}
