//! Tests of the documents: each command is run or parsed, each block of output is compared with real output, and each
//! figure is counted again.

mod commands;
pub(crate) mod figures;
mod names;
mod output;
mod project;
mod read;
mod settings;
mod sources;
pub(crate) mod strategies;

pub(crate) use read::words;
