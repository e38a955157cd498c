//! `std::sync::RwLock`. Releasing is a visible operation too, because a `try_write` elsewhere can observe it.
//!
//! Readers and writers have no priority over each other: any task with an open gate may continue. Misses: readers that a
//! waiting writer keeps out, which std allows. So a task that takes two read locks, with a writer that waits in between, is
//! not reported as a deadlock, which it is on some systems, and a `try_read` does not fail because a writer waits. The
//! engine (`runtime/reading.rs`) notes where this could make a difference, and the report then has a limit.

use super::mutex::result;
use super::poison::{self, Poison, is_withdrawn};
use crate::name::named_by;
use crate::traits::{around_value, shown_as_value};
use intermezzo_engine::runtime::{
    Access, Body, Embedded, Engine, Gates, Object, Site, VarKind, WaitLimits, gate, opened_outside,
};
use intermezzo_sdk::SyncVarOp;
use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed, Ordering::SeqCst};
use std::sync::{Condvar, LockResult, Mutex, MutexGuard as StdMutexGuard, PoisonError};
use std::sync::{TryLockError, TryLockResult};

/// Open while no task writes.
const READABLE: Gates = 1;
/// Open while no task reads or writes.
const WRITABLE: Gates = 2;

/// The holders of the lock.
#[derive(Clone, Copy)]
enum Holders {
    Readers(usize),
    Writer,
}

impl Holders {
    fn gates(self) -> Gates {
        match self {
            Holders::Readers(0) => READABLE | WRITABLE,
            Holders::Readers(_) => READABLE,
            Holders::Writer => 0,
        }
    }

    /// Returns the holders with one more, whose gate is open.
    fn with(self, mode: &Mode) -> Holders {
        match (self, mode.gate) {
            (Holders::Readers(readers), READABLE) => Holders::Readers(readers + 1),
            _ => Holders::Writer,
        }
    }

    /// Returns the holders with one less.
    fn without_one(self) -> Holders {
        match self {
            Holders::Readers(readers) => Holders::Readers(readers.saturating_sub(1)),
            Holders::Writer => Holders::Readers(0),
        }
    }
}

/// A mode in which a lock is held: the gate that it needs, and its effect on the lock.
struct Mode {
    gate: Gates,
    acquire: SyncVarOp,
    try_acquire: SyncVarOp,
    release: SyncVarOp,
}

const READ: &Mode = &Mode {
    gate: READABLE,
    acquire: SyncVarOp::SharedAcquire,
    try_acquire: SyncVarOp::SharedTryAcquire,
    release: SyncVarOp::SharedRelease,
};

const WRITE: &Mode = &Mode {
    gate: WRITABLE,
    acquire: SyncVarOp::LockAcquire,
    try_acquire: SyncVarOp::LockTryAcquire,
    release: SyncVarOp::LockRelease,
};

struct RwLockBody<T: ?Sized> {
    state: LockState,
    data: UnsafeCell<T>,
}

/// The state of a lock, which any thread may use at any time.
struct LockState {
    holders: Mutex<Holders>,
    /// Wakes the threads that wait outside an execution. (It is not std's `RwLock`, which could only be downgraded since
    /// 1.92.)
    changed: Condvar,
    /// The number of these threads.
    outside: AtomicUsize,
    poisoned: AtomicBool,
}

impl LockState {
    fn holders(&self) -> StdMutexGuard<'_, Holders> {
        self.holders.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the holders, and wakes the threads that wait outside an execution. Returns the gates that are open.
    fn change(&self, change: impl FnOnce(Holders) -> Holders) -> Gates {
        let mut holders = self.holders();
        *holders = change(*holders);
        let gates = holders.gates();
        drop(holders);
        if self.outside.load(SeqCst) > 0 {
            self.changed.notify_all();
        }
        gates
    }

    /// Adds a holder, if the gate of its mode is open. Returns the gates that are open then; the error has those that are
    /// open now.
    fn add(&self, mode: &Mode) -> Result<Gates, Gates> {
        let mut holders = self.holders();
        let gates = holders.gates();
        if gates & mode.gate == 0 {
            return Err(gates);
        }
        *holders = holders.with(mode);
        Ok(holders.gates())
    }
}

impl<T: ?Sized> Body for RwLockBody<T> {
    const KIND: VarKind = VarKind::RwLock;
    fn gates(&self) -> Gates {
        self.state.holders().gates()
    }
}

