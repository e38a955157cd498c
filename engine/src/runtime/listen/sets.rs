//! The tasks that were enabled at each step of an execution, for monitors that ask for them.

use crate::record::TaskSet;

/// The tasks at a step.
#[derive(Default)]
pub(super) struct StepSets {
    /// The tasks that could take it.
    pub(super) enabled: TaskSet,
    /// The tasks that could not take it, although they had not ended.
    pub(super) disabled: TaskSet,
    /// The tasks that could take it but were held back by fairness.
    pub(super) held_back: TaskSet,
    /// The number of the schedule point right before the step, from 1; 0 if there was none.
    pub(super) point: usize,
}

/// The sets of each step.
#[derive(Default)]
pub(super) struct Sets {
    /// The sets; those from `taken` on belong to the next step, or to earlier executions.
    list: Vec<StepSets>,
    taken: usize,
    /// The number of schedule points so far.
    points: usize,
    /// `true` if the sets of the next step are noted.
    is_noted: bool,
}

impl Sets {
    /// Begins the next execution.
    pub(super) fn clear(&mut self) {
        (self.taken, self.points, self.is_noted) = (0, 0, false);
    }

    /// Returns `true` if the sets of the next step are noted.
    pub(super) fn is_noted(&self) -> bool {
        self.is_noted
    }

    /// Returns the sets of the next step, to be filled. With `at_point`, it is at a schedule point.
    pub(super) fn next(&mut self, at_point: bool) -> &mut StepSets {
        if self.taken == self.list.len() {
            self.list.push(StepSets::default());
        }
        self.points += usize::from(at_point && !self.is_noted);
        self.is_noted = true;
        let sets = &mut self.list[self.taken];
        sets.point = if at_point { self.points } else { 0 };
        sets
    }

    /// Notes that the step was taken.
    pub(super) fn step_taken(&mut self) {
        self.taken += 1;
        self.is_noted = false;
    }

    /// Returns the sets of a step, if they were noted.
    pub(super) fn of(&self, step: usize) -> Option<&StepSets> {
        self.list[..self.taken].get(step)
    }
}
