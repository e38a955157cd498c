//! A pool of threads that run jobs.

use crate::primitive::{Primitive, State};
use crate::thread;
use std::any::Any;
use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Release};

/// A panic that no [`Job::join`] has returned.
type Payload = Box<dyn Any + Send>;

/// The jobs of a pool.
struct Queue {
    waiting: VecDeque<Box<dyn FnOnce() -> Option<Payload> + Send>>,
    running: usize,
    /// `true` if there will be no more jobs.
    closed: bool,
    panic: Option<Payload>,
}

/// Open while there is something for a worker: a job, or the end.
const WORK: u8 = 1;
/// Open while no job waits or runs.
const IDLE: u8 = 2;

impl State for Queue {
    fn gates(&self) -> u8 {
        let idle = self.waiting.is_empty() && self.running == 0;
        let work = !self.waiting.is_empty() || self.closed;
        u8::from(work) * WORK + u8::from(idle) * IDLE
    }

    fn kind(&self) -> &'static str {
        "jobs"
    }
}

/// A number of threads that run jobs, in the order in which they are given.
///
/// Dropping the pool waits until all jobs are done, unless the caller is unwinding. A panic of a job whose [`Job`] had been
/// dropped by then is resumed here, or in [`wait_idle`](ThreadPool::wait_idle); the first one, if there are several.
///
/// ```
/// use intermezzo::extras::ThreadPool;
///
/// let pool = ThreadPool::new(2);
/// let jobs: Vec<_> = (1..=3).map(|n| pool.run(move || n * n)).collect();
/// let sum: i32 = jobs.into_iter().map(|job| job.join().unwrap()).sum();
/// assert_eq!(sum, 14);
/// ```
pub struct ThreadPool {
    queue: Arc<Primitive<Queue>>,
    workers: Vec<thread::JoinHandle<()>>,
}

impl ThreadPool {
    /// Returns a pool with this number of threads, which are tasks in an exploration.
    ///
    /// # Panics
    /// If there is to be none, or the system has no more threads.
    #[track_caller]
    pub fn new(threads: usize) -> ThreadPool {
        assert!(threads > 0, "a pool without threads runs no jobs");
        let mut pool = ThreadPool {
            queue: Arc::new(Primitive::new(Queue {
                waiting: VecDeque::new(),
                running: 0,
                closed: false,
                panic: None,
            })),
            workers: Vec::new(),
        };
        for number in 1..=threads {
            let queue = pool.queue.clone();
            let thread = thread::Builder::new().name(format!("worker {number}"));
            let worker = thread.spawn(move || work(&queue));
            pool.workers.push(worker.expect("there is another thread"));
        }
        pool
    }

    /// Gives the pool a job.
    #[track_caller]
    pub fn run<T: Send + 'static>(&self, job: impl FnOnce() -> T + Send + 'static) -> Job<T> {
        let outcome = Arc::new(Primitive::new(Outcome::Pending));
        let theirs = outcome.clone();
        let run = move || {
            let result = catch_unwind(AssertUnwindSafe(job));
            let unseen = theirs.change(Release, |outcome| outcome.end(result));
            // What is left of a result may run code of the test's, so it is dropped here.
            unseen.and_then(Result::err)
        };
        self.queue
            .change(Release, |queue| queue.waiting.push_back(Box::new(run)));
        Job(Some(outcome))
    }

    /// Waits until no job waits or runs.
    ///
    /// # Panics
    /// If a job has panicked and its [`Job`] was dropped before.
    #[track_caller]
    pub fn wait_idle(&self) {
        if let Some(payload) = self.queue.wait(IDLE, Acquire, |queue| queue.panic.take()) {
            resume_unwind(payload);
        }
    }
}

/// Runs jobs until there will be no more.
fn work(queue: &Primitive<Queue>) {
    let next = |queue: &mut Queue| {
        let job = queue.waiting.pop_front();
        queue.running += usize::from(job.is_some());
        job
    };
    while let Some(job) = queue.wait(WORK, Acquire, next) {
        let mut panic = job();
        queue.change(Release, |queue| {
            queue.running -= 1;
            // A later one is dropped after the operation: its destructor may be the test's own code.
            queue.panic = queue.panic.take().or_else(|| panic.take());
        });
    }
}

impl Drop for ThreadPool {
    fn drop(&mut self) {
        self.queue.change(Release, |queue| queue.closed = true);
        // Whatever the jobs wait for may be held by the caller, which unwinds.
        if std::thread::panicking() {
            return;
        }
        for worker in self.workers.drain(..) {
            // A worker catches the panics of jobs.
            _ = worker.join();
        }
        if let Some(payload) = self.queue.change(Acquire, |queue| queue.panic.take()) {
            resume_unwind(payload);
        }
    }
}

/// The result of a job, or the place for it.
enum Outcome<T> {
    Pending,
    Done(thread::Result<T>),
    /// It was taken, or the handle was dropped before.
    Given,
}

/// Open when the job is done.
const DONE: u8 = 1;

impl<T> Outcome<T> {
    /// Keeps the result for the handle. If that was dropped, gives it back.
    fn end(&mut self, result: thread::Result<T>) -> Option<thread::Result<T>> {
        if let Outcome::Given = self {
            return Some(result);
        }
        *self = Outcome::Done(result);
        None
    }
}

impl<T> State for Outcome<T> {
    fn gates(&self) -> u8 {
        u8::from(matches!(self, Outcome::Done(_))) * DONE
    }

    fn kind(&self) -> &'static str {
        "job"
    }
}

/// A job that was given to a [`ThreadPool`].
///
/// Dropping it lets the job run on by itself. If the job had panicked by then, the panic is resumed where it is dropped;
/// if it panics later, by the pool.
#[must_use = "a panic of the job is returned by `join`"]
pub struct Job<T>(Option<Arc<Primitive<Outcome<T>>>>);

impl<T> Job<T> {
    /// Waits until the job is done, and returns its result.
    ///
    /// # Errors
    /// If it panicked: the payload.
    #[track_caller]
    pub fn join(mut self) -> thread::Result<T> {
        let outcome = self.0.take().expect("it is taken once");
        let taken = outcome.wait(DONE, Acquire, |outcome| {
            std::mem::replace(outcome, Outcome::Given)
        });
        match taken {
            Outcome::Done(result) => result,
            _ => unreachable!("its gate is open when it is done"),
        }
    }
}

impl<T> Drop for Job<T> {
    fn drop(&mut self) {
        let Some(outcome) = &self.0 else { return };
        let left = outcome.change(Acquire, |outcome| std::mem::replace(outcome, Outcome::Given));
        if let Outcome::Done(Err(payload)) = left
            && !std::thread::panicking()
        {
            resume_unwind(payload);
        }
    }
}

impl crate::Nameable for ThreadPool {
    fn give_name(&self, name: &str) {
        crate::name(&*self.queue, name);
    }
}

impl<T> crate::Nameable for Job<T> {
    fn give_name(&self, name: &str) {
        if let Some(outcome) = &self.0 {
            crate::name(&**outcome, name);
        }
    }
}

impl fmt::Debug for ThreadPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let threads = self.workers.len();
        f.debug_struct("ThreadPool")
            .field("threads", &threads)
            .finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Job<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job").finish_non_exhaustive()
    }
}
