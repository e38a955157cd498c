//! A task's life, as front ends see it: its creation, its result, its panics.

use super::stop::PanicNote;
use super::task::{Access, Site, Status};
use super::{Engine, Runtime, panic_count};
use intermezzo_sdk::SyncVarOp;
use std::sync::Arc;

impl Engine {
    /// Creates a task and returns its number. It runs once `fill` has put a closure in its room.
    ///
    /// # Safety
    /// As for `Room::fill`.
    pub(crate) unsafe fn fork<F: FnOnce() -> T, T>(
        self,
        name: Option<Arc<str>>,
        site: Site,
        closure: F,
    ) -> u32 {
        self.point(Access::nowhere(SyncVarOp::TaskFork, site));
        let rt = self.rt();
        let task = match rt.new_task(name, site) {
            Ok(task) => task,
            Err(error) => self.misuse(format!("no memory for the stack of task {}: {error}", rt.created)),
        };
        // SAFETY: as the caller says.
        unsafe { self.rt().fibers[task as usize].room.fill(closure) };
        self.commit(
            Access::new(SyncVarOp::TaskFork, self.task_var(task), site),
            u64::from(task),
            0,
        );
        task
    }

    /// Takes the result of a task that has ended.
    ///
    /// # Safety
    /// The task was forked, in this execution, with a closure that returns `T`.
    pub(crate) unsafe fn take_result<T>(self, task: u32) -> Option<std::thread::Result<T>> {
        // SAFETY: as the caller says.
        unsafe { self.rt().fibers[task as usize].room.take() }
    }

    /// Nobody has a handle on the task any more: its result is dropped, now or at its end.
    pub(crate) fn detach(self, task: u32) {
        let entry = self.task_entry(task);
        entry.detached = true;
        if entry.status == Status::Ended {
            self.drop_room(task);
        }
    }

    /// Drops what is in a task's room.
    pub(super) fn drop_room(self, task: u32) {
        if let Some((discard, place)) = self.rt().fibers[task as usize].room.empty() {
            // SAFETY: `empty` gave the two together. Dropping runs the test's code, with no hold on the runtime.
            unsafe { discard(place) };
        }
    }

    /// Notes a panic of the current task.
    pub(crate) fn note_panic(self, message: String, place: Option<String>) {
        let rt = self.rt();
        let task = rt.current;
        if rt.teardown {
            return;
        }
        let before = rt.panics.iter().any(|note| note.task == task && !note.escaped);
        let depth = if before {
            // That one was caught, or this one began in a destructor that it runs.
            let unwinding = panic_count::lay_down();
            panic_count::take_up(unwinding);
            unwinding
        } else {
            1
        };
        self.rt().panics.push(PanicNote {
            task,
            message,
            place,
            escaped: false,
            joined: false,
            depth,
            unwinding: false,
        });
    }

    /// The running task gives control away while it unwinds: the others do not.
    #[cold]
    #[inline(never)]
    pub(super) fn lay_down_panics(self) {
        let laid = panic_count::lay_down();
        let rt = self.rt();
        rt.tasks[rt.running as usize].unwinding = laid;
    }

    /// The running task has control again, and goes on unwinding.
    #[cold]
    #[inline(never)]
    pub(super) fn take_up_panics(self) {
        let rt = self.rt();
        panic_count::take_up(std::mem::take(&mut rt.tasks[rt.running as usize].unwinding));
    }

    /// The current task waits for tasks that borrow from it (or no longer does): should the execution be
    /// abandoned, it must not unwind before their end.
    pub(crate) fn stand_firm(self, firm: bool) {
        self.task_entry(self.task()).firm = firm;
    }

    /// Somebody joined this task and saw that it panicked: not a finding by itself.
    pub(crate) fn panic_seen(self, task: u32) {
        for note in self.rt().panics.iter_mut().filter(|note| note.task == task) {
            note.joined = true;
        }
    }

    /// Whether a task panicked and nobody has seen it by joining; seen from now on.
    pub(crate) fn panic_unseen(self, task: u32) -> bool {
        let unseen = self
            .rt()
            .panics
            .iter()
            .any(|note| note.task == task && note.escaped && !note.joined);
        self.panic_seen(task);
        unseen
    }
}

impl Runtime {
    /// Marks the panics that tasks were unwinding from when the execution ended: nothing caught them, and they may be
    /// its cause.
    pub(super) fn mark_unwinding(&mut self) {
        for (task, entry) in self.tasks[..self.created as usize].iter().enumerate() {
            if entry.unwinding == 0 {
                continue;
            }
            // One panic per depth: a later one of the same depth began after the earlier one was caught.
            let mut left = entry.unwinding;
            let own = self.panics.iter_mut().rev();
            for note in own.filter(|note| note.task as usize == task && !note.escaped) {
                if note.depth <= left {
                    note.unwinding = true;
                    left = note.depth - 1;
                }
            }
        }
    }
}
