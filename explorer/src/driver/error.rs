//! The reasons for which an exploration is refused.

use super::CheckpointError;
use crate::settings::SettingError;
use intermezzo_engine::schedule::ScheduleError;
use intermezzo_search::classic::maple::MemoError;
use std::fmt;

/// The reason for which an exploration was not begun.
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
}

impl From<SettingError> for ExploreError {
    fn from(error: SettingError) -> ExploreError {
        ExploreError::Setting(error)
    }
}

impl fmt::Display for ExploreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExploreError::Schedule(error) => error.fmt(f),
            ExploreError::Setting(error) => error.fmt(f),
            ExploreError::Checkpoint(error) => error.fmt(f),
            ExploreError::Memo(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ExploreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ExploreError::Schedule(error) => Some(error),
            ExploreError::Setting(error) => Some(error),
            ExploreError::Checkpoint(error) => Some(error),
            ExploreError::Memo(error) => Some(error),
        }
    }
}
