//! Is a history linearizable?

pub mod long;
