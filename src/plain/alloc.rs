//! `std::alloc`, and a value that would be tracked.

pub use std::alloc::*;

/// A value that monitors would observe: there are none.
#[derive(Debug)]
pub struct Track<T>(T);

impl<T> Track<T> {
    /// Tracks a value.
    pub fn new(value: T) -> Track<T> {
        Track(value)
    }

    /// Returns the value.
    pub fn get_ref(&self) -> &T {
        &self.0
    }

    /// Returns the value.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.0
    }

    /// Returns the value.
    pub fn into_inner(self) -> T {
        self.0
    }
}
