//! The watchdog: it finds tasks that run, or are blocked by something uncontrolled, for too long without a visible
//! operation.
//!
//! One thread of the process inspects all workers periodically. It reads the number of executions that a worker has
//! begun, which costs the worker one store per execution. If the number stays the same, it sends a signal to the
//! worker's thread. The handler (`signal.rs`) reports the progress of the execution, and its position. So a visible
//! operation costs nothing extra. If there is no progress for long enough, the handler ends the task as a crash would,
//! and a finding names the place (`place.rs`).
//!
//! Time is counted in inspections, which are a fixed time apart. So a process that was stopped, by a debugger or
//! because the machine slept, does not count as hanging. Neither does a task that could run and gets no processor
//! (`thread.rs`).
//!
//! A signal interrupts some system calls that wait, such as `epoll_wait`, and a program that repeats the call would
//! seem to make progress for ever. So a thread in one of them gets no signal: it counts as blocked for as long as the
//! kernel counts no context switch of it.
//!
//! Blind spots: a thread that blocks the signal; a hang between executions, in a strategy or a monitor. Works where
//! crashes are caught (`crash.rs`); elsewhere a task that hangs is not ended.

#[cfg(all(
    feature = "hang-places",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod place;
/// The place of a task, which has no name because the code that reads debugging information is left out.
#[cfg(not(feature = "hang-places"))]
mod place {
    /// Returns the text that says so.
    #[allow(dead_code, reason = "for systems with a watchdog")]
    pub(super) fn common(_: &[Vec<usize>]) -> Option<String> {
        Some("a function that is not named, because intermezzo's feature `hang-places` is off".to_owned())
    }
}
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod signal;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod thread;

use super::outsiders::{Opened, Outsiders};
use crate::record::Gates;
use crate::site::Site;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The maximum number of frames of a stack that are inspected, from the innermost.
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

/// The data by which a worker is watched: its current execution, and the communication with the signal handler.
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
    /// The threads that run no execution and use objects of this worker's.
    pub(super) outsiders: Outsiders,
}

impl Pulse {
    /// Notes that execution `number` begins on this thread.
    #[inline]
    pub(super) fn begin(&self, number: u64) {
        self.thread.store(thread_id(), Relaxed);
        self.execution.store(number, Relaxed);
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
            outsiders: Outsiders::new(),
        });
        watch(&pulse);
        // The watchdog's own thread exists by now, so it is among them.
        pulse.outsiders.know(threads());
        Watched(pulse)
    }

    /// Returns the data by which it is watched.
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
pub(super) use watcher::{any_worker, post, runs, thread_id, threads, touched, touched_static};
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
use watcher::{unwatch, watch};

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
pub(super) fn touched(_: u64, _: Site) {}

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
pub(super) fn touched_static(_: usize, _: Site) {}

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
pub(super) fn post(_: u64, _: Opened, _: Gates) {}

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
pub(super) fn any_worker() -> bool {
    false
}

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
pub(super) fn threads() -> Vec<i32> {
    Vec::new()
}

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
fn watch(_: &Arc<Pulse>) {}

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
fn unwatch(_: &Arc<Pulse>) {}

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
pub(super) fn thread_id() -> i32 {
    0
}

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
pub(super) fn runs(_: i32) -> bool {
    false
}

