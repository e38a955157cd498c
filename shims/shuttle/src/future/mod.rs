//! `shuttle::future`: an executor, whose tasks can be aborted.
//!
//! Each spawned future is a task of its own. The execution does not wait for one whose handle was dropped: when all others
//! have ended, it is aborted.

pub mod batch_semaphore;
mod permits;

use crate::clock::VectorClock;
use crate::clocks;
use crate::left::Abort;
use crate::state::{self, Attached, Creation};
use crate::task_id::TaskId;
use crate::teardown;
use intermezzo::{point, task, thread};
use std::error::Error;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// The state that a spawned future shares with its handles. It is plain: a task runs alone between two operations.
struct Shared<T> {
    /// The number of its task; known once it is created.
    number: Mutex<Option<TaskId>>,
    is_aborted: AtomicBool,
    /// `true` while it is polled.
    is_polled: AtomicBool,
    has_ended: AtomicBool,
    /// The waker of its own task, since it was last polled.
    own: Mutex<Option<Waker>>,
    outcome: Mutex<Outcome<T>>,
    /// Holds the execution until the future has ended or its handle is dropped.
    attached: Mutex<Option<Attached>>,
}

/// The outcome of a future, and the waker of the task that awaits it.
struct Outcome<T> {
    result: Option<Result<T, JoinError>>,
    has_panicked: bool,
    /// The clock of its end.
    clock: VectorClock,
    /// `true` if the handle was dropped.
    is_detached: bool,
    waiting: Option<Waker>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T> Shared<T> {
    fn new() -> Shared<T> {
        Shared {
            number: Mutex::new(None),
            is_aborted: AtomicBool::new(teardown::is_running()),
            is_polled: AtomicBool::new(false),
            has_ended: AtomicBool::new(false),
            own: Mutex::new(None),
            outcome: Mutex::new(Outcome {
                result: None,
                has_panicked: false,
                clock: VectorClock::new(),
                is_detached: false,
                waiting: None,
            }),
            attached: Mutex::new((!teardown::is_running()).then(Attached::new)),
        }
    }

    /// Notes the end of the future; `None` if it has panicked.
    fn end(&self, result: Option<Result<T, JoinError>>) {
        state::note_end();
        let (waiting, unused) = {
            let mut outcome = lock(&self.outcome);
            outcome.has_panicked = result.is_none();
            outcome.clock = clocks::of_next_event();
            let unused = match outcome.is_detached {
                true => result,
                false => std::mem::replace(&mut outcome.result, result),
            };
            (outcome.waiting.take(), unused)
        };
        // Nothing can take it, so it is dropped before the task's thread-locals are.
        drop(unused);
        self.has_ended.store(true, SeqCst);
        if let Some(waiting) = waiting {
            waiting.wake();
        }
        let attached = lock(&self.attached).take();
        drop(attached);
    }
}

impl<T> Abort for Shared<T> {
    fn abort(&self) {
        if !self.is_aborted.swap(true, SeqCst) && !self.has_ended.load(SeqCst) {
            self.wake();
        }
    }

    fn mark(&self) {
        self.is_aborted.store(true, SeqCst);
    }

    fn wake(&self) {
        let own = lock(&self.own).take();
        if let Some(own) = own {
            own.wake();
        }
    }

    fn is_polled(&self) -> bool {
        self.is_polled.load(SeqCst)
    }

    fn is_finished(&self) -> bool {
        self.has_ended.load(SeqCst)
    }

