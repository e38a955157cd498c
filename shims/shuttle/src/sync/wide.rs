//! Atomics of 128 bits, which std does not have yet: numbers under a lock.

use intermezzo::sync::{Mutex, MutexGuard};
use std::fmt;
use std::ops::{BitAnd, BitOr, BitXor, Not};
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

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

/// An atomic of 128 bits, with the methods of std's atomics.
#[derive(Default)]
pub struct WideAtomic<T>(Mutex<T>);

impl<T: Wide> WideAtomic<T> {
    /// Creates an atomic with this value.
    pub const fn new(value: T) -> WideAtomic<T> {
        WideAtomic(Mutex::new(value))
    }

    /// Returns the value of an atomic that no other task can see.
    pub fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the value out.
    pub fn into_inner(self) -> T {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    #[track_caller]
    fn value(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces the value by what `f` returns, if anything. Returns the value before.
    #[track_caller]
    fn replace(&self, f: impl FnOnce(T) -> Option<T>) -> Result<T, T> {
        let mut value = self.value();
        let before = *value;
        match f(before) {
            Some(next) => {
                *value = next;
                Ok(before)
            }
            None => Err(before),
        }
    }

    #[track_caller]
    fn change(&self, f: impl FnOnce(T) -> T) -> T {
        match self.replace(|value| Some(f(value))) {
            Ok(before) | Err(before) => before,
        }
    }

    /// Reads the value.
    #[track_caller]
    pub fn load(&self, _: Ordering) -> T {
        *self.value()
    }

    /// Writes the value.
    #[track_caller]
    pub fn store(&self, value: T, _: Ordering) {
        *self.value() = value;
    }

    /// Writes the value, and returns the one before.
    #[track_caller]
    pub fn swap(&self, value: T, _: Ordering) -> T {
        self.change(|_| value)
    }

    /// Writes the value if this one is there.
    ///
    /// # Errors
    /// Another one is, which is returned.
    #[track_caller]
    pub fn compare_exchange(&self, current: T, new: T, _: Ordering, _: Ordering) -> Result<T, T> {
        self.replace(|value| (value == current).then_some(new))
    }

    /// Writes the value if this one is there. It never fails without cause.
    ///
    /// # Errors
    /// Another one is, which is returned.
    #[track_caller]
    pub fn compare_exchange_weak(&self, current: T, new: T, set: Ordering, fetch: Ordering) -> Result<T, T> {
        self.compare_exchange(current, new, set, fetch)
    }

    /// Replaces the value by what `f` returns.
    ///
    /// # Errors
    /// It returned nothing.
    #[track_caller]
    pub fn fetch_update<F: FnMut(T) -> Option<T>>(&self, _: Ordering, _: Ordering, mut f: F) -> Result<T, T> {
        let mut before = *self.value();
        while let Some(next) = f(before) {
            match self.replace(|value| (value == before).then_some(next)) {
                Ok(before) => return Ok(before),
                Err(now) => before = now,
            }
        }
        Err(before)
    }

    /// Like [`fetch_update`](WideAtomic::fetch_update).
    ///
    /// # Errors
    /// `f` returned nothing.
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
