//! `shuttle::future::batch_semaphore`: a semaphore that gives several permits at once.

use super::block_on;
use super::permits::Permits;
use crate::clock::VectorClock;
use crate::clocks;
use crate::signature::{ResourceSignature, ResourceType};
use crate::state;
use crate::task_id::TaskId;
use intermezzo::primitive::{self, Primitive};
use std::collections::VecDeque;
use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

/// The order in which requests get permits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fairness {
    /// In the order in which they were made.
    StrictlyFair,
    /// In any order.
    Unfair,
}

/// The place of a request in the queue of a fair semaphore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Priority {
    /// Behind those that came before.
    Back,
    /// Behind those that came before; and those that come after may pass while there are too few permits.
    Bypassable,
    /// Before all others: it holds permits that they wait for.
    Front,
}

/// A request for permits.
#[derive(Debug)]
struct Request {
    permits: usize,
    priority: Priority,
    /// The number of permits from which on the others are kept for it, if it reserves.
    reserves_from: Option<usize>,
    progress: Mutex<Progress>,
}

/// The progress of a request.
#[derive(Debug, Default)]
struct Progress {
    /// The task that polled it last.
    task: Option<TaskId>,
    /// `true` once it was put into the queue.
    is_queued: bool,
    /// `true` once it has its permits.
    is_granted: bool,
    /// The clock of the permits that it has.
    clock: VectorClock,
    waker: Option<Waker>,
}

impl Request {
    /// Calls `f` with the progress. Tasks take turns, so nothing waits here.
    fn with<R>(&self, f: impl FnOnce(&mut Progress) -> R) -> R {
        f(&mut self.progress.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

struct State {
    permits: Permits,
    is_closed: bool,
    /// The clocks of the tasks that took permits, or closed the semaphore. A request that is refused comes after them.
    refuses_after: VectorClock,
    queue: VecDeque<Arc<Request>>,
    /// The request for which the permits are kept.
    reservation: Option<Arc<Request>>,
}

/// The operations on a semaphore, apart from its state, at which a request looks before it decides on a schedule point.
struct Operations;

impl primitive::State for Operations {
    fn kind(&self) -> &'static str {
        "semaphore"
    }
}

/// The ordering of all operations. The clocks of tasks follow the permits instead, if there are clocks.
const ORDER: Ordering = match clocks::ARE_KEPT {
    true => Ordering::Relaxed,
    false => Ordering::AcqRel,
};

impl State {
    /// Returns `true` if this request may have its permits now.
    fn allows(&self, request: &Arc<Request>) -> bool {
        let is_kept = |holder: &Arc<Request>| !Arc::ptr_eq(holder, request);
        request.permits <= self.permits.number() && !self.reservation.as_ref().is_some_and(is_kept)
    }

    /// Returns `true` if all permits are to be kept for this request once it is polled.
    fn is_reserved_by(&self, request: &Request) -> bool {
        let is_enough = |from| from <= self.permits.number();
        self.reservation.is_none() && request.reserves_from.is_some_and(is_enough)
    }

    /// Takes away the requests of tasks that have ended: nothing would take their permits. Polled by another task, such a
    /// request is a new one.
    fn forget_ended(&mut self) {
        let has_ended = |request: &Arc<Request>| {
            let task = request.with(|progress| progress.task);
            task.is_some_and(state::has_ended)
        };
        self.reservation.take_if(|holder| has_ended(holder));
        self.queue.retain(|request| {
            let stays = !has_ended(request);
            request.with(|progress| progress.is_queued = stays);
            stays
        });
    }

    /// Grants what can be granted after a change. Returns the wakers to call.
    fn settle(&mut self, fairness: Fairness) -> Vec<Waker> {
        self.forget_ended();
        let mut wakers = Vec::new();
        if fairness == Fairness::Unfair {
            // Each of them tries when it runs: the scheduler decides which comes first.
            let able = self.queue.iter().filter(|request| {
                let from = request.reserves_from.unwrap_or(request.permits);
                self.allows(request) || self.reservation.is_none() && from <= self.permits.number()
            });
            wakers.extend(able.filter_map(|request| request.with(|progress| progress.waker.take())));
            return wakers;
        }
        let mut at = 0;
        while let Some(request) = self.queue.get(at) {
            if request.permits <= self.permits.number() {
                let clock = self.permits.take(request.permits);
                wakers.extend(request.with(|progress| {
                    progress.is_granted = true;
                    progress.clock = clock;
                    progress.waker.take()
                }));
                self.queue.remove(at);
            } else if request.priority == Priority::Bypassable {
                at += 1;
            } else {
                break;
            }
        }
        wakers
    }

    /// Takes a request out of the queue.
    fn remove(&mut self, request: &Arc<Request>) {
        self.queue.retain(|queued| !Arc::ptr_eq(queued, request));
        request.with(|progress| progress.is_queued = false);
    }

    /// Returns `true` if a new request has to wait for others first.
    fn is_behind_others(&self, fairness: Fairness, priority: Priority) -> bool {
        fairness == Fairness::StrictlyFair
            && priority != Priority::Front
            && self
                .queue
                .iter()
                .any(|queued| queued.priority != Priority::Bypassable)
    }
}

/// The schedule point of an operation.
#[derive(Clone, Copy)]
enum Point {
    /// Other tasks may go first.
    Before,
    /// The operation belongs to the step that the task is in.
    None,
}

/// A semaphore that gives several permits at once.
pub struct BatchSemaphore {
    operations: Primitive<Operations>,
    state: Mutex<State>,
    fairness: Fairness,
    signature: ResourceSignature,
}

/// The reason why a request got no permits at once.
#[derive(Debug, PartialEq, Eq)]
pub enum TryAcquireError {
    /// The semaphore is closed.
    Closed,
    /// There are too few.
    NoPermits,
}

/// The reason why a request gets no permits: the semaphore is closed.
#[derive(Debug)]
pub struct AcquireError(());

impl fmt::Display for AcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("semaphore closed")
    }
}

