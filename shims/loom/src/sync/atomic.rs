//! `loom::sync::atomic`: std's atomics, with `with_mut` and `unsync_load`. As in loom, making one is a write.

pub use intermezzo::sync::atomic::{Ordering, compiler_fence, fence};

use intermezzo::hint;
use intermezzo::sync::atomic::{Atomic as Looked, Primitive};
use std::fmt;
use std::ops::Deref;

/// An atomic with loom's own methods; the others are intermezzo's.
pub struct Atomic<T>(Looked<T>);

/// `loom::sync::atomic::AtomicBool`
pub type AtomicBool = Atomic<bool>;
/// `loom::sync::atomic::AtomicI8`
pub type AtomicI8 = Atomic<i8>;
/// `loom::sync::atomic::AtomicI16`
pub type AtomicI16 = Atomic<i16>;
/// `loom::sync::atomic::AtomicI32`
pub type AtomicI32 = Atomic<i32>;
/// `loom::sync::atomic::AtomicI64`
pub type AtomicI64 = Atomic<i64>;
/// `loom::sync::atomic::AtomicIsize`
pub type AtomicIsize = Atomic<isize>;
/// `loom::sync::atomic::AtomicU8`
pub type AtomicU8 = Atomic<u8>;
/// `loom::sync::atomic::AtomicU16`
pub type AtomicU16 = Atomic<u16>;
/// `loom::sync::atomic::AtomicU32`
pub type AtomicU32 = Atomic<u32>;
/// `loom::sync::atomic::AtomicU64`
pub type AtomicU64 = Atomic<u64>;
/// `loom::sync::atomic::AtomicUsize`
pub type AtomicUsize = Atomic<usize>;
/// `loom::sync::atomic::AtomicPtr`
pub type AtomicPtr<T> = Atomic<*mut T>;

impl<T: Primitive> Atomic<T> {
    /// Creates an atomic with this value. It is a write: who is given the atomic without an order after it has a data
    /// race.
    #[track_caller]
    pub fn new(value: T) -> Atomic<T> {
        Atomic::made(Looked::new(value))
    }

    #[track_caller]
    fn made(atomic: Looked<T>) -> Atomic<T> {
        atomic.note_made();
        Atomic(atomic)
    }

    /// Takes the value out.
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }

    /// Calls `f` with the value of an atomic that no other thread can see.
    pub fn with_mut<R>(&mut self, f: impl FnOnce(&mut T) -> R) -> R {
        f(self.0.get_mut())
    }

    /// Returns the value. It is a data race if another thread may write it meanwhile, and is reported as one, because
    /// monitors are told of a read that is not atomic.
    ///
    /// # Safety
    /// As in loom: no other thread writes it meanwhile.
    #[track_caller]
    pub unsafe fn unsync_load(&self) -> T {
        // The load is a schedule point: both orders with a store are explored.
        let value = self.0.load(Ordering::Relaxed);
        self.0.note_plain_read();
        value
    }
}

impl<T> Deref for Atomic<T> {
    type Target = Looked<T>;
    fn deref(&self) -> &Looked<T> {
        &self.0
    }
}

impl<T: Primitive> Default for Atomic<T>
where
    Looked<T>: Default,
{
    #[track_caller]
    fn default() -> Atomic<T> {
        Atomic::made(Looked::default())
    }
}

impl<T: Primitive> From<T> for Atomic<T> {
    #[track_caller]
    fn from(value: T) -> Atomic<T> {
        Atomic::new(value)
    }
}

impl<T> fmt::Debug for Atomic<T>
where
    Looked<T>: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// `loom::sync::atomic::spin_loop_hint`
#[track_caller]
pub fn spin_loop_hint() {
    hint::spin_loop();
}
