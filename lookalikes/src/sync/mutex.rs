//! `std::sync::Mutex`. Releasing is a visible operation too, because a `try_lock` elsewhere can observe it.
//!
//! A task takes std's lock too, once its gate lets it pass: a thread that is not controlled may hold that.

use super::poison::{self, Poison, is_withdrawn};
use crate::name::named_by;
use crate::traits::{around_value, shown_as_value};
use intermezzo_engine::runtime::{
    Access, Body, Engine, Gates, Object, Site, VarKind, WaitLimits, is_in_allocator,
};
use intermezzo_sdk::SyncVarOp;
use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

/// The gate of a mutex: open while it is free.
pub(super) const FREE: Gates = 1;

struct MutexBody<T: ?Sized> {
    /// The lock. Inside an execution a task only tries it, and waits at the engine's gate.
    raw: std::sync::Mutex<()>,
    poisoned: AtomicBool,
    data: UnsafeCell<T>,
}

/// A hold on std's lock. Like all that is done with that lock, it has no type parameter, so unmodified code calls its
/// destructor in the layer over std, which is optimised.
pub(super) struct Raw<'a>(Option<std::sync::MutexGuard<'a, ()>>);

impl Drop for Raw<'_> {
    #[cfg_attr(feature = "unmodified", inline(never))]
    #[cfg_attr(not(feature = "unmodified"), inline)]
    fn drop(&mut self) {
        drop(self.0.take());
    }
}

impl<T: ?Sized> Body for MutexBody<T> {
    const KIND: VarKind = VarKind::Mutex;
    fn gates(&self) -> Gates {
        FREE
    }
}

impl<T: ?Sized> Poison for MutexBody<T> {
    unsafe fn flag(this: *mut Self) -> *const AtomicBool {
        // SAFETY: as the caller says.
        unsafe { &raw const (*this).poisoned }
    }
}

/// A mutual exclusion lock: `std::sync::Mutex`.
pub struct Mutex<T: ?Sized> {
    object: Object<MutexBody<T>>,
}

// SAFETY: the lock gives one thread at a time access to the data, which another may have made.
unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}
impl<T: ?Sized> UnwindSafe for Mutex<T> {}
impl<T: ?Sized> RefUnwindSafe for Mutex<T> {}

named_by! { [T: ?Sized] Mutex<T>: object; }

/// The way in which a guard holds its lock.
pub(super) enum Held<'a> {
    /// By std's lock alone; `None` once that is released.
    Outside(Option<Raw<'a>>),
    /// By the engine's permission, in that execution, and by std's lock. The latter is missing only in a teardown.
    Inside {
        epoch: u64,
        var: u32,
        site: Site,
        raw: Option<Raw<'a>>,
    },
}

/// Access to the data of a locked [`Mutex`]: `std::sync::MutexGuard`.
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct MutexGuard<'a, T: ?Sized> {
    lock: &'a Mutex<T>,
    body: *mut MutexBody<T>,
    held: Held<'a>,
    /// `true` if the task was unwinding when it took the lock: then it does not poison it.
    was_panicking: bool,
    not_send: PhantomData<*const ()>,
}

// SAFETY: a shared guard gives shared access to the data.
unsafe impl<T: ?Sized + Sync> Sync for MutexGuard<'_, T> {}
impl<T: ?Sized> UnwindSafe for MutexGuard<'_, T> {}
impl<T: ?Sized> RefUnwindSafe for MutexGuard<'_, T> {}

impl<T> Mutex<T> {
    /// Returns a free mutex around a value.
    pub const fn new(value: T) -> Mutex<T> {
        let body = MutexBody {
            raw: std::sync::Mutex::new(()),
            poisoned: AtomicBool::new(false),
            data: UnsafeCell::new(value),
        };
        Mutex {
            object: Object::new(body),
        }
    }

    /// Returns the data.
    ///
    /// # Errors
    /// If the mutex is poisoned; the error holds the data.
    pub fn into_inner(self) -> LockResult<T> {
        let body = self.object.into_inner();
        result(body.poisoned.into_inner(), body.data.into_inner())
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Takes the lock, waiting until it is free.
    ///
    /// # Errors
    /// If the mutex is poisoned: a task panicked while it held it. The error holds the guard.
    #[track_caller]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        let site = Site::caller();
        match Engine::current() {
            Some(engine) => self.lock_inside(engine, site, SyncVarOp::LockAcquire),
            None => self.lock_outside(site),
        }
    }

