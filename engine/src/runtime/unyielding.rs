//! Loops that wait without ever yielding, in code that was not written for the engine.
//!
//! A real scheduler preempts such a loop, so nothing is wrong with it. Here it would keep all other tasks out. So a task
//! that reads the same at one place again and again, and changes nothing in between, yields.

use super::Engine;
use super::clock::does_something;
use crate::record::Access;
use crate::site::Site;
use intermezzo_sdk::SyncVarOp;

/// The number of equal reads at one place after which each further one yields. Most loops read the same only once or
/// twice if they do not wait.
const EQUAL_READS: u32 = 3;

/// The same for locks that are taken and given back: what such a loop does to the data under the lock is not seen, so it
/// may well do something.
const EQUAL_RELEASES: u32 = 64;

/// The number of places of a task that are remembered, more than a loop that waits is likely to have.
const PLACES_MAX: usize = 16;

/// The last reads of each task that changed nothing.
#[derive(Default)]
pub(super) struct Reads {
    tasks: Vec<OfTask>,
}

#[derive(Default)]
struct OfTask {
    places: Vec<Read>,
    /// The place that is forgotten next.
    oldest: usize,
}

/// A read that changed nothing, and those like it right before.
struct Read {
    site: Site,
    op: SyncVarOp,
    var: u32,
    value: u64,
    count: u32,
    /// The number of events of the execution when it was recorded.
    events: usize,
}

impl Reads {
    /// Forgets all reads, and keeps their memory.
    pub(super) fn begin(&mut self) {
        for task in &mut self.tasks {
            task.places.clear();
            task.oldest = 0;
        }
    }

    fn of(&mut self, task: u32) -> &mut OfTask {
        let at = task as usize;
        if self.tasks.len() <= at {
            self.tasks.resize_with(at + 1, OfTask::default);
        }
        &mut self.tasks[at]
    }
}

impl Engine {
    /// Notes that the operation just recorded changed nothing that others wait for, as far as that is known; it read this
    /// value. If the test was not written for
    /// intermezzo, and its loop only waits, the task yields.
    #[cfg_attr(feature = "unmodified", inline(never))]
    #[cfg_attr(not(feature = "unmodified"), inline)]
    pub fn changed_nothing(self, access: Access, read: u64) {
        if self.with(|rt| rt.limits.unmodified) {
            self.yield_if_it_waits(access, read);
        }
    }

    #[cold]
    #[inline(never)]
    fn yield_if_it_waits(self, access: Access, read: u64) {
        let waits = !self.in_teardown()
            && self.with(|rt| {
                let task = rt.tasks.current();
                let events = rt.record.events.as_slice();
                let OfTask { places, oldest } = rt.constraints.reads.of(task);
                let new = Read {
                    site: access.site,
                    op: access.op,
                    var: access.var,
                    value: read,
                    count: 1,
                    events: events.len(),
                };
                let same = |place: &&mut Read| {
                    place.var == new.var && place.op == new.op && place.site.is_same_word(new.site)
                };
                let Some(place) = places.iter_mut().find(same) else {
                    if places.len() < PLACES_MAX {
                        places.push(new);
                    } else {
                        places[*oldest] = new;
                        *oldest = (*oldest + 1) % PLACES_MAX;
                    }
                    return false;
                };
                let is_equal = place.value == new.value
                    && !events[place.events..]
                        .iter()
                        .any(|event| event.task == task && does_something(event));
                let count = if is_equal { place.count + 1 } else { 1 };
                *place = Read { count, ..new };
                let is_release = matches!(access.op, SyncVarOp::LockRelease | SyncVarOp::SharedRelease);
                count > if is_release { EQUAL_RELEASES } else { EQUAL_READS }
            });
        if waits {
            self.yield_now(Access::nowhere(SyncVarOp::Yield, access.site));
        }
    }
}
