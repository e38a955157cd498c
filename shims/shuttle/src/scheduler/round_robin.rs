//! `RoundRobinScheduler`: the tasks run in turns.

use super::{DataSource, RandomDataSource, Schedule, Scheduler, Task, TaskId};

/// Runs the tasks in turns: after each step the one with the next number.
#[derive(Debug)]
pub struct RoundRobinScheduler {
    left: usize,
    data: RandomDataSource,
}

impl RoundRobinScheduler {
    /// Returns a scheduler of that many executions.
    pub fn new(max_iterations: usize) -> RoundRobinScheduler {
        RoundRobinScheduler {
            left: max_iterations,
            data: RandomDataSource::initialize(0),
        }
    }
}

impl Default for RoundRobinScheduler {
    fn default() -> RoundRobinScheduler {
        RoundRobinScheduler::new(1)
    }
}

impl Scheduler for RoundRobinScheduler {
    fn new_execution(&mut self) -> Option<Schedule> {
        self.left = self.left.checked_sub(1)?;
        Some(Schedule::new(self.data.reinitialize()))
    }

    fn next_task(
        &mut self,
        runnable_tasks: &[&Task],
        current_task: Option<TaskId>,
        _: bool,
    ) -> Option<TaskId> {
        let mut tasks = runnable_tasks.iter().map(|task| task.id());
        let later = tasks.clone().find(|&task| Some(task) > current_task);
        later.or_else(|| tasks.next())
    }

    fn next_u64(&mut self) -> u64 {
        self.data.next_u64()
    }
}
