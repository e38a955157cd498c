//! `std::sync::Once`, and the one-time initialisation that it shares with `OnceLock` and `LazyLock`.
//!
//! A call is one visible operation where std has two (a query, and then a wait for the initialising task). It is
//! possible when no task initialises, and either begins an initialisation or finds it complete. Nothing can come
//! between std's two that makes a difference. The end of an initialisation is another visible operation.

use crate::name::named_by;
use crate::traits::opaque;
use intermezzo_engine::runtime::{Access, Body, Engine, Gates, Object, Site, VarKind, WaitLimits};
use intermezzo_sdk::SyncVarOp;
use std::cell::UnsafeCell;
use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Acquire, Ordering::Release, Ordering::SeqCst};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Open while no task initialises: a call may proceed.
const IDLE: Gates = 1;
/// Open once an initialisation is complete or has panicked.
const SETTLED: Gates = 2;
/// Open once an initialisation is complete.
const COMPLETE: Gates = 4;

/// The progress of an initialisation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Incomplete,
    Running,
    /// The last initialisation panicked.
    Poisoned,
    Complete,
}

impl Phase {
    fn gates(self) -> Gates {
        match self {
            Phase::Incomplete => IDLE,
            Phase::Running => 0,
            Phase::Poisoned => IDLE | SETTLED,
            Phase::Complete => IDLE | SETTLED | COMPLETE,
        }
    }
}

struct OnceBody<V> {
    progress: Progress,
    value: UnsafeCell<V>,
}

impl<V> Body for OnceBody<V> {
    const KIND: VarKind = VarKind::Once;
    fn gates(&self) -> Gates {
        self.progress.phase().gates()
    }
}

/// The phase of an initialisation, which any thread may read or change at any time.
struct Progress {
    phase: Mutex<Phase>,
    /// `true` once the phase is complete: then it is not looked at any more.
    complete: AtomicBool,
    /// Wakes the threads that wait outside an execution.
    changed: Condvar,
    /// The number of these threads.
    outside: AtomicUsize,
}

