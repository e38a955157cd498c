//! The arena: the memory that a test allocates in an execution, for tests that were not written for intermezzo.
//!
//! A program that installs [`Arena`] as its global allocator gets memory from one reserved range of addresses while a
//! task runs, by bumping a pointer. So the same schedule gives the same addresses, in every execution and, where the
//! system allows it, in every process. No address is used twice in an execution, unless the environment allows that
//! (`reuse.rs`). Freed memory is filled with a pattern, and all other memory is zero when it is given out. At the end
//! of the execution everything is reclaimed at once, including the memory of unfinished tasks.
//!
//! Memory that outlives an execution must not be in it. So all other code gets the system's memory: code outside of
//! tasks, code that borrows the runtime (`Engine::with`), and code of the engine in [`outside`], which keeps or changes
//! something that outlives the execution. The address of a freed block shows which of the two allocators it belongs to.
//!
//! The arena is for one worker at a time. A second worker, or an exploration that runs at the same time, gets the
//! system's memory. So does a block for which the range has no room. [`shortage`] reports this.
//!
//! A block that is freed twice ends the execution with a finding, and so does one that belongs to no execution, or to
//! an earlier one: a static has kept it. Such memory is left untouched. A block of an earlier execution cannot be
//! distinguished from one of this execution at the same address. So real statics must be restored before each
//! execution.
//!
//! No lock is held, and no list of blocks is kept here. So a signal may end a task in the middle of an allocation: at
//! worst, a block is lost for the rest of the execution.
//!
//! The engine keeps the addresses of atomics, and is notified of each block that is freed: an atomic in it must not be
//! used any more. One that was not used before is recognised by the pattern. A lock in freed memory is recognised by the
//! pattern in place of its identity, and a count of `Arc` by the pattern in place of its value.
//!
//! Blind spots: locks, counts and unused atomics in a freed block of 256 KiB or more, whose pages are zero; memory of
//! C's `malloc`; memory that std keeps for the process and allocates at its first use in a task, except for what a
//! worker makes it allocate earlier, and what the overlay of std allocates [`outside`]. With `INTERMEZZO_ARENA_CHECK` set,
//! memory of ended executions cannot be accessed any more, so that such a use crashes. This is for the engine's own tests.
//!
//! Only with the feature `unmodified`, on Unix with 64 bits. Elsewhere all of this does nothing, and [`Arena`] is the
//! system's allocator.

#[cfg(all(feature = "unmodified", unix, target_pointer_width = "64"))]
pub(super) mod allocations;
#[cfg(all(feature = "unmodified", unix, target_pointer_width = "64"))]
mod blocks;
#[cfg(all(feature = "unmodified", unix, target_pointer_width = "64"))]
mod gate;
#[cfg(all(feature = "unmodified", unix, target_pointer_width = "64"))]
mod range;
#[cfg(all(feature = "unmodified", unix, target_pointer_width = "64"))]
pub(super) mod reach;
#[cfg(all(feature = "unmodified", unix, target_pointer_width = "64"))]
mod reuse;

#[cfg(all(feature = "unmodified", unix, target_pointer_width = "64"))]
pub(super) use blocks::are_freed;
#[cfg(all(feature = "unmodified", unix, target_pointer_width = "64"))]
#[allow(unused_imports, reason = "for `races`, which is on some systems only")]
pub(super) use blocks::misused;
#[cfg(all(feature = "unmodified", unix, target_pointer_width = "64"))]
pub use blocks::{Arena, in_use};
#[cfg(all(feature = "unmodified", unix, target_pointer_width = "64"))]
#[allow(unused_imports, reason = "for `races`, which is on some systems only")]
pub(super) use gate::{Claim, Closed, assert_open, has_execution, is_open, test_runs, while_tasks_run};
#[cfg(all(feature = "unmodified", unix, target_pointer_width = "64"))]
pub use gate::{is_available, outside, shortage};
#[cfg(all(feature = "unmodified", unix, target_pointer_width = "64"))]
#[allow(unused_imports, reason = "for `races`, which is on some systems only")]
pub(super) use range::holds;
#[cfg(all(feature = "unmodified", unix, target_pointer_width = "64"))]
pub(super) use reuse::FreedBlocks;

