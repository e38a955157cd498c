//! Knowledge that tasks can have, and the orderings by which it passes.

use crate::{EventId, MemoryOrder, SyncVarAccess, TaskId, VectorClock};

/// Knowledge that only grows, by being joined with more.
pub trait Knowledge: Clone + Default {
    /// Adds everything that the other knows.
    fn join(&mut self, other: &Self);

    /// Forgets everything; the memory is kept.
    fn forget(&mut self);

    /// `true` if this includes all that the task knew at this event.
    fn covers(&self, event: EventId) -> bool;

    /// Returns the knowledge that would pass if the operation had this side of its ordering, which it lacks. `None` if none
    /// would.
    fn if_it_did(&self, _: Side, _: &SyncVarAccess) -> Option<Self> {
        None
    }
}

/// Knowledge of how many events of each task have happened.
pub trait Moments: Knowledge {
    /// Returns the index of the last known event of a task; 0 for none.
    fn last_of(&self, task: TaskId) -> u32;

    /// Makes the events of a task up to this index known, and no others of that task.
    fn know(&mut self, task: TaskId, index: u32);
}

/// One of the two things that an ordering can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// To know what was released.
    Acquire,
    /// To pass on what is known.
    Release,
}

impl Side {
    /// `true` if the ordering asks for it.
    #[inline(always)]
    pub fn is_in(self, order: MemoryOrder) -> bool {
        match self {
            Side::Acquire => acquires(order),
            Side::Release => releases(order),
        }
    }
}

impl Knowledge for VectorClock {
    #[inline]
    fn join(&mut self, other: &Self) {
        VectorClock::join(self, other);
    }

    #[inline]
    fn forget(&mut self) {
        self.clear();
    }

    fn covers(&self, event: EventId) -> bool {
        self.knows(event)
    }
}

impl Moments for VectorClock {
    #[inline]
    fn last_of(&self, task: TaskId) -> u32 {
        self.get(task)
    }

    #[inline]
    fn know(&mut self, task: TaskId, index: u32) {
        self.set(task, index);
    }
}

pub(super) fn acquires(order: MemoryOrder) -> bool {
    matches!(
        order,
        MemoryOrder::Acquire | MemoryOrder::AcqRel | MemoryOrder::SeqCst
    )
}

pub(super) fn releases(order: MemoryOrder) -> bool {
    matches!(
        order,
        MemoryOrder::Release | MemoryOrder::AcqRel | MemoryOrder::SeqCst
    )
}
