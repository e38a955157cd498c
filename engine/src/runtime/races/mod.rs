//! Plain memory of code that was not written for the engine: accesses by address, for the monitors.
//!
//! Such code is compiled with LLVM's pass for its thread sanitizer, which puts a call in front of each access to memory
//! that may be shared. The functions that it calls are ours ([`callbacks`]). They publish the accesses as the
//! look-alikes of cells do, and so races make schedule points. The place of an access is the address of its
//! instruction, and is looked up when a text names it.
//!
//! - **Code of ours does not count.** A look-alike is generic, so its code is compiled into the crates that use it, and
//!   the pass sees it, too. What it does to its own state is ordered by the engine and by nothing else. So the place of
//!   each access says to whom it belongs ([`places`]): the first function, from the innermost outwards, that is
//!   not std's. While the engine itself runs, the gate of the arena is closed, and nothing is looked up.
//! - **Memory** counts if it is of the arena, a static, or on the stack of a task. Other memory may be freed and used
//!   again in an execution, and nothing orders the two uses.
//! - **The atomics of std** that are left in such code are the counts of `Arc`. They are recorded, and order what they order,
//!   but are no schedule points unless the environment has `arc_counts`.
//!
//! Blind spots: code that was compiled without the pass, such as std's own that is not generic, C, and inline
//! assembly; the accesses of `realloc`, and the end of a block; code in which the frame pointers lead nowhere, if std's
//! functions alone are known of it.

#[cfg(all(
    feature = "unmodified",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod atomics;
#[cfg(all(
    feature = "unmodified",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod callbacks;
#[cfg(all(
    feature = "unmodified",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod places;

#[cfg(all(
    feature = "unmodified",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
pub use watch::watch_memory;

#[cfg(not(all(
    feature = "unmodified",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
/// Does nothing: no code is compiled with the calls for this system.
pub fn watch_memory(_: &[&str], _: Option<std::path::PathBuf>) {}

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// `true` if the test binary was compiled with the calls.
static WATCHED: AtomicBool = AtomicBool::new(false);

/// Returns `true` if accesses to plain memory are seen, though the code was not written for the engine.
pub fn is_memory_watched() -> bool {
    WATCHED.load(Relaxed)
}

#[cfg(all(
    feature = "unmodified",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod watch {
    use super::super::listen::{DataAccess, Does, Owner};
    use super::super::{Engine, arena, image};
    use super::places::{self, Frame};
    use super::{WATCHED, callbacks};
    use crate::site::{Site, look_up_addresses_by};
    use std::path::PathBuf;
    use std::sync::atomic::Ordering::Relaxed;

    /// Notes that this test binary was compiled with the calls. `ours` are the directories of the front end's sources,
    /// and `root` is the directory in which the compiler was run: names of files are shown from there.
    pub fn watch_memory(ours: &[&str], root: Option<PathBuf>) {
        // In this way the linker finds them here.
        callbacks::keep();
        places::set(ours, root);
        look_up_addresses_by(places::place_of);
        WATCHED.store(true, Relaxed);
    }

    /// Publishes an access of the test's that is about to happen, unless code of ours makes it.
    #[inline(never)]
    pub(super) fn seen(address: usize, size: usize, does: Does, frame: Frame) {
        let Some(engine) = Engine::current() else { return };
        if size == 0 || !engine.with(|rt| rt.monitors.watches_memory && !rt.end.teardown) {
            return;
        }
        if !is_followed(address) {
            return;
        }
        let Some(site) = places::site_of_test(engine, frame) else {
            return;
        };
        engine.keep_from_unwinding(|| {
            engine.data_access(DataAccess {
                owner: Owner::Unknown,
                address,
                size,
                does,
                site,
            });
        });
    }

    /// `true` if the memory at this address is used for one thing in an execution, or by one task.
    fn is_followed(address: usize) -> bool {
        arena::holds(address) || image::is_in_static(address) || is_on_a_stack(address)
    }

    fn is_on_a_stack(address: usize) -> bool {
        Engine::current().is_some_and(|engine| engine.with(|rt| rt.tasks.is_on_a_stack(address)))
    }

    impl Engine {
        /// Calls a function that may let other tasks run, from code that must not be unwound.
        fn keep_from_unwinding<R>(self, f: impl FnOnce() -> R) -> R {
            let task = self.task();
            let before = self.with_task(task, |entry| std::mem::replace(&mut entry.finishing, true));
            let result = f();
            self.with_task(task, |entry| entry.finishing = before);
            result
        }

        /// Returns the place of an operation on an atomic of std's, if the test makes it and it is to be recorded.
        pub(super) fn site_of_std_atomic(self, address: usize, frame: Frame) -> Option<Site> {
            let is_heard = self.with(|rt| rt.monitors.watches_memory && !rt.end.teardown);
            if !is_heard || !arena::holds(address) {
                return None;
            }
            places::site_of_test(self, frame)
        }

        /// As `keep_from_unwinding`, for operations on atomics.
        pub(super) fn turn_of_std_atomic(self, enter: impl FnOnce()) {
            self.keep_from_unwinding(enter);
        }
    }
}
