//! The commands about the tests of the project in the current directory.
//!
//! The tests are explored in their own processes, under `cargo test`. They get their settings in environment variables, and
//! write their reports as files into a temporary directory.

pub(crate) mod cargo;
mod ci;
pub(crate) mod config;
mod features;
mod harness;
mod known;
pub(crate) mod list;
pub(crate) mod merge;
pub(crate) mod pool;
pub(crate) mod program;
mod refusal;
pub(crate) mod replay;
pub(crate) mod reports;
mod summary;
mod target;
pub(crate) mod test;

pub(crate) use cargo::{CargoTest, NOTHING_EXPLORED};
pub(crate) use replay::arguments_of_test;
pub(crate) use reports::ProjectReport;
