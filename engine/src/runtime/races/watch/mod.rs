//! The calls before accesses, on the systems for which code is compiled with them.

mod atomics;
mod callbacks;
mod places;

use super::super::listen::{DataAccess, Does, Owner};
use super::super::tasks::Tasks;
use super::super::{Engine, Runtime, arena, image};
use super::{COUNTED, WATCHED};
use crate::site::{Site, look_up_addresses_by};
use places::{Caller, Frame};
use std::path::PathBuf;
use std::sync::atomic::Ordering::Relaxed;

/// Notes that this test binary was compiled with the calls for atomics. `ours` are the directories of the front end's
/// sources. Those in `transparent` count as std's, because they only pass calls on. `root` is the compiler's working
/// directory: reports name files relative to it.
pub fn see_counts(ours: &[&str], transparent: &[&str], root: Option<PathBuf>) {
    // In this way the linker finds them here.
    callbacks::keep();
    places::set(ours, transparent, root);
    look_up_addresses_by(places::place_of);
    COUNTED.store(true, Relaxed);
}

/// Notes that this test binary was compiled with the calls for plain memory, too.
pub fn watch_memory() {
    WATCHED.store(true, Relaxed);
}

/// Publishes an access that is about to happen, if the test makes it.
#[inline(never)]
fn seen(address: usize, size: usize, does: Does, frame: Frame) {
    let Some(engine) = Engine::current() else { return };
    let point = engine.with(|rt| {
        let site = |tasks: &Tasks| places::caller_of(tasks, frame).site;
        rt.point_or_tell(address, size, does, site)
    });
    if let Some(access) = point {
        engine.keep_from_unwinding(|| engine.access_at_point(access));
    }
}

/// Publishes a write by the allocator for the test: a block is about to be freed or moved (`Does::Free`), or was just
/// filled (`Does::Write`).
#[cold]
#[inline(never)]
pub(in super::super) fn allocator_writes(address: usize, size: usize, does: Does) {
    let pointer: usize;
    // SAFETY: this reads a register, which has the frame pointer: the overlays keep frame pointers, like all code that
    // is watched.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        std::arch::asm!("mov {}, rbp", out(reg) pointer, options(nomem, nostack, preserves_flags));
        #[cfg(target_arch = "aarch64")]
        std::arch::asm!("mov {}, x29", out(reg) pointer, options(nomem, nostack, preserves_flags));
    }
    let Some(engine) = Engine::current() else { return };
    let point = engine.with(|rt| {
        let site = |tasks: &Tasks| places::site_behind_allocator(tasks, pointer);
        if does != Does::Free {
            rt.note_filled(address..address + size, site);
            return None;
        }
        rt.point_or_tell(address, size, does, site)
    });
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
        site: impl FnOnce(&Tasks) -> Option<Site>,
    ) -> Option<DataAccess> {
        if size == 0 || !self.monitors.watches_memory || self.end.teardown || !self.follows(address) {
            return None;
        }
        let access = DataAccess {
            owner: Owner::Unknown,
            address,
            size,
            does,
            site: site(&self.tasks)?,
        };
        self.is_point_or_is_told(&access).then_some(access)
    }

    /// Returns `true` if the memory at this address keeps its purpose during an execution, or is used by one task.
    #[inline]
    fn follows(&self, address: usize) -> bool {
        arena::holds(address) || self.tasks.is_on_a_stack(address) || image::is_in_static(address)
    }
}

impl Engine {
    /// Returns the caller of an operation on memory of the arena, if it is one on a count of `Arc` or `Weak` that must be
    /// recorded.
    fn caller_of_count(self, frame: Frame) -> Option<Caller> {
        if places::is_ours(frame.returns_to) {
            return None;
        }
        self.quick(|rt| {
            // This does not depend on the monitors, so that an execution without monitors has the same events and
            // schedule points.
            if rt.end.teardown || rt.tasks.created() == 1 {
                return None;
            }
            Some(places::caller_of(&rt.tasks, frame)).filter(|caller| caller.of_arc)
        })
    }
}
