//! Random priorities of operations: an operation has one from when its task reaches it until the task has done it.

use super::Generator;
use intermezzo_engine::strategy::ChoicePoint;
use intermezzo_sdk::TaskId;
use rand::RngExt;

/// Priorities of the tasks' next operations.
#[derive(Default)]
pub(super) struct Pending {
    /// By task: the operation, identified by the number of events that its task has had, and the priority; 0 if none
    /// was drawn.
    priorities: Vec<(u32, u64)>,
}

impl Pending {
    /// Begins another execution.
    pub(super) fn begin(&mut self) {
        self.priorities.clear();
    }

    /// Returns the priority of a task's next operation.
    pub(super) fn of(&mut self, task: TaskId, point: &ChoicePoint<'_>, random: &mut Generator) -> u64 {
        let number = task.0 as usize;
        if self.priorities.len() <= number {
            self.priorities.resize(number + 1, (0, 0));
        }
        let (of, priority) = &mut self.priorities[number];
        let pending = point.tasks[number].events;
        if *priority == 0 || *of != pending {
            (*of, *priority) = (pending, random.random::<u64>() | 1);
        }
        *priority
    }

    /// Draws the priorities of the tasks again for which `is_so` holds, by their numbers.
    pub(super) fn redraw(&mut self, mut is_so: impl FnMut(usize) -> bool) {
        for (number, (_, priority)) in self.priorities.iter_mut().enumerate() {
            if is_so(number) {
                *priority = 0;
            }
        }
    }
}