impl Error for AcquireError {}

fn wake(wakers: Vec<Waker>) {
    wakers.into_iter().for_each(Waker::wake);
}

impl BatchSemaphore {
    /// Creates a semaphore with this many permits.
    #[track_caller]
    pub fn new(num_permits: usize, fairness: Fairness) -> BatchSemaphore {
        BatchSemaphore::const_new(num_permits, fairness)
    }

    /// Like [`new`](BatchSemaphore::new), with a signature.
    pub fn new_with_signature(
        num_permits: usize,
        fairness: Fairness,
        signature: ResourceSignature,
    ) -> BatchSemaphore {
        BatchSemaphore::const_new_with_signature(num_permits, fairness, signature)
    }

    /// Creates a semaphore with this many permits, in a constant.
    #[track_caller]
    pub const fn const_new(num_permits: usize, fairness: Fairness) -> BatchSemaphore {
        let signature = ResourceSignature::new_const(ResourceType::BatchSemaphore);
        BatchSemaphore::const_new_with_signature(num_permits, fairness, signature)
    }

    /// Like [`const_new`](BatchSemaphore::const_new), with a signature.
    pub const fn const_new_with_signature(
        num_permits: usize,
        fairness: Fairness,
        signature: ResourceSignature,
    ) -> BatchSemaphore {
        BatchSemaphore {
            operations: Primitive::new(Operations),
            state: Mutex::new(State {
                permits: Permits::new(num_permits),
                is_closed: false,
                refuses_after: VectorClock::new(),
                queue: VecDeque::new(),
                reservation: None,
            }),
            fairness,
            signature,
        }
    }

