//! The wall clock, as std's own `SystemTime` reads it.
//!
//! `SystemTime` is in the interface of std's files, so code that was not written for intermezzo keeps std's type. A
//! program that has this crate's `clock_gettime` in the place of the C library's reads the virtual clock by it inside an
//! execution, as [`SystemTime`](crate::time::SystemTime) does. All other clocks, and all other code, get the system's.
//!
//! **Misses.** Other functions that read the wall clock, such as C's `time`. Files keep the times that the system gives
//! them.

use crate::c_library::Function;
use crate::system_time::BEGINNING;
use intermezzo_engine::runtime::Engine;
use libc::{c_int, clockid_t, timespec};
use std::time::Duration;

static SYSTEM: Function = Function::named(c"clock_gettime");

type ClockGettime = unsafe extern "C" fn(clockid_t, *mut timespec) -> c_int;

/// Makes the linker take [`clock_gettime`] from here.
pub fn take_over() {
    std::hint::black_box(clock_gettime as unsafe extern "C" fn(_, _) -> _);
}

/// Reads a clock: the C library's function of this name, except for the wall clock inside an execution.
///
/// # Safety
/// As for that function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clock_gettime(clock: clockid_t, time: *mut timespec) -> c_int {
    if clock == libc::CLOCK_REALTIME
        && !time.is_null()
        && let Some(engine) = Engine::of_test()
    {
        // The caller's place is not known, because C's calls do not pass it on.
        let now = BEGINNING + Duration::from_nanos(engine.look_at_clock(engine.last_site()));
        let now = timespec {
            tv_sec: now.as_secs() as libc::time_t,
            tv_nsec: now.subsec_nanos() as libc::c_long,
        };
        // SAFETY: the caller has room for a time there.
        unsafe { time.write(now) };
        return 0;
    }
    // SAFETY: this is its type, and the arguments are the caller's.
    unsafe { std::mem::transmute::<*mut libc::c_void, ClockGettime>(SYSTEM.address())(clock, time) }
}
