//! Futexes: words at which threads wait, for locks that call the system directly.
//!
//! If this crate's `syscall` replaces that of the C library, waits and wake-ups inside an execution go through the engine.
//! All other system calls are passed on.
//!
//! A wait compares its word and begins in one step, as in the system. It ends like `park`: by a wake-up, at its time limit,
//! or spuriously. The woken waiter is a choice if the environment says so, as for a condition variable.

use crate::c_io;
use crate::c_library::system_call;
use crate::c_random::fill;
use crate::sync::atomic::by_address::AtomicU32;
use crate::waits_at::{At, Effect};
use intermezzo_engine::runtime::{Engine, WaitLimits, Wake};
use intermezzo_sdk::{MemoryOrder, SyncVarOp};
use std::ffi::{c_int, c_long};
use std::time::Duration;

/// The result of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waited {
    /// The task was woken, or woke up spuriously.
    Woken,
    /// The word did not have the expected value.
    Differs,
    /// The limit of time was reached.
    TimedOut,
}

/// Waits at a word, if it has this value, until a wake-up that has one of these bits.
pub(crate) fn wait(at: At<'_>, expected: u32, bits: u32, limit: Option<Duration>) -> Waited {
    let engine = at.engine;
    let limits = || match engine.wakes_spuriously() {
        true => None,
        false => Some(WaitLimits {
            deadline: limit.map(|limit| engine.deadline_in_step(limit)),
            may_end_spuriously: true,
        }),
    };
    let differs = |now| (now != expected).then_some(((), Effect::None));
    match at.wait_unless(bits, differs, limits) {
        Ok(()) => Waited::Differs,
        Err(Wake::TimedOut) => Waited::TimedOut,
        Err(Wake::Ready) => Waited::Woken,
    }
}

/// Wakes at most `most` of the tasks that wait at a word for one of these bits. Returns the number that it woke.
///
/// The system uses only the word's address, so this is no access to its memory. As soon as the waiter sees that it may
/// continue, the memory may be freed or used for something else. Then no task waits there.
pub(crate) fn wake(at: At<'_>, most: usize, bits: u32) -> usize {
    let engine = at.engine;
    engine.needs_no_memory(true);
    let (access, value) = at.begin_as(match most {
        1 => SyncVarOp::NotifyOne,
        _ => SyncVarOp::NotifyAll,
    });
    engine.needs_no_memory(false);
    let woken = match at.word.known(engine) {
        Some(var) if var == access.var => at.wake_in_step(value.addr(), most, bits),
        _ => 0,
    };
    engine.commit(access, 0, 0);
    woken
}

/// Performs a system call for a futex; returns `None` if the system must perform it.
///
/// # Safety
/// The arguments must be those of such a call.
unsafe fn futex(engine: Engine, arguments: [c_long; 6]) -> Option<Result<c_long, c_int>> {
    const PRIVATE_OR_REALTIME: c_int = libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME;
    let [address, op, value, time, _, bits] = arguments;
    let op = op as c_int;
    let command = op & !PRIVATE_OR_REALTIME;
    let bits = match command {
        libc::FUTEX_WAIT_BITSET | libc::FUTEX_WAKE_BITSET => bits as u32,
        _ => u32::MAX,
    };
    // SAFETY: a futex is an atomic of 32 bits.
    let word = unsafe { AtomicU32::from_ptr(std::ptr::with_exposed_provenance_mut(address as usize)) };
    // The caller's place is not known, because C's calls do not pass it on.
    let at = At {
        engine,
        word,
        order: MemoryOrder::Relaxed,
        site: engine.last_site(),
    };
    match command {
        libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET => {
            // SAFETY: a pointer to a time, or null.
            let time = unsafe { std::ptr::with_exposed_provenance::<libc::timespec>(time as usize).as_ref() };
            let limit = time.map(|time| {
                let time = duration(time);
                match command {
                    libc::FUTEX_WAIT => time,
                    // A moment rather than a duration, on a clock that is not controlled: no more exact than it need be.
                    _ => rounded(time.saturating_sub(now(op & libc::FUTEX_CLOCK_REALTIME != 0))),
                }
            });
            Some(match wait(at, value as u32, bits, limit) {
                Waited::Woken => Ok(0),
                Waited::Differs => Err(libc::EAGAIN),
                Waited::TimedOut => Err(libc::ETIMEDOUT),
            })
        }
        // Where nothing of this execution ever waited, a thread outside it may wait.
        libc::FUTEX_WAKE | libc::FUTEX_WAKE_BITSET if word.known(engine).is_some() => {
            Some(Ok(wake(at, value as u32 as usize, bits) as c_long))
        }
        _ => None,
    }
}

fn duration(time: &libc::timespec) -> Duration {
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Returns a duration in milliseconds, rounded up.
fn rounded(time: Duration) -> Duration {
    Duration::from_millis(time.as_nanos().div_ceil(1_000_000) as u64)
}

/// Returns the time on one of the system's clocks.
fn now(realtime: bool) -> Duration {
    let clock = if realtime {
        libc::CLOCK_REALTIME
    } else {
        libc::CLOCK_MONOTONIC
    };
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the place for the result is there.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    duration(&time)
}

/// Makes the linker use [`syscall`] of this crate.
pub fn take_over() {
    std::hint::black_box(syscall as unsafe extern "C" fn(_, _, _, _, _, _, _) -> _);
}

/// Calls the system: the C library's function of this name, except for futexes, random numbers and the calls that [`c_io`]
/// replaces, inside an execution. A `membarrier` there is noted, too.
///
/// # Safety
/// As for that function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn syscall(
    number: c_long,
    a: c_long,
    b: c_long,
    c: c_long,
    d: c_long,
    e: c_long,
    f: c_long,
) -> c_long {
    if number == libc::SYS_getrandom && a != 0 && b > 0 && Engine::of_test().is_some() {
        // SAFETY: as the caller says.
        unsafe { fill(std::ptr::with_exposed_provenance_mut(a as usize), b as usize) };
        return b;
    }
    if number == libc::SYS_membarrier
        && let Some(engine) = Engine::of_test()
    {
        engine.note_barrier();
    }
    if number == libc::SYS_futex
        && let Some(engine) = Engine::of_test()
    {
        // SAFETY: as the caller says. Nothing may unwind out of a function of C.
        match engine.keep_from_unwinding(|| unsafe { futex(engine, [a, b, c, d, e, f]) }) {
            Some(Ok(result)) => return result,
            Some(Err(error)) => {
                // SAFETY: this thread's own.
                unsafe { *libc::__errno_location() = error };
                return -1;
            }
            None => {}
        }
    }
    if Engine::of_test().is_some()
        // SAFETY: as the caller says.
        && let Some(result) = unsafe { c_io::by_number(number, [a, b, c, d, e]) }
    {
        return result;
    }
    // SAFETY: as the caller says.
    unsafe { system_call()(number, a, b, c, d, e, f) }
}
