//! The lines about the progress of a search, as a setting.

use std::time::Duration;

/// The lines about the progress of a search on stderr.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProgressLines {
    /// The time between two lines; `None` for no lines.
    pub every: Option<Duration>,
    /// The number of executions from which on there are lines.
    pub from: u64,
}
