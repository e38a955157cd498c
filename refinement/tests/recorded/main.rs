//! Histories in files: published ones with known verdicts, every format, and files that are damaged.

#![allow(
    clippy::print_stdout,
    reason = "figures for manual runs of the tests, and notes about skipped parts"
)]

mod damaged;
mod formats;
mod published;
