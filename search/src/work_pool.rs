//! The workers of one search: those that wait for work, and the end of the search when all of them do.
//!
//! The search defines its [`Work`] and the way to divide it. A mutex guards everything: pieces of work are coarse, and
//! workers give work away only when another one waits.

use intermezzo_engine::strategy::Idle;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The work of a search that no worker has taken.
///
/// A search may have *rounds*: work of the next one is put aside until no worker has work of this one left.
pub(crate) trait Work {
    /// `true` if there is some to take.
    fn is_ready(&self) -> bool;

    /// Begins the next round, if there is no work and all workers wait. Returns `true` if there is some now.
    fn next_round(&mut self) -> bool {
        false
    }
}

/// The state that the workers of a search share.
pub(crate) struct WorkPool<W> {
    state: Mutex<PoolState<W>>,
    changed: Condvar,
    /// `true` if a worker waits and there is no work for it: a copy for frequent reads.
    has_idle_workers: AtomicBool,
}

/// The guarded part of a [`WorkPool`].
pub(crate) struct PoolState<W> {
    pub(crate) work: W,
    /// The number of workers, and the number of those that wait.
    pub(crate) workers: usize,
    waiting: usize,
    /// `true` if nothing remains, or nothing may be taken any more.
    pub(crate) is_over: bool,
}

impl<W> PoolState<W> {
    /// Adds a worker, which counts as waiting until it is first used, because it may begin late.
    pub(crate) fn add_worker(&mut self) {
        self.workers += 1;
        self.waiting += 1;
    }

    /// Notes that a worker no longer counts as waiting, if it does (`idle`).
    pub(crate) fn begin(&mut self, idle: &mut bool) {
        self.waiting -= usize::from(std::mem::take(idle));
    }

    /// `true` if all workers but one wait.
    pub(crate) fn others_wait(&self) -> bool {
        self.waiting + 1 == self.workers
    }
}

impl<W: Work> WorkPool<W> {
    /// Returns the state for one worker, with this work.
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

    /// Removes a worker. If it had work (`busy`), that would be missing: then the search is over, and claims nothing.
    pub(crate) fn remove_worker(&self, busy: bool, mut idle: bool) {
        let mut state = self.lock();
        state.workers -= 1;
        state.begin(&mut idle);
        state.is_over |= busy;
        // The waiting workers may be the only ones left.
        self.wake_all(&state);
    }

    /// Returns `true` if another worker waits and there is no work for it.
    #[inline]
    pub(crate) fn has_idle_workers(&self) -> bool {
        self.has_idle_workers.load(Relaxed)
    }

    /// Notes the number of idle workers, after a change of the state.
    pub(crate) fn note_idle(&self, state: &PoolState<W>) {
        let has_idle_workers = state.waiting > 0 && !state.is_over && !state.work.is_ready();
        self.has_idle_workers.store(has_idle_workers, Relaxed);
    }

    /// Wakes a waiting worker, because there is more work.
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

    /// Waits for work. Returns `true` if there may be some to take, and `false` if the search is over.
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

    /// Returns `true` if there is work, or the search is over. Begins the next round, or ends the search, if all workers
    /// wait and there is none.
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