/// Returns `true` if this is the content of a word of freed memory.
#[cfg(all(feature = "unmodified", unix, target_pointer_width = "64"))]
pub(super) fn is_of_freed(word: u64) -> bool {
    word == u64::from_ne_bytes([blocks::FREED; 8])
}

#[cfg(not(all(feature = "unmodified", unix, target_pointer_width = "64")))]
pub use absent::{Arena, in_use, is_available, outside, shortage};
#[cfg(not(all(feature = "unmodified", unix, target_pointer_width = "64")))]
#[allow(unused_imports, reason = "`test_runs` is for the feature `unmodified`")]
pub(super) use absent::{
    Claim, Closed, are_freed, assert_open, has_execution, is_of_freed, test_runs, while_tasks_run,
};

/// `true` if an address can be used again in an execution, as the environment's bound `address_reuse` says.
pub const REUSES_ADDRESSES: bool = cfg!(all(feature = "unmodified", unix, target_pointer_width = "64"));

/// A reason why memory of executions has different addresses each time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shortage {
    /// The program has another global allocator.
    NotInstalled,
    /// The system gave no range of addresses.
    NoRange,
    /// An execution needed more memory than the range has.
    Full,
    /// Another worker has the arena.
    InUse,
}

#[cfg(not(all(feature = "unmodified", unix, target_pointer_width = "64")))]
mod absent {
    //! The interface where there is no arena.

    use super::Shortage;
    use std::alloc::{GlobalAlloc, Layout, System};

    /// A global allocator: the system's.
    #[derive(Clone, Copy, Debug, Default)]
    pub struct Arena;

    // SAFETY: all is left to the system's allocator.
    unsafe impl GlobalAlloc for Arena {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            // SAFETY: as the caller says.
            unsafe { System.alloc(layout) }
        }
        unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
            // SAFETY: as the caller says.
            unsafe { System.dealloc(pointer, layout) }
        }
        unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
            // SAFETY: as the caller says.
            unsafe { System.alloc_zeroed(layout) }
        }
        unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
            // SAFETY: as the caller says.
            unsafe { System.realloc(pointer, layout, new_size) }
        }
    }

    /// Calls the function.
    #[inline(always)]
    pub fn outside<R>(f: impl FnOnce() -> R) -> R {
        f()
    }

    /// Returns the numbers of blocks and of bytes that are in use: none.
    pub fn in_use() -> (usize, usize) {
        (0, 0)
    }

    /// Returns `true` if executions have the arena: never.
    pub fn is_available() -> bool {
        false
    }

    /// Returns the reason why memory of executions has different addresses each time.
    pub fn shortage() -> Option<Shortage> {
        Some(Shortage::NoRange)
    }

    #[inline(always)]
    pub(in super::super) fn while_tasks_run<R>(run: impl FnOnce() -> R) -> R {
        run()
    }

    #[inline(always)]
    pub(in super::super) fn assert_open() {}

    pub(in super::super) fn has_execution() -> bool {
        false
    }

    pub(in super::super) fn is_of_freed(_: u64) -> bool {
        false
    }

    pub(in super::super) fn are_freed(_: usize, _: usize) -> bool {
        false
    }

    #[allow(
        dead_code,
        reason = "for the feature `unmodified`, on systems without an arena"
    )]
    pub(in super::super) fn test_runs() -> bool {
        false
    }

    pub(in super::super) struct Closed;

    impl Closed {
        #[inline(always)]
        pub(in super::super) fn new() -> Closed {
            Closed
        }
    }

    pub(in super::super) struct Claim;

    impl Claim {
        pub(in super::super) fn take() -> Claim {
            Claim
        }

        #[inline(always)]
        pub(in super::super) fn execution(&mut self) -> Execution {
            Execution
        }
    }

    pub(in super::super) struct Execution;
}
