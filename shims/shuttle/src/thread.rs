//! `shuttle::thread`: std's, with shuttle's `ThreadId`, labels that tasks hand down, and a panic that fails the test
//! whether or not its task is joined.

pub use intermezzo::thread::{AccessError, LocalKey, Result, panicking};

use crate::labels::TaskName;
use crate::state::{self, Attached, Creation, MAIN};
use crate::task_id::TaskId;
use crate::teardown;
use intermezzo::point;
use intermezzo::thread::{self as looked, number_of};
use std::cell::{Cell, OnceCell};
use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

/// A thread's number in its execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ThreadId {
    task_id: TaskId,
}

impl From<ThreadId> for usize {
    fn from(id: ThreadId) -> usize {
        id.task_id.into()
    }
}

/// A handle on a thread: `std::thread::Thread`.
#[derive(Clone, Debug)]
pub struct Thread {
    looked: looked::Thread,
    id: ThreadId,
}

impl Thread {
    fn of(looked: looked::Thread) -> Thread {
        let task_id = TaskId(number_of(&looked).unwrap_or(u32::MAX) as usize);
        Thread {
            looked,
            id: ThreadId { task_id },
        }
    }

    /// Returns the thread's name.
    pub fn name(&self) -> Option<&str> {
        match self.id.task_id {
            TaskId(0) => Some(MAIN),
            _ => self.looked.name(),
        }
    }

    /// Returns the thread's number.
    pub fn id(&self) -> ThreadId {
        self.id
    }

    /// Gives the thread its park token, and wakes it if it is parked.
    #[track_caller]
    pub fn unpark(&self) {
        self.looked.unpark();
    }
}

/// Returns the calling thread.
pub fn current() -> Thread {
    Thread::of(looked::current())
}

intermezzo::thread_local! {
    /// `true` once the task's wait for its token has ended without it.
    static ENDED_EARLY: Cell<bool> = const { Cell::new(false) };
}

/// Waits for the thread's park token and takes it. One wait of each thread may return without it.
#[track_caller]
pub fn park() {
    if !ENDED_EARLY.get() && intermezzo::any_bool() {
        ENDED_EARLY.set(true);
        yield_now();
    } else {
        looked::park();
    }
}

/// Like `park`. The time passes when no other task can continue.
#[track_caller]
pub fn park_timeout(dur: Duration) {
    if !ENDED_EARLY.get() && intermezzo::any_bool() {
        ENDED_EARLY.set(true);
        yield_now();
    } else {
        looked::park_timeout(dur);
    }
}

/// Yields to other tasks. Inlined, so that a loop of the test that only waits is recognised.
#[track_caller]
#[inline(always)]
pub fn yield_now() {
    point();
    match teardown::is_running() {
        true => teardown::give_way(),
        false => looked::yield_now(),
    }
}

/// Lets other tasks run. No time passes, and the task may continue at once.
#[track_caller]
pub fn sleep(dur: Duration) {
    let _ = dur;
    point();
}

/// Returns the result of a thread.
///
/// # Panics
/// If the thread has panicked: the test has failed then.
fn result_of<T>(joined: Result<Option<T>>) -> Result<T> {
    match joined {
        Ok(Some(result)) => Ok(result),
        Ok(None) => Err(Box::new(
            "the thread was created while the execution was torn down, and did not run",
        )),
        Err(panic) => resume_unwind(panic),
    }
}

/// Starts a thread: `std::thread::spawn`.
#[track_caller]
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    Builder::new()
        .spawn(f)
        .expect("a task of an execution can be created")
}

/// A thread that is about to be started: `std::thread::Builder`.
#[derive(Debug)]
pub struct Builder {
    looked: looked::Builder,
    name: Option<String>,
}

impl Builder {
    /// Returns a thread with nothing set.
    #[allow(
        clippy::new_without_default,
        reason = "std's and shuttle's have no default either"
    )]
    pub fn new() -> Builder {
        Builder {
            looked: looked::Builder::new(),
            name: None,
        }
    }

    /// Names the thread.
    pub fn name(self, name: String) -> Builder {
        Builder {
            looked: self.looked.name(name.clone()),
            name: Some(name),
        }
    }

    /// Sets the size of the thread's stack, in bytes.
    pub fn stack_size(self, stack_size: usize) -> Builder {
        Builder {
            looked: self.looked.stack_size(stack_size),
            ..self
        }
    }

    /// Starts the thread.
    ///
    /// # Errors
    /// As std's.
    #[track_caller]
    pub fn spawn<F, T>(self, f: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        point();
        let attached = Attached::new();
        let creation = Creation::new(self.name.map(TaskName::from));
        let own = creation.clone();
        let handle = self.looked.spawn(move || {
            let _attached = attached;
            state::begin_task(own);
            run(f)
        })?;
        creation
            .into_iter()
            .for_each(|creation| creation.note(number_of(handle.thread())));
        Ok(JoinHandle {
            looked: handle,
            thread: OnceCell::new(),
        })
    }
}

