//! Synchronisation primitives of the test's own: a state, and operations on it that are visible, atomic, and may wait.
//!
//! Like a look-alike, a primitive is a front end of the engine. Operations that change it commute with no other operation,
//! and operations that read it commute with each other, whatever their closures do. So every reduction is sound as long as
//! each operation is one step, which is checked.

use crate::name::named_by;
use crate::sync::atomic::{check_load, memory_order};
use intermezzo_engine::runtime::{Access, Body, Engine, Gates, Object, Site, VarKind, WaitLimits, Wake};
use intermezzo_sdk::SyncVarOp;
use std::panic::{AssertUnwindSafe, RefUnwindSafe, UnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, Ordering, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// The state of a [`Primitive`].
pub trait State {
    /// Returns the gates that are open in this state, a bit for each. An operation that waits passes when one of its
    /// gates is open. By default there are none, and nothing can wait.
    ///
    /// The result depends on the state alone. The function performs no visible operations.
    fn gates(&self) -> u8 {
        0
    }

    /// Returns the name of the kind of primitive in reports: one word, the same in every state.
    #[doc(hidden)]
    fn kind(&self) -> &'static str {
        "primitive"
    }
}

/// A synchronisation primitive of your own: a lock, a semaphore, something to park at.
///
/// It consists of a state that several tasks share, and of operations on it. An operation is a closure that runs as a
/// whole, with a schedule point before it, like an operation on an atomic. An operation may wait until the state opens a
/// gate; until then its task is not enabled. So deadlocks are found, and longer waits do not add executions. If an
/// operation is a function of your interface, make it `#[track_caller]`: events then have the place of its call.
///
/// Outside an exploration, and without the feature `explore`, a primitive is a mutex with a condition variable. Atomics
/// and locks of std do not need primitives: use the look-alikes.
///
/// ```
/// # use intermezzo_explorer as intermezzo;
/// use intermezzo::primitive::{Primitive, State};
/// use intermezzo::sync::atomic::Ordering::{Acquire, Release};
/// use intermezzo::{Explorer, thread};
///
/// struct Permits(usize);
///
/// /// The gate that is open as long as there are permits.
/// const AVAILABLE: u8 = 1;
///
/// impl State for Permits {
///     fn gates(&self) -> u8 {
///         if self.0 > 0 { AVAILABLE } else { 0 }
///     }
/// }
///
/// struct Semaphore(Primitive<Permits>);
///
/// impl Semaphore {
///     #[track_caller]
///     fn acquire(&self) {
///         self.0.wait(AVAILABLE, Acquire, |permits| permits.0 -= 1);
///     }
///     #[track_caller]
///     fn release(&self) {
///         self.0.change(Release, |permits| permits.0 += 1);
///     }
/// }
///
/// let report = Explorer::new().explore(|| {
///     let semaphore = Semaphore(Primitive::new(Permits(1)));
///     thread::scope(|scope| {
///         scope.spawn(|| semaphore.acquire());
///         semaphore.acquire();
///         semaphore.release();
///     });
/// });
/// // The other task may be the first, and it keeps its permit.
/// assert_eq!(report.findings()[0].kind.to_string(), "deadlock");
/// ```
///
/// The orderings are those of operations on atomics, and determine how the operation orders other memory. For example, the
/// monitor `data-race` finds accesses to a cell that a lock of your own does not order.
pub struct Primitive<S>(Object<Shared<S>>);

struct Shared<S> {
    state: Mutex<Inner<S>>,
    changed: Condvar,
    /// The number of the execution whose task holds the lock on the state; 0 if there is none.
    held_in: AtomicU64,
}

struct Inner<S> {
    state: S,
    /// The number of threads that wait outside an execution.
    waiting: usize,
}

// SAFETY: the state is only accessed under its lock.
unsafe impl<S: Send> Sync for Primitive<S> {}
// SAFETY: as above.
unsafe impl<S: Send> Send for Primitive<S> {}
impl<S> UnwindSafe for Primitive<S> {}
impl<S> RefUnwindSafe for Primitive<S> {}

impl<S> Shared<S> {
    fn lock(&self) -> MutexGuard<'_, Inner<S>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: State> Body for Shared<S> {
    const KIND: VarKind = VarKind::Primitive("primitive");
    fn kind(&self) -> VarKind {
        VarKind::Primitive(self.lock().state.kind())
    }
    fn gates(&self) -> Gates {
        self.lock().state.gates()
    }
}

