//! `std::cell`, with the two ways to a value that the explorer adds to `UnsafeCell`.

pub use std::cell::{BorrowError, BorrowMutError, Cell, LazyCell, OnceCell, Ref, RefCell, RefMut};

use std::fmt;

/// The core of interior mutability: `std::cell::UnsafeCell`, and `with` and `with_mut`.
#[repr(transparent)]
#[derive(Default)]
pub struct UnsafeCell<T: ?Sized>(std::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    /// Creates a cell with this value.
    #[inline]
    pub const fn new(value: T) -> UnsafeCell<T> {
        UnsafeCell(std::cell::UnsafeCell::new(value))
    }

    /// Takes the value out.
    #[inline]
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// Returns a pointer to the value.
    #[inline]
    pub const fn get(&self) -> *mut T {
        self.0.get()
    }

    /// Reads by a pointer to the value, which is valid as long as the closure runs. Not in std.
    #[inline]
    pub fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        read(self.0.get())
    }

    /// Writes by a pointer to the value, which is valid as long as the closure runs. Not in std.
    #[inline]
    pub fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        write(self.0.get())
    }

    /// Returns the value of a cell that no other task can see.
    #[inline]
    pub const fn get_mut(&mut self) -> &mut T {
        self.0.get_mut()
    }

    /// Returns a pointer to the value, from a pointer to the cell.
    #[inline]
    pub const fn raw_get(this: *const Self) -> *mut T {
        std::cell::UnsafeCell::raw_get(this as *const std::cell::UnsafeCell<T>)
    }
}

impl<T> From<T> for UnsafeCell<T> {
    fn from(value: T) -> Self {
        UnsafeCell::new(value)
    }
}

impl<T: ?Sized> fmt::Debug for UnsafeCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
