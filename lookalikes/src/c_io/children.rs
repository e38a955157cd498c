//! The children of the process, and those that an execution has started itself.
//!
//! A child makes progress in real time. So virtual time does not run ahead of real time while one of the execution's runs:
//! a task that sleeps between its looks at a child gives it as much time as it would have without intermezzo.
//!
//! **Misses.** Children that are started by other functions than those in this file, and what children start.

use crate::c_library::functions;
use intermezzo_engine::runtime::arena::outside;
use intermezzo_engine::runtime::interrupt::interrupted;
use intermezzo_engine::runtime::{Engine, on_time_passing};
use libc::{c_char, c_int, pid_t, posix_spawn_file_actions_t, posix_spawnattr_t};
use std::cell::RefCell;
use std::fs;
use std::mem::MaybeUninit;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// The time between two looks at children.
const LOOK: Duration = Duration::from_millis(1);

/// The children that an execution has started.
struct Started {
    execution: u64,
    /// Those that were not seen to have ended.
    running: Vec<pid_t>,
}

thread_local! {
    /// Those of the current execution, whose tasks are all on this thread.
    static STARTED: RefCell<Started> = const {
        RefCell::new(Started {
            execution: 0,
            running: Vec::new(),
        })
    };
}

/// Makes the linker take the functions from here.
pub(super) fn take_over() {
    use std::hint::black_box;
    black_box(fork as unsafe extern "C" fn() -> _);
    black_box(posix_spawn as unsafe extern "C" fn(_, _, _, _, _, _) -> _);
    black_box(posix_spawnp as unsafe extern "C" fn(_, _, _, _, _, _) -> _);
    on_time_passing(give_time);
}

/// Notes that the current execution has started a child.
fn note(engine: Engine, child: pid_t) {
    _ = outside(|| {
        STARTED.try_with(|started| {
            let mut started = started.borrow_mut();
            if started.execution != engine.epoch() {
                started.execution = engine.epoch();
                started.running.clear();
            }
            started.running.push(child);
        })
    });
}

/// Returns `true` if the execution has started a child.
pub(super) fn any_started(engine: Engine) -> bool {
    let has_any = STARTED.try_with(|started| started.borrow().execution == engine.epoch());
    has_any.unwrap_or(false)
}

/// Lets this much time pass, or less if no child that the execution has started runs any more.
fn give_time(execution: u64, time: Duration) {
    let any_runs = || {
        STARTED.try_with(|started| {
            let mut started = started.borrow_mut();
            if started.execution == execution {
                started.running.retain(|&child| runs(child));
            }
            started.execution == execution && !started.running.is_empty()
        })
    };
    outside(|| {
        let begun = Instant::now();
        // Nothing is borrowed while this sleeps.
        while any_runs() == Ok(true) && !interrupted() {
            let left = time.saturating_sub(begun.elapsed());
            if left.is_zero() {
                return;
            }
            thread::sleep(left.min(LOOK));
        }
    });
}

/// Returns `true` if this child has not ended. One that has stays to be waited for.
fn runs(child: pid_t) -> bool {
    let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
    // SAFETY: the place for the result is there, and zeros are one. The call writes the number of the child there, if it has
    // ended.
    unsafe {
        let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        let known = libc::waitid(libc::P_PID, child as libc::id_t, info.as_mut_ptr(), options) == 0;
        known && info.assume_init().si_pid() == 0
    }
}

functions! {
    /// Makes a copy of the process.
    fn fork() -> pid_t: |engine, system| {
        // SAFETY: as for the caller.
        let child = unsafe { system() };
        if child > 0 {
            note(engine, child);
        }
        Some(child)
    };

    /// Starts a program.
    fn posix_spawn(
        child: *mut pid_t,
        path: *const c_char,
        actions: *const posix_spawn_file_actions_t,
        attributes: *const posix_spawnattr_t,
        arguments: *const *mut c_char,
        environment: *const *mut c_char
    ) -> c_int: |engine, system| {
        let spawn = |child| {
            // SAFETY: the other arguments are the caller's.
            unsafe { system(child, path, actions, attributes, arguments, environment) }
        };
        Some(noted(engine, child, spawn))
    };

    /// Starts a program, which is looked for where programs are.
    fn posix_spawnp(
        child: *mut pid_t,
        file: *const c_char,
        actions: *const posix_spawn_file_actions_t,
        attributes: *const posix_spawnattr_t,
        arguments: *const *mut c_char,
        environment: *const *mut c_char
    ) -> c_int: |engine, system| {
        let spawn = |child| {
            // SAFETY: the other arguments are the caller's.
            unsafe { system(child, file, actions, attributes, arguments, environment) }
        };
        Some(noted(engine, child, spawn))
    };
}

/// Starts a child by this function, which writes its number to the place that it gets. The caller's place may be null.
fn noted(engine: Engine, into: *mut pid_t, spawn: impl FnOnce(*mut pid_t) -> c_int) -> c_int {
    let mut child = 0;
    let result = spawn(&raw mut child);
    if result == 0 {
        note(engine, child);
        if !into.is_null() {
            // SAFETY: the caller has room for a number there.
            unsafe { into.write(child) };
        }
    }
    result
}

/// A child of the process: its number and the time of its start, in the system's clock ticks. A number alone may be that
/// of an earlier child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Child {
    process: u32,
    started: u64,
}

/// Returns the children of the process, with those that have ended and were not waited for. `None` if they cannot be known.
pub(super) fn children() -> Option<Vec<Child>> {
    if !has_children() {
        return Some(Vec::new());
    }
    // A directory that cannot be read any more was no child's: these stay until they are waited for.
    let processes = fs::read_dir("/proc").ok()?;
    let own = processes.filter_map(|process| child(&process.ok()?.path().join("stat")));
    let own: Vec<Child> = own.collect();
    // Where the directory is another namespace's, none is found.
    (!own.is_empty()).then_some(own)
}

/// Returns the process of which this file says the state, if it is a child of this one: see proc_pid_stat(5).
fn child(state: &Path) -> Option<Child> {
    let text = fs::read_to_string(state).ok()?;
    // The name in the second field may have spaces and parentheses of its own.
    let (head, rest) = text.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    // These are the fields from the third on: the fourth is the parent, and the 22nd the start.
    let child = Child {
        process: head.split_whitespace().next()?.parse().ok()?,
        started: fields.get(19)?.parse().ok()?,
    };
    (fields[1].parse() == Ok(std::process::id())).then_some(child)
}

/// Returns `true` if the process has children, with those that have ended and were not waited for.
pub(super) fn has_children() -> bool {
    let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
    // SAFETY: the place for the result is there. The child stays to be waited for.
    let found = unsafe {
        libc::waitid(
            libc::P_ALL,
            0,
            info.as_mut_ptr(),
            libc::WEXITED | libc::WNOHANG | libc::WNOWAIT,
        )
    };
    found == 0
}
