//! Scoped threads: `scope`, `Scope`, `ScopedJoinHandle`.

use super::handle::Thread;
use super::spawn::{Builder, JoinHandle, Joinable, record_join, wait_for_ever, wait_quietly};
use crate::traits::opaque;
use intermezzo_engine::runtime::{Engine, Site};
use std::cell::RefCell;
use std::io;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, RefUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};

/// A scope to create threads in: `std::thread::Scope`.
pub struct Scope<'scope, 'env: 'scope> {
    kind: Kind,
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

enum Kind {
    Outside(Arc<Running>),
    /// The tasks created in the scope.
    Inside(RefCell<Vec<u32>>),
}

// SAFETY: only the one running task accesses the list of tasks.
unsafe impl Sync for Scope<'_, '_> {}
impl RefUnwindSafe for Scope<'_, '_> {}

/// The threads of a scope outside an exploration.
#[derive(Default)]
struct Running {
    /// The number of threads that have not ended, and the number of those that panicked and were not joined.
    counts: Mutex<(usize, usize)>,
    ended: Condvar,
}

impl Running {
    fn change(&self, change: impl FnOnce(&mut (usize, usize))) {
        change(&mut self.counts.lock().unwrap_or_else(PoisonError::into_inner));
        self.ended.notify_all();
    }
}

/// Runs a closure that may create threads which borrow from the caller, and returns when the closures of these threads
/// have ended. Thread-local values of threads that were not joined may be dropped later, as in std.
///
/// ```
/// # use intermezzo_explorer as intermezzo;
/// use intermezzo::thread;
///
/// let text = String::from("borrowed");
/// let length = thread::scope(|s| s.spawn(|| text.len()).join().unwrap());
/// assert_eq!(length, text.len());
/// ```
///
/// The borrowed data of a thread outlives the scope. Data owned by the closure itself do not:
///
/// ```compile_fail,E0373
/// intermezzo_explorer::thread::scope(|s| {
///     let text = String::from("gone before the thread ends");
///     s.spawn(|| text.len());
/// });
/// ```
///
/// Nor may a handle leave the scope, or two threads have exclusive access to the same data:
///
/// ```compile_fail
/// let handle = intermezzo_explorer::thread::scope(|s| s.spawn(|| ()));
/// ```
///
/// ```compile_fail,E0499
/// let mut number = 0;
/// intermezzo_explorer::thread::scope(|s| {
///     s.spawn(|| number += 1);
///     s.spawn(|| number += 1);
/// });
/// ```
///
/// # Panics
/// If a thread panicked that was not joined.
#[track_caller]
pub fn scope<'env, F, T>(f: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    let site = Site::caller();
    let engine = Engine::current();
    let kind = match engine {
        Some(_) => Kind::Inside(RefCell::default()),
        None => Kind::Outside(Arc::default()),
    };
    let scope = Scope {
        kind,
        scope: PhantomData,
        env: PhantomData,
    };
    // Whatever `f` does, its threads end before this returns: they borrow from the caller.
    let before = engine.map_or(0, Engine::panics_noted);
    let result = catch_unwind(AssertUnwindSafe(|| f(&scope)));
    let held = engine.filter(|_| result.is_err());
    let held = held.and_then(|engine| Some((engine, engine.hold_panic(before)?)));
    let panicked = scope.wait(engine, site);
    if let Some((engine, panic)) = held {
        engine.pass_panic_on(panic);
    }
    match result {
        Err(panic) => resume_unwind(panic),
        Ok(_) if panicked => panic!("a scoped thread panicked"),
        Ok(value) => value,
    }
}

/// Drops the results of the tasks of a scope, which may borrow, when a wait of the scope is abandoned.
struct Detached<'a>(Engine, &'a RefCell<Vec<u32>>);

