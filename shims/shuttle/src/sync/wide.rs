//! Atomics of 128 bits, which std does not have yet: numbers under a lock, and operations that happen as a whole.

use intermezzo::primitive::{Primitive, State};
use std::fmt;
use std::ops::{BitAnd, BitOr, BitXor, Not};
use std::sync::atomic::Ordering::{self, AcqRel, Acquire, Release};
use std::sync::{Mutex, PoisonError};

/// A number of 128 bits.
pub trait Wide:
    Copy
    + Ord
    + Default
    + fmt::Debug
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Not<Output = Self>
{
    /// Adds with wrap-around.
    #[must_use]
    fn plus(self, other: Self) -> Self;
    /// Subtracts with wrap-around.
    #[must_use]
    fn minus(self, other: Self) -> Self;
}

impl Wide for u128 {
    fn plus(self, other: u128) -> u128 {
        self.wrapping_add(other)
    }
    fn minus(self, other: u128) -> u128 {
        self.wrapping_sub(other)
    }
}

impl Wide for i128 {
    fn plus(self, other: i128) -> i128 {
        self.wrapping_add(other)
    }
    fn minus(self, other: i128) -> i128 {
        self.wrapping_sub(other)
    }
}

/// The operations on an atomic, apart from its value, which can be taken out.
struct Operations;

impl State for Operations {
    fn kind(&self) -> &'static str {
        "atomic"
    }
}

/// An atomic of 128 bits, with the methods of std's atomics.
pub struct WideAtomic<T> {
    operations: Primitive<Operations>,
    value: Mutex<T>,
}

impl<T: Wide> WideAtomic<T> {
    /// Creates an atomic with this value.
    pub const fn new(value: T) -> WideAtomic<T> {
        WideAtomic {
            operations: Primitive::new(Operations),
            value: Mutex::new(value),
        }
    }

    /// Returns the value of an atomic that no other task can see.
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the value out.
    pub fn into_inner(self) -> T {
        self.value.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls `f` with the value. Tasks take turns, so nothing waits here.
    fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        f(&mut self.value.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Replaces the value by what `f` returns. Returns the value before.
    #[track_caller]
    fn change(&self, f: impl FnOnce(T) -> T) -> T {
        self.operations.change(AcqRel, |_| {
            self.with(|value| {
                let before = *value;
                *value = f(before);
                before
            })
        })
    }

    /// Reads the value.
    #[track_caller]
    pub fn load(&self, _: Ordering) -> T {
        self.operations.read(Acquire, |_| self.with(|value| *value))
    }

    /// Writes the value.
    #[track_caller]
    pub fn store(&self, value: T, _: Ordering) {
        self.operations.change(Release, |_| self.with(|own| *own = value));
    }

    /// Writes the value, and returns the one before.
    #[track_caller]
    pub fn swap(&self, value: T, _: Ordering) -> T {
        self.change(|_| value)
    }

    /// Writes the value if this one is there.
    ///
    /// # Errors
    /// If the value is another one, which is returned.
    #[track_caller]
    pub fn compare_exchange(&self, current: T, new: T, _: Ordering, _: Ordering) -> Result<T, T> {
        let before = self.load(Ordering::SeqCst);
        if before != current {
            return Err(before);
        }
        // In the same step, so the value is still the same. One that fails only reads.
        let change = |_: &mut Operations| self.with(|value| *value = new);
        self.operations.change_in_step(AcqRel, change);
        Ok(before)
    }

    /// Writes the value if this one is there. It never fails without cause.
    ///
    /// # Errors
    /// If the value is another one, which is returned.
    #[track_caller]
    pub fn compare_exchange_weak(&self, current: T, new: T, set: Ordering, fetch: Ordering) -> Result<T, T> {
        self.compare_exchange(current, new, set, fetch)
    }

    /// Replaces the value by what `f` returns.
    ///
    /// # Errors
    /// If it returned `None`.
    #[track_caller]
    pub fn fetch_update<F: FnMut(T) -> Option<T>>(
        &self,
        set: Ordering,
        fetch: Ordering,
        mut f: F,
    ) -> Result<T, T> {
        let mut before = self.load(fetch);
        while let Some(next) = f(before) {
            match self.compare_exchange(before, next, set, fetch) {
                Ok(before) => return Ok(before),
                Err(now) => before = now,
            }
        }
        Err(before)
    }

    /// Like [`fetch_update`](WideAtomic::fetch_update).
    ///
    /// # Errors
    /// If `f` returned `None`.
    #[track_caller]
    pub fn try_update(&self, set: Ordering, fetch: Ordering, f: impl FnMut(T) -> Option<T>) -> Result<T, T> {
        self.fetch_update(set, fetch, f)
    }

    /// Replaces the value by what `f` returns, and returns the one before.
    #[track_caller]
    pub fn update(&self, set: Ordering, fetch: Ordering, mut f: impl FnMut(T) -> T) -> T {
        match self.fetch_update(set, fetch, |value| Some(f(value))) {
            Ok(before) | Err(before) => before,
        }
    }

    /// Adds with wrap-around, and returns the value before.
    #[track_caller]
    pub fn fetch_add(&self, other: T, _: Ordering) -> T {
        self.change(|value| value.plus(other))
    }

    /// Subtracts with wrap-around, and returns the value before.
    #[track_caller]
    pub fn fetch_sub(&self, other: T, _: Ordering) -> T {
        self.change(|value| value.minus(other))
    }

    /// Combines bits, and returns the value before.
    #[track_caller]
    pub fn fetch_and(&self, other: T, _: Ordering) -> T {
        self.change(|value| value & other)
    }

    /// Combines bits, and returns the value before.
    #[track_caller]
    pub fn fetch_nand(&self, other: T, _: Ordering) -> T {
        self.change(|value| !(value & other))
    }

    /// Combines bits, and returns the value before.
    #[track_caller]
    pub fn fetch_or(&self, other: T, _: Ordering) -> T {
        self.change(|value| value | other)
    }

    /// Combines bits, and returns the value before.
    #[track_caller]
    pub fn fetch_xor(&self, other: T, _: Ordering) -> T {
        self.change(|value| value ^ other)
    }

    /// Keeps the larger value, and returns the one before.
    #[track_caller]
    pub fn fetch_max(&self, other: T, _: Ordering) -> T {
        self.change(|value| value.max(other))
    }

    /// Keeps the smaller value, and returns the one before.
    #[track_caller]
    pub fn fetch_min(&self, other: T, _: Ordering) -> T {
        self.change(|value| value.min(other))
    }
}

impl<T: Wide> Default for WideAtomic<T> {
    fn default() -> WideAtomic<T> {
        WideAtomic::new(T::default())
    }
}

impl<T: Wide> From<T> for WideAtomic<T> {
    fn from(value: T) -> WideAtomic<T> {
        WideAtomic::new(value)
    }
}

impl<T: Wide> fmt::Debug for WideAtomic<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.load(Ordering::SeqCst).fmt(f)
    }
}
