//! Locks held, and which sections they make.

use intermezzo_engine::trace::{Lock, lock};
use intermezzo_sdk::{SyncVarAccess, SyncVarOp};

/// A critical section that a task is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Section {
    pub lock: u32,
    /// Its number in the execution.
    pub number: u32,
    /// `true` if no other task can be in one of the same lock; else it is shared.
    pub(crate) exclusive: bool,
    /// Where the lock was taken, and by which event of the task.
    pub place: u32,
    pub index: u32,
}

/// Who is in which critical sections.
#[derive(Debug, Default)]
pub(crate) struct Held {
    sections: u32,
    tasks: Vec<Vec<Section>>,
}

impl Held {
    /// Returns the sections that a task is in, the outermost first.
    pub(super) fn by(&self, task: u32) -> &[Section] {
        self.tasks.get(task as usize).map_or(&[], Vec::as_slice)
    }

    /// Takes up the next event, at that place; the section that it ends, if it ends one.
    pub(super) fn add(&mut self, event: &SyncVarAccess, place: u32) -> Option<Section> {
        use SyncVarOp::*;
        let task = event.event.task.index();
        if self.tasks.len() <= task {
            self.tasks.resize_with(task + 1, Vec::new);
        }
        let shared = matches!(event.op, SharedAcquire | SharedTryAcquire | SharedRelease);
        let released = match (event.op, lock(event.op)) {
            (CondvarWait, _) => event.other_var().0,
            (_, Lock::Releases) => event.var.0,
            (_, Lock::Takes) => {
                self.sections += 1;
                self.tasks[task].push(Section {
                    lock: event.var.0,
                    number: self.sections,
                    exclusive: !shared,
                    place,
                    index: event.event.index,
                });
                return None;
            }
            (_, Lock::No) => return None,
        };
        let held = &mut self.tasks[task];
        let at = held
            .iter()
            .rposition(|section| section.lock == released && section.exclusive != shared)?;
        Some(held.remove(at))
    }
}
