//! A barrier at which workers pause while one of them reads the state of all.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The number of running workers, and a gate that can be closed.
#[derive(Default)]
pub(super) struct PauseBarrier {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    running: usize,
    /// `true` while a worker wants to be the only one that runs.
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

    /// Registers a worker that starts to run, or continues.
    pub(super) fn enter(&self) {
        self.open().running += 1;
    }

    /// Registers that a worker has paused. The state that it published is up to date.
    pub(super) fn leave(&self) {
        self.lock().running -= 1;
        self.changed.notify_all();
    }

    /// Closes the gate, calls `tell` to notify the other workers, and waits until all of them have paused or left.
    /// Returns `false` if another worker has closed it already. Then the caller must pause.
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

    /// Lets the other workers continue.
    pub(super) fn reopen(&self) {
        self.lock().closed = false;
        self.changed.notify_all();
    }
}
