//! `std::sync::Condvar`.
//!
//! Beginning to wait releases the mutex in the same step. A waiter continues when it is notified, when its time is up,
//! or, within the environment's bound, spuriously. It then takes the mutex like any other task. `notify_one` may wake
//! any waiter, which is a choice.

use super::mutex::{Mutex, MutexGuard, Released, free};
use crate::name::named_by;
use crate::traits::opaque;
use intermezzo_engine::runtime::{
    Access, Body, Engine, Gates, Object, Site, VarKind, WaitLimits, Wake, gate,
};
use intermezzo_engine::schedule::ChoiceKind;
use intermezzo_sdk::SyncVarOp;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{LockResult, PoisonError};
use std::time::{Duration, Instant};

struct CondvarBody {
    /// Wakes threads that wait outside an execution, by the lock of `waiters`.
    raw: std::sync::Condvar,
    /// The tasks that wait, in the order in which they came.
    waiters: std::sync::Mutex<Vec<u32>>,
    /// The number of threads that wait outside an execution.
    outside: AtomicUsize,
}

impl CondvarBody {
    fn waiters(&self) -> std::sync::MutexGuard<'_, Vec<u32>> {
        self.waiters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Body for CondvarBody {
    const KIND: VarKind = VarKind::Condvar;
    fn gates(&self) -> Gates {
        0
    }
}

/// A condition variable: `std::sync::Condvar`.
pub struct Condvar {
    object: Object<CondvarBody>,
}

named_by! { [] Condvar: object; }

// SAFETY: all parts of the body can be shared.
unsafe impl Sync for Condvar {}
impl UnwindSafe for Condvar {}
impl RefUnwindSafe for Condvar {}

/// The result of a timed wait: `true` if it ended because its time was up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// Returns `true` if the wait ended because its time was up.
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

impl Condvar {
    /// Returns a condition variable without waiters.
    pub const fn new() -> Condvar {
        Condvar {
            object: Object::new(CondvarBody {
                raw: std::sync::Condvar::new(),
                waiters: std::sync::Mutex::new(Vec::new()),
                outside: AtomicUsize::new(0),
            }),
        }
    }

    /// Releases the guard's mutex and waits; takes the mutex again before it returns.
    ///
    /// # Errors
    /// If the mutex is poisoned when it is taken again.
    #[track_caller]
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        let (guard, _) = self.wait_for(guard, None, Site::caller());
        guard
    }

