//! `Schedule`: the tasks of an execution in order, as schedulers tell each other.

use super::TaskId;

/// The steps of an execution, and the seed of its random numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// The seed of its random numbers.
    pub seed: u64,
    /// The steps, in order.
    pub steps: Vec<ScheduleStep>,
}

/// A step of an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScheduleStep {
    /// This task runs.
    Task(TaskId),
    /// A random number is drawn.
    Random,
}

impl Schedule {
    /// Returns a schedule without steps.
    pub fn new(seed: u64) -> Schedule {
        Schedule {
            seed,
            steps: Vec::new(),
        }
    }

    /// Returns a schedule that begins with steps of these tasks.
    pub fn new_from_task_ids<T: Into<TaskId>>(seed: u64, task_ids: impl IntoIterator<Item = T>) -> Schedule {
        let steps = task_ids.into_iter().map(|task| ScheduleStep::Task(task.into()));
        Schedule {
            seed,
            steps: steps.collect(),
        }
    }

    /// Adds a step of this task.
    pub fn push_task(&mut self, task: TaskId) {
        self.steps.push(ScheduleStep::Task(task));
    }

    /// Adds a random number.
    pub fn push_random(&mut self) {
        self.steps.push(ScheduleStep::Random);
    }

    /// Returns the number of steps.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Returns `true` if there is no step.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }
}