/// The thread that inspects the workers.
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod watcher {
    use super::signal::{self, Order};
    use super::{Doing, Gates, Hang, Opened, Pulse, Site, place, thread};
    use std::sync::atomic::AtomicUsize;
    use std::sync::atomic::Ordering::{Acquire, Relaxed};
    use std::sync::{Arc, Condvar, Mutex, PoisonError};
    use std::time::Duration;

    pub(in super::super) use super::signal::thread_id;

    /// The time between two inspections.
    const LOOK: Duration = Duration::from_millis(50);

    /// The number of inspections without a new execution before the first signal is sent.
    const LOOKS_UNSIGNALLED: u32 = 4;

    /// The number of samples of the stack of a task that hangs. In a loop, all of them have the loop in common.
    const SAMPLES: usize = 8;

    /// The number of attempts to end a task that uses the allocator each time.
    const TRIES: usize = 500;

    /// A worker at the last inspection.
    struct Seen {
        pulse: Arc<Pulse>,
        execution: u64,
        progress: u64,
        /// The number of inspections since its progress changed, and the state of its thread at that moment.
        looks: u32,
        since: thread::State,
        /// The wait that it was in, if a signal would have interrupted it, and the number of inspections since then.
        wait: Option<thread::Wait>,
        waits: u32,
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
            wait: None,
            waits: 0,
        });
        if !watch.runs {
            let thread = std::thread::Builder::new().name("intermezzo-watchdog".into());
            // Without a thread nothing is watched; the exploration itself continues.
            watch.runs = thread.spawn(run).is_ok();
        }
        WORKERS.store(watch.workers.len(), Relaxed);
        if watch.workers.len() == 1 {
            COMES.notify_one();
        }
    }

    pub(in super::super) fn unwatch(pulse: &Arc<Pulse>) {
        let mut watch = WATCH.lock().unwrap_or_else(PoisonError::into_inner);
        watch.workers.retain(|seen| !Arc::ptr_eq(&seen.pulse, pulse));
        WORKERS.store(watch.workers.len(), Relaxed);
        if watch.workers.is_empty() {
            signal::uninstall();
        }
    }

    /// The number of workers.
    static WORKERS: AtomicUsize = AtomicUsize::new(0);

    /// Returns `true` if a worker is watched, so that an execution may be running.
    #[inline]
    pub(in super::super) fn any_worker() -> bool {
        WORKERS.load(Relaxed) != 0
    }

    /// Returns the threads of the process that are not workers.
    pub(in super::super) fn threads() -> Vec<i32> {
        let mut threads = thread::all();
        let watch = WATCH.lock().unwrap_or_else(PoisonError::into_inner);
        let is_worker = |&thread: &i32| {
            watch
                .workers
                .iter()
                .any(|seen| seen.pulse.thread.load(Relaxed) == thread)
        };
        threads.retain(|thread| !is_worker(thread));
        threads
    }

    /// Returns `true` if this thread runs, or would if it had a processor.
    pub(in super::super) fn runs(thread: i32) -> bool {
        thread::state(thread).runs
    }

    /// Calls a function for the workers, unless this thread is a worker's, which may use objects during teardown.
    #[cold]
    fn with_workers(f: impl FnOnce(&[Seen])) {
        let watch = WATCH.lock().unwrap_or_else(PoisonError::into_inner);
        let me = thread_id();
        let is_me = |seen: &Seen| seen.pulse.thread.load(Relaxed) == me;
        if !watch.workers.iter().any(is_me) {
            f(&watch.workers);
        }
    }

    /// Returns the worker that runs the execution with this number.
    fn worker_of(workers: &[Seen], execution: u64) -> Option<&Pulse> {
        let of_it = |seen: &&Seen| execution != 0 && seen.pulse.execution.load(Relaxed) == execution;
        workers.iter().find(of_it).map(|seen| &*seen.pulse)
    }

    /// Notes that this thread, which runs no execution, uses an object of the execution with this number.
    pub(in super::super) fn touched(execution: u64, site: Site) {
        if any_worker() {
            with_workers(|workers| {
                if let Some(pulse) = worker_of(workers, execution) {
                    pulse.outsiders.touch(site);
                }
            });
        }
    }

    /// Notes that this thread has opened gates in the execution with this number.
    pub(in super::super) fn post(execution: u64, opened: Opened, gates: Gates) {
        with_workers(|workers| {
            if let Some(pulse) = worker_of(workers, execution) {
                pulse.outsiders.post(execution, opened, gates);
            }
        });
    }

    /// Notes that this thread, which runs no execution, uses the static at this address.
    pub(in super::super) fn touched_static(address: usize, site: Site) {
        with_workers(|workers| {
            for Seen { pulse, .. } in workers {
                let execution = pulse.execution.load(Relaxed);
                if execution != 0 {
                    pulse.outsiders.touch_static(execution, address, site);
                }
            }
        });
    }

    fn run() {
        let mut watch = WATCH.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            while watch.workers.is_empty() {
                watch = COMES.wait(watch).unwrap_or_else(PoisonError::into_inner);
            }
            let due: Vec<Arc<Pulse>> = watch.workers.iter_mut().filter_map(look).collect();
            drop(watch);
            for pulse in due {
                match thread::wait(pulse.thread.load(Relaxed)) {
                    Some(wait) => end_wait(&pulse, wait),
                    None => end(&pulse),
                }
            }
            std::thread::sleep(LOOK);
            watch = WATCH.lock().unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Inspects a worker; returns it if its task hangs.
    fn look(seen: &mut Seen) -> Option<Arc<Pulse>> {
        let pulse = &*seen.pulse;
        let execution = pulse.execution.load(Relaxed);
        if pulse.limit == Duration::MAX || execution == 0 || execution != seen.execution {
            signal::withdraw(pulse);
            (seen.execution, seen.looks, seen.wait) = (execution, 0, None);
            return None;
        }
        if signal::is_under_way(pulse) {
            // Another order would replace this one, and the interrupted call would then return to the task.
            return None;
        }
        seen.looks += 1;
        let asked = LOOKS_UNSIGNALLED.min((pulse.limit.as_millis() / LOOK.as_millis()) as u32 / 2);
        if seen.looks < asked {
            return None;
        }
        if let Some(wait) = thread::wait(pulse.thread.load(Relaxed)) {
            match seen.wait {
                Some(before) if before == wait => {
                    seen.waits += 1;
                    return (LOOK * seen.waits >= pulse.limit).then(|| Arc::clone(&seen.pulse));
                }
                // Another wait follows the last one: a signal is sent at every second inspection.
                Some(_) => seen.wait = None,
                None => {
                    (seen.wait, seen.waits) = (Some(wait), 0);
                    if seen.looks == asked {
                        // The first signal has not been sent yet.
                        seen.looks -= 1;
                    }
                    return None;
                }
            }
        } else {
            seen.wait = None;
        }
        if !signal::give(pulse, Order::Tell) {
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

    /// Returns the frames of the last sample.
    fn frames(pulse: &Pulse) -> Vec<usize> {
        let frames = &pulse.frames[..pulse.frames_len.load(Acquire)];
        frames.iter().map(|frame| frame.load(Relaxed)).collect()
    }

    /// Ends a task that waits in a system call that signals interrupt, and reports its place. The signal that asks for
    /// the place interrupts the call, so it also ends the task: the task would mistake the call's result for an error.
    ///
    /// A thread gets a signal when it next has a processor, and a debugger may hold it back. So the order stays in
    /// force until it is carried out. If the signal came before the call, the next inspection finds the same wait, and
    /// gives the order again.
    fn end_wait(pulse: &Pulse, wait: thread::Wait) {
        // The worker waits for this lock when it has ended the task.
        let mut hang = pulse.hang.lock().unwrap_or_else(PoisonError::into_inner);
        // The data is set before the signal is sent, because the task may end after the wait for an answer is over.
        let reported = hang.insert(Hang {
            limit: pulse.limit,
            doing: Doing::Blocked,
            call: thread::name(wait.call),
            place: None,
        });
        if signal::give(pulse, Order::EndWait) {
            if pulse.frames_len.load(Acquire) > 0 {
                reported.place = place::common(&[frames(pulse)]);
            } else {
                *hang = None;
            }
        }
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
            stacks.push(frames(pulse));
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
            // If there are no frames, or there was progress, the task has ended or does not hang.
            let ended = signal::give(pulse, order)
                && (pulse.frames_len.load(Acquire) == 0 || pulse.progress.load(Relaxed) != progress);
            if ended {
                return;
            }
            std::thread::sleep(Duration::from_micros(500));
        }
    }
}
