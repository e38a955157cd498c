//! Accesses by address in code that was not written for the engine: to plain memory, and to std's own atomics.
//!
//! Such code is compiled with LLVM's pass for its thread sanitizer. The pass replaces each operation on an atomic by a
//! call and, if plain memory must be watched, inserts a call before each access to memory that may be shared. The
//! engine defines the functions that are called (`watch::callbacks`). They publish the accesses as the look-alikes of
//! cells do, so places of races become schedule points. The place of an access is the address of its instruction, and
//! is looked up when a text names it.
//!
//! - **Code of intermezzo does not count.** A look-alike is generic, so its code is compiled into the crates that use
//!   it, and the pass handles it, too. Its accesses to its own state are ordered only by the engine. So the owner of
//!   each access is determined (`watch::places`): it is the first function, from the innermost outwards, that is not
//!   std's. While the engine itself runs, the gate of the arena is closed, and nothing is looked up.
//! - **Memory** counts if it is in the arena, in a static, or on the stack of a task. Other memory may be freed and
//!   used again in an execution, and nothing orders the two uses.
//! - **A block that is freed** counts as written just before, and so does one that `realloc` may move.
//! - **A block that the allocator fills** counts as written by the task that asks for it: with zeros by `alloc_zeroed`,
//!   or with the content of a block that `realloc` moves.
//! - **The atomics of std** that are left in such code are the counts of `Arc`. They are recorded, with the order that
//!   they establish. With `arc_counts` in the environment they are schedule points. Until the test has created a task,
//!   everything is ordered anyway, and they are not recorded.
//!
//! - **Copies, fills and comparisons** by C's `memcpy` and its siblings count with glibc, also if the pass has not seen
//!   their caller: the engine defines these functions, too.
//!
//! Other accesses of code that was compiled without the pass are blind spots: of C, of inline assembly, and of what std
//! has compiled already, such as its sorting of integers. So are the orders of a free and of accesses to the block beyond
//! its first 4 KiB, which race but are not explored; and code without valid frame pointers, if the debug information shows
//! only functions of std.

#[cfg(all(
    feature = "unmodified",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod watch;

use super::{arena, is_laid_over_std};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

#[cfg(all(
    feature = "unmodified",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
pub(super) use watch::allocator_writes;
#[cfg(all(
    feature = "unmodified",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
pub use watch::{see_counts, watch_memory};

/// Does nothing: no code is compiled with the calls for this system.
#[cfg(not(all(
    feature = "unmodified",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
pub fn see_counts(_: &[&str], _: &[&str], _: Option<std::path::PathBuf>) {}

/// Does nothing, as above.
#[cfg(not(all(
    feature = "unmodified",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
pub fn watch_memory() {}

/// Does nothing, as above.
#[cfg(not(all(
    feature = "unmodified",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
#[allow(dead_code, reason = "for systems with an arena")]
pub(super) fn allocator_writes(_: usize, _: usize, _: super::Does) {}

/// `true` if the test binary was compiled with the calls for atomics.
static COUNTED: AtomicBool = AtomicBool::new(false);

/// `true` if it was compiled with the calls for plain memory, too.
static WATCHED: AtomicBool = AtomicBool::new(false);

/// Returns `true` if accesses to plain memory are watched in code that was not written for the engine.
pub fn is_memory_watched() -> bool {
    WATCHED.load(Relaxed)
}

/// Returns `true` if everything that orders accesses is observed. In code that was not written for the engine, the
/// counts of std's `Arc` order accesses, too.
pub fn is_order_seen() -> bool {
    !is_laid_over_std() || COUNTED.load(Relaxed) && arena::is_available()
}
