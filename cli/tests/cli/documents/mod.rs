//! Tests of the documents: each command is run or parsed, each block of output compared with what is printed, and each figure
//! counted again.

mod commands;
mod figures;
mod names;
mod output;
mod project;
mod read;
pub(crate) mod strategies;

pub(crate) use read::words;