    /// Waits as long as the condition holds.
    ///
    /// # Errors
    /// If the mutex is poisoned when it is taken again.
    #[track_caller]
    pub fn wait_while<'a, T, F: FnMut(&mut T) -> bool>(
        &self,
        mut guard: MutexGuard<'a, T>,
        mut condition: F,
    ) -> LockResult<MutexGuard<'a, T>> {
        while condition(&mut *guard) {
            guard = self.wait(guard)?;
        }
        Ok(guard)
    }

    /// Waits for at most this many milliseconds; the flag is `false` if the time was up.
    ///
    /// # Errors
    /// If the mutex is poisoned when it is taken again.
    #[deprecated(since = "1.6.0", note = "replaced by `wait_timeout`")]
    #[track_caller]
    pub fn wait_timeout_ms<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        ms: u32,
    ) -> LockResult<(MutexGuard<'a, T>, bool)> {
        let (guard, timed_out) = self.wait_for(guard, Some(Duration::from_millis(ms.into())), Site::caller());
        paired(guard, !timed_out)
    }

    /// Waits for at most this long.
    ///
    /// # Errors
    /// If the mutex is poisoned when it is taken again.
    #[track_caller]
    pub fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        limit: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let (guard, timed_out) = self.wait_for(guard, Some(limit), Site::caller());
        paired(guard, WaitTimeoutResult(timed_out))
    }

    /// Waits as long as the condition holds, and at most this long.
    ///
    /// # Errors
    /// If the mutex is poisoned when it is taken again.
    #[track_caller]
    pub fn wait_timeout_while<'a, T, F: FnMut(&mut T) -> bool>(
        &self,
        mut guard: MutexGuard<'a, T>,
        limit: Duration,
        mut condition: F,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let began = crate::time::Instant::now();
        loop {
            if !condition(&mut *guard) {
                return Ok((guard, WaitTimeoutResult(false)));
            }
            let Some(left) = limit.checked_sub(began.elapsed()) else {
                return Ok((guard, WaitTimeoutResult(true)));
            };
            guard = self.wait_timeout(guard, left)?.0;
        }
    }

    /// Waits; the flag is `true` if the time was up.
    fn wait_for<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        limit: Option<Duration>,
        site: Site,
    ) -> (LockResult<MutexGuard<'a, T>>, bool) {
        let mutex = guard.mutex();
        match Engine::current() {
            Some(engine) => self.wait_inside(engine, guard, mutex, limit, site),
            None => self.wait_outside(guard, mutex, limit, site),
        }
    }

    fn wait_outside<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        mutex: &'a Mutex<T>,
        limit: Option<Duration>,
        site: Site,
    ) -> (LockResult<MutexGuard<'a, T>>, bool) {
        let Released::Outside(held) = guard.release() else {
            panic!("a guard of an exploration is used outside it");
        };
        // SAFETY: the body exists as long as the object.
        let body = unsafe { &*self.object.outside(site) };
        // The mutex is held, so a task that changes the condition sees this first. To notify, it takes the list's lock,
        // and by then this thread waits.
        body.outside.fetch_add(1, SeqCst);
        let list = body.waiters();
        mutex.give_up(held);
        let until = limit.and_then(|limit| Instant::now().checked_add(limit));
        let (list, timed_out) = match until {
            None => {
                let woken = body.raw.wait(list);
                (woken.unwrap_or_else(PoisonError::into_inner), false)
            }
            Some(until) => {
                let left = until.saturating_duration_since(Instant::now());
                let woken = body.raw.wait_timeout(list, left);
                let (list, result) = woken.unwrap_or_else(PoisonError::into_inner);
                (list, result.timed_out())
            }
        };
        drop(list);
        body.outside.fetch_sub(1, SeqCst);
        (mutex.lock_outside(site), timed_out)
    }

    fn wait_inside<'a, T>(
        &self,
        engine: Engine,
        guard: MutexGuard<'a, T>,
        mutex: &'a Mutex<T>,
        limit: Option<Duration>,
        site: Site,
    ) -> (LockResult<MutexGuard<'a, T>>, bool) {
        let (var, body) = self.object.inside(engine, site);
        // SAFETY: the body exists as long as the object.
        let body = unsafe { &*body };
        let access = Access::new(SyncVarOp::CondvarWait, var, site);
        engine.enter(access);
        let me = engine.task();
        let own = engine.task_var(me);
        let spurious = engine.wakes_spuriously();
        if !spurious {
            engine.change_gates(own, 0, gate::NOTIFIED);
            body.waiters().push(me);
        }
        let Released::Inside { var: locked } = guard.release() else {
            let place = site.place();
            engine.misuse(format!(
                "{}:{}: a guard taken outside the exploration is used inside",
                place.file, place.line
            ));
        };
        free(engine, locked);
        engine.also_writes(locked);
        engine.commit(access, 0, u64::from(locked));

        let waking = Access {
            op: SyncVarOp::CondvarWake,
            ..access
        };
        if spurious {
            // The value 1 marks a spurious wake-up.
            engine.commit(waking, 1, 0);
            return (mutex.lock_inside(engine, site, SyncVarOp::LockAcquire), false);
        }
        let wait_limits = WaitLimits {
            deadline: limit.map(|limit| engine.deadline_in_step(limit)),
            may_end_spuriously: true,
        };
        let wake = engine.wait(waking, own, gate::NOTIFIED, wait_limits);
        if wake == Wake::Ready {
            engine.commit(waking, 0, 0);
        } else {
            body.waiters().retain(|&waiter| waiter != me);
            engine.timed_out(waking);
        }
        (
            mutex.lock_inside(engine, site, SyncVarOp::LockAcquire),
            wake == Wake::TimedOut,
        )
    }

    /// Wakes one waiter, if there is any.
    #[track_caller]
    pub fn notify_one(&self) {
        self.notify(SyncVarOp::NotifyOne, Site::caller());
    }

    /// Wakes all waiters.
    #[track_caller]
    pub fn notify_all(&self) {
        self.notify(SyncVarOp::NotifyAll, Site::caller());
    }

    fn notify(&self, op: SyncVarOp, site: Site) {
        let Some(engine) = Engine::current() else {
            return self.notify_outside(op, site);
        };
        let (var, body) = self.object.inside(engine, site);
        // SAFETY: the body exists as long as the object.
        let body = unsafe { &*body };
        let access = Access::new(op, var, site);
        engine.enter(access);
        let waiting = body.waiters().len();
        if op == SyncVarOp::NotifyAll {
            for waiter in std::mem::take(&mut *body.waiters()) {
                engine.change_gates(engine.task_var(waiter), gate::NOTIFIED, 0);
            }
        } else if waiting > 0 {
            let alternatives = if engine.environment().notify_any || waiting == 1 {
                waiting
            } else {
                engine.note_first_notified();
                1
            };
            let which = engine.choose(ChoiceKind::Waiter, alternatives as u32) as usize;
            let mut waiters = body.waiters();
            // A thread that is not controlled may have notified one meanwhile.
            if which < waiters.len() {
                let waiter = waiters.remove(which);
                drop(waiters);
                engine.change_gates(engine.task_var(waiter), gate::NOTIFIED, 0);
            }
        }
        if body.outside.load(SeqCst) > 0 && (op == SyncVarOp::NotifyAll || waiting == 0) {
            body.notify_threads(op);
        }
        engine.commit(access, 0, 0);
    }

    /// Notifies from a thread outside any execution. Tasks are notified before other threads.
    fn notify_outside(&self, op: SyncVarOp, site: Site) {
        // SAFETY: the body exists as long as the object.
        let body = unsafe { &*self.object.outside(site) };
        let mut waiters = body.waiters();
        let woken = match op {
            SyncVarOp::NotifyAll => waiters.len(),
            _ => waiters.len().min(1),
        };
        let tasks: Vec<u32> = waiters.drain(..woken).collect();
        drop(waiters);
        for &task in &tasks {
            self.object.opened_for_task(task, gate::NOTIFIED);
        }
        if op == SyncVarOp::NotifyAll || tasks.is_empty() {
            body.notify_threads(op);
        }
    }
}

impl CondvarBody {
    /// Notifies threads that wait outside an execution.
    fn notify_threads(&self, op: SyncVarOp) {
        if op == SyncVarOp::NotifyAll {
            self.raw.notify_all();
        } else {
            self.raw.notify_one();
        }
    }
}

/// Returns a result of a lock, paired with another value.
fn paired<G, B>(guard: LockResult<G>, beside: B) -> LockResult<(G, B)> {
    match guard {
        Ok(guard) => Ok((guard, beside)),
        Err(poisoned) => Err(PoisonError::new((poisoned.into_inner(), beside))),
    }
}

impl Default for Condvar {
    fn default() -> Self {
        Condvar::new()
    }
}

opaque! { Condvar; }
