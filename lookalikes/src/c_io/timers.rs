//! Timers that are descriptors (`timerfd`), on the virtual clock.
//!
//! Inside an execution such a timer is an eventfd, which also tells its reader a number and then begins at 0. Nothing counts
//! it up in the background: before a call looks at a descriptor, the timers are counted up whose time has come, and a call
//! that waits is woken when the next one's comes.
//!
//! **Misses.** Timers of other clocks than those that the virtual clock moves are the system's. A copy of a descriptor, by
//! `dup`, cannot set the timer, and reads it only while the original is open; a timer whose descriptor is replaced by `dup2`
//! still counts. A loop that reads a timer again and again, without waiting, does not let virtual time pass.

use super::{entry, left_open, perform, step_of, would_wait};
use crate::c_library::{Function, functions};
use crate::c_time::beginning;
use crate::waits_at::Effect;
use intermezzo_engine::runtime::Engine;
use intermezzo_engine::runtime::arena::outside;
use libc::{c_int, c_uint, clockid_t, itimerspec, time_t, timespec};
use std::cell::RefCell;
use std::time::Duration;

/// A timer that the current execution has made.
struct Timer {
    descriptor: c_int,
    /// The time of its clock when the virtual clock stands at 0.
    beginning: Duration,
    /// The virtual time at which it is counted up next, in nanoseconds; `None` if it is not set.
    due: Option<u64>,
    /// The nanoseconds after which it is counted up again; 0 for never.
    interval: u64,
}

/// The timers of an execution.
struct Timers {
    execution: u64,
    all: Vec<Timer>,
}

thread_local! {
    /// Those of the current execution, whose tasks are all on this thread.
    static TIMERS: RefCell<Timers> = const {
        RefCell::new(Timers {
            execution: 0,
            all: Vec::new(),
        })
    };
}

/// Makes the linker take the functions from here.
pub(super) fn take_over() {
    use std::hint::black_box;
    black_box(timerfd_create as unsafe extern "C" fn(_, _) -> _);
    black_box(timerfd_settime as unsafe extern "C" fn(_, _, _, _) -> _);
    black_box(timerfd_gettime as unsafe extern "C" fn(_, _) -> _);
}

/// Calls a function with the execution's timers.
fn with_timers<R>(engine: Engine, f: impl FnOnce(&mut Vec<Timer>) -> R) -> R {
    outside(|| {
        TIMERS.with_borrow_mut(|timers| {
            if timers.execution != engine.epoch() {
                timers.execution = engine.epoch();
                timers.all.clear();
            }
            f(&mut timers.all)
        })
    })
}

/// Calls a function with this timer of the execution; returns `None` if it is none.
fn with_timer<R>(engine: Engine, descriptor: c_int, f: impl FnOnce(&mut Timer) -> R) -> Option<R> {
    with_timers(engine, |all| {
        let timer = all.iter_mut().find(|timer| timer.descriptor == descriptor);
        timer.map(f)
    })
}

/// Returns the first virtual time at which a timer is counted up; `None` if none is set.
pub(super) fn first_due(engine: Engine) -> Option<u64> {
    with_timers(engine, |all| all.iter().filter_map(|timer| timer.due).min())
}

/// Counts up the timers whose time has come, in the current step.
pub(super) fn count_up(engine: Engine) {
    if first_due(engine).is_none() {
        return;
    }
    let now = engine.deadline_in_step(Duration::ZERO);
    with_timers(engine, |all| {
        for timer in all {
            timer.count_up(now);
        }
    });
}

/// Notes that a descriptor is closed.
pub(super) fn forget(engine: Engine, descriptor: c_int) {
    with_timers(engine, |all| all.retain(|timer| timer.descriptor != descriptor));
}

impl Timer {
    fn count_up(&mut self, now: u64) {
        let Some(due) = self.due.filter(|&due| due <= now) else {
            return;
        };
        let more = (now - due).checked_div(self.interval);
        self.due = more.map(|more| due.saturating_add((more + 1).saturating_mul(self.interval)));
        let count = 1 + more.unwrap_or(0);
        // SAFETY: the descriptor is an eventfd, which takes 8 bytes.
        unsafe { libc::syscall(libc::SYS_write, self.descriptor, &raw const count, 8) };
    }

