//! C's unnamed semaphores, as the crate ctrlc waits for one.
//!
//! A program that has this crate's functions in the place of the C library's posts and waits through the engine inside an
//! execution. The count is in the first 32 bits, where glibc has it, so a semaphore may be initialised before the execution.
//!
//! **Misses.** Semaphores that processes share are the system's: those with a name, and those whose initialiser says so.

use crate::c_library::functions;
use crate::c_time::{beginning, duration, look};
use crate::futex::{Waited, wait, wake};
use crate::sync::atomic::by_address::AtomicU32;
use crate::waits_at::At;
use intermezzo_engine::runtime::{Access, Engine};
use intermezzo_sdk::{MemoryOrder, SyncVarOp};
use libc::{c_int, c_uint, clockid_t, sem_t, timespec};
use std::time::Duration;

/// The largest count.
const MOST: u32 = i32::MAX as u32;

/// Makes the linker take the functions from here.
pub fn take_over() {
    use std::hint::black_box;
    black_box(sem_init as unsafe extern "C" fn(_, _, _) -> _);
    black_box(sem_post as unsafe extern "C" fn(_) -> _);
    black_box(sem_wait as unsafe extern "C" fn(_) -> _);
    black_box(sem_trywait as unsafe extern "C" fn(_) -> _);
    black_box(sem_timedwait as unsafe extern "C" fn(_, _) -> _);
    black_box(sem_clockwait as unsafe extern "C" fn(_, _, _) -> _);
    black_box(sem_getvalue as unsafe extern "C" fn(_, _) -> _);
}

/// A semaphore of this process.
#[derive(Clone, Copy)]
struct Semaphore<'a> {
    engine: Engine,
    count: &'a AtomicU32,
}

impl Semaphore<'_> {
    /// Returns the semaphore, if the process does not share it.
    ///
    /// # Safety
    /// The pointer is null, or one to a semaphore of glibc's that was initialised.
    unsafe fn of(engine: Engine, at: *mut sem_t) -> Option<Self> {
        let words = at.cast::<u32>();
        // SAFETY: as the caller says. glibc has zero in the third word of a semaphore that is not shared.
        if words.is_null() || unsafe { *words.add(2) } != 0 {
            return None;
        }
        // SAFETY: as the caller says. All functions that access it are here.
        let count = unsafe { AtomicU32::from_ptr(words) };
        Some(Semaphore { engine, count })
    }

    /// Its word, for an operation with this order. The caller's place is not known, because C's calls do not pass it on.
    fn at(&self, order: MemoryOrder) -> At<'_> {
        At {
            engine: self.engine,
            word: self.count,
            order,
            site: self.engine.last_site(),
        }
    }

    /// Changes the count, or only looks at it. Returns the count before, if it is changed.
    fn change(self, order: MemoryOrder, change: impl FnOnce(u32) -> Option<u32>) -> Option<u32> {
        let (access, count) = self.at(order).begin();
        // SAFETY: this task alone runs.
        let now = unsafe { *count };
        let Some(next) = change(now) else {
            let failed = Access {
                op: SyncVarOp::AtomicRmwFailed,
                ..access
            };
            self.engine.commit(failed, u64::from(now), 0);
            return None;
        };
        // SAFETY: as above.
        unsafe { *count = next };
        self.engine.commit(access, u64::from(now), u64::from(next));
        Some(now)
    }

    /// Adds one, and wakes a task that waits.
    fn post(self) -> Result<(), c_int> {
        let more = |count| (count < MOST).then_some(count + 1);
        self.change(MemoryOrder::Release, more).ok_or(libc::EOVERFLOW)?;
        wake(self.at(MemoryOrder::Relaxed), 1, u32::MAX);
        Ok(())
    }

    /// Takes one, if there is one.
    fn take(self) -> bool {
        self.change(MemoryOrder::Acquire, |count| count.checked_sub(1))
            .is_some()
    }

    /// Takes one, and waits until there is one, or until this time on the virtual clock.
    fn take_until(self, until: Option<Duration>) -> Result<(), c_int> {
        loop {
            if self.take() {
                return Ok(());
            }
            let limit = until.map(|until| until.saturating_sub(look(self.engine)));
            if limit.is_some_and(|limit| limit.is_zero())
                || wait(self.at(MemoryOrder::Relaxed), 0, u32::MAX, limit) == Waited::TimedOut
            {
                return Err(libc::ETIMEDOUT);
            }
        }
    }
}

