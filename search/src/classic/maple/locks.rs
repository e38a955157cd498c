//! Locks that are held, and the critical sections in which they are.

use crate::classic::slots::slot;
use intermezzo_engine::trace::{Lock, lock};
use intermezzo_sdk::{SyncVarAccess, SyncVarOp};

/// A critical section that a task has entered and not left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Section {
    pub lock: u32,
    /// The number of the section in the execution.
    pub number: u32,
    /// `true` if no other task can be in a section of the same lock; `false` if the lock was taken as shared.
    pub(crate) exclusive: bool,
    /// The place where the lock was taken, and the index of the event that took it.
    pub place: u32,
    pub index: u32,
    /// The number of accesses of all tasks before it.
    pub first: u32,
}

/// The critical sections that each task is in.
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

    /// Forgets the last execution.
    pub(super) fn clear(&mut self) {
        self.sections = 0;
        self.tasks.iter_mut().for_each(Vec::clear);
    }

    /// Adds the next event, which is at this place and follows this many accesses. Returns the section that it ends, if
    /// any.
    pub(super) fn add(&mut self, event: &SyncVarAccess, place: u32, accesses: u32) -> Option<Section> {
        use SyncVarOp::*;
        let held = slot(&mut self.tasks, event.event.task.0, Vec::new);
        let shared = matches!(event.op, SharedAcquire | SharedTryAcquire | SharedRelease);
        let released = match (event.op, lock(event.op)) {
            (CondvarWait, _) => event.other_var().0,
            (_, Lock::Releases) => event.var.0,
            (_, Lock::Takes) => {
                self.sections += 1;
                held.push(Section {
                    lock: event.var.0,
                    number: self.sections,
                    exclusive: !shared,
                    place,
                    index: event.event.index,
                    first: accesses,
                });
                return None;
            }
            (_, Lock::No) => return None,
        };
        let at = held
            .iter()
            .rposition(|section| section.lock == released && section.exclusive != shared)?;
        Some(held.remove(at))
    }
}