impl Progress {
    const fn at(phase: Phase) -> Progress {
        Progress {
            complete: AtomicBool::new(matches!(phase, Phase::Complete)),
            phase: Mutex::new(phase),
            changed: Condvar::new(),
            outside: AtomicUsize::new(0),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Phase> {
        self.phase.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn phase(&self) -> Phase {
        *self.lock()
    }

    /// Enters a phase, and wakes the threads that wait outside an execution.
    fn enter(&self, phase: Phase) {
        let mut current = self.lock();
        *current = phase;
        self.complete.store(phase == Phase::Complete, Release);
        drop(current);
        if self.outside.load(SeqCst) > 0 {
            self.changed.notify_all();
        }
    }

    /// Begins to initialise, if the phase allows that. Returns the phase before.
    fn begin(&self, force: bool) -> Phase {
        let mut current = self.lock();
        let before = *current;
        if before == Phase::Incomplete || before == Phase::Poisoned && force {
            *current = Phase::Running;
        }
        before
    }

    /// Waits outside an execution until one of these gates is open.
    fn wait_outside(&self, gates: Gates) -> MutexGuard<'_, Phase> {
        let mut current = self.lock();
        while current.gates() & gates == 0 {
            self.outside.fetch_add(1, SeqCst);
            current = self.changed.wait(current).unwrap_or_else(PoisonError::into_inner);
            self.outside.fetch_sub(1, SeqCst);
        }
        current
    }
}

/// The treatment of an initialisation that panicked before.
#[derive(Clone, Copy)]
pub(super) enum Poison {
    /// It does not matter.
    Ignored,
    /// The call panics with this message.
    Panics(&'static str),
}

impl Poison {
    fn panics(self) -> bool {
        matches!(self, Poison::Panics(_))
    }

    /// Panics, at the place of the caller.
    #[cold]
    #[track_caller]
    fn propagate(self) {
        if let Poison::Panics(message) = self {
            panic!("{message}");
        }
    }
}

/// The treatment by a call that does not ignore it.
const POISONED: Poison = Poison::Panics("Once instance has previously been poisoned");

/// A value that one call initialises. All access is by raw pointers into the body: references to an initialised value
/// stay valid.
pub(super) struct Initialisation<V> {
    object: Object<OnceBody<V>>,
}

named_by! { [V] Initialisation<V>: object; }

impl<V> Initialisation<V> {
    /// Returns an initialisation that has not begun.
    pub(super) const fn new(value: V) -> Initialisation<V> {
        Initialisation::at(Phase::Incomplete, value)
    }

    /// Returns a complete initialisation.
    pub(super) const fn complete(value: V) -> Initialisation<V> {
        Initialisation::at(Phase::Complete, value)
    }

    const fn at(phase: Phase, value: V) -> Initialisation<V> {
        Initialisation {
            object: Object::new(OnceBody {
                progress: Progress::at(phase),
                value: UnsafeCell::new(value),
            }),
        }
    }

    /// Returns the value.
    pub(super) fn into_inner(self) -> V {
        self.object.into_inner().value.into_inner()
    }

    /// Returns the value of an initialisation that is not shared.
    pub(super) fn get_mut(&mut self) -> &mut V {
        // SAFETY: `&mut self` guarantees that it is not shared.
        unsafe { (*self.object.get_mut()).value.get_mut() }
    }

    /// Resets an initialisation that is not shared.
    #[track_caller]
    pub(super) fn reset(&mut self) {
        self.set_phase(Phase::Incomplete);
    }

    /// Runs `f`, which initialises the value, in an initialisation that is not shared.
    #[track_caller]
    pub(super) fn settle_by(&mut self, f: impl FnOnce(&mut V)) {
        self.set_phase(Phase::Poisoned);
        f(self.get_mut());
        self.set_phase(Phase::Complete);
    }

    #[track_caller]
    fn set_phase(&mut self, phase: Phase) {
        // SAFETY: `&mut self` guarantees that it is not shared.
        let body = unsafe { &mut *self.object.get_mut() };
        body.progress = Progress::at(phase);
        if let Some(engine) = Engine::current() {
            let (var, _) = self.object.inside(engine, Site::caller());
            engine.set_gates(var, phase.gates());
        }
    }

    /// Returns the parts of a body of this object.
    fn parts(&self, body: *mut OnceBody<V>) -> (&Progress, *mut V) {
        // SAFETY: the body exists as long as the object. No reference to the value is made.
        unsafe { (&(*body).progress, UnsafeCell::raw_get(&raw const (*body).value)) }
    }

    /// Returns the value, if it is initialised.
    pub(super) fn look(&self, site: Site) -> Option<*mut V> {
        let Some(engine) = Engine::current() else {
            let (progress, value) = self.parts(self.object.outside(site));
            return progress.complete.load(Acquire).then_some(value);
        };
        let (var, body) = self.object.inside(engine, site);
        let access = Access::new(SyncVarOp::OnceCheck, var, site);
        engine.enter(access);
        let (progress, value) = self.parts(body);
        let complete = progress.phase() == Phase::Complete;
        engine.commit(access, u64::from(complete), 0);
        if !complete {
            engine.changed_nothing(access, 0);
        }
        complete.then_some(value)
    }

    /// Returns the value, once another task has initialised it.
    #[track_caller]
    pub(super) fn wait(&self, site: Site, poison: Poison) -> *mut V {
        let waits_for = if poison.panics() { SETTLED } else { COMPLETE };
        let Some(engine) = Engine::current() else {
            let (progress, value) = self.parts(self.object.outside(site));
            let complete = progress.complete.load(Acquire);
            if !complete && *progress.wait_outside(waits_for) == Phase::Poisoned {
                poison.propagate();
            }
            return value;
        };
        let (var, body) = self.object.inside(engine, site);
        let access = Access::new(SyncVarOp::OnceCheck, var, site);
        let (progress, value) = self.parts(body);
        let phase = loop {
            engine.enter_gated(access, waits_for, WaitLimits::default());
            let phase = progress.phase();
            if phase.gates() & waits_for != 0 || engine.in_teardown() {
                break phase;
            }
            // A thread that is not controlled was faster.
            engine.set_gates(var, phase.gates());
        };
        engine.commit(access, u64::from(phase == Phase::Complete), 0);
        if phase == Phase::Poisoned {
            poison.propagate();
        }
        value
    }

    /// Returns the value; `f` initialises it, unless another call has done so or does so now.
    #[track_caller]
    pub(super) fn call(&self, site: Site, poison: Poison, f: impl FnOnce(&OnceState, *mut V)) -> *mut V {
        match Engine::current() {
            Some(engine) => self.call_inside(engine, site, poison, f),
            None => self.call_outside(site, poison, f),
        }
    }

    #[track_caller]
    fn call_outside(&self, site: Site, poison: Poison, f: impl FnOnce(&OnceState, *mut V)) -> *mut V {
        let (progress, value) = self.parts(self.object.outside(site));
        if progress.complete.load(Acquire) {
            return value;
        }
        let before = loop {
            drop(progress.wait_outside(IDLE));
            match progress.begin(!poison.panics()) {
                // Another call was faster.
                Phase::Running => {}
                before => break before,
            }
        };
        match before {
            Phase::Complete => return value,
            Phase::Poisoned => poison.propagate(),
            _ => {}
        }
        let mut running = RunningOutside {
            object: &self.object,
            progress,
            after: Phase::Poisoned,
        };
        let state = OnceState {
            poisoned: before == Phase::Poisoned,
        };
        f(&state, value);
        running.after = Phase::Complete;
        drop(running);
        value
    }

    #[track_caller]
    fn call_inside(
        &self,
        engine: Engine,
        site: Site,
        poison: Poison,
        f: impl FnOnce(&OnceState, *mut V),
    ) -> *mut V {
        let (var, body) = self.object.inside(engine, site);
        let access = Access::new(SyncVarOp::OnceBegin, var, site);
        let (progress, value) = self.parts(body);
        let before = loop {
            engine.enter_gated(access, IDLE, WaitLimits::default());
            match progress.begin(!poison.panics()) {
                // A thread that is not controlled was faster.
                Phase::Running if !engine.in_teardown() => engine.set_gates(var, 0),
                before => break before,
            }
        };
        if before == Phase::Complete || before == Phase::Poisoned && poison.panics() {
            // A settled phase is only read: tasks that see it do not disturb one another.
            let seen = Access {
                op: SyncVarOp::OnceCheck,
                ..access
            };
            engine.commit(seen, u64::from(before == Phase::Complete), 0);
            if before == Phase::Poisoned {
                poison.propagate();
            }
            return value;
        }
        engine.own(var, site);
        let mut running = Running {
            engine,
            access,
            progress,
            after: Phase::Poisoned,
        };
        engine.set_gates(var, Phase::Running.gates());
        engine.commit(access, 0, 0);
        f(
            &OnceState {
                poisoned: before == Phase::Poisoned,
            },
            value,
        );
        running.after = Phase::Complete;
        drop(running);
        value
    }
}

/// A running initialisation in an execution; over when this is dropped.
struct Running<'a> {
    engine: Engine,
    access: Access,
    progress: &'a Progress,
    after: Phase,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let access = Access {
            op: SyncVarOp::OnceEnd,
            ..self.access
        };
        self.engine.enter(access);
        self.engine.disown(access.var);
        self.progress.enter(self.after);
        self.engine.set_gates(access.var, self.after.gates());
        self.engine
            .commit(access, 0, u64::from(self.after == Phase::Complete));
    }
}

/// A running initialisation outside any execution; over when this is dropped.
struct RunningOutside<'a, V> {
    object: &'a Object<OnceBody<V>>,
    progress: &'a Progress,
    after: Phase,
}

