//! A step of an execution: as the engine adds it, and as the trace keeps it.

use super::Touch;
use crate::record::{Event, Gates, Task, Vars};

/// Something that a step touches beside the variables of its events.
#[derive(Clone, Copy, Debug)]
pub struct Aside {
    /// What the event touches.
    pub touch: Touch,
    /// The task that touches it, and how many events there had been.
    pub task: u32,
    pub(crate) events_before: usize,
}

/// A step that is over, and what is needed to add it to the trace.
pub struct StepEnd<'a> {
    /// Whose step it was.
    pub task: u32,
    /// Its events, and how many events there are now.
    pub events: &'a [Event],
    pub(crate) events_end: usize,
    /// How many choices have been made.
    pub choices: usize,
    /// What was touched beside the variables of events.
    pub(crate) extra_footprint: &'a [Aside],
    /// The gates, and their variable, one of which had to be open for the step.
    pub(crate) waited: Option<(u32, Gates)>,
    /// Whether the step was possible only because nobody else could go on.
    pub(crate) forced_by_idle: bool,
    /// Whether every task has come to its end with it.
    pub is_last: bool,
    /// Whether reference counts are visible.
    pub counts: bool,
    /// The variables, by number.
    pub vars: &'a Vars,
    /// The tasks, by number.
    pub tasks: &'a [Task],
}

impl StepEnd<'_> {
    /// Who created a task, and the how-manieth of its tasks it is.
    pub fn creator(&self, task: u32) -> (u32, u32) {
        let task = &self.tasks[task as usize];
        (task.parent, task.ordinal)
    }
}

/// A step: what happened between two decisions about tasks.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Whose step it is.
    pub task: u32,
    /// Where its entries and its touches begin.
    pub(super) entries: u32,
    pub(super) touches: u32,
    pub(super) followed: u32,
    /// How many variables there were at its end.
    pub(super) vars: u32,
    /// The how-manieth entry of its task it begins with, if that is its own; else [`NOTHING`].
    pub index: u32,
    /// How many events and choices there had been at its end.
    pub(crate) events_end: usize,
    /// The number of decisions up to the end of the step.
    pub choices_end: usize,
    /// How many races had been found before it.
    pub(super) races: u32,
    /// The entry that stands for the step in the order of steps: its own first one, or its task's last before it.
    pub(super) stands: u32,
    /// The sum of all entries up to its end.
    pub(super) fingerprint: u128,
}

/// The place of an entry that a step does not begin with: it orders nothing.
pub const NOTHING: u32 = u32::MAX;

/// A step that is being added, as far as its races go.
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

    /// An entry's number enters the fingerprint.
    #[inline(always)]
    pub(super) fn count(&mut self, number: u128) {
        self.fingerprint = self.fingerprint.wrapping_add(number);
    }
}
