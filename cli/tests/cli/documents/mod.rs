//! What documents show is what there is: each command is carried out or understood, each block of output is printed, and each
//! figure is counted again.

mod commands;
mod figures;
mod names;
mod output;
mod project;
mod read;
pub(crate) mod strategies;

pub(crate) use read::words;
