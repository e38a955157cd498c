//! `std::sync::RwLock`. Releasing is a visible operation too, because a `try_write` elsewhere can observe it.
//!
//! Readers and writers have no priority over each other: any task that finds its gate open may go. Misses: a reader
//! that a waiting writer keeps out, which std allows. So a task that reads twice, with a writer that waits in between,
//! is not reported as the deadlock that it is on some systems.

use super::mutex::result;
use super::poison::{self, Poison};
use intermezzo_engine::runtime::{Access, Body, Engine, Gates, Object, Site, VarKind, WaitLimits};
use intermezzo_sdk::SyncVarOp;
use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Condvar, LockResult, Mutex, PoisonError, TryLockError, TryLockResult};

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

/// A way to hold a lock: the gate it needs, and its effect on the lock.
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
    /// Guards the holders outside an exploration. (It is not std's `RwLock`, which could only be downgraded since
    /// 1.92.)
    lock: Mutex<()>,
    changed: Condvar,
    holders: Holders,
    poisoned: AtomicBool,
    data: T,
}

impl<T: ?Sized> Body for RwLockBody<T> {
    const KIND: VarKind = VarKind::RwLock;
    fn gates(&self) -> Gates {
        self.holders.gates()
    }
}

impl<T: ?Sized> Poison for RwLockBody<T> {
    unsafe fn flag(this: *mut Self) -> *const AtomicBool {
        // SAFETY: as the caller says.
        unsafe { &raw const (*this).poisoned }
    }
}

/// A lock that many readers or one writer hold: `std::sync::RwLock`.
pub struct RwLock<T: ?Sized> {
    object: Object<RwLockBody<T>>,
}

// SAFETY: a writer, maybe on another thread, can move the data out.
unsafe impl<T: ?Sized + Send> Send for RwLock<T> {}
// SAFETY: as above; and readers share the data.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLock<T> {}
impl<T: ?Sized> UnwindSafe for RwLock<T> {}
impl<T: ?Sized> RefUnwindSafe for RwLock<T> {}

/// A held lock, in either mode.
struct Hold<T: ?Sized> {
    body: NonNull<RwLockBody<T>>,
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
    fn poisoned(&self) -> &AtomicBool {
        // SAFETY: the lock outlives its guards, and the flag is shared.
        unsafe { &(*self.body.as_ptr()).poisoned }
    }