    fn number(&self) -> Option<TaskId> {
        *lock(&self.number)
    }
}

// SAFETY: its value stays among the tasks of one execution, which take turns on one thread. Outside, shuttle's would refuse.
unsafe impl<T> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Shared<T> {}

/// A future that moves to another task, though its type does not say that it may.
struct Moved<F>(F);

// SAFETY: as for `Shared`.
unsafe impl<F> Send for Moved<F> {}

impl<F> Moved<F> {
    fn into_inner(self) -> F {
        self.0
    }
}

/// Notes at the end of a task that its future has panicked, unless it has ended.
struct Ending<T>(Arc<Shared<T>>);

impl<T> Drop for Ending<T> {
    fn drop(&mut self) {
        if !self.0.has_ended.load(SeqCst) {
            self.0.end(None);
        }
    }
}

/// Runs a future to its end as a part of the calling task. A call of its waker is no schedule point.
#[track_caller]
pub fn block_on<F: Future>(future: F) -> F::Output {
    intermezzo::future::block_on_woken_in_step(future)
}

#[track_caller]
fn spawn_moved<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    point();
    let shared = Arc::new(Shared::new());
    let moved = Moved((future, Ending(shared.clone())));
    let creation = Creation::new(None);
    let own = creation.clone();
    let task = thread::spawn(move || {
        let (future, ending) = moved.into_inner();
        state::begin_task(own);
        let shared = ending.0.clone();
        let mut future = Some(Box::pin(future));
        let polling = poll_fn(|context| {
            if shared.is_aborted.load(SeqCst) {
                teardown::await_turn();
                // It is dropped before its handle is told.
                future = None;
                return Poll::Ready(Err(JoinError::Cancelled));
            }
            *lock(&shared.own) = Some(context.waker().clone());
            shared.is_polled.store(true, SeqCst);
            let polled = future.as_mut().map(|future| future.as_mut().poll(context));
            shared.is_polled.store(false, SeqCst);
            polled.expect("it is polled until it ends").map(Ok)
        });
        let result = teardown::unless_withdrawn(|| block_on(polling)).unwrap_or(Err(JoinError::Cancelled));
        drop(future);
        *lock(&shared.own) = None;
        shared.end(Some(result));
    });
    *lock(&shared.number) = thread::number_of(task.thread()).map(|number| TaskId(number as usize));
    creation
        .into_iter()
        .for_each(|creation| creation.note(thread::number_of(task.thread())));
    let abort = AbortHandle(shared.clone());
    if teardown::is_running() {
        teardown::leave(shared.clone());
    }
    JoinHandle { shared, abort }
}

/// Runs a future as a task of its own.
#[track_caller]
pub fn spawn<F>(fut: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    spawn_moved(fut)
}

/// Like [`spawn`], for a future that is not `Send`.
#[track_caller]
pub fn spawn_local<F>(fut: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    spawn_moved(fut)
}

/// Yields to other tasks.
pub async fn yield_now() {
    match teardown::is_running() {
        true => teardown::give_way(),
        false => task::yield_now().await,
    }
}

/// The reason why a future has no output.
#[derive(Debug)]
pub enum JoinError {
    /// It was aborted.
    Cancelled,
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("task was cancelled")
    }
}

impl Error for JoinError {}

/// A handle on a spawned future: a future of its output. If it is dropped, the execution no longer waits for the other.
pub struct JoinHandle<T> {
    shared: Arc<Shared<T>>,
    abort: AbortHandle,
}

impl<T> JoinHandle<T> {
    /// Aborts the future: it is dropped where it awaits something, unless it ends before.
    #[track_caller]
    pub fn abort(&self) {
        point();
        self.shared.abort();
    }

    /// Returns `true` if the future has ended.
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        point();
        self.shared.is_finished()
    }

    /// Returns a handle that can abort the future.
    pub fn abort_handle(&self) -> AbortHandle {
        self.abort.clone()
    }
}

impl<T> Drop for JoinHandle<T> {
    fn drop(&mut self) {
        let unused = {
            let mut outcome = lock(&self.shared.outcome);
            outcome.is_detached = true;
            outcome.result.take()
        };
        drop(unused);
        if self.shared.has_ended.load(SeqCst) {
            return;
        }
        let attached = lock(&self.shared.attached).take();
        if !teardown::is_running() {
            teardown::leave(self.abort.0.clone());
        }
        drop(attached);
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    /// # Panics
    /// If the other future has panicked: the test has failed then.
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut outcome = lock(&self.shared.outcome);
        if let Some(result) = outcome.result.take() {
            clocks::come_after(&outcome.clock);
            return Poll::Ready(result);
        }
        let has_panicked = outcome.has_panicked;
        outcome.waiting = Some(context.waker().clone());
        drop(outcome);
        assert!(!has_panicked, "a future that is awaited has panicked");
        Poll::Pending
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle")
            .field("task", &Abort::number(&*self.shared))
            .finish_non_exhaustive()
    }
}

/// A handle that can abort a spawned future.
#[derive(Clone)]
pub struct AbortHandle(Arc<dyn Abort>);

impl AbortHandle {
    /// Aborts the future: it is dropped where it awaits something, unless it ends before.
    #[track_caller]
    pub fn abort(&self) {
        point();
        self.0.abort();
    }

    /// Returns `true` if the future has ended.
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        point();
        self.0.is_finished()
    }
}

impl fmt::Debug for AbortHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AbortHandle")
            .field("task", &self.0.number())
            .finish_non_exhaustive()
    }
}
