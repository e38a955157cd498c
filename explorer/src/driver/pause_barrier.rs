//! Where workers rest while one of them looks at everybody's state.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Counts the workers that run.
#[derive(Default)]
pub(super) struct PauseBarrier {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    running: usize,
    /// Somebody wants to be the only one.
    closed: bool,
}

impl PauseBarrier {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the gate is open.
    fn open(&self) -> MutexGuard<'_, State> {
        let state = self.changed.wait_while(self.lock(), |state| state.closed);
        state.unwrap_or_else(PoisonError::into_inner)
    }

    /// A worker begins to run, or goes on.
    pub(super) fn enter(&self) {
        self.open().running += 1;
    }

    /// A worker runs no more for now: what it left for others to see is up to date.
    pub(super) fn leave(&self) {
        self.lock().running -= 1;
        self.changed.notify_all();
    }

    /// Waits until all others rest or have left, who learn of it by `tell`, and keeps them so. False if somebody else
    /// does that: rest.
    pub(super) fn close(&self, tell: impl FnOnce()) -> bool {
        let mut state = self.lock();
        if state.closed {
            return false;
        }
        state.closed = true;
        tell();
        let alone = self.changed.wait_while(state, |state| state.running > 1);
        drop(alone.unwrap_or_else(PoisonError::into_inner));
        true
    }

    /// Lets the others go on.
    pub(super) fn reopen(&self) {
        self.lock().closed = false;
        self.changed.notify_all();
    }
}
