//! The same operations with std itself. One thread performs one after the other.

use std::any::Any;
pub(crate) use std::sync;

/// `true` if a panic is the program's own or std's: all are.
pub(crate) fn is_of_program(_: &(dyn Any + Send)) -> bool {
    true
}

/// A replacement for the objects that std does not have.
#[derive(Default)]
pub(crate) struct Extra;

#[derive(Default)]
pub(crate) struct OwnExtra;

#[path = "counts.rs"]
mod counts;
#[allow(dead_code, reason = "the other of the two uses the rest")]
#[path = "state.rs"]
pub(crate) mod state;
#[path = "tables.rs"]
pub(crate) mod tables;
