//! Specifications ready made, one object a file: its operations, and what they do one at a time.
//!
//! States are persistent collections where an operation would otherwise copy the whole: a checker keeps many states
//! that differ by little.

pub mod counter;
pub mod key_value;
pub mod priority_queue;
pub mod queue;
pub mod register;
pub mod set;
pub mod stack;
