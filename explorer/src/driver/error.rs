//! The reasons for which there is no report.

use super::CheckpointError;
use crate::guarded::StrategyError;
use crate::report::TextStyle;
use crate::settings::SettingError;
use intermezzo_engine::schedule::ScheduleError;
use intermezzo_search::classic::maple::MemoError;
use std::fmt;

/// The reason why an exploration was not begun, or has no result.
#[derive(Debug)]
pub enum ExploreError {
    /// The schedule to replay is of another test.
    Schedule(ScheduleError),
    /// The settings contradict each other.
    Setting(SettingError),
    /// The search can neither continue from the checkpoint nor write it.
    Checkpoint(CheckpointError),
    /// The exploration can neither read the memo nor add to it.
    Memo(MemoError),
    /// The search is the user's own, and does what no search may.
    Strategy(StrategyError),
}

impl From<StrategyError> for ExploreError {
    fn from(error: StrategyError) -> ExploreError {
        ExploreError::Strategy(error)
    }
}

impl From<SettingError> for ExploreError {
    fn from(error: SettingError) -> ExploreError {
        ExploreError::Setting(error)
    }
}

impl fmt::Display for ExploreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            ExploreError::Schedule(error) => error.to_string(),
            ExploreError::Setting(error) => error.to_string(),
            ExploreError::Checkpoint(error) => error.to_string(),
            ExploreError::Memo(error) => error.to_string(),
            ExploreError::Strategy(error) => error.to_string(),
        };
        // A file or a plugin may have said it.
        f.write_str(&TextStyle::default().visible(text))
    }
}

impl std::error::Error for ExploreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ExploreError::Schedule(error) => Some(error),
            ExploreError::Setting(error) => Some(error),
            ExploreError::Checkpoint(error) => Some(error),
            ExploreError::Memo(error) => Some(error),
            ExploreError::Strategy(error) => Some(error),
        }
    }
}
