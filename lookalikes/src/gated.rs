//! A shared state whose operations wait at gates: the basis of channels, barriers and one-time initialisations.
//!
//! Inside an execution a task waits at the engine's gates; outside, a thread waits by a condition variable of std. The
//! state is accessed under one mutex by both, because a thread that is not controlled may use it at any time.

use crate::name::named_by;
use intermezzo_engine::runtime::{Access, Body, Engine, Gates, Object, Site, VarKind, WaitLimits, Wake};
use intermezzo_sdk::SyncVarOp;
use std::cell::UnsafeCell;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A state with gates.
pub(crate) trait State {
    /// The kind of variable.
    const KIND: VarKind;
    /// Returns the gates that are open in its present state.
    fn gates(&self) -> Gates;
}

/// The lock of a state. Its value is the number of threads that wait outside an execution.
///
/// Its functions have no type parameters, so unmodified code calls them in the layer over std. They are not compiled
/// again with the test, which usually is not optimised.
struct Lock(Mutex<usize>);

/// A lock that is held.
struct Held<'l>(MutexGuard<'l, usize>);

impl Lock {
    #[cfg_attr(feature = "unmodified", inline(never))]
    fn acquire(&self) -> Held<'_> {
        Held(self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Held<'_> {
    /// Releases the lock. Returns `true` if threads wait outside an execution.
    #[cfg_attr(feature = "unmodified", inline(never))]
    fn release(self) -> bool {
        *self.0 > 0
    }
}

pub(crate) struct GatedBody<S> {
    /// Guards the state.
    lock: Lock,
    changed: Condvar,
    state: UnsafeCell<S>,
}

impl<S: State> Body for GatedBody<S> {
    const KIND: VarKind = S::KIND;
    fn gates(&self) -> Gates {
        let _held = self.lock.acquire();
        // SAFETY: under the lock.
        unsafe { &*self.state.get() }.gates()
    }
}

/// A state that tasks share, and wait for.
pub(crate) struct Gated<S>(Object<GatedBody<S>>);

// SAFETY: the state is only accessed under the lock; `S: Send` allows access from any thread.
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
    /// At once, and with no schedule point: it commutes with everything that other tasks can do by now, or is a part of the
    /// step that the task is in.
    InStep,
    /// When one of these gates is open.
    Open(Gates),
    /// Like `Open`, for at most this long.
    OpenWithin(Gates, Duration),
}

named_by! { [S: State] Gated<S>: 0; }

impl<S> Gated<S> {
    pub(crate) const fn new(state: S) -> Gated<S> {
        Gated(Object::new(GatedBody {
            lock: Lock(Mutex::new(0)),
            changed: Condvar::new(),
            state: UnsafeCell::new(state),
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
            None => self.perform_outside(site, when, act),
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
        // SAFETY: the body exists as long as the object.
        let body = unsafe { &*body };
        let (held, state) = loop {
            let (wake, gates) = match when {
                When::Now => {
                    engine.enter(access);
                    (Wake::Ready, 0)
                }
                When::InStep => (Wake::Ready, 0),
                When::Open(gates) => (engine.enter_gated(access, gates, WaitLimits::default()), gates),
                When::OpenWithin(gates, limit) => {
                    let wait_limits = WaitLimits {
                        deadline: Some(engine.deadline(limit, site)),
                        may_end_spuriously: false,
                    };
                    (engine.enter_gated(access, gates, wait_limits), gates)
                }
            };
            if wake == Wake::TimedOut {
                engine.timed_out(access);
                return None;
            }
            let held = body.lock.acquire();
            // SAFETY: under the lock.
            let state = unsafe { &mut *body.state.get() };
            let open = state.gates();
            if gates == 0 || open & gates != 0 || engine.in_teardown() {
                break (held, state);
            }
            // A thread that is not controlled was faster.
            held.release();
            engine.set_gates(var, open);
        };
        let Did {
            result,
            op,
            read,
            written,
        } = act(state);
        let gates = state.gates();
        if held.release() {
            body.changed.notify_all();
        }
        engine.set_gates(var, gates);
        let done = Access { op, ..access };
        engine.commit(done, read, written);
        // A channel whose other end is gone refuses what is sent, and has nothing to receive.
        let is_refused =
            matches!(op, SyncVarOp::ChannelSend | SyncVarOp::ChannelReceive) && (read, written) == (0, 0);
        if op == SyncVarOp::ChannelTryFailed || is_refused {
            engine.changed_nothing(done, read);
        }
        Some(result)
    }

    fn perform_outside<R>(&self, site: Site, when: When, act: impl FnOnce(&mut S) -> Did<R>) -> Option<R> {
        // SAFETY: the body exists as long as the object.
        let body = unsafe { &*self.0.outside(site) };
        let Held(mut held) = body.lock.acquire();
        let (gates, until) = match when {
            When::Now | When::InStep => (0, None),
            When::Open(gates) => (gates, None),
            // A limit beyond the range of the clock is no limit.
            When::OpenWithin(gates, limit) => (gates, Instant::now().checked_add(limit)),
        };
        // SAFETY: under the lock.
        while gates != 0 && unsafe { &*body.state.get() }.gates() & gates == 0 {
            *held += 1;
            held = match until {
                None => body.changed.wait(held).unwrap_or_else(PoisonError::into_inner),
                Some(until) => {
                    let Some(left) = until.checked_duration_since(Instant::now()) else {
                        *held -= 1;
                        return None;
                    };
                    let waited = body.changed.wait_timeout(held, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
            *held -= 1;
        }
        // SAFETY: under the lock.
        let state = unsafe { &mut *body.state.get() };
        let Did { result, .. } = act(state);
        let open = state.gates();
        body.changed.notify_all();
        drop(held);
        self.0.opened_outside(open);
        Some(result)
    }
}
