//! Plain memory of code that was not written for the engine, and the atomics that are std's own there: accesses by address.
//!
//! Such code is compiled with LLVM's pass for its thread sanitizer, which puts a call in the place of each operation on an
//! atomic and, if plain memory is to be watched, in front of each access to memory that may be shared. The functions that it
//! calls are ours (`watch::callbacks`). They publish the accesses as the look-alikes of cells do, and so races make schedule
//! points. The place of an access is the address of its
//! instruction, and is looked up when a text names it.
//!
//! - **Code of ours does not count.** A look-alike is generic, so its code is compiled into the crates that use it, and
//!   the pass sees it, too. What it does to its own state is ordered by the engine and by nothing else. So the place of
//!   each access says to whom it belongs (`watch::places`): the first function, from the innermost outwards, that is
//!   not std's. While the engine itself runs, the gate of the arena is closed, and nothing is looked up.
//! - **Memory** counts if it is of the arena, a static, or on the stack of a task. Other memory may be freed and used
//!   again in an execution, and nothing orders the two uses.
//! - **A block that is freed** is written to, in front of that, and so is one that `realloc` may move.
//! - **The atomics of std** that are left in such code are the counts of `Arc`. They are recorded, and order what they order.
//!   With `arc_counts` in the environment they are schedule points. Until the test has created a task, all is ordered anyway,
//!   and they are not recorded.
//!
//! Blind spots: code that was compiled without the pass, such as std's own that is not generic, C, and inline
//! assembly; the end of a block behind its first 4 KiB; code in which the frame pointers lead nowhere, if std's
//! functions alone are known of it.

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
pub(super) use watch::freed;
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
pub(super) fn freed(_: usize, _: usize) {}

/// `true` if the test binary was compiled with the calls for atomics.
static COUNTED: AtomicBool = AtomicBool::new(false);

/// `true` if it was compiled with those for plain memory, too.
static WATCHED: AtomicBool = AtomicBool::new(false);

/// Returns `true` if accesses to plain memory are seen, though the code was not written for the engine.
pub fn is_memory_watched() -> bool {
    WATCHED.load(Relaxed)
}

/// Returns `true` if all that orders accesses is seen. In code that was not written for the engine, the counts of std's
/// `Arc` order some, too.
pub fn is_order_seen() -> bool {
    !is_laid_over_std() || COUNTED.load(Relaxed) && arena::is_available()
}
