//! Programs with known verdicts and counts, written against the facade as a user would.
//!
//! Each says what it is, what it takes, with which settings it is best explored, and what must come of it.

pub mod bugs;
mod find;
pub mod objects;
mod program;
mod programs;

pub use find::{find, parse_full_name, programs};
pub use program::{ArgumentError, Arguments, Body, Expected, Parameter, Program};

/// Every concurrent object, in order of name.
pub fn objects() -> &'static [objects::Object] {
    objects::ALL
}
