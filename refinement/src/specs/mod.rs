//! Specifications ready made, one object a file: its operations, and their sequential behaviour.

pub mod channel;
pub mod counter;
pub mod deque;
pub mod key_value;
pub mod map;
pub mod priority_queue;
pub mod queue;
pub mod register;
pub mod semaphore;
pub mod set;
pub mod stack;