impl<V> Drop for RunningOutside<'_, V> {
    fn drop(&mut self) {
        self.progress.enter(self.after);
        self.object.opened_outside(self.after.gates());
    }
}

/// A one-time initialisation: `std::sync::Once`.
pub struct Once {
    initialisation: Initialisation<()>,
}

named_by! { [] Once: initialisation; }

// SAFETY: there is no value, and the progress is accessed by one task at a time, or is std's.
unsafe impl Sync for Once {}
impl UnwindSafe for Once {}
impl RefUnwindSafe for Once {}

/// The state passed to a forced initialisation: `std::sync::OnceState`.
pub struct OnceState {
    poisoned: bool,
}

impl OnceState {
    /// Returns `true` if the initialisation before this one panicked.
    pub fn is_poisoned(&self) -> bool {
        self.poisoned
    }
}

impl fmt::Debug for OnceState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnceState")
            .field("poisoned", &self.is_poisoned())
            .finish()
    }
}

/// `std::sync::ONCE_INIT`
#[deprecated(since = "1.38.0", note = "the `Once::new()` function is now preferred")]
#[allow(
    clippy::declare_interior_mutable_const,
    reason = "as in std: it is for initialising statics"
)]
pub const ONCE_INIT: Once = Once::new();

impl Once {
    /// Returns an initialisation that was not called yet.
    #[allow(clippy::new_without_default, reason = "std's has no default either")]
    pub const fn new() -> Once {
        Once {
            initialisation: Initialisation::new(()),
        }
    }

    /// Runs `f` if this is the first call; waits if another task runs it.
    ///
    /// # Panics
    /// If `f` panics, or the closure of an earlier call did.
    #[track_caller]
    pub fn call_once<F: FnOnce()>(&self, f: F) {
        self.initialisation.call(Site::caller(), POISONED, |_, _| f());
    }

    /// Runs `f` if no call has ended without a panic; waits if another task runs one.
    ///
    /// # Panics
    /// If `f` panics.
    #[track_caller]
    pub fn call_once_force<F: FnOnce(&OnceState)>(&self, f: F) {
        self.initialisation
            .call(Site::caller(), Poison::Ignored, |state, _| f(state));
    }

    /// Returns `true` if a call has ended without a panic.
    #[track_caller]
    pub fn is_completed(&self) -> bool {
        self.initialisation.look(Site::caller()).is_some()
    }

    /// Waits until a call of another task has ended.
    ///
    /// # Panics
    /// If that call panicked.
    #[track_caller]
    pub fn wait(&self) {
        self.initialisation.wait(Site::caller(), POISONED);
    }

    /// Waits until a call of another task has ended without a panic.
    #[track_caller]
    pub fn wait_force(&self) {
        self.initialisation.wait(Site::caller(), Poison::Ignored);
    }
}

opaque! { Once; }
