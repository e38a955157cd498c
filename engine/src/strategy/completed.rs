//! The execution that is over, as searches see it that learn from executions.

use crate::record::{Event, Task};
use crate::schedule::{Choice, ChoiceKind};
use crate::trace::Trace;

/// The execution that is over.
pub struct CompletedExecution<'a> {
    /// Its events, in order.
    pub events: &'a [Event],
    /// Its steps, and which happened before which.
    pub trace: &'a Trace,
    /// Its tasks, by number.
    pub tasks: &'a [Task],
    /// Its decisions.
    pub choices: &'a [Choice],
}

impl CompletedExecution<'_> {
    /// How many tasks there were.
    pub fn tasks(&self) -> usize {
        self.tasks.len()
    }

    /// How many choices there were about tasks.
    pub fn task_choices(&self) -> usize {
        let about_tasks = |choice: &&Choice| choice.kind == ChoiceKind::Task;
        self.choices.iter().filter(about_tasks).count()
    }

    /// How many steps there were from the first choice on: as many choices as there can be between tasks in any execution
    /// whose tasks take the same steps.
    pub fn steps_since_choice(&self) -> usize {
        let steps = self.trace.steps();
        let before = steps.iter().take_while(|step| step.choices_end == 0);
        steps.len() - before.count()
    }
}

/// The operation before which each step from `from` on had its schedule point, with the step's number. The first step of
/// an execution is what comes before any schedule point: it has none.
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
