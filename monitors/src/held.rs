//! The locks that each task holds.

use intermezzo_sdk::{EventId, SiteId, SyncVar, SyncVarAccess, SyncVarOp, TaskId};

/// A lock that a task holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Held {
    pub(crate) lock: SyncVar,
    /// `true` if it is only a share of it.
    pub(crate) shared: bool,
    /// The place where it was taken.
    pub(crate) site: SiteId,
    /// The event by which it was taken.
    pub(crate) event: EventId,
}

impl Held {
    /// `true` if the two exclude each other.
    #[cfg(feature = "all")]
    pub(crate) fn excludes(&self, other: &Held) -> bool {
        self.lock == other.lock && !(self.shared && other.shared)
    }
}

/// The effect of an operation on the locks of its task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// Nothing.
    None,
    /// It took this one, which it might have had to wait for.
    Taken(Held),
    /// It took this one, and would not have waited.
    Tried(Held),
    /// It gave this one back.
    Released(Held),
    /// It released a lock that its task does not hold.
    NotHeld(SyncVar),
}

/// The locks that each task holds during an execution.
#[derive(Debug, Default)]
pub(crate) struct HeldLocks {
    tasks: Vec<Vec<Held>>,
}

impl HeldLocks {
    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.tasks.iter_mut().for_each(Vec::clear);
    }

    /// Returns the locks that the task holds, in the order in which it took them.
    pub(crate) fn of(&self, task: TaskId) -> &[Held] {
        self.tasks.get(task.index()).map_or(&[], Vec::as_slice)
    }

    /// Returns the exclusive holder of this lock.
    pub(crate) fn owner(&self, lock: SyncVar) -> Option<TaskId> {
        let owns = |held: &Vec<Held>| held.iter().any(|held| held.lock == lock && !held.shared);
        let owner = self.tasks.iter().position(owns)?;
        Some(TaskId(owner as u32))
    }

    /// Adds the next event.
    pub(crate) fn add(&mut self, access: &SyncVarAccess) -> Change {
        use SyncVarOp::*;
        let taken = |shared| Held {
            lock: access.var,
            shared,
            site: access.site,
            event: access.event,
        };
        let change = match access.op {
            LockAcquire => Change::Taken(taken(false)),
            SharedAcquire => Change::Taken(taken(true)),
            LockTryAcquire => Change::Tried(taken(false)),
            SharedTryAcquire => Change::Tried(taken(true)),
            LockRelease => return self.release(access.event.task, access.var, false),
            SharedRelease => return self.release(access.event.task, access.var, true),
            CondvarWait => return self.release(access.event.task, access.other_var(), false),
            _ => Change::None,
        };
        if let Change::Taken(held) | Change::Tried(held) = change {
            self.locks_of(access.event.task).push(held);
        }
        change
    }

    fn locks_of(&mut self, task: TaskId) -> &mut Vec<Held> {
        if self.tasks.len() <= task.index() {
            self.tasks.resize_with(task.index() + 1, Vec::new);
        }
        &mut self.tasks[task.index()]
    }

    fn release(&mut self, task: TaskId, lock: SyncVar, shared: bool) -> Change {
        let held = self.locks_of(task);
        match held
            .iter()
            .rposition(|held| held.lock == lock && held.shared == shared)
        {
            Some(at) => Change::Released(held.remove(at)),
            None => Change::NotHeld(lock),
        }
    }
}
