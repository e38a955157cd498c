//! `std::alloc`, and a value that would be tracked.

pub use std::alloc::*;

/// A value of which monitors would hear: there are none.
#[derive(Debug)]
pub struct Track<T>(T);

impl<T> Track<T> {
    /// Tracks a value.
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

    /// The value.
    pub fn into_inner(self) -> T {
        self.0
    }
}