    /// Takes the lock for a thread outside any execution.
    pub(super) fn lock_outside(&self, site: Site) -> LockResult<MutexGuard<'_, T>> {
        let body = self.object.outside(site);
        // SAFETY: the lock of std is shared.
        let raw = unsafe { &(*body).raw };
        let held = match is_in_allocator() {
            true => lock_in_allocator(raw),
            false => Raw(Some(raw.lock().unwrap_or_else(PoisonError::into_inner))),
        };
        self.guard(body, Held::Outside(Some(held)))
    }

    #[inline]
    pub(super) fn lock_inside(
        &self,
        engine: Engine,
        site: Site,
        op: SyncVarOp,
    ) -> LockResult<MutexGuard<'_, T>> {
        let (var, body) = self.object.inside(engine, site);
        let access = Access::new(op, var, site);
        loop {
            engine.enter_gated(access, FREE, WaitLimits::default());
            let raw = try_raw(engine, body);
            if raw.is_some() || engine.in_teardown() {
                return self.acquire(engine, access, body, raw);
            }
            // A thread that is not controlled holds it.
            engine.set_gates(var, 0);
        }
    }

    #[inline]
    fn acquire<'a>(
        &'a self,
        engine: Engine,
        access: Access,
        body: *mut MutexBody<T>,
        raw: Option<Raw<'a>>,
    ) -> LockResult<MutexGuard<'a, T>> {
        engine.own(access.var, access.site);
        engine.set_gates(access.var, 0);
        engine.commit(access, 0, 0);
        let held = Held::Inside {
            epoch: engine.epoch(),
            var: access.var,
            site: access.site,
            raw,
        };
        self.guard(body, held)
    }

    /// Takes the lock if it is free.
    ///
    /// # Errors
    /// If it is not free (or if the attempt fails spuriously, where the environment allows that), or it is poisoned.
    #[track_caller]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        let site = Site::caller();
        let Some(engine) = Engine::current() else {
            let body = self.object.outside(site);
            // SAFETY: the lock of std is shared.
            let held = try_std(unsafe { &(*body).raw }).ok_or(TryLockError::WouldBlock)?;
            return Ok(self.guard(body, Held::Outside(Some(held)))?);
        };
        let (var, body) = self.object.inside(engine, site);
        let access = Access::new(SyncVarOp::LockTryAcquire, var, site);
        engine.enter(access);
        let fails = engine.gates(var) & FREE == 0 || engine.try_lock_fails();
        let raw = if fails { None } else { try_raw(engine, body) };
        if fails || raw.is_none() && !engine.in_teardown() {
            if !fails {
                engine.set_gates(var, 0);
            }
            let failed = Access {
                op: SyncVarOp::LockTryFailed,
                ..access
            };
            engine.commit(failed, 0, 0);
            engine.changed_nothing(failed, 0);
            engine.note_look(failed.order);
            return Err(TryLockError::WouldBlock);
        }
        Ok(self.acquire(engine, access, body, raw)?)
    }

    fn guard<'a>(&'a self, body: *mut MutexBody<T>, held: Held<'a>) -> LockResult<MutexGuard<'a, T>> {
        // SAFETY: the flag is shared, and the lock is held.
        let (poisoned, was_panicking) = poison::state(unsafe { &(*body).poisoned });
        result(
            poisoned,
            MutexGuard {
                lock: self,
                body,
                held,
                was_panicking,
                not_send: PhantomData,
            },
        )
    }

    /// Returns `true` if a task panicked while it held the lock.
    #[track_caller]
    pub fn is_poisoned(&self) -> bool {
        poison::look(&self.object, Site::caller())
    }

    /// Clears the mark that a task panicked while it held the lock.
    #[track_caller]
    pub fn clear_poison(&self) {
        poison::clear(&self.object, Site::caller());
    }

    /// Returns the data of a mutex that is not shared.
    ///
    /// # Errors
    /// If the mutex is poisoned; the error holds the data.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        // SAFETY: `&mut self` guarantees that it is not shared.
        let body = unsafe { &mut *self.object.get_mut() };
        result(*body.poisoned.get_mut(), body.data.get_mut())
    }
}

