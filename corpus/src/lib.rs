//! Programs with known verdicts and counts, written against the facade as a user would.
//!
//! Each has a description, its parameters, the settings that fit it, and its expected verdict.

pub mod bugs;
mod find;
pub mod objects;
mod program;
mod programs;

pub use find::{find, parse_full_name, programs};
pub use program::{ArgumentError, Arguments, Body, Expected, Parameter, Program};

/// Returns every concurrent object, in order of name.
pub fn objects() -> &'static [objects::Object] {
    objects::ALL
}
