//! The gate of the arena: open on a thread while code of the test runs there, in an execution that has the arena.

use super::super::handle;
use super::{Shortage, blocks, range};
use std::cell::Cell;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering::Relaxed};

/// The states of the gate: code of the engine runs, code of a test runs without the arena, or code of a test runs with
/// it.
const CLOSED: u8 = 0;
const NO_ARENA: u8 = 1;
const OPEN: u8 = 2;

thread_local! {
    static GATE: Cell<u8> = const { Cell::new(CLOSED) };
    /// `true` while an execution that has the arena runs on this thread.
    static IS_OURS: Cell<bool> = const { Cell::new(false) };
}

/// `true` while a worker has the arena.
static CLAIMED: AtomicBool = AtomicBool::new(false);

/// The `Shortage` of the current worker or the last one; 0 for none.
static SHORTAGE: AtomicU8 = AtomicU8::new(0);

const SHORTAGES: [Shortage; 4] = [
    Shortage::NotInstalled,
    Shortage::NoRange,
    Shortage::Full,
    Shortage::InUse,
];

/// Returns `true` if allocations of this thread come from the arena now.
#[inline(always)]
pub(in super::super) fn is_open() -> bool {
    GATE.get() == OPEN
}

/// Returns `true` if an allocation or a free of this thread is one of the test's.
#[inline(always)]
pub(super) fn is_of_test() -> bool {
    debug_assert!(
        !(is_open() && handle::is_lent()),
        "the arena is open for code of the engine"
    );
    is_open()
}

/// Returns `true` if code of the test runs on this thread, and not code of the engine that it called.
pub(in super::super) fn test_runs() -> bool {
    GATE.get() != CLOSED
}

/// Returns `true` if the execution on this thread has the arena.
pub(in super::super) fn has_execution() -> bool {
    IS_OURS.get()
}

/// Notes that memory of executions has different addresses each time, for this reason.
#[cold]
pub(super) fn note(shortage: Shortage) {
    let at = SHORTAGES.iter().position(|&one| one == shortage);
    SHORTAGE.store(at.map_or(0, |at| at as u8 + 1), Relaxed);
}

/// Returns the reason why memory of executions has different addresses each time, if it does. The reason is that of the
/// worker that has the arena, or that had it last.
pub fn shortage() -> Option<Shortage> {
    let noted = usize::from(SHORTAGE.load(Relaxed));
    SHORTAGES.get(noted.wrapping_sub(1)).copied()
}

/// A guard that keeps the gate of this thread closed, and restores its state when it is dropped.
pub(in super::super) struct Closed(u8);

impl Closed {
    #[inline(always)]
    pub(in super::super) fn new() -> Closed {
        Closed(GATE.replace(CLOSED))
    }
}

impl Drop for Closed {
    #[inline(always)]
    fn drop(&mut self) {
        GATE.set(self.0);
    }
}

/// Calls a function that allocates, frees or changes something that outlives the execution. It gets the system's
/// memory. It must not switch to another task.
#[inline]
pub fn outside<R>(f: impl FnOnce() -> R) -> R {
    let _closed = Closed::new();
    f()
}

/// Calls a function that lets tasks run, with the gate open. The function returns when control is back at the worker.
#[inline(always)]
pub(in super::super) fn while_tasks_run<R>(run: impl FnOnce() -> R) -> R {
    GATE.set(if IS_OURS.get() { OPEN } else { NO_ARENA });
    let result = run();
    // If a signal ended the task, it may have been anywhere.
    GATE.set(CLOSED);
    result
}

/// Checks in builds with debug assertions that a task does not switch in `outside`: the other one would get the wrong
/// memory.
#[inline(always)]
pub(in super::super) fn assert_open() {
    debug_assert!(GATE.get() != CLOSED, "a switch while the arena is closed");
}

/// Returns `true` if executions have the arena: those that run, or those that would begin now.
pub fn is_available() -> bool {
    if CLAIMED.swap(true, Relaxed) {
        return shortage().is_none();
    }
    let is_available = range::reserve() && is_installed();
    CLAIMED.store(false, Relaxed);
    is_available
}

/// A worker's claim on the arena.
pub(in super::super) struct Claim {
    has_it: bool,
}

impl Claim {
    /// Claims the arena for a worker, until the claim is dropped.
    pub(in super::super) fn take() -> Claim {
        if CLAIMED.swap(true, Relaxed) {
            note(Shortage::InUse);
            return Claim { has_it: false };
        }
        SHORTAGE.store(0, Relaxed);
        let has_it = if !range::reserve() {
            note(Shortage::NoRange);
            false
        } else if !is_installed() {
            note(Shortage::NotInstalled);
            false
        } else {
            use_lazy_parts_of_std();
            true
        };
        if !has_it {
            CLAIMED.store(false, Relaxed);
        }
        Claim { has_it }
    }

    /// Gives the arena to the execution that begins on this thread, until the guard is dropped.
    #[inline]
    pub(in super::super) fn execution(&mut self) -> Execution<'_> {
        IS_OURS.set(self.has_it);
        Execution(self)
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if self.has_it {
            CLAIMED.store(false, Relaxed);
        }
    }
}

/// A guard for as long as an execution has the arena.
pub(in super::super) struct Execution<'c>(&'c Claim);

impl Drop for Execution<'_> {
    fn drop(&mut self) {
        IS_OURS.set(false);
        if self.0.has_it {
            blocks::take_all_back();
        }
    }
}

/// Returns `true` if the arena is the program's global allocator.
fn is_installed() -> bool {
    GATE.set(OPEN);
    let block = std::hint::black_box(Box::new(1_u8));
    GATE.set(CLOSED);
    let address = std::ptr::from_ref(&*block).addr();
    drop(block);
    let is_installed = range::holds(address);
    if is_installed {
        blocks::take_all_back();
    }
    is_installed
}

/// Makes std allocate now what it keeps for the process, or for this thread.
fn use_lazy_parts_of_std() {
    drop((io::stdout().lock(), io::stderr().lock()));
    // Another thread may wait for input, and hold the lock.
    drop(io::stdin());
    drop(std::thread::current());
}