impl Drop for Detached<'_> {
    fn drop(&mut self) {
        let Detached(engine, tasks) = *self;
        let tasks = tasks.borrow().clone();
        tasks.into_iter().for_each(|task| engine.detach(task));
    }
}

impl<'scope, 'env> Scope<'scope, 'env> {
    /// Waits for all threads to end; returns `true` if one panicked that was not joined.
    fn wait(&self, engine: Option<Engine>, site: Site) -> bool {
        match (&self.kind, engine) {
            (Kind::Outside(running), _) => {
                let counts = running.counts.lock().unwrap_or_else(PoisonError::into_inner);
                let counts = running.ended.wait_while(counts, |counts| counts.0 > 0);
                counts.unwrap_or_else(PoisonError::into_inner).1 > 0
            }
            (Kind::Inside(tasks), Some(engine)) => {
                let mut panicked = false;
                let (mut joined, mut ended) = (0, 0);
                while let Some(task) = {
                    let tasks = tasks.borrow();
                    tasks.get(joined).copied()
                } {
                    if joined == ended {
                        ended = Self::wait_for_all(tasks, joined, engine, site);
                    }
                    if engine.result_is_kept(task) {
                        // The handle was leaked. In std it keeps the result, for whose end the scope waits.
                        let _detached = Detached(engine, tasks);
                        wait_for_ever(engine, task, site);
                    }
                    record_join(engine, task, site);
                    panicked |= engine.panic_unseen(task);
                    // Its result may borrow.
                    engine.detach(task);
                    joined += 1;
                }
                panicked
            }
            (Kind::Inside(_), None) => unreachable!("a scope ends in the execution in which it began"),
        }
    }

    /// Waits until the results of the tasks, which have ended, are dropped, where other tasks do that for them.
    fn wait_for_results(tasks: &RefCell<Vec<u32>>, engine: Engine, site: Site) {
        // A result may have handles on other tasks, so that a further one is dropped with it.
        while let Some(heir) = {
            let tasks = tasks.borrow();
            tasks.iter().find_map(|&task| engine.take_result_heir(task))
        } {
            wait_quietly(engine, heir, site);
            record_join(engine, heir, site);
        }
    }

    /// Waits until all tasks of the list from this one on have ended, including those that they create; returns the
    /// number of tasks then.
    fn wait_for_all(tasks: &RefCell<Vec<u32>>, from: usize, engine: Engine, site: Site) -> usize {
        let (mut from, mut to) = (from, tasks.borrow().len());
        // They borrow from this task: if the execution is abandoned, it unwinds only after their end.
        engine.stand_firm(true);
        while from < to {
            // The newest one first: by default it ends last, so that the others need not wake this task.
            for at in (from..to).rev() {
                let task = tasks.borrow()[at];
                wait_quietly(engine, task, site);
            }
            (from, to) = (to, tasks.borrow().len());
            if from == to {
                Self::wait_for_results(tasks, engine, site);
                to = tasks.borrow().len();
            }
        }
        engine.stand_firm(false);
        engine.go_on_unwinding();
        to
    }

    /// Runs a closure on a new thread of this scope.
    ///
    /// # Panics
    /// Outside an exploration, if the system has no more threads.
    #[track_caller]
    pub fn spawn<F, T>(&'scope self, f: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        Builder::new()
            .spawn_scoped(self, f)
            .expect("failed to spawn thread")
    }
}

