//! Random priorities of operations: each has one from when its task comes to it until the task has done it.

use super::Generator;
use intermezzo_engine::strategy::ChoicePoint;
use intermezzo_sdk::TaskId;
use rand::RngExt;

/// Priorities of what tasks are about to do.
#[derive(Default)]
pub(super) struct Pending {
    /// By task: for which operation, told by how many events its task has had, and the priority; 0 if none was drawn.
    priorities: Vec<(u32, u64)>,
}

impl Pending {
    /// Another execution begins.
    pub(super) fn begin(&mut self) {
        self.priorities.clear();
    }

    /// Returns the priority of what a task is about to do.
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

    /// Has those drawn anew of which this is so, by the numbers of their tasks.
    pub(super) fn redraw(&mut self, mut is_so: impl FnMut(usize) -> bool) {
        for (number, (_, priority)) in self.priorities.iter_mut().enumerate() {
            if is_so(number) {
                *priority = 0;
            }
        }
    }
}
