//! The emergency report of a worker that crashed inside the allocator.
//!
//! The C library aborts when it finds its heap corrupted, for instance by a double free. It may then hold a lock of the
//! heap that is never released, and the next allocation waits for ever. So a worker whose task crashed first notifies
//! the thread that waits for the exploration, without allocating anything. Then it takes every lock of the heap once.
//! If that blocks, the other thread takes over: it reports the finding, and ends the process. That thread has its own
//! heap, if the C library gives each thread one. If it has to wait as well, an alarm ends the process without a report.
//!
//! It knows the locks of glibc's allocator, and of any allocator that has one lock. With other allocators crashes are
//! not caught (see `crash.rs`), or a process may still hang.

use super::crash::Crash;
use super::outcome::Abnormal;
use super::{Runtime, Stop};
use std::cell::Cell;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The time limit for taking all locks of a heap. It takes little time, unless one is never released.
const GRACE: Duration = Duration::from_secs(3);

/// The number of seconds within which the report must be made.
const ALARM_SECONDS: u32 = 20;

thread_local! {
    /// `true` while the thread takes the locks of the heap: a signal then means that the heap cannot be used.
    pub(super) static PROBES: Cell<bool> = const { Cell::new(false) };
}

/// The state of an exploration, for the thread that waits for it.
#[derive(Default)]
pub struct Emergency {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
enum State {
    #[default]
    Running,
    /// A task of this worker crashed, and the worker takes the locks of its heap.
    Probing { runtime: *mut Runtime, crash: Crash },
    /// The worker did not return.
    TakenOver,
    /// The exploration has ended.
    Over,
}

// SAFETY: the thread that takes over uses the runtime only while its worker is stopped for good: the worker waits in
// `probe`, or in `survived`.
unsafe impl Send for State {}

impl Emergency {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Handles a crash of a task of this runtime. Returns only if the heap can be used; nothing is allocated before
    /// that is known.
    pub(super) fn crashed(&self, runtime: *mut Runtime, crash: Crash) {
        let mut state = self.state();
        while !matches!(*state, State::Running) {
            // Another worker is being handled.
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        *state = State::Probing { runtime, crash };
        drop(state);
        self.changed.notify_all();
        PROBES.set(true);
        probe();
        PROBES.set(false);
        let mut state = self.state();
        while matches!(*state, State::TakenOver) {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        *state = State::Running;
        drop(state);
        self.changed.notify_all();
    }

    /// Notes that the exploration has ended.
    pub fn over(&self) {
        *self.state() = State::Over;
        self.changed.notify_all();
    }

    /// Waits until the exploration has ended. If a worker cannot continue, calls `last_words` with the outcome of its
    /// last execution and the number of that execution.
    pub fn wait(&self, last_words: impl FnOnce(Abnormal, u64) -> String) {
        let mut state = self.state();
        loop {
            state = match *state {
                State::Over => return,
                State::Probing { .. } => {
                    let probing = |state: &mut State| matches!(state, State::Probing { .. });
                    let waited = self.changed.wait_timeout_while(state, GRACE, probing);
                    let (mut state, waited) = waited.unwrap_or_else(PoisonError::into_inner);
                    if waited.timed_out()
                        && let State::Probing { runtime, crash } = *state
                    {
                        *state = State::TakenOver;
                        drop(state);
                        // SAFETY: the worker is stopped for good.
                        end_process(|| unsafe { (*runtime).last_words(crash, last_words) });
                    }
                    state
                }
                _ => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }
}

impl Runtime {
    fn last_words(&mut self, crash: Crash, say: impl FnOnce(Abnormal, u64) -> String) -> String {
        self.mark_unwinding();
        let trouble = Abnormal {
            stop: if self.end.teardown {
                Stop::Complete
            } else {
                Stop::Crashed(crash)
            },
            wanted: Vec::new(),
            scene: self.scene(),
            damaged: true,
            crash_cleared: self.end.teardown.then_some(crash),
        };
        say(trouble, self.decisions.alike.number)
    }
}

/// Takes and releases every lock of the heap.
fn probe() {
    // These sizes exceed what a thread caches for itself.
    for bytes in [2 << 10, 100 << 10] {
        drop(std::hint::black_box(Vec::<u8>::with_capacity(bytes)));
    }
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: a plain call. It visits the heaps of all threads, and takes the lock of each. A corrupted heap may make
    // it crash, which the signal handler expects.
    unsafe {
        libc::mallinfo();
    }
}

/// Writes the report, and ends the process as the crash would have.
fn end_process(last_words: impl FnOnce() -> String) -> ! {
    #[cfg(unix)]
    // SAFETY: plain calls. The alarm must end the process, whatever handler the test installed.
    unsafe {
        libc::signal(libc::SIGALRM, libc::SIG_DFL);
        libc::alarm(ALARM_SECONDS);
    }
    let words = last_words();
    // The process ends: output that cannot be written is lost.
    let _ = std::io::Write::write_all(&mut std::io::stderr(), words.as_bytes());
    std::process::abort();
}