    /// Calls `f` with the state. Tasks take turns, so nothing waits here.
    fn with<R>(&self, f: impl FnOnce(&mut State) -> R) -> R {
        f(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Changes the state, as a step of its own or within the one that the task is in.
    #[track_caller]
    fn change<R>(&self, point: Point, change: impl FnOnce(&mut State) -> R) -> R {
        match point {
            Point::Before => self.operations.change(ORDER, |_| self.with(change)),
            Point::None => self.operations.change_in_step(ORDER, |_| self.with(change)),
        }
    }

    /// Returns the semaphore's signature.
    pub fn signature(&self) -> &ResourceSignature {
        &self.signature
    }

    /// Returns the number of permits that a request could have now.
    #[track_caller]
    pub fn available_permits(&self) -> usize {
        self.change(Point::None, |state| match state.reservation {
            Some(_) => 0,
            None => state.permits.number(),
        })
    }

    /// Closes the semaphore: all requests fail from now on.
    #[track_caller]
    pub fn close(&self) {
        self.close_at(Point::Before);
    }

    #[track_caller]
    fn close_at(&self, point: Point) {
        let wakers: Vec<Waker> = self.change(point, |state| {
            state.is_closed = true;
            state.refuses_after.update(&clocks::of_next_event());
            state.reservation = None;
            let requests = std::mem::take(&mut state.queue).into_iter();
            let wakers = requests.filter_map(|request| {
                request.with(|progress| {
                    progress.is_queued = false;
                    progress.waker.take()
                })
            });
            wakers.collect()
        });
        wake(wakers);
    }

    /// Like [`close`](BatchSemaphore::close), without a schedule point.
    #[track_caller]
    pub fn close_no_scheduling_point(&self) {
        self.close_at(Point::None);
    }

    /// Returns `true` if the semaphore is closed.
    #[track_caller]
    pub fn is_closed(&self) -> bool {
        self.change(Point::None, |state| state.is_closed)
    }

    /// Takes permits, if there are enough now.
    ///
    /// # Errors
    /// If there are too few permits, or others wait for them, or the semaphore is closed.
    #[track_caller]
    pub fn try_acquire(&self, num_permits: usize) -> Result<(), TryAcquireError> {
        self.try_take(num_permits, Priority::Back)
    }

    #[track_caller]
    fn try_take(&self, permits: usize, priority: Priority) -> Result<(), TryAcquireError> {
        let (taken, after) = self.change(Point::Before, |state| {
            if state.is_closed {
                return (Err(TryAcquireError::Closed), state.refuses_after.clone());
            }
            if state.reservation.is_some()
                || permits > state.permits.number()
                || state.is_behind_others(self.fairness, priority)
            {
                return (Err(TryAcquireError::NoPermits), state.refuses_after.clone());
            }
            (Ok(()), state.take(permits))
        });
        clocks::come_after(&after);
        taken
    }

    /// Returns the schedule point of a poll of this request. There is none where the order with the operations of other tasks
    /// makes no difference.
    fn point_of(&self, request: &Arc<Request>) -> Point {
        let makes_a_difference = match self.fairness {
            // It takes its place in the queue once, and nothing that happens there later needs the request's own steps.
            Fairness::StrictlyFair => request.with(|progress| !progress.is_queued && !progress.is_granted),
            // Any place in the queue is as good as another.
            Fairness::Unfair => {
                self.with(|state| state.is_closed || state.allows(request) || state.is_reserved_by(request))
            }
        };
        match makes_a_difference {
            true => Point::Before,
            false => Point::None,
        }
    }

    fn request(&self, permits: usize, priority: Priority, reserves_from: Option<usize>) -> Acquire<'_> {
        Acquire {
            semaphore: self,
            request: Arc::new(Request {
                permits,
                priority,
                reserves_from,
                progress: Mutex::default(),
            }),
            is_complete: false,
        }
    }

    /// Takes permits, as soon as there are enough.
    pub fn acquire(&self, num_permits: usize) -> Acquire<'_> {
        self.request(num_permits, Priority::Back, None)
    }

    /// Like [`acquire`](BatchSemaphore::acquire). While there are too few, later requests may pass.
    pub fn acquire_bypassable(&self, num_permits: usize) -> Acquire<'_> {
        self.request(num_permits, Priority::Bypassable, None)
    }

    /// Takes permits; the calling task waits until there are enough.
    ///
    /// # Errors
    /// If the semaphore is closed.
    #[track_caller]
    pub fn acquire_blocking(&self, num_permits: usize) -> Result<(), AcquireError> {
        block_on(self.acquire(num_permits))
    }

    /// Like [`acquire`](BatchSemaphore::acquire). Once there are `min_permits`, all are kept for this request.
    ///
    /// # Panics
    /// If the semaphore is fair, or `min_permits` are more than `num_permits`.
    pub fn acquire_reserving(&self, min_permits: usize, num_permits: usize) -> Acquire<'_> {
        assert!(
            self.fairness == Fairness::Unfair,
            "only an unfair semaphore supports reservations"
        );
        assert!(
            min_permits <= num_permits,
            "a reservation begins with at most the permits that are asked for"
        );
        self.request(num_permits, Priority::Back, Some(min_permits))
    }

    /// Gives permits back.
    #[track_caller]
    pub fn release(&self, num_permits: usize) {
        self.release_at(Point::Before, num_permits);
    }

    #[track_caller]
    fn release_at(&self, point: Point, num_permits: usize) {
        if num_permits == 0 {
            return;
        }
        let wakers = self.change(point, |state| {
            state.permits.add(num_permits, clocks::of_next_event());
            state.settle(self.fairness)
        });
        wake(wakers);
    }

    /// Like [`release`](BatchSemaphore::release), without a schedule point.
    #[track_caller]
    pub fn release_no_scheduling_point(&self, num_permits: usize) {
        self.release_at(Point::None, num_permits);
    }

    /// Takes the permits that are missing, before all requests that wait.
    ///
    /// # Panics
    /// If more permits are held than requested.
    pub fn upgrade(&self, permits_currently_held: usize, permits_to_be_held: usize) -> Acquire<'_> {
        self.request(
            missing(permits_currently_held, permits_to_be_held),
            Priority::Front,
            // Those that come later wait for it.
            (self.fairness == Fairness::Unfair).then_some(0),
        )
    }

    /// Takes the permits that are missing, if there are enough now.
    ///
    /// # Errors
    /// If there are too few permits, or the semaphore is closed.
    ///
    /// # Panics
    /// If more permits are held than requested.
    #[track_caller]
    pub fn try_upgrade(
        &self,
        permits_currently_held: usize,
        permits_to_be_held: usize,
    ) -> Result<(), TryAcquireError> {
        self.try_take(
            missing(permits_currently_held, permits_to_be_held),
            Priority::Front,
        )
    }
}

