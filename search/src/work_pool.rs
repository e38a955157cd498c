//! The workers of one search: waiting for work, and the end of the search, when all of them wait.
//!
//! The search defines its [`Work`], and how to divide it. One mutex guards everything. That is cheap enough, because
//! pieces of work are large, and workers give work away only when another one waits.

use intermezzo_engine::strategy::Idle;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The work of a search that has not been taken by a worker.
///
/// A search may have *rounds*: work of the next round is put aside until no worker has work of this one left.
pub(crate) trait Work {
    /// Returns `true` if there is work to take.
    fn is_ready(&self) -> bool;

    /// Begins the next round. It is called if there is no work and all workers wait. Returns `true` if there is work
    /// now.
    fn next_round(&mut self) -> bool {
        false
    }
}

/// The state that the workers of a search share.
pub(crate) struct WorkPool<W> {
    state: Mutex<PoolState<W>>,
    changed: Condvar,
    /// `true` if a worker waits and there is no work for it: a copy outside the mutex, because it is read often.
    has_idle_workers: AtomicBool,
}

/// The guarded part of a [`WorkPool`].
pub(crate) struct PoolState<W> {
    pub(crate) work: W,
    /// The number of workers, and of those that wait.
    pub(crate) workers: usize,
    waiting: usize,
    /// `true` if no work remains, or none may be taken any more.
    pub(crate) is_over: bool,
}

impl<W> PoolState<W> {
    /// Adds a worker. It counts as waiting until it is first used, because it may begin late.
    pub(crate) fn add_worker(&mut self) {
        self.workers += 1;
        self.waiting += 1;
    }

    /// Notes that a worker no longer counts as waiting, if it did (`idle`).
    pub(crate) fn begin(&mut self, idle: &mut bool) {
        self.waiting -= usize::from(std::mem::take(idle));
    }

    /// Returns `true` if all workers but one wait.
    pub(crate) fn others_wait(&self) -> bool {
        self.waiting + 1 == self.workers
    }
}

impl<W: Work> WorkPool<W> {
    /// Returns the pool of one worker, with this work.
    pub(crate) fn new(work: W) -> WorkPool<W> {
        WorkPool {
            state: Mutex::new(PoolState {
                work,
                workers: 1,
                waiting: 0,
                is_over: false,
            }),
            changed: Condvar::new(),
            has_idle_workers: AtomicBool::new(false),
        }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, PoolState<W>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes a worker. If it still had work (`busy`), that work would be missing, so the search is over, and claims
    /// no coverage.
    pub(crate) fn remove_worker(&self, busy: bool, mut idle: bool) {
        let mut state = self.lock();
        state.workers -= 1;
        state.begin(&mut idle);
        state.is_over |= busy;
        // Perhaps only waiting workers are left, and the search is over.
        self.wake_all(&state);
    }

    /// Returns `true` if another worker waits and there is no work for it.
    #[inline]
    pub(crate) fn has_idle_workers(&self) -> bool {
        self.has_idle_workers.load(Relaxed)
    }

    /// Updates `has_idle_workers` after a change of the state.
    pub(crate) fn note_idle(&self, state: &PoolState<W>) {
        let has_idle_workers = state.waiting > 0 && !state.is_over && !state.work.is_ready();
        self.has_idle_workers.store(has_idle_workers, Relaxed);
    }

    /// Wakes one waiting worker, because there is more work.
    pub(crate) fn wake_one(&self, state: &PoolState<W>) {
        self.note_idle(state);
        if state.waiting > 0 {
            self.changed.notify_one();
        }
    }

    /// Wakes all waiting workers, because there may be more work, or the search is over.
    pub(crate) fn wake_all(&self, state: &PoolState<W>) {
        self.note_idle(state);
        if state.waiting > 0 {
            self.changed.notify_all();
        }
    }

    /// Waits for work. Returns `true` if there may be work to take, and `false` if the search is over.
    pub(crate) fn wait(&self, idle: &mut bool) -> bool {
        let mut state = self.lock();
        state.waiting += usize::from(!std::mem::take(idle));
        while !self.is_settled(&mut state) {
            self.note_idle(&state);
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.waiting -= 1;
        self.note_idle(&state);
        !state.is_over
    }

    /// Returns whether there is work, like [`WorkPool::wait`] but without waiting. The worker counts as waiting as long
    /// as `idle` is left `true`.
    pub(crate) fn idle(&self, idle: &mut bool) -> Idle {
        let mut state = self.lock();
        state.waiting += usize::from(!std::mem::replace(idle, true));
        let is_settled = self.is_settled(&mut state);
        if is_settled {
            state.begin(idle);
        }
        self.note_idle(&state);
        match (state.is_over, is_settled) {
            (true, _) => Idle::Over,
            (false, true) => Idle::Work,
            (false, false) => Idle::Nothing,
        }
    }

    /// Returns `true` if there is work, or the search is over. If all workers wait and there is no work, begins the
    /// next round or ends the search.
    fn is_settled(&self, state: &mut PoolState<W>) -> bool {
        let mut is_ready = state.work.is_ready();
        if !is_ready && !state.is_over && state.waiting == state.workers {
            is_ready = state.work.next_round();
            state.is_over = !is_ready;
            self.changed.notify_all();
        }
        is_ready || state.is_over
    }

    /// Stops handing out work.
    pub(crate) fn stop(&self) {
        let mut state = self.lock();
        state.is_over = true;
        self.wake_all(&state);
    }
}
