//! `loom::alloc`: memory and values of which monitors hear.

pub use intermezzo::alloc::{Layout, Track, alloc, alloc_zeroed, dealloc};
