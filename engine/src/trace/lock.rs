//! The operations that take a lock, and those that release one.

use super::{Class, Key, NOTHING, StepAccess, Trace};
use intermezzo_sdk::SyncVarOp;

/// The effect of an operation on a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Lock {
    /// The object is not a lock, or the lock is only inspected.
    No,
    /// The access takes the lock, or a share of it.
    Takes,
    /// The access releases the lock, or a share of it.
    Releases,
}

/// Returns the effect of an operation on a lock.
pub fn lock(op: SyncVarOp) -> Lock {
    use SyncVarOp::*;
    match op {
        LockAcquire | LockTryAcquire | SharedAcquire | SharedTryAcquire => Lock::Takes,
        LockRelease | SharedRelease => Lock::Releases,
        _ => Lock::No,
    }
}

/// An operation by which a task takes a share of a lock, or releases one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShareChange {
    /// The step that it belongs to.
    pub step: usize,
    /// The task.
    pub task: u32,
    /// `true` if it takes a share, `false` if it releases one.
    pub takes: bool,
}

impl Trace {
    /// Returns the key of a lock, if step `later` waited to take it exclusively and step `earlier` shared it.
    pub fn shared_before(&self, earlier: usize, later: usize) -> Option<Key> {
        let step = &self.steps[later];
        let own = self
            .entries
            .get(step.stands as usize)
            .filter(|_| step.index != NOTHING)?;
        let key = (own.op == SyncVarOp::LockAcquire).then_some(own.key)?;
        let class = Class::Share;
        self.footprint_with_elided(earlier)
            .contains(&StepAccess { key, class })
            .then_some(key)
    }

    /// Returns the operations that take or release shares of a lock, in order.
    pub fn share_changes(&self, key: Key) -> impl Iterator<Item = ShareChange> + '_ {
        let list = self.keys.get(key.index()).map_or(&[][..], Vec::as_slice);
        list.iter().filter_map(|key_access| {
            let entry = &self.entries[key_access.entry as usize];
            let takes = match entry.op {
                SyncVarOp::SharedAcquire | SyncVarOp::SharedTryAcquire => true,
                SyncVarOp::SharedRelease => false,
                _ => return None,
            };
            Some(ShareChange {
                step: entry.step as usize,
                task: entry.task,
                takes,
            })
        })
    }
}
