//! `std::cell`. Tasks can share only an `UnsafeCell`, and a `Cell` only by an `unsafe impl Sync`. These two report
//! accesses to their data to the monitors, and are fresh in a static. The others are std's.
//!
//! Monitors are also notified when a cell is dropped.
//!
//! An access to a cell is no schedule point. If two tasks may make conflicting accesses there is a data race, whatever
//! the order, and a monitor reports it. The access becomes a schedule point once a race was found there
//! (`engine/src/runtime/data_points.rs`).
//!
//! A cell becomes a variable at its first use, like any look-alike. That costs a word in the cell and one comparison
//! per use, and finds a cell that is carried from one execution into the next.
//!
//! Not provided, because a controlled cell is larger than its value: `from_mut`, `raw_get`, `as_slice_of_cells`,
//! `as_array_of_cells`.

pub use std::cell::{BorrowError, BorrowMutError, LazyCell, OnceCell, Ref, RefCell, RefMut};

use crate::name::named_by;
use crate::traits::{around_value, opaque};
use intermezzo_engine::runtime::{
    Body, DataAccess, Does, Embedded, EmbeddedIdentity, Engine, Gates, Object, Owner, Site, VarKind,
};
use std::cmp::Ordering;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The identity of a cell, whose end is published.
///
/// The identity has the destructor, and not the cell, so that a cell may hold a value that borrows from its neighbour,
/// as std's may.
struct CellId(AtomicU64);

impl EmbeddedIdentity for CellId {
    #[allow(
        clippy::declare_interior_mutable_const,
        reason = "each use makes an identity of its own"
    )]
    const UNUSED: CellId = CellId(<AtomicU64 as EmbeddedIdentity>::UNUSED);
    #[inline(always)]
    fn word(&self) -> &AtomicU64 {
        &self.0
    }
}

impl Drop for CellId {
    #[inline]
    fn drop(&mut self) {
        if self.0.load(Relaxed) != 0
            && let Some(engine) = Engine::current()
            && let Some(var) = engine.var_of(&self.0)
        {
            engine.cell_dropped(var);
        }
    }
}

/// The content of a cell.
struct Data<T: ?Sized>(T);

impl<T: ?Sized> Body for Data<T> {
    const KIND: VarKind = VarKind::Cell;
    fn gates(&self) -> Gates {
        0
    }
}

/// Data whose accesses are published, though none is a visible operation.
#[repr(transparent)]
struct Plain<T: ?Sized, I: EmbeddedIdentity = CellId>(Object<Data<T>, I>);

impl<T, I: EmbeddedIdentity> Plain<T, I> {
    const fn new(value: T) -> Plain<T, I> {
        Plain(Object::new(Data(value)))
    }

    fn into_inner(self) -> T {
        self.0.into_inner().0
    }
}

impl<T: ?Sized, I: EmbeddedIdentity> Plain<T, I> {
    /// Returns the address of the data, and publishes the access to it.
    #[inline]
    fn access(&self, does: Does, site: Site) -> *mut T {
        match Engine::current() {
            Some(engine) => {
                let (var, body) = self.0.inside(engine, site);
                let (data, size) = placed(body);
                engine.data_access(DataAccess {
                    owner: Owner::Cell(var),
                    // The address is exposed, because a value to which a pointer is given out is compared later.
                    address: data.cast::<u8>().expose_provenance(),
                    size,
                    does,
                    site,
                });
                data
            }
            None => self.place(site),
        }
    }

    /// Returns the address of the data, without publishing an access.
    fn place(&self, site: Site) -> *mut T {
        match Engine::current() {
            Some(engine) => {
                let (var, body) = self.0.inside(engine, site);
                let (data, size) = placed(body);
                engine.lies_at(Owner::Cell(var), data.cast::<u8>().addr(), size);
                data
            }
            None => placed(self.0.outside(site)).0,
        }
    }

