//! `std::sync::Barrier`. The last to arrive is the leader, as in std.
//!
//! Arriving is a visible operation. Passing is not: it commutes with all other operations, so waiting tasks pass as
//! soon as the leader has arrived.

use crate::name::named_by;
use crate::traits::opaque;
use intermezzo_engine::runtime::{Access, Body, Engine, Gates, Object, Site, VarKind, WaitLimits, gate};
use intermezzo_sdk::SyncVarOp;
use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

struct BarrierBody {
    arrivals: Mutex<Arrivals>,
    /// Wakes the threads that wait outside an execution.
    passed: Condvar,
    /// The number of threads that pass together.
    size: usize,
}

/// Those that have arrived.
struct Arrivals {
    /// The tasks of this generation that wait.
    waiters: Vec<u32>,
    /// The number of threads of this generation that wait outside an execution.
    outside: usize,
    /// The number of times all have arrived.
    rounds: u64,
}

impl BarrierBody {
    fn arrivals(&self) -> MutexGuard<'_, Arrivals> {
        self.arrivals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes an arrival. If it is the last one, returns the tasks that wait, and wakes the threads.
    fn arrive(&self, arrivals: &mut Arrivals) -> Option<Vec<u32>> {
        if arrivals.waiters.len() + arrivals.outside + 1 < self.size {
            return None;
        }
        arrivals.rounds += 1;
        if std::mem::take(&mut arrivals.outside) > 0 {
            self.passed.notify_all();
        }
        Some(std::mem::take(&mut arrivals.waiters))
    }
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

named_by! { [] Barrier: object; }

// SAFETY: all parts of the body can be shared.
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
            arrivals: Mutex::new(Arrivals {
                waiters: Vec::new(),
                outside: 0,
                rounds: 0,
            }),
            passed: Condvar::new(),
            size: n,
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
            return self.wait_outside(site);
        };
        let (var, body) = self.object.inside(engine, site);
        // SAFETY: the body exists as long as the object.
        let body = unsafe { &*body };
        let arrival = Access::new(SyncVarOp::BarrierArrive, var, site);
        let passing = Access {
            op: SyncVarOp::BarrierPass,
            ..arrival
        };
        engine.enter(arrival);
        let me = engine.task();
        let mut arrivals = body.arrivals();
        let round = arrivals.rounds + 1;
        let woken = body.arrive(&mut arrivals);
        if woken.is_none() {
            arrivals.waiters.push(me);
        }
        drop(arrivals);
        let leads = woken.is_some();
        if let Some(woken) = woken {
            for waiter in woken {
                engine.change_gates(engine.task_var(waiter), gate::NOTIFIED, 0);
            }
            engine.commit(arrival, round, 0);
        } else {
            let own = engine.task_var(me);
            engine.change_gates(own, 0, gate::NOTIFIED);
            engine.commit(arrival, round, 0);
            engine.wait(passing, own, gate::NOTIFIED, WaitLimits::default());
            // A notification from outside the execution may be late, and meant for an earlier wait.
            while body.arrivals().rounds < round && !engine.in_teardown() {
                engine.change_gates(own, 0, gate::NOTIFIED);
                engine.wait(passing, own, gate::NOTIFIED, WaitLimits::default());
            }
        }
        engine.commit(passing, round, 0);
        BarrierWaitResult(leads)
    }

    fn wait_outside(&self, site: Site) -> BarrierWaitResult {
        // SAFETY: the body exists as long as the object.
        let body = unsafe { &*self.object.outside(site) };
        let mut arrivals = body.arrivals();
        let round = arrivals.rounds + 1;
        if let Some(woken) = body.arrive(&mut arrivals) {
            drop(arrivals);
            for task in woken {
                self.object.opened_for_task(task, gate::NOTIFIED);
            }
            return BarrierWaitResult(true);
        }
        arrivals.outside += 1;
        while arrivals.rounds < round {
            let waited = body.passed.wait(arrivals);
            arrivals = waited.unwrap_or_else(PoisonError::into_inner);
        }
        BarrierWaitResult(false)
    }
}

opaque! { Barrier; }
