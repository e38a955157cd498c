//! Plain memory of code that was not written for the engine: accesses by address, for the monitors.
//!
//! Such code is compiled with LLVM's pass for its thread sanitizer, which puts a call in front of each access to memory
//! that may be shared. The functions that it calls are ours (`callbacks`). They publish the accesses as the
//! look-alikes of cells do, and so races make schedule points. The place of an access is the address of its
//! instruction, and is looked up when a text names it.
//!
//! - **Code of ours does not count.** A look-alike is generic, so its code is compiled into the crates that use it, and
//!   the pass sees it, too. What it does to its own state is ordered by the engine and by nothing else. So the place of
//!   each access says to whom it belongs (`places`): the first function, from the innermost outwards, that is
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
pub fn watch_memory(_: &[&str], _: &[&str], _: Option<std::path::PathBuf>) {}

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
    use super::super::{Engine, Runtime, arena, image};
    use super::places::{self, Frame};
    use super::{WATCHED, callbacks};
    use crate::site::{Site, look_up_addresses_by};
    use std::path::PathBuf;
    use std::sync::atomic::Ordering::Relaxed;

    /// Notes that this test binary was compiled with the calls. `ours` are the directories of the front end's sources.
    /// Those in `transparent` count as std's, because they only pass on what they are asked for. `root` is the directory in
    /// which the compiler was run: names of files are shown from there.
    pub fn watch_memory(ours: &[&str], transparent: &[&str], root: Option<PathBuf>) {
        // In this way the linker finds them here.
        callbacks::keep();
        places::set(ours, transparent, root);
        look_up_addresses_by(places::place_of);
        WATCHED.store(true, Relaxed);
    }

    /// Publishes an access that is about to happen, if the test makes it.
    #[inline(never)]
    pub(super) fn seen(address: usize, size: usize, does: Does, frame: Frame) {
        let Some(engine) = Engine::current() else { return };
        let point = engine.with(|rt| rt.point_or_tell(address, size, does, frame));
        if let Some(access) = point {
            engine.keep_from_unwinding(|| engine.access_at_point(access));
        }
    }

    impl Runtime {
        /// Publishes an access, if the test makes it to memory that counts. If it is a schedule point, returns it instead.
        #[inline]
        fn point_or_tell(
            &mut self,
            address: usize,
            size: usize,
            does: Does,
            frame: Frame,
        ) -> Option<DataAccess> {
            if size == 0 || !self.monitors.watches_memory || self.end.teardown || !self.follows(address) {
                return None;
            }
            let access = DataAccess {
                owner: Owner::Unknown,
                address,
                size,
                does,
                site: places::site_of_test(&self.tasks, frame)?,
            };
            self.is_point_or_is_told(&access).then_some(access)
        }

        /// Returns `true` if the memory at this address is used for one thing in an execution, or by one task.
        #[inline]
        fn follows(&self, address: usize) -> bool {
            arena::holds(address) || self.tasks.is_on_a_stack(address) || image::is_in_static(address)
        }
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
            if places::is_ours(frame.returns_to) || !arena::holds(address) {
                return None;
            }
            self.with(|rt| {
                let is_heard = rt.monitors.watches_memory && !rt.end.teardown;
                is_heard.then(|| places::site_of_test(&rt.tasks, frame)).flatten()
            })
        }

        /// As `keep_from_unwinding`, for operations on atomics.
        pub(super) fn turn_of_std_atomic(self, enter: impl FnOnce()) {
            self.keep_from_unwinding(enter);
        }
    }
}
