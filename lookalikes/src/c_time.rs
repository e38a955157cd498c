//! C's functions for time: clocks and sleeps.
//!
//! `SystemTime` is in the interface of std's files, so code that was not written for intermezzo keeps std's type, which reads
//! the clock by `clock_gettime`. Other code calls these functions itself. In a program that links this crate's versions instead of
//! the C library's, they use the virtual clock inside an execution, as [`SystemTime`](crate::time::SystemTime) and
//! [`sleep`](crate::thread::sleep) do. All other code gets the system's.
//!
//! **Misses.** The clocks that count processor time, and timers that send signals. Files keep the times that the system gives
//! them. Waits for something else that have a limit, such as `poll`, and timers that are descriptors are in `c_io`.

use crate::c_library::functions;
use crate::system_time::BEGINNING;
use intermezzo_engine::runtime::Engine;
use intermezzo_sdk::SyncVarOp;
use libc::{c_int, c_uint, c_void, clockid_t, time_t, timespec, timeval, useconds_t};
use std::time::Duration;

/// The time for which the system has run when an execution begins: a day.
const UP: Duration = Duration::from_secs(86_400);

/// Makes the linker take the functions from here.
pub fn take_over() {
    use std::hint::black_box;
    black_box(clock_gettime as unsafe extern "C" fn(_, _) -> _);
    black_box(gettimeofday as unsafe extern "C" fn(_, _) -> _);
    black_box(time as unsafe extern "C" fn(_) -> _);
    black_box(nanosleep as unsafe extern "C" fn(_, _) -> _);
    black_box(clock_nanosleep as unsafe extern "C" fn(_, _, _, _) -> _);
    black_box(usleep as unsafe extern "C" fn(_) -> _);
    black_box(sleep as unsafe extern "C" fn(_) -> _);
    black_box(sched_yield as unsafe extern "C" fn() -> _);
}

/// Returns the time at which a clock stands when an execution begins, if it is one that the virtual clock moves.
pub(crate) fn beginning(clock: clockid_t) -> Option<Duration> {
    match clock {
        libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE | libc::CLOCK_TAI => Some(BEGINNING),
        libc::CLOCK_MONOTONIC
        | libc::CLOCK_MONOTONIC_RAW
        | libc::CLOCK_MONOTONIC_COARSE
        | libc::CLOCK_BOOTTIME => Some(UP),
        _ => None,
    }
}

/// Reads the virtual clock.
pub(crate) fn look(engine: Engine) -> Duration {
    // The caller's place is not known, because C's calls do not pass it on.
    Duration::from_nanos(engine.look_at_clock(engine.last_site()))
}

/// Sleeps on the virtual clock.
fn pause(engine: Engine, time: Duration) {
    let site = engine.last_site();
    if time.is_zero() {
        return engine.yield_now_in_loop(SyncVarOp::Sleep, site);
    }
    let until = engine.announce_sleep(time, site);
    engine.yield_now_in_loop(SyncVarOp::Sleep, site);
    engine.end_sleep(until);
}

/// Returns the duration that a caller asks for, if it is one.
///
/// # Safety
/// The pointer is null, or points to a valid time.
pub(crate) unsafe fn duration(time: *const timespec) -> Option<Duration> {
    // SAFETY: as the caller says.
    let time = unsafe { time.as_ref()? };
    let nanoseconds = u32::try_from(time.tv_nsec).ok()?;
    (nanoseconds < 1_000_000_000).then_some(Duration::new(u64::try_from(time.tv_sec).ok()?, nanoseconds))
}

functions! {
    /// Reads a clock.
    fn clock_gettime(clock: clockid_t, into: *mut timespec) -> c_int: |engine| {
        beginning(clock).filter(|_| !into.is_null()).map(|beginning| {
            let now = beginning + look(engine);
            let now = timespec {
                tv_sec: now.as_secs() as time_t,
                tv_nsec: now.subsec_nanos() as libc::c_long,
            };
            // SAFETY: the caller has room for a time there.
            unsafe { into.write(now) };
            0
        })
    };

    /// Reads the wall clock.
    fn gettimeofday(into: *mut timeval, zone: *mut c_void) -> c_int: |engine| {
        (!into.is_null() && zone.is_null()).then(|| {
            let now = BEGINNING + look(engine);
            let now = timeval {
                tv_sec: now.as_secs() as time_t,
                tv_usec: now.subsec_micros() as libc::suseconds_t,
            };
            // SAFETY: the caller has room for a time there.
            unsafe { into.write(now) };
            0
        })
    };

    /// Reads the wall clock, in seconds.
    fn time(into: *mut time_t) -> time_t: |engine| {
        let now = (BEGINNING + look(engine)).as_secs() as time_t;
        if !into.is_null() {
            // SAFETY: the caller has room for a time there.
            unsafe { into.write(now) };
        }
        Some(now)
    };

    /// Sleeps.
    fn nanosleep(time: *const timespec, left: *mut timespec) -> c_int: |engine| {
        // Nothing is left, because nothing wakes the task.
        let _ = left;
        // SAFETY: as the caller says.
        unsafe { duration(time) }.map(|time| {
            pause(engine, time);
            0
        })
    };

    /// Sleeps on a clock, for some time or until then.
    fn clock_nanosleep(clock: clockid_t, flags: c_int, time: *const timespec, left: *mut timespec) -> c_int: |engine| {
        let _ = left;
        // SAFETY: as the caller says.
        beginning(clock).zip(unsafe { duration(time) }).map(|(beginning, time)| {
            let time = match flags & libc::TIMER_ABSTIME {
                0 => time,
                _ => time.saturating_sub(beginning + look(engine)),
            };
            pause(engine, time);
            0
        })
    };

    /// Sleeps for microseconds.
    fn usleep(microseconds: useconds_t) -> c_int: |engine| {
        pause(engine, Duration::from_micros(microseconds.into()));
        Some(0)
    };

    /// Sleeps for seconds, and returns those that are left.
    fn sleep(seconds: c_uint) -> c_uint: |engine| {
        pause(engine, Duration::from_secs(seconds.into()));
        Some(0)
    };

    /// Yields.
    fn sched_yield() -> c_int: |engine| {
        engine.yield_now_in_loop(SyncVarOp::Yield, engine.last_site());
        Some(0)
    };
}