impl<T: ?Sized> Poison for RwLockBody<T> {
    unsafe fn flag(this: *mut Self) -> *const AtomicBool {
        // SAFETY: as the caller says.
        unsafe { &raw const (*this).state.poisoned }
    }
}

/// A lock that many readers or one writer hold: `std::sync::RwLock`.
pub struct RwLock<T: ?Sized> {
    object: Object<RwLockBody<T>>,
}

named_by! { [T: ?Sized] RwLock<T>: object; }

// SAFETY: a writer, maybe on another thread, can move the data out.
unsafe impl<T: ?Sized + Send> Send for RwLock<T> {}
// SAFETY: as above; and readers share the data.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLock<T> {}
impl<T: ?Sized> UnwindSafe for RwLock<T> {}
impl<T: ?Sized> RefUnwindSafe for RwLock<T> {}

/// A held lock, in either mode. The pointers are to parts of the lock, which outlives its guards.
struct Hold<T: ?Sized> {
    identity: NonNull<Embedded>,
    state: NonNull<LockState>,
    data: NonNull<T>,
    /// The execution in which it is held, its variable there and the place where it was taken; `None` outside.
    inside: Option<(u64, u32, Site)>,
    /// `true` if the task was unwinding when it took the lock: then it does not poison it.
    was_panicking: bool,
}

impl<T: ?Sized> Clone for Hold<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized> Copy for Hold<T> {}

impl<T: ?Sized> Hold<T> {
    fn state(&self) -> &LockState {
        // SAFETY: the lock outlives its guards, and its state is shared.
        unsafe { self.state.as_ref() }
    }

    fn poisoned(&self) -> &AtomicBool {
        &self.state().poisoned
    }

    fn poison_if_panicking(&self) {
        if poison::is_panicking() && !self.was_panicking && !is_withdrawn() {
            self.poisoned().store(true, Relaxed);
        }
    }

    /// Changes the holders of the lock, which is a visible operation; poisons it first, if `poison` and the task is
    /// unwinding.
    fn change(&self, op: SyncVarOp, change: impl FnOnce(Holders) -> Holders, poison: bool) {
        let Some((epoch, var, site)) = self.inside else {
            if poison {
                self.poison_if_panicking();
            }
            let gates = self.state().change(change);
            // SAFETY: as for the state.
            return opened_outside(unsafe { self.identity.as_ref() }, gates);
        };
        // A guard that outlived its execution has nothing to release.
        let Some(engine) = Engine::current().filter(|engine| engine.epoch() == epoch) else {
            return;
        };
        let access = Access::new(op, var, site);
        engine.enter(access);
        if poison {
            self.poison_if_panicking();
        }
        let gates = self.state().change(change);
        engine.disown(var);
        if op == SyncVarOp::SharedRelease {
            engine.unshare(var);
        }
        engine.set_gates(var, gates);
        engine.commit(access, 0, 0);
        engine.changed_nothing(access, 0);
    }
}

/// Shared access to the data of a locked [`RwLock`]: `std::sync::RwLockReadGuard`.
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    hold: Hold<T>,
    data: PhantomData<&'a T>,
}

/// Exclusive access to the data of a locked [`RwLock`]: `std::sync::RwLockWriteGuard`.
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    hold: Hold<T>,
    data: PhantomData<&'a mut T>,
}

impl<T: ?Sized> RwLockReadGuard<'_, T> {
    fn of(hold: Hold<T>) -> LockResult<Self> {
        let data = PhantomData;
        result(hold.poisoned().load(Relaxed), RwLockReadGuard { hold, data })
    }
}

impl<T: ?Sized> RwLockWriteGuard<'_, T> {
    fn of(hold: Hold<T>) -> LockResult<Self> {
        let data = PhantomData;
        result(hold.poisoned().load(Relaxed), RwLockWriteGuard { hold, data })
    }
}

// SAFETY: a shared guard gives shared access to the data.
unsafe impl<T: ?Sized + Sync> Sync for RwLockReadGuard<'_, T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Sync> Sync for RwLockWriteGuard<'_, T> {}
impl<T: ?Sized> UnwindSafe for RwLockWriteGuard<'_, T> {}
impl<T: ?Sized> RefUnwindSafe for RwLockWriteGuard<'_, T> {}

