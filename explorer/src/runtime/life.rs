//! A task's life, as front ends see it: its creation, its result, its panics.

use super::stop::PanicNote;
use super::task::{Access, Site, Status};
use super::{Engine, Runtime};
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
        if !rt.teardown {
            rt.tasks[task as usize].panicking = true;
            rt.anybody_panicking = true;
            rt.panics.push(PanicNote {
                task,
                message,
                place,
                escaped: false,
                joined: false,
            });
        }
    }

    /// Whether the current task is unwinding.
    pub(crate) fn panicking(self) -> bool {
        if !std::thread::panicking() {
            return false;
        }
        // The thread's own flag is that of all its tasks together. If nobody else is unwinding it is this one's.
        let rt = self.rt();
        !rt.others_panicking() || rt.tasks[rt.running as usize].panicking
    }

    /// The running task gives control away: notes whether it is unwinding, which only changes while it runs.
    #[inline(always)]
    pub(super) fn note_unwinding(self) {
        let unwinding = std::thread::panicking();
        if unwinding || self.rt().anybody_panicking {
            self.rt().settle_panicking(unwinding);
        }
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
    /// Whether a task that does not run is unwinding.
    fn others_panicking(&self) -> bool {
        let tasks = self.tasks[..self.created as usize].iter().zip(0..);
        tasks
            .into_iter()
            .any(|(task, number)| task.panicking && task.status == Status::Live && number != self.running)
    }

    /// Notes whether the running task is unwinding, given that of the whole thread. Where others are unwinding
    /// too, the thread's flag says nothing of this one: what its panic hook told stands.
    #[cold]
    fn settle_panicking(&mut self, unwinding: bool) {
        let others = self.others_panicking();
        if !others {
            self.tasks[self.running as usize].panicking = unwinding;
        }
        self.anybody_panicking = unwinding || others;
    }
}
