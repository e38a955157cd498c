//! Recording of operations as events.

use super::{AFTER, Engine};
use crate::record::{Access, Event};
use intermezzo_sdk::EventId;

impl Engine {
    /// Records the effect of the current task's operation.
    ///
    /// Not always inlined, though that saves two to four instructions of a hundred: values of it would lie in the frames of
    /// the test's own loops, and rounds that only wait would no longer look alike.
    #[cfg_attr(feature = "unmodified", inline(never))]
    #[cfg_attr(not(feature = "unmodified"), inline)]
    pub fn commit(self, access: Access, read: u64, written: u64) {
        if self.in_teardown() {
            return;
        }
        if !self.with(|rt| rt.record.events.has_room(rt.tasks.current(), &access)) {
            return self.commit_anyway(access, read, written);
        }
        if self.with(|rt| rt.monitors.pointers_out) {
            return self.commit_anyway(access, read, written);
        }
        self.record(access, read, written);
    }

    /// Does the same if there is no room, if another event was expected, or if the task was given pointers. It is a
    /// function of its own and called last, so that nothing is kept across a call. Otherwise the event's number would be
    /// kept in the test's own function, and the rounds of its loop would look different.
    #[cold]
    #[inline(never)]
    fn commit_anyway(self, access: Access, read: u64, written: u64) {
        self.with(|rt| {
            if !rt.record.events.has_room(rt.tasks.current(), &access) {
                rt.record.events.make_room();
            }
            if rt.monitors.pointers_out {
                rt.look_at_pointers();
            }
        });
        self.record(access, read, written);
    }

    /// Notes that the operation about to be recorded gives up a share of a value whose destructor runs code, and the
    /// number of shares left. `decides` is `true` if it depends on the counts in any case.
    #[cfg_attr(feature = "unmodified", inline(never))]
    #[cfg_attr(not(feature = "unmodified"), inline)]
    pub fn give_up_share(self, var: u32, left: u64, decides: bool) {
        self.with(|rt| {
            if rt.record.is_observed() {
                rt.record.trace.give_up_share(var, left, decides);
            }
        });
    }

    /// Notes that the operation about to be recorded reads counts that it failed to change.
    #[cfg_attr(feature = "unmodified", inline(never))]
    #[cfg_attr(not(feature = "unmodified"), inline)]
    pub fn fail_to_count(self) {
        self.with(|rt| {
            if rt.record.is_observed() {
                rt.record.trace.fail_to_count();
            }
        });
    }

    /// Adds the event. There must be room for it, and no pointer to look at.
    #[inline(always)]
    fn record(self, access: Access, read: u64, written: u64) {
        let is_heard = self.with(|rt| {
            let task = rt.tasks.current();
            let entry = &mut rt.tasks[task];
            entry.events += 1;
            let index = entry.events;
            entry.yielded = false;
            #[cfg(feature = "unmodified")]
            (rt.in_operation = false);
            rt.record.events.record(Event {
                site: access.site,
                read,
                written,
                task,
                index,
                var: access.var,
                op: access.op,
                order: access.order,
                elided: false,
            });
            rt.monitors.listening.intersects(AFTER)
        });
        if is_heard {
            self.tell_access();
        }
    }

    /// Returns the last event of the current task.
    pub(crate) fn last_event(self) -> EventId {
        self.with(|rt| rt.last_of_current())
    }
}