    /// Returns the data of a cell that is not shared, and publishes the access as a write.
    fn data_mut(&mut self, site: Site) -> &mut T {
        if let Some(engine) = Engine::current()
            && !engine.in_teardown()
            && (self.0.known(engine).is_some() || self.0.is_unused())
        {
            self.access(Does::Write, site);
        }
        // SAFETY: `&mut self` guarantees that it is not shared.
        unsafe { &mut (*self.0.get_mut()).0 }
    }
}

named_by! { [T: ?Sized, I: EmbeddedIdentity] Plain<T, I>: 0; }

/// Returns the address of a body's data, and its size in bytes.
fn placed<T: ?Sized>(body: *mut Data<T>) -> (*mut T, usize) {
    // SAFETY: the body exists as long as the cell, which the caller borrows.
    unsafe {
        let data = &raw mut (*body).0;
        (data, std::mem::size_of_val(&*data))
    }
}

/// The core of interior mutability: `std::cell::UnsafeCell`.
///
/// Accesses through a raw pointer cannot be seen, so a pointer from [`UnsafeCell::get`] is watched. Asking for it
/// counts as a read. If the value has changed by the task's next visible operation, that counts as a write at the same
/// place. Tasks that only read through such pointers are no data race. Two things are not seen: a write that changes no
/// byte, and accesses through a pointer that is kept beyond the next visible operation. [`ByPointer::with`] declares a
/// read and [`ByPointer::with_mut`] a write; [`crate::ptr`] has reads and writes by pointer that are seen.
#[repr(transparent)]
pub struct UnsafeCell<T: ?Sized>(Plain<T>);

named_by! {
    [T: ?Sized] UnsafeCell<T>: 0;
    [T: ?Sized] LoomCell<T>: 0;
    [T: ?Sized] Cell<T>: 0;
}

impl<T> UnsafeCell<T> {
    /// Returns a cell with this value.
    pub const fn new(value: T) -> UnsafeCell<T> {
        UnsafeCell(Plain::new(value))
    }

    /// Returns the value.
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// Returns a pointer to the value. Counts as a read, and as a write if the value changes: see [`UnsafeCell`].
    #[inline]
    #[track_caller]
    pub fn get(&self) -> *mut T {
        self.0.access(Does::GivePointer, Site::caller())
    }

    /// Returns the value of a cell that is not shared. Counts as a write.
    #[track_caller]
    pub fn get_mut(&mut self) -> &mut T {
        self.0.data_mut(Site::caller())
    }
}

/// Accesses to a cell that declare a read or a write. Not in std. Without the feature `explore` the facade has the same
/// trait for std's own `UnsafeCell`.
///
/// ```
/// # use intermezzo_explorer as intermezzo;
/// use intermezzo::cell::{ByPointer, UnsafeCell};
///
/// let cell = UnsafeCell::new(1);
/// // SAFETY: nothing else uses the cell.
/// cell.with_mut(|value| unsafe { *value += 1 });
/// assert_eq!(cell.with(|value| unsafe { *value }), 2);
/// ```
pub trait ByPointer<T: ?Sized> {
    /// Calls the closure with a pointer to the value for reading, which is valid as long as the closure runs.
    fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R;

    /// Calls the closure with a pointer to the value for writing, which is valid as long as the closure runs.
    fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R;
}

impl<T: ?Sized> ByPointer<T> for UnsafeCell<T> {
    #[inline]
    #[track_caller]
    fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        read(self.0.access(Does::Read, Site::caller()))
    }

    #[inline]
    #[track_caller]
    fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        write(self.0.access(Does::Write, Site::caller()))
    }
}

around_value!(UnsafeCell, Cell);

opaque! { [T: ?Sized] UnsafeCell<T>; }

/// A cell whose end is no access: loom's.
///
/// The end of an [`UnsafeCell`] is an access of the task that drops it. Tests written for loom share cells by std's own
/// `Arc`, whose counts are not seen to order that task after the others.
#[doc(hidden)]
pub struct LoomCell<T: ?Sized>(Plain<T, Embedded>);

impl<T> LoomCell<T> {
    /// Returns a cell with this value.
    pub const fn new(value: T) -> LoomCell<T> {
        LoomCell(Plain::new(value))
    }