impl<T> RwLock<T> {
    /// Returns a free lock around a value.
    pub const fn new(value: T) -> RwLock<T> {
        let body = RwLockBody {
            state: LockState {
                holders: Mutex::new(Holders::Readers(0)),
                changed: Condvar::new(),
                outside: AtomicUsize::new(0),
                poisoned: AtomicBool::new(false),
            },
            data: UnsafeCell::new(value),
        };
        RwLock {
            object: Object::new(body),
        }
    }

    /// Returns the data.
    ///
    /// # Errors
    /// If the lock is poisoned; the error holds the data.
    pub fn into_inner(self) -> LockResult<T> {
        let body = self.object.into_inner();
        result(body.state.poisoned.into_inner(), body.data.into_inner())
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Takes the lock for reading, waiting until no task writes.
    ///
    /// # Errors
    /// If the lock is poisoned: a task panicked while it wrote. The error holds the guard.
    #[track_caller]
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        let hold = self.acquire(READ, Site::caller());
        RwLockReadGuard::of(hold)
    }

    /// Takes the lock exclusively, waiting until no task reads or writes.
    ///
    /// # Errors
    /// If the lock is poisoned: a task panicked while it wrote. The error holds the guard.
    #[track_caller]
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        let hold = self.acquire(WRITE, Site::caller());
        RwLockWriteGuard::of(hold)
    }

    /// Takes the lock for reading if no task writes.
    ///
    /// # Errors
    /// If a task writes (or if the attempt fails spuriously, where the environment allows that), or the lock is
    /// poisoned.
    #[track_caller]
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        let hold = self
            .try_acquire(READ, Site::caller())
            .ok_or(TryLockError::WouldBlock)?;
        Ok(RwLockReadGuard::of(hold)?)
    }

    /// Takes the lock exclusively if no task reads or writes.
    ///
    /// # Errors
    /// If a task does (or if the attempt fails spuriously, where the environment allows that), or the lock is poisoned.
    #[track_caller]
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        let hold = self
            .try_acquire(WRITE, Site::caller())
            .ok_or(TryLockError::WouldBlock)?;
        Ok(RwLockWriteGuard::of(hold)?)
    }

    fn acquire(&self, mode: &Mode, site: Site) -> Hold<T> {
        let Some(engine) = Engine::current() else {
            return self
                .acquire_outside(mode, site, true)
                .expect("it waits until it is free");
        };
        let (var, body) = self.object.inside(engine, site);
        let access = Access::new(mode.acquire, var, site);
        if mode.gate == READABLE && engine.may_not_read_again(var) {
            let own = engine.task_var(engine.task());
            engine.wait(access, own, gate::NEVER, WaitLimits::default());
        }
        let gates = loop {
            engine.enter_gated(access, mode.gate, WaitLimits::default());
            // SAFETY: the body exists as long as the lock, and its state is shared.
            match unsafe { &(*body).state }.add(mode) {
                Ok(gates) => break gates,
                Err(gates) if engine.in_teardown() => break gates,
                // A thread that is not controlled was faster.
                Err(gates) => engine.set_gates(var, gates),
            }
        };
        self.taken_inside(engine, access, body, mode, gates)
    }

    fn try_acquire(&self, mode: &Mode, site: Site) -> Option<Hold<T>> {
        let Some(engine) = Engine::current() else {
            return self.acquire_outside(mode, site, false);
        };
        let (var, body) = self.object.inside(engine, site);
        let access = Access::new(mode.try_acquire, var, site);
        engine.enter(access);
        let fails = engine.gates(var) & mode.gate == 0
            || mode.gate == READABLE && engine.may_not_read_again(var)
            || engine.try_lock_fails();
        // SAFETY: the body exists as long as the lock, and its state is shared.
        let added = (!fails).then(|| unsafe { &(*body).state }.add(mode));
        if let Some(Err(gates)) = added {
            // A thread that is not controlled was faster.
            engine.set_gates(var, gates);
        }
        let Some(Ok(gates)) = added else {
            let failed = Access {
                op: SyncVarOp::LockTryFailed,
                ..access
            };
            engine.commit(failed, 0, 0);
            engine.changed_nothing(failed, 0);
            engine.note_look(failed.order);
            return None;
        };
        Some(self.taken_inside(engine, access, body, mode, gates))
    }

    fn acquire_outside(&self, mode: &Mode, site: Site, waits: bool) -> Option<Hold<T>> {
        let body = self.object.outside(site);
        // SAFETY: the body exists as long as the lock, and its state is shared.
        let state = unsafe { &(*body).state };
        let mut holders = state.holders();
        while holders.gates() & mode.gate == 0 {
            if !waits {
                return None;
            }
            state.outside.fetch_add(1, SeqCst);
            let waited = state.changed.wait(holders);
            holders = waited.unwrap_or_else(PoisonError::into_inner);
            state.outside.fetch_sub(1, SeqCst);
        }
        *holders = holders.with(mode);
        drop(holders);
        Some(self.hold(body, None))
    }

    fn hold(&self, body: *mut RwLockBody<T>, inside: Option<(u64, u32, Site)>) -> Hold<T> {
        // SAFETY: the body exists as long as the lock. No reference to the data is made.
        let (state, data) = unsafe { (&(*body).state, UnsafeCell::raw_get(&raw const (*body).data)) };
        Hold {
            identity: NonNull::from(self.object.identity()),
            state: NonNull::from(state),
            data: NonNull::new(data).expect("the data of a lock is somewhere"),
            inside,
            was_panicking: poison::is_panicking(),
        }
    }

    fn taken_inside(
        &self,
        engine: Engine,
        access: Access,
        body: *mut RwLockBody<T>,
        mode: &Mode,
        gates: Gates,
    ) -> Hold<T> {
        if mode.gate == WRITABLE {
            engine.own(access.var, access.site);
        }
        match mode.gate {
            READABLE => engine.share(access.var, access.op == mode.try_acquire),
            _ if access.op == mode.acquire => engine.awaits_to_write(access.var),
            _ => (),
        }
        engine.set_gates(access.var, gates);
        engine.commit(access, 0, 0);
        self.hold(body, Some((engine.epoch(), access.var, access.site)))
    }

    /// Returns `true` if a task panicked while it wrote.
    #[track_caller]
    pub fn is_poisoned(&self) -> bool {
        poison::look(&self.object, Site::caller())
    }

    /// Clears the mark that a task panicked while it wrote.
    #[track_caller]
    pub fn clear_poison(&self) {
        poison::clear(&self.object, Site::caller());
    }

    /// Returns the data of a lock that is not shared.
    ///
    /// # Errors
    /// If the lock is poisoned; the error holds the data.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        // SAFETY: `&mut self` guarantees that it is not shared.
        let body = unsafe { &mut *self.object.get_mut() };
        result(*body.state.poisoned.get_mut(), body.data.get_mut())
    }
}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    /// Turns the guard into a reader's, with no writer in between.
    pub fn downgrade(s: Self) -> RwLockReadGuard<'a, T> {
        let hold = ManuallyDrop::new(s).hold;
        hold.change(SyncVarOp::LockRelease, |_| Holders::Readers(1), false);
        if let (Some((epoch, var, site)), Some(engine)) = (hold.inside, Engine::current())
            && engine.epoch() == epoch
        {
            engine.share(var, false);
            engine.commit(Access::new(SyncVarOp::SharedAcquire, var, site), 0, 0);
        }
        RwLockReadGuard {
            hold,
            data: PhantomData,
        }
    }
}

