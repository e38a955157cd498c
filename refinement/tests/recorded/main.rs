//! Histories in files: published ones with known verdicts, every format, and files that are damaged.

#![allow(
    clippy::print_stdout,
    reason = "figures for whoever runs the tests by hand, and what was not tested"
)]

mod damaged;
mod formats;
mod published;
