//! Random priorities of operations. An operation has its priority from when its task reaches it until the task has done
//! it.

use super::Generator;
use intermezzo_engine::strategy::ChoicePoint;
use intermezzo_sdk::TaskId;
use rand::RngExt;

/// Priorities of the tasks' next operations.
#[derive(Default)]
pub(super) struct Pending {
    /// For each task: its operation, which is identified by the number of events that the task has had, and the
    /// priority; 0 if none has been drawn.
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

    /// Draws new priorities for the tasks for whose numbers `is_so` returns `true`.
    pub(super) fn redraw(&mut self, mut is_so: impl FnMut(usize) -> bool) {
        for (number, (_, priority)) in self.priorities.iter_mut().enumerate() {
            if is_so(number) {
                *priority = 0;
            }
        }
    }
}