    /// Sets the timer again, in the current step.
    fn set(&mut self, engine: Engine, is_absolute: bool, value: Duration, interval: Duration) {
        self.due = match (value.is_zero(), is_absolute) {
            (true, _) => None,
            (false, true) => Some(nanoseconds(value.saturating_sub(self.beginning))),
            (false, false) => Some(engine.deadline_in_step(value)),
        };
        self.interval = nanoseconds(interval);
        if !would_wait(entry(self.descriptor, libc::POLLIN)) {
            let mut count = 0_u64;
            // SAFETY: the place for 8 bytes is there. The call does not wait: there is a number, or it says that there is none.
            unsafe { libc::syscall(libc::SYS_read, self.descriptor, &raw mut count, 8) };
        }
    }

    /// Returns the time that is left until the timer is counted up, and its interval.
    fn left(&self, engine: Engine) -> itimerspec {
        let left = self.due.map_or(0, |due| {
            due.saturating_sub(engine.deadline_in_step(Duration::ZERO)).max(1)
        });
        itimerspec {
            it_interval: time(self.interval),
            it_value: time(left),
        }
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

fn time(nanoseconds: u64) -> timespec {
    let time = Duration::from_nanos(nanoseconds);
    timespec {
        tv_sec: time.as_secs() as time_t,
        tv_nsec: time.subsec_nanos().into(),
    }
}

/// Returns a duration; `None` if it is none.
pub(super) fn duration(time: timespec) -> Option<Duration> {
    let nanoseconds = u32::try_from(time.tv_nsec).ok()?;
    (nanoseconds < 1_000_000_000).then_some(Duration::new(u64::try_from(time.tv_sec).ok()?, nanoseconds))
}

/// Returns the C library's own `eventfd`.
fn system_eventfd() -> unsafe extern "C" fn(c_uint, c_int) -> c_int {
    static SYSTEM: Function = Function::named(c"eventfd");
    // SAFETY: this is its type.
    unsafe { std::mem::transmute(SYSTEM.address()) }
}

functions! {
    /// Makes a timer.
    fn timerfd_create(clock: clockid_t, flags: c_int) -> c_int: |engine| {
        beginning(clock).map(|beginning| {
            // The flags of both functions are those of `open`.
            // SAFETY: a plain call.
            let descriptor = unsafe { system_eventfd()(0, flags) };
            if descriptor >= 0 {
                left_open::note(engine, &[descriptor], true);
                let timer = Timer { descriptor, beginning, due: None, interval: 0 };
                with_timers(engine, |all| all.push(timer));
            }
            descriptor
        })
    };

    /// Sets a timer.
    fn timerfd_settime(
        descriptor: c_int, flags: c_int, new: *const itimerspec, old: *mut itimerspec
    ) -> c_int: |engine| {
        // SAFETY: the caller passes a valid time.
        let times = unsafe { new.as_ref() }.and_then(|new| {
            Some((duration(new.it_value)?, duration(new.it_interval)?))
        });
        times.filter(|_| with_timer(engine, descriptor, |_| ()).is_some()).and_then(|(value, interval)| {
            let Some(engine) = step_of(engine, descriptor) else {
                // During teardown no time passes.
                return Some(0);
            };
            perform(engine, || true, None, |_| {
                with_timer(engine, descriptor, |timer| {
                    if !old.is_null() {
                        // SAFETY: the caller has room for the times there.
                        unsafe { old.write(timer.left(engine)) };
                    }
                    timer.set(engine, flags & libc::TFD_TIMER_ABSTIME != 0, value, interval);
                });
                // A task that waits may have to wait for another time.
                Some((0, Effect::Wake))
            })
        })
    };

    /// Returns the time that is left until a timer is counted up.
    fn timerfd_gettime(descriptor: c_int, into: *mut itimerspec) -> c_int: |engine| {
        with_timer(engine, descriptor, |_| ()).filter(|()| !into.is_null()).and_then(|()| {
            let Some(engine) = step_of(engine, descriptor) else {
                // SAFETY: the caller has room for the times there.
                unsafe { into.write(itimerspec { it_interval: time(0), it_value: time(0) }) };
                return Some(0);
            };
            perform(engine, || true, None, |_| {
                with_timer(engine, descriptor, |timer| {
                    // SAFETY: the caller has room for the times there.
                    unsafe { into.write(timer.left(engine)) };
                });
                Some((0, Effect::None))
            })
        })
    };
}
