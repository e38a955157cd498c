//! The operations of the tables, with the look-alikes.

pub(crate) use intermezzo_explorer::sync;
use std::any::Any;

/// `true` if a panic is the program's own or std's, and not one of the engine's, which unwinds remaining tasks.
pub(crate) fn is_of_program(payload: &(dyn Any + Send)) -> bool {
    payload.is::<super::Expected>() || payload.is::<String>() || payload.is::<&str>()
}

pub(crate) use crate::ours::{Extra, OwnExtra};

#[path = "counts.rs"]
mod counts;
#[allow(dead_code, reason = "the other of the two uses the rest")]
#[path = "state.rs"]
pub(crate) mod state;
#[path = "tables.rs"]
pub(crate) mod tables;
