//! Recordings: executions as values, event by event, for pages, exports and inspection.
//!
//! A recording is made by a replay, since a search keeps nothing of an execution but its schedule. Its JSON form has
//! the format [`RECORDING_FORMAT`]. Names are in tables, and events refer to them by index, so that ten thousand events
//! stay small.

mod nearest;
mod recorder;
mod stacks;
mod take;

pub use crate::report::recording::{
    RECORDING_FORMAT, Recorded, RecordedAccess, RecordedEvent, RecordedFunction, RecordedOperation,
    RecordedTask, RecordedVar, Recording, Said,
};
pub use recorder::{OPERATION, RETURNED};
pub(crate) use take::{Apart, Live, record, settings_of_replay};
