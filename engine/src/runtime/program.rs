//! Whole programs. The process runs once; each execution runs `main` in it, between the set-up and the tear-down.
//!
//! An execution of a program ends when its `main` returns or a task exits, whatever the other tasks do, because the
//! process would end, too. The end is a schedule point: the other tasks may continue before it. The steps that they
//! would have taken afterwards are not known, so the searches treat such an execution as cut short.

use super::{Engine, Runtime, Stop};
use crate::record::Access;
use crate::site::Site;
use crate::trace::SoundReduction;
use intermezzo_sdk::SyncVarOp;
use std::sync::OnceLock;

/// A function that is called before or after each execution.
type Hook = Box<dyn Fn() + Send + Sync>;

/// The functions that are called before and after each execution of the process.
static AROUND: OnceLock<(Hook, Hook)> = OnceLock::new();

/// Sets functions to call before and after each execution of the process, outside of it. The first call in a process
/// counts.
pub fn around_executions(before: Hook, after: Hook) {
    AROUND.get_or_init(|| (before, after));
}

pub(super) fn before_execution() {
    if let Some((before, _)) = AROUND.get() {
        before();
    }
}

pub(super) fn after_execution() {
    if let Some((_, after)) = AROUND.get() {
        after();
    }
}

impl Engine {
    /// Returns `true` if the test is a whole program.
    pub fn is_program(self) -> bool {
        self.with(|rt| rt.limits.is_program)
    }

    /// Ends the program, with this failure if there is one.
    #[cold]
    pub fn end_program(self, failure: Option<String>, site: Site) -> ! {
        if !self.in_teardown() && self.with(|rt| rt.could_others_continue()) {
            let end = Access::nowhere(SyncVarOp::SchedulePoint, site);
            self.enter(end);
            self.commit(end, 0, 0);
        }
        // The message is in the test's memory.
        self.end_with(|| failure.clone().map_or(Stop::Ended, Stop::Failed))
    }
}

impl Runtime {
    /// Notes whether the end of the program cut other tasks off. Partial-order reductions are not sound then: the end
    /// conflicts with no step, so once it is in a sleep set, it stays there. So happens-before caching takes over.
    pub(super) fn note_cut_off_by_program(&mut self) {
        let ends_program = matches!(
            self.end.stop,
            Some(Stop::Ended | Stop::Failed(_) | Stop::Panicked)
        );
        if !self.limits.is_program || !ends_program || !self.could_others_continue() {
            return;
        }
        self.end.cut_others_off = true;
        let site = self.tasks.current_task().pending.access.site;
        self.record
            .sound_only(SoundReduction::Caching, SyncVarOp::SchedulePoint, site);
    }

    /// Returns `true` if the end of this task ends others.
    pub(super) fn ends_others(&self, task: u32) -> bool {
        let are_others = || self.tasks.unfinished().any(|other| other != task);
        self.limits.is_program && task == 0 && !self.end.teardown && are_others()
    }

    /// Returns `true` if another task than the current one could take a step, now or when time has passed. A new task
    /// counts, and so does one that is parked: its loop may wait for the last step of the current task.
    pub(super) fn could_others_continue(&self) -> bool {
        if self.ready.any_must_run() || self.constraints.spins.any_parked() {
            return true;
        }
        let current = self.tasks.current();
        let mut others = self
            .ready
            .enabled()
            .iter()
            .chain(self.ready.timed_waiters().iter());
        others.any(|task| task != current)
    }
}
