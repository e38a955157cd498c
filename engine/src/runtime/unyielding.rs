//! Loops that wait without yielding. A real scheduler preempts them. Here they would keep all other tasks from running.
//!
//! Code that was not written for the engine may contain such loops. There a task is made to yield if it reads the same
//! value at one place again and again, and neither changes anything nor yields in between. A loop that yields by itself
//! is left alone: `spin.rs` compares the states at its own yields.
//!
//! A task that wakes itself before each of its waits is in such a loop, too. A future does this to let other tasks run:
//! its executor polls it again later. Such a task is made to yield in any code, also in code written for intermezzo.

use super::Engine;
use super::clock::may_only_wait;
use crate::record::Access;
use crate::site::Site;
use intermezzo_sdk::SyncVarOp;

/// The number of equal reads at one place after which each further one yields. Most loops that do not wait read the
/// same value only once or twice.
const EQUAL_READS: u32 = 3;

/// The same for locks and handles that are taken and released: what such a loop does to the data under the lock is not
/// visible, so it may well do something.
const EQUAL_RELEASES: u32 = 64;

/// The number of waits in a row that a task may end by waking itself, if it writes nothing else in between. It is made
/// to yield at each further one. Combinators of futures wake their own task once or twice, and a yield there would
/// leave out schedules. [`BUSY_WAKES`] is the number if it writes.
const OWN_WAKES: u32 = 3;
const BUSY_WAKES: u32 = 8;

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

/// A read that changed nothing, with the number of equal ones directly before it.
struct Read {
    site: Site,
    op: SyncVarOp,
    var: u32,
    value: u64,
    count: u32,
    /// The number of events of the execution when it was recorded.
    events: usize,
    /// The number of its task's yields until then, including the one that it led to.
    yields: u32,
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
    /// Notes that the operation just recorded read this value and, as far as is known, changed nothing that other tasks
    /// wait for. If the test was not written for intermezzo, and the task is in a loop that only waits, the task
    /// yields.
    #[cfg_attr(feature = "unmodified", inline(never))]
    #[cfg_attr(not(feature = "unmodified"), inline)]
    pub fn changed_nothing(self, access: Access, read: u64) {
        if self.quick(|rt| rt.limits.unmodified) {
            self.yield_if_it_waits(access, read);
        }
    }

    /// Notes that the current task gives a task its park token.
    pub fn note_unpark(self, task: u32) {
        if task == self.thread() {
            self.with_task(task, |entry| entry.unparked_itself = true);
        }
    }

    /// Handles the end of an operation that gave a task its park token. If the task has given it to itself too often
    /// since it last parked, it yields. Such a task may never park at all, because an executor whose future was woken
    /// polls it again at once.
    pub fn unpark_ended(self, task: u32, site: Site) {
        if task != self.thread() || self.in_teardown() {
            return;
        }
        let unparks = self.with_task(task, |entry| {
            entry.own_unparks += 1;
            entry.own_unparks
        });
        if unparks > BUSY_WAKES {
            self.yield_now(Access::nowhere(SyncVarOp::Yield, site));
        }
    }

    /// Handles the end of the current task's wait for its park token.
    pub fn park_ended(self, site: Site) {
        let woke_itself = self.with_task(self.thread(), |entry| {
            entry.own_unparks = 0;
            std::mem::take(&mut entry.unparked_itself)
        });
        self.wait_ended(woke_itself, site);
    }

    /// Handles the end of a wait of the current task. The task yields if it has woken itself too often in a row.
    /// Wake-ups by other tasks do not clear `woke_itself`: they commute with the task's own, so their order must make
    /// no difference.
    pub fn wait_ended(self, woke_itself: bool, site: Site) {
        let yields = self.with(|rt| {
            let current = rt.tasks.current();
            let events = rt.record.events.as_slice().iter().rev();
            let mut own = events.filter(|event| event.task == current).skip(1);
            let is_wake = |op| matches!(op, SyncVarOp::Park | SyncVarOp::Unpark | SyncVarOp::Yield);
            let wrote = woke_itself
                && own
                    .by_ref()
                    .take_while(|event| event.op != SyncVarOp::Park)
                    .any(|event| event.op.is_write() && !is_wake(event.op));
            let task = &mut rt.tasks[current];
            task.own_wakes = if woke_itself { task.own_wakes + 1 } else { 0 };
            task.idle_wakes = if woke_itself && !wrote {
                task.idle_wakes + 1
            } else {
                0
            };
            let too_often = task.idle_wakes > OWN_WAKES || task.own_wakes > BUSY_WAKES;
            too_often && !rt.end.teardown
        });
        if yields {
            self.yield_now(Access::nowhere(SyncVarOp::Yield, site));
        }
    }

    #[cold]
    #[inline(never)]
    fn yield_if_it_waits(self, access: Access, read: u64) {
        if self.in_teardown() {
            return;
        }
        let waits = self.with(|rt| {
            let task = rt.tasks.current();
            let yields = rt.tasks[task].yields;
            let events = rt.record.events.as_slice();
            let OfTask { places, oldest } = rt.constraints.reads.of(task);
            let new = Read {
                site: access.site,
                op: access.op,
                var: access.var,
                value: read,
                count: 1,
                events: events.len(),
                yields,
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
                && place.yields == yields
                && (place.events..events.len())
                    .rev()
                    .all(|at| events[at].task != task || may_only_wait(events, at));
            let count = if is_equal { place.count + 1 } else { 1 };
            let is_release = matches!(
                access.op,
                SyncVarOp::LockRelease | SyncVarOp::SharedRelease | SyncVarOp::CountDown
            );
            let waits = count > if is_release { EQUAL_RELEASES } else { EQUAL_READS };
            let yields = yields + u32::from(waits);
            *place = Read { count, yields, ..new };
            waits
        });
        if waits {
            self.yield_now(Access::nowhere(SyncVarOp::Yield, access.site));
        }
    }
}
