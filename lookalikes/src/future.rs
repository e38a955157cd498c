//! `std::future`, with the simplest executor: a task polls one future to its end.
//!
//! [`block_on`] polls on the calling task, and waits between polls until its waker is called; [`spawn`] does the same on a
//! new task. There is no queue of ready tasks, so the scheduler makes all decisions: it chooses which woken task continues
//! first. A waker that is never called leads to a deadlock, which is reported as one.

pub use std::future::{Future, IntoFuture, Pending, PollFn, Ready, pending, poll_fn, ready};

use crate::gated::{Did, Gated, State, When};
use crate::thread;
use crate::traits::opaque;
use intermezzo_engine::runtime::{Engine, Gates, Site, VarKind};
use intermezzo_sdk::SyncVarOp;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

/// The gate of a call of `block_on`, open once its waker was called; and that of a join handle, open once the future is
/// complete.
const OPEN: Gates = 1;

/// The calls of a waker since the future was last polled.
#[derive(Default)]
struct Woken {
    /// `true` if there was a call.
    at_all: bool,
    /// `true` if there was one by the task that polls the future.
    woke_itself: bool,
}

impl State for Woken {
    const KIND: VarKind = VarKind::Waker;
    fn gates(&self) -> Gates {
        if self.at_all { OPEN } else { 0 }
    }
}

/// The state that a call of `block_on` shares with its wakers.
struct Call {
    woken: Gated<Woken>,
    /// The task that polls the future; `None` outside executions.
    task: Option<u32>,
    /// The place of the call: a waker is called through a table of functions, which cannot pass a place.
    site: Site,
    /// The schedule point before a call of the waker, if there is one.
    when_woken: When,
}

impl Wake for Call {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let woke_itself = self.task.is_some() && Engine::current().map(Engine::task) == self.task;
        self.woken
            .perform(SyncVarOp::Unpark, self.site, self.when_woken, |woken| {
                woken.at_all = true;
                woken.woke_itself |= woke_itself;
                Did::just(SyncVarOp::Unpark, ())
            });
    }
}

/// Runs a future to its end on the calling task, and returns its output.
///
/// Between two polls the task waits for its waker to be called. In a report that is a `park` at this call, and the
/// waker's call an `unpark`. A task whose future calls its own waker before every `Pending`
/// yields to other tasks from the fourth such poll in a row on, or from the ninth if it writes in between.
#[track_caller]
pub fn block_on<F: Future>(future: F) -> F::Output {
    block_on_at(future, Site::caller(), When::Now)
}

/// Like [`block_on`], but a call of the waker has no schedule point: it belongs to the step of the task that calls it. For
/// drop-ins of tools whose wakers have none.
#[doc(hidden)]
#[track_caller]
pub fn block_on_woken_in_step<F: Future>(future: F) -> F::Output {
    block_on_at(future, Site::caller(), When::InStep)
}

fn block_on_at<F: Future>(future: F, site: Site, when_woken: When) -> F::Output {
    let call = Arc::new(Call {
        woken: Gated::new(Woken::default()),
        task: Engine::current().map(Engine::task),
        site,
        when_woken,
    });
    let waker = Waker::from(call.clone());
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        let woke_itself = call
            .woken
            .perform(SyncVarOp::Park, site, When::Open(OPEN), |woken| {
                Did::just(SyncVarOp::Park, std::mem::take(woken).woke_itself)
            });
        if let (Some(engine), Some(woke_itself)) = (Engine::current(), woke_itself) {
            engine.wait_ended(woke_itself, site);
        }
    }
}

/// The state that a spawned future shares with its handle.
#[derive(Default)]
struct Progress {
    complete: bool,
    /// The waker of a task that waits for the future to complete.
    waiting: Option<Waker>,
}

impl State for Progress {
    const KIND: VarKind = VarKind::Waker;
    fn gates(&self) -> Gates {
        if self.complete { OPEN } else { 0 }
    }
}

impl Progress {
    /// Returns the effect of a check whether the future is complete.
    fn look(&mut self) -> Did<bool> {
        Did {
            read: u64::from(self.complete),
            ..Did::just(SyncVarOp::OnceCheck, self.complete)
        }
    }
}

/// Runs a future on a new task. If the handle is dropped, the future continues by itself.
///
/// # Panics
/// Outside an exploration, if the system has no more threads.
#[track_caller]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let site = Site::caller();
    let progress = Arc::new(Gated::new(Progress::default()));
    let shared = progress.clone();
    let thread = thread::spawn(move || {
        let outcome = catch_unwind(AssertUnwindSafe(|| block_on_at(future, site, When::Now)));
        let waiting = shared.perform(SyncVarOp::OnceEnd, site, When::Now, |progress| {
            progress.complete = true;
            Did {
                written: 1,
                ..Did::just(SyncVarOp::OnceEnd, progress.waiting.take())
            }
        });
        if let Some(waker) = waiting.flatten() {
            waker.wake();
        }
        outcome.unwrap_or_else(|panic| resume_unwind(panic))
    });
    JoinHandle {
        thread: Some(thread),
        progress,
    }
}

/// A handle on a spawned future. It is a future with the same output.
///
/// The error is the panic payload of the other future.
///
/// If the handle is dropped, the other future continues by itself; a panic of it is then a finding.
#[must_use = "a future's panic is only seen by who awaits its handle"]
pub struct JoinHandle<T> {
    /// `None` once the output was taken.
    thread: Option<thread::JoinHandle<T>>,
    progress: Arc<Gated<Progress>>,
}

impl<T> JoinHandle<T> {
    /// Returns `true` if the future is complete.
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        let looked = self
            .progress
            .perform(SyncVarOp::OnceCheck, Site::caller(), When::Now, Progress::look);
        looked.expect("a look waits for nothing")
    }
}

// The output is not kept in the handle: the thread returns it by value.
impl<T> Unpin for JoinHandle<T> {}

impl<T> Future for JoinHandle<T> {
    type Output = thread::Result<T>;

    /// # Panics
    /// If the output was already taken.
    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        assert!(
            self.thread.is_some(),
            "a join handle is polled after it gave its output"
        );
        let mut waker = Some(context.waker().clone());
        let complete = self
            .progress
            .perform(SyncVarOp::OnceCheck, Site::caller(), When::Now, |progress| {
                if !progress.complete {
                    // Only the completion looks at the waker. The caller drops the previous one, not this function, which
                    // borrows the state.
                    std::mem::swap(&mut progress.waiting, &mut waker);
                }
                progress.look()
            });
        if complete != Some(true) {
            return Poll::Pending;
        }
        let thread = self.thread.take().expect("asserted above");
        Poll::Ready(thread.join())
    }
}

opaque! { [T] JoinHandle<T>; }
