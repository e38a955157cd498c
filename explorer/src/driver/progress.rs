//! The progress of a running exploration.

use intermezzo_search::estimate::Estimate;
use std::time::Duration;

/// The progress of an exploration.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Executions so far.
    pub executions: u64,
    /// Different findings so far.
    pub findings: usize,
    /// Time so far.
    pub elapsed: Duration,
    /// The progress of the search, if it can be estimated. It cannot with several workers or with a checkpoint.
    pub estimate: Option<Estimate>,
    /// The number of executions that replayed and minimised findings after the search; `None` while the search runs.
    pub minimising: Option<u64>,
}

/// A callback that is called from time to time while an exploration runs.
pub(crate) type OnProgress = Box<dyn FnMut(&Progress) + Send>;
