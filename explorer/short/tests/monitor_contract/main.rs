//! The Monitor contract as the engine keeps it.

mod afterwards;
mod attributes;
mod blocks;
mod calls;
mod data_points;
mod memory;
mod order;
mod panics;
mod recorder;
mod severity;
mod values;
