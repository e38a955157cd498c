//! Recording of operations as events.

use super::{AFTER, Engine, Runtime};
use crate::record::Access;
use crate::site::Site;
use intermezzo_sdk::{EventId, MemoryOrder, SyncVarOp};

impl Engine {
    /// Records the effect of the current task's operation.
    ///
    /// Not always inlined, although that saves two to four instructions of a hundred: its values would be in the frames
    /// of the test's own loops, and rounds that only wait would no longer have equal states.
    #[cfg_attr(feature = "unmodified", inline(never))]
    #[cfg_attr(not(feature = "unmodified"), inline)]
    pub fn commit(self, access: Access, read: u64, written: u64) {
        match self.quick(|rt| rt.record_at_once(&access, read, written)) {
            Some(false) => {}
            Some(true) => self.tell_access(),
            None => self.commit_anyway(&access, read, written),
        }
    }

    /// Records an operation of which no monitor is notified.
    #[cold]
    #[inline(never)]
    pub(super) fn commit_untold(self, access: Access, read: u64, written: u64) {
        self.with(|rt| {
            if !rt.record.events.has_room(rt.tasks.current(), &access) {
                rt.record.events.make_room();
            }
            rt.record(&access, read, written);
        });
    }

    /// Does the same as `commit` in teardown, if there is no room, if another event was expected, or if the task was
    /// given pointers.
    /// It is a separate function, called last, so that no value is kept across a call. Otherwise the event's number
    /// would be kept in the frame of the test's own function, and the rounds of its loop would have different states.
    #[cold]
    #[inline(never)]
    fn commit_anyway(self, access: &Access, read: u64, written: u64) {
        if self.in_teardown() {
            return;
        }
        self.with(|rt| {
            if !rt.record.events.has_room(rt.tasks.current(), access) {
                rt.record.events.make_room();
            }
            if rt.monitors.pointers_out {
                rt.look_at_pointers();
            }
        });
        if self.with(|rt| rt.record(access, read, written)) == Some(true) {
            self.tell_access();
        }
    }

    /// Notes that the operation about to be recorded releases a share of a value whose destructor runs code, and that
    /// `left` shares remain. `decides` is `true` if the operation depends on the counts in any case.
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

    /// Returns `true` if the last operation of the current task was a read-modify-write with `SeqCst`, or one that
    /// failed with this ordering. On x86, together with a compiler fence after it, such an operation acts as a fence.
    /// Notes that the task relies on that.
    pub fn relies_on_compiler_fence(self) -> bool {
        self.with(|rt| {
            let task = rt.tasks.current();
            let mut events = rt.record.events.as_slice().iter();
            let last = events.rfind(|event| event.task == task);
            let relies = last.is_some_and(|last| {
                let exchanges = matches!(last.op, SyncVarOp::AtomicRmw | SyncVarOp::AtomicRmwFailed);
                exchanges && last.order == MemoryOrder::SeqCst
            });
            rt.world.capped.compiler_fences |= relies;
            relies
        })
    }

    /// Notes that the current task calls the system, which may answer differently in another execution.
    pub fn call_system(self) {
        self.with(|rt| rt.decisions.alike.call_system());
    }

    /// Notes that the current task may access memory that other tasks use, by instructions that the engine does not
    /// observe.
    pub fn access_unseen(self) {
        self.with(|rt| rt.world.capped.assembly = true);
    }

    /// Notes that the test takes a handle on a standard stream, whose lock may be held when the execution ends.
    pub fn use_stream(self) {
        self.with(|rt| rt.end.uses_streams = true);
    }

    /// Returns the last event of the current task.
    pub(crate) fn last_event(self) -> EventId {
        self.with(|rt| rt.last_of_current())
    }

    /// Returns the place of the operation that the current task announced last.
    pub fn last_site(self) -> Site {
        self.with(|rt| rt.tasks.last_site())
    }
}

impl Runtime {
    /// Records the effect of the current task's operation. Returns `true` if a monitor must be notified. Returns `None`
    /// if nothing was recorded, because the execution is being cleared away, because pointers have to be checked first,
    /// or for the reasons of [`record`](Self::record).
    #[inline(always)]
    fn record_at_once(&mut self, access: &Access, read: u64, written: u64) -> Option<bool> {
        if self.end.teardown | self.monitors.pointers_out {
            return None;
        }
        self.record(access, read, written)
    }

    /// Records the effect of the current task's operation. Returns `true` if a monitor must be notified. Returns `None`
    /// if nothing was recorded, because there is no room or another event was expected.
    #[inline(always)]
    fn record(&mut self, access: &Access, read: u64, written: u64) -> Option<bool> {
        let task = self.tasks.current();
        let entry = &mut self.tasks[task];
        let index = entry.events + 1;
        if !self.record.events.record(task, index, access, read, written) {
            return None;
        }
        (entry.events, entry.yielded) = (index, false);
        #[cfg(feature = "unmodified")]
        (self.in_operation = false);
        Some(self.monitors.listening.intersects(AFTER))
    }
}