named_by! { [S: State] Primitive<S>: 0; }

/// An operation whose closure runs. When it is dropped, the operation is over, also if the closure panicked.
struct Running<'a, S: State> {
    engine: Engine,
    access: Access,
    shared: &'a Shared<S>,
    inner: Option<MutexGuard<'a, Inner<S>>>,
    /// The number of steps before the closure.
    steps: u64,
}

impl<'a, S: State> Running<'a, S> {
    /// Takes the lock on the state, before the closure runs.
    fn begin(engine: Engine, access: Access, shared: &'a Shared<S>) -> Running<'a, S> {
        let inner = match shared.state.try_lock() {
            Ok(inner) => inner,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) if shared.held_in.load(Relaxed) == engine.epoch() => {
                misuse(engine, access.site)
            }
            // A thread that is not controlled is about to release it.
            Err(TryLockError::WouldBlock) => shared.lock(),
        };
        shared.held_in.store(engine.epoch(), Relaxed);
        Running {
            engine,
            access,
            shared,
            inner: Some(inner),
            steps: engine.steps(),
        }
    }

    /// Releases the lock on the state.
    fn let_go(&mut self) {
        self.shared.held_in.store(0, Relaxed);
        self.inner = None;
    }

    fn state(&mut self) -> &mut S {
        &mut self.inner.as_mut().expect("it is released at the end").state
    }
}

impl<S: State> Drop for Running<'_, S> {
    fn drop(&mut self) {
        let Some(inner) = &self.inner else { return };
        let (gates, waits_outside) = (inner.state.gates(), inner.waiting > 0);
        self.let_go();
        if waits_outside {
            self.shared.changed.notify_all();
        }
        self.engine.set_gates(self.access.var, gates);
        if self.engine.steps() != self.steps && !self.engine.in_teardown() {
            misuse(self.engine, self.access.site);
        }
        self.engine.commit(self.access, 0, 0);
    }
}

#[cold]
fn misuse(engine: Engine, site: Site) -> ! {
    engine.misuse(format!(
        "an operation on the primitive used at {site} performs other visible operations: it has to happen as a whole, \
         so perform them before or after it"
    ));
}

/// The condition on which an operation happens.
#[derive(Clone, Copy)]
struct When {
    /// The gates of which one must be open; 0 if it happens at once.
    gates: Gates,
    /// The time limit of the wait.
    limit: Option<Duration>,
    /// `true` if a schedule point comes before it.
    has_point: bool,
}

const NOW: When = When {
    gates: 0,
    limit: None,
    has_point: true,
};

impl<S> Primitive<S> {
    /// Returns a primitive in this state.
    pub const fn new(state: S) -> Primitive<S> {
        Primitive(Object::new(Shared {
            state: Mutex::new(Inner { state, waiting: 0 }),
            changed: Condvar::new(),
            held_in: AtomicU64::new(0),
        }))
    }
}

impl<S: State> Primitive<S> {
    /// Reads the state. Two reads commute, so a reduction does not run both orders.
    ///
    /// # Panics
    /// If the ordering is `Release` or `AcqRel`, as for a load.
    #[track_caller]
    pub fn read<R>(&self, order: Ordering, read: impl FnOnce(&S) -> R) -> R {
        check_load(order);
        let done = self.perform(SyncVarOp::PrimitiveRead, order, Site::caller(), NOW, |state| {
            read(state)
        });
        done.unwrap_or_else(|| unreachable!("it has no limit"))
    }

    /// Changes the state, or leaves it as it is.
    #[track_caller]
    pub fn change<R>(&self, order: Ordering, change: impl FnOnce(&mut S) -> R) -> R {
        let done = self.perform(SyncVarOp::PrimitiveChange, order, Site::caller(), NOW, change);
        done.unwrap_or_else(|| unreachable!("it has no limit"))
    }

    /// Like [`change`](Self::change), without a schedule point: the operation belongs to the current step of the task. It
    /// is meant for drop-ins of tools whose objects have operations without a schedule point.
    #[doc(hidden)]
    #[track_caller]
    pub fn change_in_step<R>(&self, order: Ordering, change: impl FnOnce(&mut S) -> R) -> R {
        let when = When {
            has_point: false,
            ..NOW
        };
        let done = self.perform(SyncVarOp::PrimitiveChange, order, Site::caller(), when, change);
        done.unwrap_or_else(|| unreachable!("it has no limit"))
    }

