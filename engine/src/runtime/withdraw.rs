//! Withdrawal of tasks while an execution runs. It is for front ends that end some tasks before the execution's end,
//! such as drop-in replacements for tools that do not wait for all tasks.
//!
//! A task that is *held* takes no further step. One that is *withdrawn* unwinds at its next operation, with a private
//! payload and no message, and takes its remaining steps like any task that unwinds. So its destructors may wait for
//! other tasks. If it catches the payload, its next operation makes it unwind again. Its locks are not poisoned.
//!
//! Both change what another task may do, without an access to a variable that would show when. So no reduction is sound
//! then.

use super::{Engine, Runtime};
use crate::record::{Access, Pending, Status};
use crate::site::Site;
use crate::trace::SoundReduction;
use intermezzo_sdk::SyncVarOp;
use std::panic::resume_unwind;

/// The payload that unwinds a task that is withdrawn.
#[derive(Debug)]
pub struct Withdrawn;

impl Engine {
    /// Holds a task: it takes no further step unless it is withdrawn. A task that is the current one, has ended, or
    /// unwinds is not held; then the function returns `false`.
    pub fn hold(self, task: u32, site: Site) -> bool {
        !self.in_teardown() && self.with(|rt| rt.hold(task, site))
    }

    /// Withdraws a task that is held: it unwinds, and its steps are scheduled like any others.
    ///
    /// # Panics
    ///
    /// Panics if the task is not held.
    pub fn withdraw(self, task: u32, site: Site) {
        if self.in_teardown() {
            return;
        }
        self.with(|rt| {
            let entry = &mut rt.tasks[task];
            assert!(entry.held, "task {task} is not held");
            (entry.held, entry.withdrawn) = (false, true);
            rt.end.takes_care = true;
            rt.ready.enable(task);
            rt.record
                .sound_only(SoundReduction::Nothing, SyncVarOp::SchedulePoint, site);
        });
    }

    /// Returns `true` if the current task was withdrawn.
    pub fn is_withdrawn(self) -> bool {
        self.with(|rt| rt.tasks.current_task().withdrawn)
    }

    /// Ends the withdrawal of the current task. The front end calls this where it catches the payload. Returns `true`
    /// if the task was withdrawn.
    pub fn end_withdrawal(self) -> bool {
        self.with(|rt| std::mem::take(&mut rt.tasks.current_task().withdrawn))
    }

    /// Returns `true` if an operation may have to be abandoned, or there is a function to be called at switches: in
    /// teardown, after a task was withdrawn, and after [`on_switch`](Self::on_switch).
    #[inline(always)]
    pub(super) fn needs_care(self) -> bool {
        self.with(|rt| rt.end.teardown | rt.end.takes_care)
    }

    /// Unwinds the current task if it was withdrawn and is not already unwinding. Releases of locks are still
    /// performed, because guards release their locks when they are dropped.
    #[cold]
    #[inline(never)]
    pub(super) fn unwind_if_withdrawn(self, op: SyncVarOp) {
        let releases = matches!(op, SyncVarOp::LockRelease | SyncVarOp::SharedRelease);
        if !releases && !std::thread::panicking() && self.is_withdrawn() {
            let site = self.with(|rt| rt.tasks.current_task().pending.access.site);
            self.commit(Access::nowhere(SyncVarOp::SchedulePoint, site), 0, 0);
            resume_unwind(Box::new(Withdrawn));
        }
    }
}

impl Runtime {
    fn hold(&mut self, task: u32, site: Site) -> bool {
        let current = self.tasks.current();
        let entry = &mut self.tasks[task];
        if task == current || entry.status == Status::Ended || entry.unwinding > 0 {
            return false;
        }
        if entry.pending.gates != 0 {
            self.objects.vars[entry.pending.gate_var].watchers.remove(task);
        }
        entry.held = true;
        // It waits at no gate, so no gate enables it.
        entry.pending = Pending {
            gate_var: 0,
            gates: 0,
            visible: true,
            may_time_out: false,
            ..entry.pending
        };
        self.constraints.spins.forget(task);
        self.ready.hold(task);
        self.record
            .sound_only(SoundReduction::Nothing, SyncVarOp::SchedulePoint, site);
        true
    }
}
