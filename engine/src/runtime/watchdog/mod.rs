//! The watchdog: it finds tasks that run, or are blocked by something uncontrolled, for too long without a visible
//! operation.
//!
//! One thread of the process inspects all workers periodically. It reads the number of executions that a worker has
//! begun, which costs the worker one store per execution. If the number stays the same, it sends a signal to the
//! worker's thread. The handler (`signal.rs`) reports the progress of the execution, and its position: so a visible
//! operation costs nothing. If there is no progress for long enough, the handler ends the task as a crash would, and a
//! finding names the place (`place.rs`).
//!
//! Time is counted in inspections, a fixed time apart: a process that was stopped, by a debugger or because the machine
//! slept, has not hung. Neither has a task that is able to run and gets no processor (`thread.rs`).
//!
//! Blind spots: a thread that blocks the signal; a hang between executions, in a strategy or a monitor. Works where
//! crashes are caught (`crash.rs`); elsewhere a task that hangs is not ended.

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(super) mod place;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod signal;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod thread;

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The largest number of frames of a stack that are inspected, from the innermost.
const FRAMES_MAX: usize = 128;

/// A task that was ended because it did nothing visible for too long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hang {
    /// The time for which it had done nothing visible.
    pub limit: Duration,
    /// The activity of the task.
    pub doing: Doing,
    /// The system call that it was in, by its name in C, if it was blocked in one that often waits.
    pub call: Option<&'static str>,
    /// The function and place in the source where it was, as far as they are known.
    pub place: Option<String>,
}

/// The activity of a task that hangs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// It uses a processor.
    Running,
    /// It waits for another thread, or for another task by uncontrolled means.
    Locked,
    /// It is blocked in another way: it sleeps, or waits for input.
    Blocked,
}

/// The signs of life of a worker.
pub(crate) struct Pulse {
    /// The current execution; 0 if there is none.
    execution: AtomicU64,
    /// The kernel's number of the worker's thread.
    thread: AtomicI32,
    /// The longest time that a task may do nothing visible.
    limit: Duration,
    /// The order for the signal handler, and the number of orders that it has carried out.
    order: AtomicU32,
    answers: AtomicU32,
    /// The handler's answer: the progress of the execution, and the code addresses of the frames of its stack,
    /// innermost first.
    progress: AtomicU64,
    frames: [AtomicUsize; FRAMES_MAX],
    frames_len: AtomicUsize,
    /// The data of the task that is ended.
    hang: Mutex<Option<Hang>>,
    /// The number of threads of the process when the worker began.
    threads: usize,
    /// `true` once a deadlock has waited for uncontrolled threads.
    waited: AtomicBool,
    /// The uncontrolled thread that used objects of the execution, by name.
    is_touched: AtomicBool,
    toucher: Mutex<Option<String>>,
}

/// The time that the first deadlock of a worker waits for uncontrolled threads, if there are new ones in the process:
/// long enough for one to be scheduled, and to do its work.
const GRACE: Duration = Duration::from_millis(200);

impl Pulse {
    /// Notes that execution `number` begins on this thread.
    #[inline]
    pub(super) fn begin(&self, number: u64) {
        self.thread.store(thread_id(), Relaxed);
        self.execution.store(number, Relaxed);
    }

