//! What an operation did is recorded as an event.

use super::{AFTER, Engine};
use crate::record::{Access, Event};
use intermezzo_sdk::{EventId, TaskId};

impl Engine {
    /// Records what the current task's operation did.
    ///
    /// Not always inlined, though that saves two to four instructions of a hundred: values of it would lie in the frames of
    /// the test's own loops, and rounds that only wait would no longer look alike.
    #[inline]
    pub fn commit(self, access: Access, read: u64, written: u64) {
        let rt = self.rt();
        if rt.teardown {
            return;
        }
        if !rt.events.has_room(rt.current, &access) {
            return self.commit_anyway(access, read, written);
        }
        self.record(access, read, written);
    }

    /// The same where there is no room, or another event was expected. Apart, and nothing comes after it: so nothing is kept
    /// over a call. The event's number would be, in the test's own function, and make the rounds of its loop look different.
    #[cold]
    #[inline(never)]
    fn commit_anyway(self, access: Access, read: u64, written: u64) {
        self.rt().events.make_room();
        self.record(access, read, written);
    }

    /// The operation that is about to be recorded leaves one share of a value, whose end runs code.
    pub fn leaves_last_share(self, var: u32) {
        let rt = self.rt();
        if rt.steps >= rt.observe_from {
            rt.trace.leaves_last_share(var);
        }
    }

    /// Adds the event, for which there is room.
    #[inline(always)]
    fn record(self, access: Access, read: u64, written: u64) {
        if self.rt().pointers_out {
            self.look_at_pointers();
        }
        let rt = self.rt();
        let task = rt.current;
        let entry = &mut rt.tasks[task as usize];
        entry.events += 1;
        let index = entry.events;
        entry.yielded = false;
        rt.events.record(Event {
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
        if rt.listening.intersects(AFTER) {
            self.tell_access();
        }
    }

    /// The last event of the current task.
    pub(crate) fn last_event(self) -> EventId {
        let rt = self.rt();
        EventId {
            task: TaskId(rt.current),
            index: rt.tasks[rt.current as usize].events,
        }
    }
}
