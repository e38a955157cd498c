//! User-defined synchronisation primitives, implemented by a mutex with a condition variable.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The state of a [`Primitive`].
pub trait State {
    /// Returns the gates that are open in this state, a bit for each.
    fn gates(&self) -> u8 {
        0
    }

    /// Returns the name of the kind of primitive in reports.
    #[doc(hidden)]
    fn kind(&self) -> &'static str {
        "primitive"
    }
}

/// A state that several threads share, with operations that may wait.
#[derive(Debug, Default)]
pub struct Primitive<S> {
    state: Mutex<S>,
    changed: Condvar,
}

impl<S> Primitive<S> {
    /// Returns a primitive in this state.
    pub const fn new(state: S) -> Primitive<S> {
        Primitive {
            state: Mutex::new(state),
            changed: Condvar::new(),
        }
    }
}

impl<S: State> Primitive<S> {
    /// Reads the state.
    pub fn read<R>(&self, _: Ordering, read: impl FnOnce(&S) -> R) -> R {
        read(&self.lock())
    }

    /// Changes the state.
    pub fn change<R>(&self, _: Ordering, change: impl FnOnce(&mut S) -> R) -> R {
        self.finish(self.lock(), change)
    }

    /// Waits until one of these gates is open, and changes the state.
    ///
    /// # Panics
    /// If there is no gate to wait for.
    pub fn wait<R>(&self, gates: u8, _: Ordering, change: impl FnOnce(&mut S) -> R) -> R {
        assert!(gates != 0, "there is no gate to wait for");
        let mut state = self.lock();
        while state.gates() & gates == 0 {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        self.finish(state, change)
    }

    /// Waits for at most this long; `None` if no gate was open in time.
    ///
    /// # Panics
    /// If there is no gate to wait for.
    pub fn wait_timeout<R>(
        &self,
        gates: u8,
        limit: Duration,
        order: Ordering,
        change: impl FnOnce(&mut S) -> R,
    ) -> Option<R> {
        // A limit beyond the range of the clock is no limit.
        let Some(until) = Instant::now().checked_add(limit) else {
            return Some(self.wait(gates, order, change));
        };
        assert!(gates != 0, "there is no gate to wait for");
        let mut state = self.lock();
        while state.gates() & gates == 0 {
            let left = until.checked_duration_since(Instant::now())?;
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        Some(self.finish(state, change))
    }

    fn lock(&self) -> MutexGuard<'_, S> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn finish<R>(&self, mut state: MutexGuard<'_, S>, change: impl FnOnce(&mut S) -> R) -> R {
        let result = catch_unwind(AssertUnwindSafe(|| change(&mut state)));
        drop(state);
        self.changed.notify_all();
        result.unwrap_or_else(|payload| resume_unwind(payload))
    }
}