    /// Waits a moment for uncontrolled threads when no task can continue, so that the report can name one that would
    /// have released a task. Only the first deadlock is worth the time.
    #[cold]
    pub(super) fn wait_for_others(&self) {
        if self.waited.swap(true, Relaxed) || threads() <= self.threads {
            return;
        }
        let until = Instant::now() + GRACE;
        while !self.is_touched.load(Relaxed) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Returns the uncontrolled thread that used objects of the execution, if there was one.
    #[inline]
    pub(super) fn toucher(&self) -> Option<String> {
        if !self.is_touched.load(Relaxed) {
            return None;
        }
        self.is_touched.store(false, Relaxed);
        self.toucher.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Notes that this uncontrolled thread used an object of the execution.
    fn touch(&self) {
        let thread = std::thread::current();
        let name = match thread.name() {
            Some(name) => format!("the thread `{name}`"),
            None => "a thread without a name".to_owned(),
        };
        *self.toucher.lock().unwrap_or_else(PoisonError::into_inner) = Some(name);
        self.is_touched.store(true, Relaxed);
    }

    /// Notes that the execution has ended.
    #[inline]
    pub(super) fn end(&self) {
        self.execution.store(0, Relaxed);
    }

    /// Takes and returns the data of the task that was ended.
    pub(super) fn take(&self) -> Option<Hang> {
        self.hang.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// A worker that is watched for as long as this lives.
pub(crate) struct Watched(Arc<Pulse>);

impl Watched {
    /// Watches a worker, whose tasks may do nothing visible for this long; `None` for no limit.
    pub(super) fn new(limit: Option<Duration>) -> Watched {
        let pulse = Arc::new(Pulse {
            execution: AtomicU64::new(0),
            thread: AtomicI32::new(0),
            limit: limit.unwrap_or(Duration::MAX),
            order: AtomicU32::new(0),
            answers: AtomicU32::new(0),
            progress: AtomicU64::new(0),
            frames: [const { AtomicUsize::new(0) }; FRAMES_MAX],
            frames_len: AtomicUsize::new(0),
            hang: Mutex::new(None),
            threads: threads(),
            waited: AtomicBool::new(false),
            is_touched: AtomicBool::new(false),
            toucher: Mutex::new(None),
        });
        watch(&pulse);
        Watched(pulse)
    }

    /// Returns its signs of life.
    #[inline]
    pub(super) fn pulse(&self) -> &Pulse {
        &self.0
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        unwatch(&self.0);
    }
}

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
use thread::count as threads;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(super) use watcher::touched;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
use watcher::{thread_id, unwatch, watch};

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
pub(super) fn touched(_: u64) {}

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
fn threads() -> usize {
    0
}

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
fn watch(_: &Arc<Pulse>) {}

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
fn unwatch(_: &Arc<Pulse>) {}

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
fn thread_id() -> i32 {
    0
}

/// The thread that inspects the workers.
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod watcher {
    use super::signal::{self, Order};
    use super::{Doing, Hang, Pulse, place, thread};
    use std::sync::atomic::Ordering::{Acquire, Relaxed};
    use std::sync::{Arc, Condvar, Mutex, PoisonError};
    use std::time::Duration;

    pub(in super::super) use super::signal::thread_id;

    /// The time between two inspections.
    const LOOK: Duration = Duration::from_millis(50);

    /// The number of inspections without a new execution before a worker is asked for its progress.
    const LOOKS_UNASKED: u32 = 4;

    /// The number of samples of the stack of a task that hangs: in a loop, all have the loop in common.
    const SAMPLES: usize = 8;

    /// The number of attempts to end a task that uses the allocator each time.
    const TRIES: usize = 500;

    /// A worker at the last inspection.
    struct Seen {
        pulse: Arc<Pulse>,
        execution: u64,
        progress: u64,
        /// The number of inspections since it changed, and its processor time at that moment.
        looks: u32,
        since: thread::State,
    }

    struct Watch {
        workers: Vec<Seen>,
        /// `true` if the thread exists.
        runs: bool,
    }

    static WATCH: Mutex<Watch> = Mutex::new(Watch {
        workers: Vec::new(),
        runs: false,
    });

    static COMES: Condvar = Condvar::new();

    pub(in super::super) fn watch(pulse: &Arc<Pulse>) {
        let mut watch = WATCH.lock().unwrap_or_else(PoisonError::into_inner);
        if watch.workers.is_empty() {
            signal::install();
        }
        watch.workers.push(Seen {
            pulse: Arc::clone(pulse),
            execution: 0,
            progress: 0,
            looks: 0,
            since: thread::State::default(),
        });
        if !watch.runs {
            let thread = std::thread::Builder::new().name("intermezzo-watchdog".into());
            // Without a thread nothing is watched; the exploration itself continues.
            watch.runs = thread.spawn(run).is_ok();
        }
        if watch.workers.len() == 1 {
            COMES.notify_one();
        }
    }

    pub(in super::super) fn unwatch(pulse: &Arc<Pulse>) {
        let mut watch = WATCH.lock().unwrap_or_else(PoisonError::into_inner);
        watch.workers.retain(|seen| !Arc::ptr_eq(&seen.pulse, pulse));
        if watch.workers.is_empty() {
            signal::uninstall();
        }
    }

    /// Notes that this thread, which runs no execution, used an object of the execution with this number. A worker's
    /// own thread does so during teardown.
    #[cold]
    pub(in super::super) fn touched(execution: u64) {
        let watch = WATCH.lock().unwrap_or_else(PoisonError::into_inner);
        let me = thread_id();
        if watch
            .workers
            .iter()
            .any(|seen| seen.pulse.thread.load(Relaxed) == me)
        {
            return;
        }
        let of_it = |seen: &&Seen| seen.pulse.execution.load(Relaxed) == execution;
        if let Some(seen) = watch.workers.iter().find(of_it) {
            seen.pulse.touch();
        }
    }

    fn run() {
        let mut watch = WATCH.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            while watch.workers.is_empty() {
                watch = COMES.wait(watch).unwrap_or_else(PoisonError::into_inner);
            }
            let due: Vec<Arc<Pulse>> = watch.workers.iter_mut().filter_map(look).collect();
            drop(watch);
            due.iter().for_each(|pulse| end(pulse));
            std::thread::sleep(LOOK);
            watch = WATCH.lock().unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Inspects a worker; returns it if its task hangs.
    fn look(seen: &mut Seen) -> Option<Arc<Pulse>> {
        let pulse = &*seen.pulse;
        let execution = pulse.execution.load(Relaxed);
        if pulse.limit == Duration::MAX || execution == 0 || execution != seen.execution {
            (seen.execution, seen.looks) = (execution, 0);
            return None;
        }
        seen.looks += 1;
        let asked = LOOKS_UNASKED.min((pulse.limit.as_millis() / LOOK.as_millis()) as u32 / 2);
        if seen.looks < asked || !signal::give(pulse, Order::Tell) {
            return None;
        }
        let progress = pulse.progress.load(Relaxed);
        let state = thread::state(pulse.thread.load(Relaxed));
        if progress != seen.progress || seen.looks == asked {
            (seen.progress, seen.looks, seen.since) = (progress, asked + 1, state);
            return None;
        }
        let stuck = LOOK * (seen.looks - asked);
        if stuck < pulse.limit {
            return None;
        }
        // A running task must have had its share of a processor.
        let used = state.used.saturating_sub(seen.since.used);
        (!state.runs || used >= pulse.limit / 2).then(|| Arc::clone(&seen.pulse))
    }

    /// Ends the running task, and reports its place.
    fn end(pulse: &Pulse) {
        let progress = pulse.progress.load(Relaxed);
        let thread = pulse.thread.load(Relaxed);
        let mut stacks = Vec::new();
        let mut runs = false;
        let mut call = None;
        for _ in 0..SAMPLES {
            let state = thread::state(thread);
            runs |= state.runs;
            call = state.call.or(call);
            if !signal::give(pulse, Order::Sample) || pulse.progress.load(Relaxed) != progress {
                return;
            }
            let frames = &pulse.frames[..pulse.frames_len.load(Acquire)];
            stacks.push(frames.iter().map(|frame| frame.load(Relaxed)).collect());
            std::thread::sleep(Duration::from_millis(2));
        }
        let doing = match call {
            _ if runs => Doing::Running,
            Some(call) if thread::waits_for_another(call) => Doing::Locked,
            _ => Doing::Blocked,
        };
        let hang = Hang {
            limit: pulse.limit,
            doing,
            call: call.filter(|_| doing == Doing::Blocked).and_then(thread::name),
            place: place::common(&stacks),
        };
        *pulse.hang.lock().unwrap_or_else(PoisonError::into_inner) = Some(hang);
        for last in (0..TRIES).rev() {
            let order = if last == 0 || !runs {
                Order::EndAnyway
            } else {
                Order::End
            };
            // If there is nothing to answer, the task is gone.
            let ended = signal::give(pulse, order)
                && (pulse.frames_len.load(Acquire) == 0 || pulse.progress.load(Relaxed) != progress);
            if ended {
                return;
            }
            std::thread::sleep(Duration::from_micros(500));
        }
    }
}