impl<T: ?Sized> Drop for RwLockReadGuard<'_, T> {
    fn drop(&mut self) {
        self.hold.change(READ.release, Holders::without_one, false);
    }
}

impl<T: ?Sized> Drop for RwLockWriteGuard<'_, T> {
    fn drop(&mut self) {
        self.hold.change(WRITE.release, Holders::without_one, true);
    }
}

impl<T: ?Sized> Deref for RwLockReadGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: a share of the lock is held.
        unsafe { self.hold.data.as_ref() }
    }
}

impl<T: ?Sized> Deref for RwLockWriteGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: the lock is held.
        unsafe { self.hold.data.as_ref() }
    }
}

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the lock is held, by this guard alone.
        unsafe { self.hold.data.as_mut() }
    }
}

shown_as_value!(RwLockReadGuard<'_, T>, RwLockWriteGuard<'_, T>);
around_value!(RwLock);

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("RwLock");
        match self.try_read() {
            Ok(guard) => shown.field("data", &&*guard),
            Err(TryLockError::Poisoned(poisoned)) => shown.field("data", &&**poisoned.get_ref()),
            Err(TryLockError::WouldBlock) => shown.field("data", &format_args!("<locked>")),
        };
        shown.field("poisoned", &self.is_poisoned());
        shown.finish_non_exhaustive()
    }
}
