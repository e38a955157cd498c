//! The calls in front of accesses, on the systems for which code is compiled with them.

mod atomics;
mod callbacks;
mod places;

use super::super::listen::{DataAccess, Does, Owner};
use super::super::{Engine, Runtime, arena, image};
use super::WATCHED;
use crate::site::{Site, look_up_addresses_by};
use places::Frame;
use std::path::PathBuf;
use std::sync::atomic::Ordering::Relaxed;

/// Notes that this test binary was compiled with the calls. `ours` are the directories of the front end's sources.
/// Those in `transparent` count as std's, because they only pass calls on. `root` is the compiler's working directory:
/// reports name files relative to it.
pub fn watch_memory(ours: &[&str], transparent: &[&str], root: Option<PathBuf>) {
    // In this way the linker finds them here.
    callbacks::keep();
    places::set(ours, transparent, root);
    look_up_addresses_by(places::place_of);
    WATCHED.store(true, Relaxed);
}

/// Publishes an access that is about to happen, if the test makes it.
#[inline(never)]
fn seen(address: usize, size: usize, does: Does, frame: Frame) {
    let Some(engine) = Engine::current() else { return };
    let point = engine.with(|rt| rt.point_or_tell(address, size, does, frame));
    if let Some(access) = point {
        engine.keep_from_unwinding(|| engine.access_at_point(access));
    }
}

impl Runtime {
    /// Publishes an access, if the test makes it to memory that counts. If it is a schedule point, returns it instead.
    #[inline]
    fn point_or_tell(&mut self, address: usize, size: usize, does: Does, frame: Frame) -> Option<DataAccess> {
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
    /// Returns the place of an operation on an atomic of std's, if the test makes it and it is to be recorded.
    fn site_of_std_atomic(self, address: usize, frame: Frame) -> Option<Site> {
        if places::is_ours(frame.returns_to) || !arena::holds(address) {
            return None;
        }
        self.with(|rt| {
            let is_heard = rt.monitors.watches_memory && !rt.end.teardown;
            is_heard.then(|| places::site_of_test(&rt.tasks, frame)).flatten()
        })
    }
}