    /// Waits until one of these gates is open, and changes the state in the same step.
    ///
    /// # Panics
    /// If there is no gate to wait for.
    #[track_caller]
    pub fn wait<R>(&self, gates: u8, order: Ordering, change: impl FnOnce(&mut S) -> R) -> R {
        assert!(gates != 0, "there is no gate to wait for");
        let when = When { gates, ..NOW };
        let done = self.perform(SyncVarOp::PrimitiveChange, order, Site::caller(), when, change);
        done.unwrap_or_else(|| unreachable!("it has no limit"))
    }

    /// Like [`wait`](Self::wait), for at most this long; `None` if no gate was open in time. Inside an exploration the time
    /// is virtual, and `caching` takes over from `dpor` and `source-dpor`.
    ///
    /// # Panics
    /// If there is no gate to wait for.
    #[track_caller]
    pub fn wait_timeout<R>(
        &self,
        gates: u8,
        limit: Duration,
        order: Ordering,
        change: impl FnOnce(&mut S) -> R,
    ) -> Option<R> {
        assert!(gates != 0, "there is no gate to wait for");
        let when = When {
            gates,
            limit: Some(limit),
            ..NOW
        };
        self.perform(SyncVarOp::PrimitiveChange, order, Site::caller(), when, change)
    }

    fn perform<R>(
        &self,
        op: SyncVarOp,
        order: Ordering,
        site: Site,
        when: When,
        act: impl FnOnce(&mut S) -> R,
    ) -> Option<R> {
        match Engine::current() {
            Some(engine) => self.perform_inside(engine, op, order, site, when, act),
            None => self.perform_outside(site, when, act),
        }
    }

    fn perform_inside<R>(
        &self,
        engine: Engine,
        op: SyncVarOp,
        order: Ordering,
        site: Site,
        when: When,
        act: impl FnOnce(&mut S) -> R,
    ) -> Option<R> {
        let (var, shared) = self.0.inside(engine, site);
        // SAFETY: the body exists as long as the object.
        let shared = unsafe { &*shared };
        let access = Access {
            op,
            order: memory_order(order),
            var,
            site,
        };
        let When {
            gates,
            limit,
            has_point,
        } = when;
        let mut running = loop {
            if !has_point {
                // It is a part of the step before.
            } else if gates == 0 {
                engine.enter(access);
            } else {
                let wait_limits = WaitLimits {
                    deadline: limit.map(|limit| engine.deadline(limit, site)),
                    ..WaitLimits::default()
                };
                if limit.is_some() {
                    engine.may_find_gate_open(access);
                }
                if engine.enter_gated(access, gates, wait_limits) == Wake::TimedOut {
                    engine.timed_out(access);
                    return None;
                }
            }
            let mut running = Running::begin(engine, access, shared);
            let open = running.state().gates();
            if gates == 0 || open & gates != 0 || engine.in_teardown() {
                break running;
            }
            // A thread that is not controlled was faster.
            running.let_go();
            engine.set_gates(var, open);
        };
        Some(act(running.state()))
    }

    fn perform_outside<R>(&self, site: Site, when: When, act: impl FnOnce(&mut S) -> R) -> Option<R> {
        // SAFETY: the body exists as long as the object.
        let shared = unsafe { &*self.0.outside(site) };
        let mut inner = shared.lock();
        // A limit beyond the range of the clock is no limit.
        let until = when.limit.and_then(|limit| Instant::now().checked_add(limit));
        while when.gates != 0 && inner.state.gates() & when.gates == 0 {
            inner.waiting += 1;
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            inner = match left {
                None => shared.changed.wait(inner).unwrap_or_else(PoisonError::into_inner),
                Some(Duration::ZERO) => {
                    inner.waiting -= 1;
                    return None;
                }
                Some(left) => {
                    let waited = shared.changed.wait_timeout(inner, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
            inner.waiting -= 1;
        }
        let result = catch_unwind(AssertUnwindSafe(|| act(&mut inner.state)));
        let open = inner.state.gates();
        drop(inner);
        shared.changed.notify_all();
        self.0.opened_outside(open);
        Some(result.unwrap_or_else(|payload| resume_unwind(payload)))
    }
}