/// Returns the number of permits that are missing.
fn missing(held: usize, wanted: usize) -> usize {
    let missing = wanted.checked_sub(held);
    missing.expect("an upgrade asks for at least the permits that are held")
}

impl Default for BatchSemaphore {
    fn default() -> BatchSemaphore {
        BatchSemaphore::new(0, Fairness::StrictlyFair)
    }
}

/// A request for permits: a future that is ready when it has them.
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct Acquire<'a> {
    semaphore: &'a BatchSemaphore,
    request: Arc<Request>,
    is_complete: bool,
}

impl Future for Acquire<'_> {
    type Output = Result<(), AcquireError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        assert!(!self.is_complete, "a request is polled after it was answered");
        let (semaphore, request) = (self.semaphore, self.request.clone());
        let point = semaphore.point_of(&request);
        let poll = |state: &mut State| state.poll(&request, semaphore.fairness, context);
        let (polled, wakers) = semaphore.change(point, poll);
        self.is_complete = polled.is_ready();
        if self.is_complete {
            request.with(|progress| clocks::come_after(&progress.clock));
        }
        wake(wakers);
        polled
    }
}

impl State {
    /// Takes permits for the calling task. Returns their clock.
    fn take(&mut self, permits: usize) -> VectorClock {
        let clock = self.permits.take(permits);
        if permits > 0 {
            self.refuses_after.update(&clock);
            self.refuses_after.update(&clocks::of_next_event());
        }
        clock
    }

    /// Polls a request. Returns its answer, and the wakers to call.
    fn poll(
        &mut self,
        request: &Arc<Request>,
        fairness: Fairness,
        context: &mut Context<'_>,
    ) -> (Poll<Result<(), AcquireError>>, Vec<Waker>) {
        let (is_queued, is_granted) = request.with(|progress| (progress.is_queued, progress.is_granted));
        if is_granted {
            return (Poll::Ready(Ok(())), Vec::new());
        }
        if self.is_closed {
            request.with(|progress| progress.clock.update(&self.refuses_after));
            return (Poll::Ready(Err(AcquireError(()))), Vec::new());
        }
        let is_first = !is_queued && !self.is_behind_others(fairness, request.priority);
        if (is_first || fairness == Fairness::Unfair) && self.allows(request) {
            let clock = self.take(request.permits);
            self.remove(request);
            self.reservation.take_if(|holder| Arc::ptr_eq(holder, request));
            request.with(|progress| {
                progress.is_granted = true;
                progress.clock = clock;
            });
            return (Poll::Ready(Ok(())), self.settle(fairness));
        }
        if self.is_reserved_by(request) {
            self.reservation = Some(request.clone());
        }
        request.with(|progress| {
            progress.waker = Some(context.waker().clone());
            progress.task = state::task();
        });
        if !is_queued {
            match request.priority {
                Priority::Front => self.queue.push_front(request.clone()),
                _ => self.queue.push_back(request.clone()),
            }
            request.with(|progress| progress.is_queued = true);
        }
        (Poll::Pending, Vec::new())
    }
}

impl Drop for Acquire<'_> {
    fn drop(&mut self) {
        let is_open = |progress: &mut Progress| progress.is_queued || progress.is_granted;
        if self.is_complete || !self.request.with(is_open) {
            return;
        }
        let wakers = self.semaphore.change(Point::Before, |state| {
            if self.request.with(|progress| progress.is_granted) {
                state.permits.add(self.request.permits, clocks::of_next_event());
            }
            state.remove(&self.request);
            let is_own = |holder: &mut Arc<Request>| Arc::ptr_eq(holder, &self.request);
            state.reservation.take_if(is_own);
            state.settle(self.semaphore.fairness)
        });
        wake(wakers);
    }
}

impl fmt::Debug for BatchSemaphore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BatchSemaphore")
            .field("fairness", &self.fairness)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Acquire<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Acquire")
            .field("permits", &self.request.permits)
            .finish_non_exhaustive()
    }
}
