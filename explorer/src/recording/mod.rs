//! An execution, event by event, as a value: for pages, exports and whoever wants to look closely.
//!
//! A recording is made by a replay: a schedule is all that a search keeps of an execution. Its JSON form has the format
//! [`RECORDING_FORMAT`]. Names are in tables, and events refer to them by place, so that ten thousand events stay small.

mod nearest;
mod recorder;
mod take;

pub use crate::report::recording::{
    RECORDING_FORMAT, Recorded, RecordedAccess, RecordedEvent, RecordedOperation, RecordedTask, RecordedVar,
    Recording, Said,
};
pub use recorder::{OPERATION, RETURNED};
pub(crate) use take::{Apart, Live, record, settings_of_replay};
