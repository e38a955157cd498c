//! Plain memory of code that was not written for the engine: accesses by address, for the monitors.
//!
//! Such code is compiled with LLVM's pass for its thread sanitizer, which puts a call in front of each access to memory
//! that may be shared. The functions that it calls are ours (`watch::callbacks`). They publish the accesses as the
//! look-alikes of cells do, and so races make schedule points. The place of an access is the address of its
//! instruction, and is looked up when a text names it.
//!
//! - **Code of ours does not count.** A look-alike is generic, so its code is compiled into the crates that use it, and
//!   the pass sees it, too. What it does to its own state is ordered by the engine and by nothing else. So the place of
//!   each access says to whom it belongs (`watch::places`): the first function, from the innermost outwards, that is
//!   not std's. While the engine itself runs, the gate of the arena is closed, and nothing is looked up.
//! - **Memory** counts if it is of the arena, a static, or on the stack of a task. Other memory may be freed and used
//!   again in an execution, and nothing orders the two uses.
//! - **A block that is freed** is written to, in front of that, and so is one that `realloc` may move.
//! - **The atomics of std** that are left in such code are the counts of `Arc`. They are recorded, and order what they order,
//!   but are no schedule points unless the environment has `arc_counts`.
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
pub use watch::watch_memory;

/// Does nothing: no code is compiled with the calls for this system.
#[cfg(not(all(
    feature = "unmodified",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
pub fn watch_memory(_: &[&str], _: &[&str], _: Option<std::path::PathBuf>) {}

/// Does nothing, as above.
#[cfg(not(all(
    feature = "unmodified",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
#[allow(dead_code, reason = "for systems with an arena")]
pub(super) fn freed(_: usize, _: usize) {}

/// `true` if the test binary was compiled with the calls.
static WATCHED: AtomicBool = AtomicBool::new(false);

/// Returns `true` if accesses to plain memory are seen, though the code was not written for the engine.
pub fn is_memory_watched() -> bool {
    WATCHED.load(Relaxed)
}

/// Returns `true` if all that orders accesses is seen. In code that was not written for the engine, the counts of std's
/// `Arc` order some, too.
pub fn is_order_seen() -> bool {
    !is_laid_over_std() || is_memory_watched() && arena::is_available()
}
