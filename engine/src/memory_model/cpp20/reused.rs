//! A list that each execution fills with entries that own memory.

use std::ops::{Deref, DerefMut};

/// A list. The entries beyond its end are kept for their memory.
#[derive(Debug, Default)]
pub(super) struct Reused<T> {
    entries: Vec<T>,
    length: usize,
}

impl<T: Default> Reused<T> {
    /// Adds an entry, and returns it as an earlier execution has left it.
    #[inline]
    pub(super) fn add(&mut self) -> &mut T {
        if self.length == self.entries.len() {
            self.entries.push(T::default());
        }
        self.length += 1;
        &mut self.entries[self.length - 1]
    }

    /// Empties the list. The memory is kept.
    pub(super) fn clear(&mut self) {
        self.length = 0;
    }
}

impl<T> Deref for Reused<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        &self.entries[..self.length]
    }
}

impl<T> DerefMut for Reused<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.entries[..self.length]
    }
}