/// Returns the result of a function of C, and sets the error.
fn returned(result: Result<(), c_int>) -> c_int {
    let Err(error) = result else { return 0 };
    // SAFETY: this thread's own.
    unsafe { *libc::__errno_location() = error };
    -1
}

functions! {
    /// Initialises a semaphore.
    fn sem_init(semaphore: *mut sem_t, is_shared: c_int, count: c_uint) -> c_int: |engine, system| {
        // SAFETY: the arguments are the caller's.
        let result = unsafe { system(semaphore, is_shared, count) };
        // SAFETY: it is one now, if it could be initialised.
        if result == 0 && let Some(semaphore) = unsafe { Semaphore::of(engine, semaphore) } {
            semaphore.change(MemoryOrder::Relaxed, |_| Some(count));
        }
        Some(result)
    };

    /// Adds one to a semaphore.
    fn sem_post(semaphore: *mut sem_t) -> c_int: |engine| {
        // SAFETY: as the caller says.
        unsafe { Semaphore::of(engine, semaphore) }.map(|semaphore| returned(semaphore.post()))
    };

    /// Takes one from a semaphore, and waits for it.
    fn sem_wait(semaphore: *mut sem_t) -> c_int: |engine| {
        // SAFETY: as the caller says.
        unsafe { Semaphore::of(engine, semaphore) }.map(|semaphore| returned(semaphore.take_until(None)))
    };

    /// Takes one from a semaphore, if there is one.
    fn sem_trywait(semaphore: *mut sem_t) -> c_int: |engine| {
        // SAFETY: as the caller says.
        unsafe { Semaphore::of(engine, semaphore) }
            .map(|semaphore| returned(if semaphore.take() { Ok(()) } else { Err(libc::EAGAIN) }))
    };

    /// Takes one from a semaphore, and waits for it until this time on the wall clock.
    fn sem_timedwait(semaphore: *mut sem_t, until: *const timespec) -> c_int: |engine| {
        // SAFETY: as the caller says.
        unsafe { duration(until) }.and_then(|until| {
            let until = until.saturating_sub(beginning(libc::CLOCK_REALTIME)?);
            // SAFETY: as the caller says.
            unsafe { Semaphore::of(engine, semaphore) }.map(|semaphore| returned(semaphore.take_until(Some(until))))
        })
    };

    /// Takes one from a semaphore, and waits for it until this time on a clock.
    fn sem_clockwait(semaphore: *mut sem_t, clock: clockid_t, until: *const timespec) -> c_int: |engine| {
        // SAFETY: as the caller says.
        unsafe { duration(until) }.and_then(|until| {
            let until = until.saturating_sub(beginning(clock)?);
            // SAFETY: as the caller says.
            unsafe { Semaphore::of(engine, semaphore) }.map(|semaphore| returned(semaphore.take_until(Some(until))))
        })
    };

    /// Reads the count of a semaphore.
    fn sem_getvalue(semaphore: *mut sem_t, into: *mut c_int) -> c_int: |engine| {
        // SAFETY: as the caller says.
        unsafe { Semaphore::of(engine, semaphore) }.filter(|_| !into.is_null()).map(|semaphore| {
            let mut count = 0;
            semaphore.change(MemoryOrder::Relaxed, |now| {
                count = now;
                None
            });
            // SAFETY: the caller has room for a number there.
            unsafe { into.write(count as c_int) };
            0
        })
    };
}
