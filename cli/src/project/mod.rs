//! The commands about the tests of the project in the current directory.
//!
//! The tests explore in their own processes, under `cargo test`. Settings go to them in environment
//! variables, reports come back as files in a temporary directory.

mod cargo;
pub(crate) mod replay;
pub(crate) mod reports;
mod target;
pub(crate) mod test;