    /// Returns a cell with this value, and publishes that it was written: a task that gets at the cell without coming
    /// after this races with it. The identity moves with the cell.
    #[track_caller]
    pub fn written(value: T) -> LoomCell<T> {
        let cell = LoomCell::new(value);
        if Engine::current().is_some_and(Engine::may_be_raced) {
            cell.0.access(Does::Write, Site::caller());
        }
        cell
    }

    /// Returns the value.
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T: ?Sized> LoomCell<T> {
    /// Reads: returns a pointer to read through.
    #[inline]
    #[track_caller]
    pub fn read(&self) -> *const T {
        self.0.access(Does::Read, Site::caller())
    }

    /// Writes: returns a pointer to write through.
    #[inline]
    #[track_caller]
    pub fn write(&self) -> *mut T {
        self.0.access(Does::Write, Site::caller())
    }
}

/// A place whose value is moved in and out: `std::cell::Cell`.
#[repr(transparent)]
pub struct Cell<T: ?Sized>(Plain<T>);

impl<T> Cell<T> {
    /// Returns a cell with this value.
    pub const fn new(value: T) -> Cell<T> {
        Cell(Plain::new(value))
    }

    /// Returns the value.
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }

    /// Stores a value, and drops the one before.
    #[inline]
    #[track_caller]
    pub fn set(&self, value: T) {
        drop(self.replace(value));
    }

    /// Stores a value, and returns the one before.
    #[inline]
    #[track_caller]
    pub fn replace(&self, value: T) -> T {
        // SAFETY: a cell never lends its value, and is not `Sync`.
        unsafe { self.0.access(Does::Write, Site::caller()).replace(value) }
    }

    /// Exchanges the values of two cells.
    #[inline]
    #[track_caller]
    pub fn swap(&self, other: &Cell<T>) {
        let site = Site::caller();
        if std::ptr::eq(self, other) {
            return;
        }
        // SAFETY: as for `replace`; the two cells do not overlap, because they are whole objects.
        unsafe {
            self.0
                .access(Does::Write, site)
                .swap(other.0.access(Does::Write, site))
        };
    }

    /// Takes the value, and leaves the default in its place.
    #[inline]
    #[track_caller]
    pub fn take(&self) -> T
    where
        T: Default,
    {
        self.replace(T::default())
    }
}

impl<T: Copy> Cell<T> {
    /// Returns a copy of the value.
    #[inline]
    #[track_caller]
    pub fn get(&self) -> T {
        // SAFETY: as for `replace`.
        unsafe { self.0.access(Does::Read, Site::caller()).read() }
    }

    /// Replaces the value by the result of `f` for it.
    #[inline]
    #[track_caller]
    pub fn update(&self, f: impl FnOnce(T) -> T) {
        self.set(f(self.get()));
    }
}

impl<T: ?Sized> Cell<T> {
    /// Returns a pointer to the value. Accesses through it are not seen, except by the functions of [`crate::ptr`].
    #[inline]
    #[track_caller]
    pub fn as_ptr(&self) -> *mut T {
        self.0.place(Site::caller())
    }

    /// Returns the value of a cell that is not shared. Counts as a write.
    #[track_caller]
    pub fn get_mut(&mut self) -> &mut T {
        self.0.data_mut(Site::caller())
    }
}

impl<T: Copy> Clone for Cell<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        Cell::new(self.get())
    }
}

impl<T: Copy + PartialEq> PartialEq for Cell<T> {
    #[track_caller]
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl<T: Copy + Eq> Eq for Cell<T> {}

impl<T: Copy + PartialOrd> PartialOrd for Cell<T> {
    #[track_caller]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.get().partial_cmp(&other.get())
    }
}

impl<T: Copy + Ord> Ord for Cell<T> {
    #[track_caller]
    fn cmp(&self, other: &Self) -> Ordering {
        self.get().cmp(&other.get())
    }
}

impl<T: Copy + fmt::Debug> fmt::Debug for Cell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cell").field("value", &self.get()).finish()
    }
}
