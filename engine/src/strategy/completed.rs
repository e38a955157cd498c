//! The execution that has ended, for searches that learn from executions.

use crate::record::{Event, Task};
use crate::schedule::{Choice, ChoiceKind};
use crate::trace::Trace;

/// The execution that has ended.
pub struct CompletedExecution<'a> {
    /// Its events, in order.
    pub events: &'a [Event],
    /// Its steps and their happens-before order.
    pub trace: &'a Trace,
    /// Its tasks, by number.
    pub tasks: &'a [Task],
    /// Its decisions.
    pub choices: &'a [Choice],
}

impl CompletedExecution<'_> {
    /// Returns the number of tasks.
    pub fn tasks(&self) -> usize {
        self.tasks.len()
    }

    /// Returns the number of choices between tasks.
    pub fn task_choices(&self) -> usize {
        let about_tasks = |choice: &&Choice| choice.kind == ChoiceKind::Task;
        self.choices.iter().filter(about_tasks).count()
    }

    /// Returns the number of steps from the first choice on. An execution whose tasks take the same steps has at most
    /// this many choices between tasks.
    pub fn steps_since_choice(&self) -> usize {
        let steps = self.trace.steps();
        let before = steps.iter().take_while(|step| step.choices_end == 0);
        steps.len() - before.count()
    }
}

/// Returns the operation with which each step from `from` on began, with the step's number. The first step of an
/// execution precedes all schedule points and has no such operation.
pub fn operations<'a>(
    events: &'a [Event],
    trace: &'a Trace,
    from: usize,
) -> impl Iterator<Item = (usize, &'a Event)> {
    let steps = trace.steps();
    (from.max(1)..steps.len()).filter_map(move |at| {
        let own = events.get(steps[at - 1].events_end..steps[at].events_end)?;
        let first = own.iter().find(|event| event.task == steps[at].task)?;
        Some((at, first))
    })
}
