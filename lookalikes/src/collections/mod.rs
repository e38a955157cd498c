//! `std::collections`, with hash tables that iterate in the same order in every execution.
//!
//! [`HashMap`] and [`HashSet`] are std's, with [`RandomState`](crate::hash::RandomState) for their keys. They have std's
//! methods, and dereference to std's types for those that are newer.

// Most methods would be there by dereferencing, but then not by their paths (`HashMap::len`), and an argument could not
// use the table that a method changes.
mod map;
mod set;
mod table;

pub use map::HashMap;
pub use set::HashSet;
pub use std::collections::*;

/// `std::collections::hash_map`.
pub mod hash_map {
    pub use super::map::HashMap;
    pub use crate::hash::{DefaultHasher, RandomState};
    pub use std::collections::hash_map::*;
}

/// `std::collections::hash_set`.
pub mod hash_set {
    pub use super::set::HashSet;
    pub use std::collections::hash_set::*;
}
