//! A step of an execution: the form in which the engine adds it, and the form in which the trace keeps it.

use super::StepAccess;
use crate::record::{Event, Gates, Task, Vars};

/// An addition to a step, beyond the accesses of its events to their variables.
#[derive(Clone, Copy, Debug)]
pub struct Aside {
    /// The addition.
    pub extra: Extra,
    /// The task, and the number of events before the addition.
    pub task: u32,
    pub(crate) events_before: usize,
    /// `true` if it belongs to the task's last event, and not to the one that is about to be recorded.
    pub(crate) of_last_event: bool,
}

/// An addition to an event.
#[derive(Clone, Copy, Debug)]
pub enum Extra {
    /// Another access.
    Access(StepAccess),
    /// The store that the operation read or followed under a memory model: its number among those of the variable. It
    /// does not follow from the order of the steps.
    Store(u32),
}

impl Extra {
    /// Returns `true` if it accesses something that all tasks share.
    pub(super) fn is_shared(&self) -> bool {
        matches!(self, Extra::Access(access) if access.key.var().is_none())
    }
}

/// A step that has ended, with the data needed to add it to the trace.
pub struct StepEnd<'a> {
    /// The task of the step.
    pub task: u32,
    /// The events of the execution, and their number now.
    pub events: &'a [Event],
    pub(crate) events_end: usize,
    /// The number of choices so far.
    pub choices: usize,
    /// The additions to the accesses of the events.
    pub(crate) extra_footprint: &'a [Aside],
    /// The variable and the gates at which the step waited, one of which had to be open.
    pub(crate) waited: Option<(u32, Gates)>,
    /// `true` if the step was possible only because no other task could continue.
    pub(crate) forced_by_idle: bool,
    /// `true` if every task has ended with it.
    pub is_last: bool,
    /// `true` if reference counts are visible.
    pub counts: bool,
    /// The variables, by number.
    pub vars: &'a Vars,
    /// The tasks, by number.
    pub tasks: &'a [Task],
}

impl StepEnd<'_> {
    /// Returns the creator of a task, and the task's index among the creator's tasks.
    pub fn creator(&self, task: u32) -> (u32, u32) {
        let task = &self.tasks[task as usize];
        (task.parent, task.ordinal)
    }
}

/// A step: everything between two decisions about tasks.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// The task of the step.
    pub task: u32,
    /// The indices at which its entries and its accesses begin.
    pub(super) entries: u32,
    pub(super) accesses: u32,
    pub(super) followed: u32,
    /// The number of variables at its end.
    pub(super) vars: u32,
    /// The index in its task of the entry that it begins with, if that is its own; otherwise [`NOTHING`].
    pub index: u32,
    /// The numbers of events and choices at its end.
    pub(crate) events_end: usize,
    /// The number of choices at the end of the step.
    pub choices_end: usize,
    /// The number of races that had been found before it.
    pub(super) races: u32,
    /// The entry that represents the step in the order of steps: its own first one, or else its task's last one before
    /// it.
    pub(super) stands: u32,
    /// The sum of all entries up to its end.
    pub(super) fingerprint: u128,
}

/// The index of a missing first entry: it orders nothing.
pub const NOTHING: u32 = u32::MAX;

/// The data of a step that is being added that are needed to find its races.
#[derive(Clone, Copy)]
pub(super) struct Begun {
    pub(super) task: u32,
    pub(super) entries: u32,
    pub(super) races: u32,
    pub(super) stands: u32,
}

impl Step {
    #[inline(always)]
    pub(super) fn begun(&self) -> Begun {
        Begun {
            task: self.task,
            entries: self.entries,
            races: self.races,
            stands: self.stands,
        }
    }

    /// Adds an entry's number to the fingerprint.
    #[inline(always)]
    pub(super) fn count(&mut self, number: u128) {
        self.fingerprint = self.fingerprint.wrapping_add(number);
    }
}
