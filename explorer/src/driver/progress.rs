//! How far an exploration is, for the caller while it runs.

use intermezzo_search::estimate::Estimate;
use std::time::Duration;

/// How far an exploration is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Executions so far.
    pub executions: u64,
    /// Different findings so far.
    pub findings: usize,
    /// Time so far.
    pub elapsed: Duration,
    /// How far the search is, as far as can be told: not of several workers, and not with a checkpoint.
    pub estimate: Option<Estimate>,
    /// Executions that were run to replay findings and make them smaller, once the search is over; `None` while it runs.
    pub minimising: Option<u64>,
}

/// What is called now and then while an exploration runs.
pub(crate) type OnProgress = Box<dyn FnMut(&Progress) + Send>;
