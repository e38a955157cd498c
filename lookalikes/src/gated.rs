//! A shared state whose operations wait at gates: the basis of channels, barriers and one-time initialisations.
//!
//! Inside an execution the gates are the engine's; outside, a mutex and a condition variable of std.

use intermezzo_engine::runtime::{Access, Body, Engine, Gates, Object, Site, VarKind, WaitLimits, Wake};
use intermezzo_sdk::SyncVarOp;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A state with gates.
pub(crate) trait State {
    /// The kind of variable.
    const KIND: VarKind;
    /// Returns the gates that are open in its present state.
    fn gates(&self) -> Gates;
}

pub(crate) struct GatedBody<S> {
    lock: Mutex<()>,
    changed: Condvar,
    state: S,
}

impl<S: State> Body for GatedBody<S> {
    const KIND: VarKind = S::KIND;
    fn gates(&self) -> Gates {
        self.state.gates()
    }
}

/// A state that tasks share, and wait for.
pub(crate) struct Gated<S>(Object<GatedBody<S>>);

// SAFETY: the state is only accessed under the lock outside an exploration, and by the one running task inside;
// `S: Send` allows access from any thread.
unsafe impl<S: Send> Sync for Gated<S> {}
// SAFETY: as above.
unsafe impl<S: Send> Send for Gated<S> {}

/// The effect of an operation, for the record: values read and written, as bits.
pub(crate) struct Did<R> {
    pub result: R,
    /// The operation to be recorded.
    pub op: SyncVarOp,
    pub read: u64,
    pub written: u64,
}

impl<R> Did<R> {
    /// Returns the effect of `op`, without values.
    pub(crate) fn just(op: SyncVarOp, result: R) -> Did<R> {
        Did {
            result,
            op,
            read: 0,
            written: 0,
        }
    }
}

/// The condition on which an operation happens.
#[derive(Clone, Copy)]
pub(crate) enum When {
    /// At once.
    Now,
    /// At once, and with no schedule point: it commutes with everything that other tasks can do by now.
    Commuting,
    /// When one of these gates is open.
    Open(Gates),
    /// Like `Open`, for at most this long.
    OpenWithin(Gates, Duration),
}

impl<S> Gated<S> {
    pub(crate) const fn new(state: S) -> Gated<S> {
        Gated(Object::new(GatedBody {
            lock: Mutex::new(()),
            changed: Condvar::new(),
            state,
        }))
    }
}

impl<S: State> Gated<S> {
    /// Performs a visible operation; `None` if it timed out. `act` must not run the test's code (it must drop none of
    /// its values), because the state is borrowed.
    #[inline]
    pub(crate) fn perform<R>(
        &self,
        op: SyncVarOp,
        site: Site,
        when: When,
        act: impl FnOnce(&mut S) -> Did<R>,
    ) -> Option<R> {
        match Engine::current() {
            Some(engine) => self.perform_inside(engine, op, site, when, act),
            None => self.perform_outside(when, act),
        }
    }

    /// Adds a schedule point, if every operation has one, before work that an operation does ahead of
    /// [`perform`](Self::perform).
    pub(crate) fn point(&self, op: SyncVarOp, site: Site) {
        if let Some(engine) = Engine::current().filter(|engine| engine.every_operation()) {
            let (var, _) = self.0.inside(engine, site);
            engine.point(Access::new(op, var, site));
        }
    }

    fn perform_inside<R>(
        &self,
        engine: Engine,
        op: SyncVarOp,
        site: Site,
        when: When,
        act: impl FnOnce(&mut S) -> Did<R>,
    ) -> Option<R> {
        let (var, body) = self.0.inside(engine, site);
        let access = Access::new(op, var, site);
        let wake = match when {
            When::Now => {
                engine.enter(access);
                Wake::Ready
            }
            When::Commuting => Wake::Ready,
            When::Open(gates) => engine.enter_gated(access, gates, WaitLimits::default()),
            When::OpenWithin(gates, limit) => {
                let wait_limits = WaitLimits {
                    deadline: Some(engine.deadline(limit, site)),
                    spurious: false,
                };
                engine.enter_gated(access, gates, wait_limits)
            }
        };
        if wake == Wake::TimedOut {
            engine.timed_out(access);
            return None;
        }
        // SAFETY: only this task runs until its next visible operation, and it holds no other reference.
        let state = unsafe { &mut (*body).state };
        let Did {
            result,
            op,
            read,
            written,
        } = act(state);
        engine.set_gates(var, state.gates());
        let done = Access { op, ..access };
        engine.commit(done, read, written);
        if op == SyncVarOp::ChannelTryFailed {
            engine.changed_nothing(done, read);
        }
        Some(result)
    }

    fn perform_outside<R>(&self, when: When, act: impl FnOnce(&mut S) -> Did<R>) -> Option<R> {
        let body = self.0.outside();
        // SAFETY: lock and condition variable are shared; the state is touched under the lock only.
        let (lock, changed) = unsafe { (&(*body).lock, &(*body).changed) };
        let mut held = lock.lock().unwrap_or_else(PoisonError::into_inner);
        let (gates, until) = match when {
            When::Now | When::Commuting => (0, None),
            When::Open(gates) => (gates, None),
            // A limit beyond the range of the clock is no limit.
            When::OpenWithin(gates, limit) => (gates, Instant::now().checked_add(limit)),
        };
        // SAFETY: under the lock.
        while gates != 0 && unsafe { (*body).state.gates() } & gates == 0 {
            held = match until {
                None => changed.wait(held).unwrap_or_else(PoisonError::into_inner),
                Some(until) => {
                    let left = until.checked_duration_since(Instant::now())?;
                    changed
                        .wait_timeout(held, left)
                        .unwrap_or_else(PoisonError::into_inner)
                        .0
                }
            };
        }
        // SAFETY: under the lock.
        let Did { result, .. } = act(unsafe { &mut (*body).state });
        changed.notify_all();
        drop(held);
        Some(result)
    }
}
