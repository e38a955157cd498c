//! `loom::alloc`: std's. Leaks are not looked for.

pub use std::alloc::{Layout, alloc, alloc_zeroed, dealloc};

/// A value whose leak loom would report. Here it is just a value.
#[derive(Debug)]
pub struct Track<T>(T);

impl<T> Track<T> {
    /// Holds a value.
    pub fn new(value: T) -> Track<T> {
        Track(value)
    }

    /// The value.
    pub fn get_ref(&self) -> &T {
        &self.0
    }

    /// The value.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.0
    }

    /// Takes the value out.
    pub fn into_inner(self) -> T {
        self.0
    }
}