/// Tries std's lock.
#[cfg_attr(feature = "unmodified", inline(never))]
#[cfg_attr(not(feature = "unmodified"), inline)]
fn try_std(raw: &std::sync::Mutex<()>) -> Option<Raw<'_>> {
    match raw.try_lock() {
        Ok(held) => Some(Raw(Some(held))),
        Err(TryLockError::Poisoned(poisoned)) => Some(Raw(Some(poisoned.into_inner()))),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// Takes std's lock for the program's own global allocator. If the test holds the lock and the engine allocates meanwhile,
/// it would wait for itself: the process ends with a message.
#[cold]
fn lock_in_allocator(raw: &std::sync::Mutex<()>) -> Raw<'_> {
    const MESSAGE: &[u8] =
        b"intermezzo: the global allocator waits for a lock that a test holds, while intermezzo \
        allocates memory: a test that takes a lock of its allocator cannot be explored\n";
    for _ in 0..10_000 {
        if let Some(held) = try_std(raw) {
            return held;
        }
        // Another thread may be in the allocator.
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    _ = std::io::Write::write_all(&mut std::io::stderr(), MESSAGE);
    std::process::abort();
}

/// Tries std's lock for a task whose gate is open: only a thread that is not controlled can hold it, or a task that was
/// forgotten in a teardown.
#[cfg_attr(feature = "unmodified", inline(never))]
#[cfg_attr(not(feature = "unmodified"), inline)]
fn try_for_task(engine: Engine, raw: &std::sync::Mutex<()>) -> Option<Raw<'_>> {
    try_std(raw).or_else(|| {
        engine.look_again();
        try_std(raw)
    })
}

/// Tries the lock of a body for a task whose gate is open.
#[inline]
fn try_raw<'a, T: ?Sized>(engine: Engine, body: *mut MutexBody<T>) -> Option<Raw<'a>> {
    // SAFETY: the body exists as long as the mutex, which the guards borrow. The lock is shared.
    try_for_task(engine, unsafe { &(*body).raw })
}

/// Returns a result that is an error if the lock is poisoned.
pub(super) fn result<G>(poisoned: bool, guard: G) -> LockResult<G> {
    if poisoned {
        Err(PoisonError::new(guard))
    } else {
        Ok(guard)
    }
}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// Returns the mutex that this guard holds.
    pub(super) fn mutex(&self) -> &'a Mutex<T> {
        self.lock
    }

    /// Gives the lock up as part of another operation (a wait). Returns its variable, if the engine has it.
    pub(super) fn release(self) -> Released<'a> {
        let guard = std::mem::ManuallyDrop::new(self);
        // SAFETY: the guard is not used again, nor dropped.
        match unsafe { std::ptr::read(&guard.held) } {
            Held::Outside(held) => Released::Outside(held.expect("a guard holds its lock")),
            Held::Inside { var, raw, .. } => {
                drop(raw);
                Released::Inside { var }
            }
        }
    }

    fn poison_if_panicking(&self) {
        if poison::is_panicking() && !self.was_panicking && !is_withdrawn() {
            // SAFETY: the flag is shared.
            unsafe { &(*self.body).poisoned }.store(true, Relaxed);
        }
    }
}

/// A lock whose guard is gone, to be released by other means.
pub(super) enum Released<'a> {
    Outside(Raw<'a>),
    Inside { var: u32 },
}

impl<T: ?Sized> Mutex<T> {
    /// Releases the lock for a thread outside any execution. Tasks may take it from then on.
    pub(super) fn give_up(&self, held: Raw<'_>) {
        drop(held);
        self.object.opened_outside(FREE);
    }
}

/// A guard that frees a mutex's variable when it is dropped.
struct Release {
    engine: Engine,
    var: u32,
}

impl Drop for Release {
    fn drop(&mut self) {
        free(self.engine, self.var);
    }
}

/// Frees a mutex's variable.
pub(super) fn free(engine: Engine, var: u32) {
    engine.disown(var);
    engine.set_gates(var, FREE);
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        match self.held {
            Held::Outside(ref mut raw) => {
                let raw = raw.take();
                self.poison_if_panicking();
                if let Some(raw) = raw {
                    self.lock.give_up(raw);
                }
            }
            Held::Inside { epoch, var, site, .. } => {
                // A guard that outlived its execution has nothing to release.
                let Some(engine) = Engine::current().filter(|engine| engine.epoch() == epoch) else {
                    return;
                };
                let access = Access::new(SyncVarOp::LockRelease, var, site);
                // It is released even if this task is abandoned right here, because others' destructors may want the
                // lock.
                let release = Release { engine, var };
                engine.enter(access);
                self.poison_if_panicking();
                drop(release);
                engine.commit(access, 0, 0);
                engine.changed_nothing(access, 0);
            }
        }
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: the lock is held.
        unsafe { &*(*self.body).data.get() }
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the lock is held, by this guard alone.
        unsafe { &mut *(*self.body).data.get() }
    }
}

shown_as_value!(MutexGuard<'_, T>);
around_value!(Mutex);

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Mutex");
        match self.try_lock() {
            Ok(guard) => shown.field("data", &&*guard),
            Err(TryLockError::Poisoned(poisoned)) => shown.field("data", &&**poisoned.get_ref()),
            Err(TryLockError::WouldBlock) => shown.field("data", &"<locked>"),
        };
        shown.field("poisoned", &self.is_poisoned());
        shown.finish_non_exhaustive()
    }
}
