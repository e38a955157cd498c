//! `loom::thread`: std's, and so intermezzo's; but the closures of tasks need not be `Send`.

pub use intermezzo::thread::{
    AccessError, LocalKey, Result, Scope, ScopedJoinHandle, Thread, ThreadId, available_parallelism, current,
    panicking, park, park_timeout, scope, sleep, thread_local, yield_now,
};

use std::fmt;
use std::io;

/// A value that moves to another thread, though its type does not say that it may.
struct Moved<T>(T);

// SAFETY: the tasks of an execution take turns on one thread at a time, and each change of thread synchronises. Outside
// an execution loom's types do not work at all.
unsafe impl<T> Send for Moved<T> {}

impl<T> Moved<T> {
    fn into_inner(self) -> T {
        self.0
    }
}

/// Starts a task: `std::thread::spawn`, without the demand for `Send`.
#[track_caller]
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + 'static,
    T: 'static,
{
    let f = Moved(f);
    JoinHandle(intermezzo::thread::spawn(move || Moved(f.into_inner()())))
}

/// A task that is about to be started: `std::thread::Builder`.
#[derive(Debug)]
pub struct Builder(intermezzo::thread::Builder);

impl Builder {
    /// Returns a task with nothing set.
    #[allow(
        clippy::new_without_default,
        reason = "std's and loom's have no default either"
    )]
    pub fn new() -> Builder {
        Builder(intermezzo::thread::Builder::new())
    }

    /// Names the task.
    pub fn name(self, name: String) -> Builder {
        Builder(self.0.name(name))
    }

    /// Sets the size of the task's stack, in bytes.
    pub fn stack_size(self, size: usize) -> Builder {
        Builder(self.0.stack_size(size))
    }

    /// Starts the task.
    ///
    /// # Errors
    /// As std's.
    #[track_caller]
    pub fn spawn<F, T>(self, f: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        self.0.spawn(move || Moved(f())).map(JoinHandle)
    }
}

/// A handle on a task: `std::thread::JoinHandle`.
pub struct JoinHandle<T>(intermezzo::thread::JoinHandle<Moved<T>>);

impl<T> JoinHandle<T> {
    /// Waits until the task has ended.
    ///
    /// # Errors
    /// If the task panicked.
    #[track_caller]
    pub fn join(self) -> Result<T> {
        self.0.join().map(Moved::into_inner)
    }

    /// Returns the task's `Thread`.
    pub fn thread(&self) -> &Thread {
        self.0.thread()
    }

    /// Returns `true` if the task has ended. Not in loom.
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        self.0.is_finished()
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").finish()
    }
}