impl Builder {
    /// Runs a closure on a new thread of a scope.
    ///
    /// # Errors
    /// If no stack can have the size that was set; outside an exploration, also if the system has no more threads.
    ///
    /// # Panics
    /// If the name contains a null byte.
    #[track_caller]
    pub fn spawn_scoped<'scope, 'env, F, T>(
        self,
        scope: &'scope Scope<'scope, 'env>,
        f: F,
    ) -> io::Result<ScopedJoinHandle<'scope, T>>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        let site = Site::caller();
        match (&scope.kind, Engine::current()) {
            (Kind::Inside(tasks), Some(engine)) => {
                // SAFETY: the scope waits for the task, which so ends before the data that it borrows.
                let task = unsafe { engine.fork(self.described_to(engine)?, site, f) };
                engine.note_scope(task);
                engine.uninterrupted(|| tasks.borrow_mut().push(task));
                Ok(ScopedJoinHandle {
                    inner: Inner::Inside(Joinable::new(engine, task, site)),
                    thread: OnceLock::new(),
                    scope: PhantomData,
                })
            }
            (Kind::Outside(running), _) => {
                // Before the thread is counted.
                self.check_name();
                let result = Arc::new(Mutex::new(None));
                let (place, counted) = (result.clone(), running.clone());
                let body = move || {
                    let outcome = catch_unwind(AssertUnwindSafe(f));
                    let panicked = outcome.is_err();
                    *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
                    // The result may borrow: the thread releases it before the scope's wait ends.
                    drop(place);
                    counted.change(|counts| {
                        counts.0 -= 1;
                        counts.1 += usize::from(panicked);
                    });
                };
                running.change(|counts| counts.0 += 1);
                // SAFETY: the scope waits for the thread, which so ends before the data that it borrows.
                let handle = unsafe { self.outside().spawn_unchecked(body) };
                let handle = handle.inspect_err(|_| running.change(|counts| counts.0 -= 1))?;
                Ok(ScopedJoinHandle {
                    inner: Inner::Outside {
                        handle: JoinHandle::outside(handle),
                        result,
                        running: running.clone(),
                    },
                    thread: OnceLock::new(),
                    scope: PhantomData,
                })
            }
            (Kind::Inside(_), None) => panic!("a scope of an exploration is used outside it"),
        }
    }
}

enum Inner<T> {
    Outside {
        handle: JoinHandle<()>,
        result: Arc<Mutex<Option<std::thread::Result<T>>>>,
        running: Arc<Running>,
    },
    Inside(Joinable<T>),
}

/// A handle on a scoped thread: `std::thread::ScopedJoinHandle`.
pub struct ScopedJoinHandle<'scope, T> {
    inner: Inner<T>,
    /// The handle on the thread, made on demand, because few tests need it.
    thread: OnceLock<Thread>,
    scope: PhantomData<&'scope ()>,
}

// SAFETY: as for `JoinHandle`.
unsafe impl<T: Send> Send for ScopedJoinHandle<'_, T> {}
// SAFETY: as for `JoinHandle`.
unsafe impl<T: Send> Sync for ScopedJoinHandle<'_, T> {}

impl<T> ScopedJoinHandle<'_, T> {
    /// Returns the thread.
    pub fn thread(&self) -> &Thread {
        self.thread.get_or_init(|| match &self.inner {
            Inner::Outside { handle, .. } => handle.thread().clone(),
            Inner::Inside(joinable) => joinable.thread(),
        })
    }

    /// Waits for the thread to end, and returns its result.
    ///
    /// # Errors
    /// If the thread panicked; the error is the panic payload.
    #[track_caller]
    pub fn join(self) -> std::thread::Result<T> {
        match self.inner {
            Inner::Outside {
                handle,
                result,
                running,
            } => {
                handle.join()?;
                let outcome = result.lock().unwrap_or_else(PoisonError::into_inner).take();
                let outcome = outcome.expect("a thread that has ended left its result");
                if outcome.is_err() {
                    running.change(|counts| counts.1 -= 1);
                }
                outcome
            }
            Inner::Inside(joinable) => joinable.join_with_locals(Site::caller()),
        }
    }

    /// Returns `true` if the thread has ended.
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        match &self.inner {
            Inner::Outside { handle, .. } => handle.is_finished(),
            Inner::Inside(joinable) => joinable.is_finished(Site::caller()),
        }
    }
}

opaque! {
    [T] ScopedJoinHandle<'_, T>;
    Scope<'_, '_>;
}
