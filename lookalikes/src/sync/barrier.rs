//! `std::sync::Barrier`. The last to arrive is the leader, as in std.
//!
//! Arriving is a visible operation. Passing is not: it commutes with all other operations, so waiting tasks pass as
//! soon as the leader has arrived.

use intermezzo_engine::runtime::{Access, Body, Engine, Gates, Object, Site, VarKind, WaitLimits, gate};
use intermezzo_sdk::SyncVarOp;
use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};

struct BarrierBody {
    raw: std::sync::Barrier,
    /// The number of threads that pass together.
    size: usize,
    /// The tasks of this generation that wait.
    waiters: Vec<u32>,
    /// The number of times all have arrived.
    rounds: u64,
}

impl Body for BarrierBody {
    const KIND: VarKind = VarKind::Barrier;
    fn gates(&self) -> Gates {
        0
    }
}

/// A place where a number of threads wait for one another: `std::sync::Barrier`.
pub struct Barrier {
    object: Object<BarrierBody>,
}

// SAFETY: only the one running task accesses the list of waiters.
unsafe impl Sync for Barrier {}
impl UnwindSafe for Barrier {}
impl RefUnwindSafe for Barrier {}

/// The result for a thread that passed a [`Barrier`]: `std::sync::BarrierWaitResult`.
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    /// Returns `true` if it is the one leader among those that passed together.
    #[must_use]
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

impl fmt::Debug for BarrierWaitResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BarrierWaitResult")
            .field("is_leader", &self.is_leader())
            .finish()
    }
}

impl Barrier {
    /// Returns a barrier that `n` threads pass together; 0 is taken for 1.
    pub const fn new(n: usize) -> Barrier {
        let body = BarrierBody {
            raw: std::sync::Barrier::new(n),
            size: n,
            waiters: Vec::new(),
            rounds: 0,
        };
        Barrier {
            object: Object::new(body),
        }
    }

    /// Waits until all threads have arrived. The barrier can be used again at once.
    #[track_caller]
    pub fn wait(&self) -> BarrierWaitResult {
        let site = Site::caller();
        let Some(engine) = Engine::current() else {
            // SAFETY: std's barrier is shared.
            let raw = unsafe { &(*self.object.outside()).raw };
            return BarrierWaitResult(raw.wait().is_leader());
        };
        let (var, body) = self.object.inside(engine, site);
        let arrival = Access::new(SyncVarOp::BarrierArrive, var, site);
        let passing = Access {
            op: SyncVarOp::BarrierPass,
            ..arrival
        };
        engine.enter(arrival);
        // SAFETY: this task alone runs until its next visible operation.
        let (waiters, size, rounds) = unsafe { (&mut (*body).waiters, (*body).size, &mut (*body).rounds) };
        let leads = waiters.len() + 1 >= size;
        let round = *rounds + 1;
        if leads {
            *rounds = round;
            for waiter in std::mem::take(waiters) {
                engine.change_gates(engine.task_var(waiter), gate::NOTIFIED, 0);
            }
            engine.commit(arrival, round, 0);
        } else {
            let me = engine.task();
            let own = engine.task_var(me);
            waiters.push(me);
            engine.change_gates(own, 0, gate::NOTIFIED);
            engine.commit(arrival, round, 0);
            engine.wait(passing, own, gate::NOTIFIED, WaitLimits::default());
        }
        engine.commit(passing, round, 0);
        BarrierWaitResult(leads)
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Barrier").finish_non_exhaustive()
    }
}
