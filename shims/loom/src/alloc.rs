//! `loom::alloc`: memory and values that monitors observe.

pub use intermezzo::alloc::{Layout, Track, alloc, alloc_zeroed, dealloc};