    /// Changes the holders of the lock, which is a visible operation; poisons it first, if `poison` and the task is
    /// unwinding.
    fn change(&self, op: SyncVarOp, change: impl FnOnce(Holders) -> Holders, poison: bool) {
        let body = self.body.as_ptr();
        // SAFETY: the lock outlives its guards. The lock of the holders outside is shared; the holders themselves are
        // accessed under it, or by the one running task.
        let (lock, changed, holders) = unsafe { (&(*body).lock, &(*body).changed, &raw mut (*body).holders) };
        let Some((epoch, var, site)) = self.inside else {
            let held = lock.lock().unwrap_or_else(PoisonError::into_inner);
            if poison && std::thread::panicking() && !self.was_panicking {
                self.poisoned().store(true, Relaxed);
            }
            // SAFETY: as above.
            unsafe { *holders = change(*holders) };
            drop(held);
            return changed.notify_all();
        };
        // A guard that outlived its execution has nothing to release.
        let Some(engine) = Engine::current().filter(|engine| engine.epoch() == epoch) else {
            return;
        };
        let access = Access::new(op, var, site);
        engine.enter(access);
        if poison && std::thread::panicking() && !self.was_panicking {
            self.poisoned().store(true, Relaxed);
        }
        // SAFETY: as above.
        let holders = unsafe {
            *holders = change(*holders);
            *holders
        };
        engine.disown(var);
        engine.set_gates(var, holders.gates());
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
            lock: Mutex::new(()),
            changed: Condvar::new(),
            holders: Holders::Readers(0),
            poisoned: AtomicBool::new(false),
            data: value,
        };
        RwLock {
            object: Object::new(body),
        }
    }

    /// Returns the data.
    ///
    /// # Errors
    /// The lock is poisoned; the error holds the data.
    pub fn into_inner(self) -> LockResult<T> {
        let body = self.object.into_inner();
        result(body.poisoned.into_inner(), body.data)
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Takes a share of the lock, waiting until no task writes.
    ///
    /// # Errors
    /// The lock is poisoned: a task panicked while it wrote. The error holds the guard.
    #[track_caller]
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        let hold = self.acquire(READ, Site::caller());
        result(
            hold.poisoned().load(Relaxed),
            RwLockReadGuard {
                hold,
                data: PhantomData,
            },
        )
    }

    /// Takes the lock exclusively, waiting until no task reads or writes.
    ///
    /// # Errors
    /// The lock is poisoned: a task panicked while it wrote. The error holds the guard.
    #[track_caller]
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        let hold = self.acquire(WRITE, Site::caller());
        result(
            hold.poisoned().load(Relaxed),
            RwLockWriteGuard {
                hold,
                data: PhantomData,
            },
        )
    }

    /// Takes a share of the lock if no task writes.
    ///
    /// # Errors
    /// A task writes (or, if the environment allows that, the attempt just fails), or the lock is poisoned.
    #[track_caller]
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        let hold = self
            .try_acquire(READ, Site::caller())
            .ok_or(TryLockError::WouldBlock)?;
        Ok(result(
            hold.poisoned().load(Relaxed),
            RwLockReadGuard {
                hold,
                data: PhantomData,
            },
        )?)
    }

    /// Takes the lock exclusively if no task reads or writes.
    ///
    /// # Errors
    /// A task does (or, if the environment allows that, the attempt just fails), or the lock is poisoned.
    #[track_caller]
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        let hold = self
            .try_acquire(WRITE, Site::caller())
            .ok_or(TryLockError::WouldBlock)?;
        Ok(result(
            hold.poisoned().load(Relaxed),
            RwLockWriteGuard {
                hold,
                data: PhantomData,
            },
        )?)
    }

    fn acquire(&self, mode: &Mode, site: Site) -> Hold<T> {
        let Some(engine) = Engine::current() else {
            return self
                .acquire_outside(mode, true)
                .expect("it waits until it is free");
        };
        let (var, body) = self.object.inside(engine, site);
        let access = Access::new(mode.acquire, var, site);
        engine.enter_gated(access, mode.gate, WaitLimits::default());
        take_inside(engine, access, body, mode)
    }

    fn try_acquire(&self, mode: &Mode, site: Site) -> Option<Hold<T>> {
        let Some(engine) = Engine::current() else {
            return self.acquire_outside(mode, false);
        };
        let (var, body) = self.object.inside(engine, site);
        let access = Access::new(mode.try_acquire, var, site);
        engine.enter(access);
        if engine.gates(var) & mode.gate == 0 || engine.try_lock_fails() {
            let failed = Access {
                op: SyncVarOp::LockTryFailed,
                ..access
            };
            engine.commit(failed, 0, 0);
            engine.changed_nothing(failed, 0);
            return None;
        }
        Some(take_inside(engine, access, body, mode))
    }

    fn acquire_outside(&self, mode: &Mode, waits: bool) -> Option<Hold<T>> {
        let body = self.object.outside();
        // SAFETY: lock and condition variable are shared; the holders are touched under the lock.
        let (lock, changed, holders) = unsafe { (&(*body).lock, &(*body).changed, &raw mut (*body).holders) };
        let mut held = lock.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: as above.
        while unsafe { *holders }.gates() & mode.gate == 0 {
            if !waits {
                return None;
            }
            held = changed.wait(held).unwrap_or_else(PoisonError::into_inner);
        }
        // SAFETY: as above.
        unsafe { *holders = (*holders).with(mode) };
        drop(held);
        Some(Hold {
            body: not_null(body),
            inside: None,
            was_panicking: std::thread::panicking(),
        })
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
    /// The lock is poisoned; the error holds the data.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        // SAFETY: `&mut self` guarantees that it is not shared.
        let body = unsafe { &mut *self.object.get_mut() };
        result(*body.poisoned.get_mut(), &mut body.data)
    }
}

fn not_null<T: ?Sized>(body: *mut RwLockBody<T>) -> NonNull<RwLockBody<T>> {
    NonNull::new(body).expect("the body of an object is somewhere")
}

fn take_inside<T: ?Sized>(engine: Engine, access: Access, body: *mut RwLockBody<T>, mode: &Mode) -> Hold<T> {
    // SAFETY: this task alone runs until its next visible operation.
    let holders = unsafe {
        (*body).holders = (*body).holders.with(mode);
        (*body).holders
    };
    if mode.gate == WRITABLE {
        engine.own(access.var, access.site);
    }
    engine.set_gates(access.var, holders.gates());
    engine.commit(access, 0, 0);
    let inside = Some((engine.epoch(), access.var, access.site));
    Hold {
        body: not_null(body),
        inside,
        was_panicking: std::thread::panicking(),
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
        unsafe { &(*self.hold.body.as_ptr()).data }
    }
}

impl<T: ?Sized> Deref for RwLockWriteGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: the lock is held.
        unsafe { &(*self.hold.body.as_ptr()).data }
    }
}

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the lock is held, by this guard alone.
        unsafe { &mut (*self.hold.body.as_ptr()).data }
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for RwLockReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for RwLockWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: Default> Default for RwLock<T> {
    fn default() -> Self {
        RwLock::new(T::default())
    }
}

impl<T> From<T> for RwLock<T> {
    fn from(value: T) -> Self {
        RwLock::new(value)
    }
}

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
