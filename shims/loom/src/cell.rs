//! `loom::cell`: cells whose accesses are reads or writes.

use intermezzo::cell::LoomCell;
use std::fmt;

/// `loom::cell::Cell`: a place whose value is moved in and out. As in loom, making it is a write, and dropping it is no
/// access.
#[derive(Debug, Default)]
pub struct Cell<T>(UnsafeCell<T>);

impl<T> Cell<T> {
    /// Creates a cell with this value. It is a write, as that of an [`UnsafeCell`].
    #[track_caller]
    pub fn new(value: T) -> Cell<T> {
        Cell(UnsafeCell::new(value))
    }

    /// Takes the value out.
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }

    /// Stores a value, and drops the one before.
    #[track_caller]
    pub fn set(&self, value: T) {
        drop(self.replace(value));
    }

    /// Stores a value, and returns the one before.
    #[track_caller]
    pub fn replace(&self, value: T) -> T {
        // SAFETY: a cell never lends its value, and is not `Sync`.
        self.0.with_mut(|place| unsafe { place.replace(value) })
    }

    /// Exchanges the values of two cells.
    #[track_caller]
    pub fn swap(&self, other: &Cell<T>) {
        if !std::ptr::eq(self, other) {
            // SAFETY: as for `replace`; the two cells do not overlap, because they are whole objects.
            self.0.with_mut(|a| other.0.with_mut(|b| unsafe { a.swap(b) }));
        }
    }

    /// Takes the value, and leaves the default in its place.
    #[track_caller]
    pub fn take(&self) -> T
    where
        T: Default,
    {
        self.replace(T::default())
    }

    /// Returns a copy of the value.
    #[track_caller]
    pub fn get(&self) -> T
    where
        T: Copy,
    {
        // SAFETY: as for `replace`.
        self.0.with(|place| unsafe { place.read() })
    }
}

impl<T> From<T> for Cell<T> {
    #[track_caller]
    fn from(value: T) -> Cell<T> {
        Cell::new(value)
    }
}

/// `loom::cell::UnsafeCell`: the pointer is obtained for reading or for writing. As in loom, making it is a write, and
/// dropping it is no access.
pub struct UnsafeCell<T: ?Sized>(LoomCell<T>);

impl<T> UnsafeCell<T> {
    /// Creates a cell with this value. It is a write: who is given the cell without an order after it has a data race.
    #[track_caller]
    pub fn new(value: T) -> UnsafeCell<T> {
        UnsafeCell(LoomCell::written(value))
    }

    /// Takes the value out.
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// Calls `f` with a pointer to read through.
    #[track_caller]
    pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        f(self.0.read())
    }

    /// Calls `f` with a pointer to write through.
    #[track_caller]
    pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        f(self.0.write())
    }

    /// Returns a pointer to read through. The access counts as happening here and now.
    #[track_caller]
    pub fn get(&self) -> ConstPtr<T> {
        ConstPtr(self.0.read())
    }

    /// Returns a pointer to write through. The access counts as happening here and now.
    #[track_caller]
    pub fn get_mut(&self) -> MutPtr<T> {
        MutPtr(self.0.write())
    }
}

impl<T: Default> Default for UnsafeCell<T> {
    #[track_caller]
    fn default() -> UnsafeCell<T> {
        UnsafeCell::new(T::default())
    }
}

impl<T: ?Sized> fmt::Debug for UnsafeCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnsafeCell").finish_non_exhaustive()
    }
}

impl<T> From<T> for UnsafeCell<T> {
    #[track_caller]
    fn from(value: T) -> UnsafeCell<T> {
        UnsafeCell::new(value)
    }
}

/// A pointer to read through.
#[derive(Debug)]
pub struct ConstPtr<T: ?Sized>(*const T);

impl<T: ?Sized> ConstPtr<T> {
    /// Returns the value that it points to.
    ///
    /// # Safety
    /// As for a raw pointer.
    pub unsafe fn deref(&self) -> &T {
        // SAFETY: the caller guarantees it.
        unsafe { &*self.0 }
    }

    /// Calls `f` with the pointer.
    pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        f(self.0)
    }
}

/// A pointer to write through.
#[derive(Debug)]
pub struct MutPtr<T: ?Sized>(*mut T);

impl<T: ?Sized> MutPtr<T> {
    /// Returns the value that it points to.
    ///
    /// # Safety
    /// As for a raw pointer.
    #[allow(clippy::mut_from_ref, reason = "it stands for a raw pointer, as in loom")]
    pub unsafe fn deref(&self) -> &mut T {
        // SAFETY: the caller guarantees it.
        unsafe { &mut *self.0 }
    }

    /// Calls `f` with the pointer.
    pub fn with<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        f(self.0)
    }
}
