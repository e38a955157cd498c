//! `std::cell`, and a trait for the two accesses to a cell that the explorer distinguishes.

pub use std::cell::*;

/// Accesses to a cell that declare a read or a write. Not in std.
pub trait ByPointer<T: ?Sized> {
    /// Calls the closure with a pointer to the value for reading, which is valid as long as the closure runs.
    fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R;

    /// Calls the closure with a pointer to the value for writing, which is valid as long as the closure runs.
    fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R;
}

impl<T: ?Sized> ByPointer<T> for UnsafeCell<T> {
    #[inline]
    fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        read(self.get())
    }

    #[inline]
    fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        write(self.get())
    }
}