/// Runs a thread's function, unless the execution is being torn down: then it is dropped, and there is no result.
fn run<T>(f: impl FnOnce() -> T) -> Option<T> {
    if teardown::is_running() {
        return None;
    }
    let result = catch_unwind(AssertUnwindSafe(f));
    state::note_end();
    match result {
        Ok(result) => Some(result),
        Err(payload) => {
            state::note_payload(&*payload);
            resume_unwind(payload)
        }
    }
}

/// A handle on a thread that can be joined: `std::thread::JoinHandle`.
pub struct JoinHandle<T> {
    looked: looked::JoinHandle<Option<T>>,
    thread: OnceCell<Thread>,
}

// SAFETY: the cell is written by the tasks of one execution, which take turns on one thread; and outside by the owner alone,
// because nothing there works that shuttle's would not refuse.
unsafe impl<T> Sync for JoinHandle<T> {}

impl<T> JoinHandle<T> {
    /// Waits until the thread has ended, and returns its result.
    ///
    /// # Panics
    /// If the thread has panicked: the test has failed then.
    ///
    /// # Errors
    /// If the thread was created by a destructor while the execution was torn down, so it did not run.
    #[track_caller]
    pub fn join(self) -> Result<T> {
        result_of(self.looked.join())
    }

    /// Returns the thread.
    pub fn thread(&self) -> &Thread {
        self.thread
            .get_or_init(|| Thread::of(self.looked.thread().clone()))
    }

    /// Returns `true` if the thread has ended. Not in shuttle.
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        self.looked.is_finished()
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").finish_non_exhaustive()
    }
}

#[allow(explicit_outlives_requirements, reason = "as std's")]
/// The threads of a scope: `std::thread::Scope`.
#[repr(transparent)]
pub struct Scope<'scope, 'env: 'scope>(looked::Scope<'scope, 'env>);

/// Runs a function whose threads may borrow what it borrows: `std::thread::scope`.
#[track_caller]
pub fn scope<'env, F, T>(f: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    looked::scope(|scope| {
        let scope: *const looked::Scope<'_, 'env> = scope;
        // SAFETY: the two types have the same layout, and the reference is as long-lived as the one that was given.
        f(unsafe { &*scope.cast::<Scope<'_, 'env>>() })
    })
}

impl<'scope> Scope<'scope, '_> {
    /// Starts a thread of the scope.
    #[track_caller]
    pub fn spawn<F, T>(&'scope self, f: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        assert!(
            !teardown::is_running(),
            "a destructor spawned a scoped thread while the execution was being torn down"
        );
        point();
        let creation = Creation::new(None);
        let own = creation.clone();
        let handle = self.0.spawn(|| {
            state::begin_task(own);
            run(f)
        });
        creation
            .into_iter()
            .for_each(|creation| creation.note(number_of(handle.thread())));
        ScopedJoinHandle {
            thread: Thread::of(handle.thread().clone()),
            looked: handle,
        }
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
    }
}

/// A handle on a thread of a scope: `std::thread::ScopedJoinHandle`.
pub struct ScopedJoinHandle<'scope, T> {
    looked: looked::ScopedJoinHandle<'scope, Option<T>>,
    thread: Thread,
}

impl<T> ScopedJoinHandle<'_, T> {
    /// Waits until the thread has ended, and returns its result.
    ///
    /// # Panics
    /// If the thread has panicked: the test has failed then.
    ///
    /// # Errors
    /// If the thread was created by a destructor while the execution was torn down, so it did not run.
    #[track_caller]
    pub fn join(self) -> Result<T> {
        result_of(self.looked.join())
    }

    /// Returns the thread.
    pub fn thread(&self) -> &Thread {
        &self.thread
    }

    /// Returns `true` if the thread has ended.
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        self.looked.is_finished()
    }
}

impl<T> fmt::Debug for ScopedJoinHandle<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopedJoinHandle").finish_non_exhaustive()
    }
}
