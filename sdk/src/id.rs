//! Identities. A bare integer is never one.
//!
//! All of them are valid within one execution and are the same whenever the same schedule is replayed. The *names*
//! that a `Context` gives for tasks and variables are stable beyond that: they consist of the creator or first user
//! and an index.

use std::fmt;

/// A schedulable entity, numbered from 0 (the test's own body) in order of creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct TaskId(pub u32);

/// An object that tasks synchronise through, numbered from 0 in order of first use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct SyncVar(pub u32);

impl SyncVar {
    /// The variable of operations that have none: fences, yields, choices.
    pub const NONE: SyncVar = SyncVar(u32::MAX);
}

/// A cell or block of tracked plain memory, numbered from 0 in order of first use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Location(pub u32);

/// A place in the source, numbered from 0 in order of first use within an exploration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct SiteId(pub u32);

/// The `index`-th event of `task`, from 1. Ordered by task, then index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(C)]
pub struct EventId {
    /// The task of the event.
    pub task: TaskId,
    /// The event's index in its task, from 1.
    pub index: u32,
}

impl TaskId {
    /// Returns the task's number as an index into a table with a row per task.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl SyncVar {
    /// Returns the variable's number as an index into a table with a row per variable.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl Location {
    /// Returns the location's number as an index into a table with a row per location.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.task.0, self.index)
    }
}
