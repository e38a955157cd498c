//! The way an execution ended, and the operations of the tasks that could not continue.

use super::{Class, Key, NONE, StepAccess, Trace, class_of};
use crate::record::{Gates, Status, Task};

/// The way an execution ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ending {
    /// Every task ended.
    #[default]
    Complete,
    /// No task could continue.
    Stuck,
    /// It was abandoned although a task could have continued.
    GivenUp,
}

/// A visible operation that waits at a gate: at the end of an execution, or at an earlier point of it.
#[derive(Clone, Copy, Debug)]
pub struct Blocked {
    /// The task.
    pub task: u32,
    /// The footprint of its operation.
    pub access: StepAccess,
    gates: Gates,
    /// The number of steps before the point at which it was blocked. Eliding a round renumbers entries, but not steps.
    steps: usize,
}

impl Trace {
    /// Notes the end of the execution and the operations of the tasks that are blocked.
    pub fn end(&mut self, ending: Ending, tasks: &[Task]) {
        self.ending = ending;
        self.blocked.clear();
        if ending != Ending::Stuck {
            return;
        }
        let mut blocked = std::mem::take(&mut self.blocked);
        blocked.extend(self.waiting(tasks));
        self.blocked = blocked;
    }

    /// Returns the next operation of each task that has announced one with a gate, whether or not the gate is open.
    fn waiting(&self, tasks: &[Task]) -> impl Iterator<Item = Blocked> {
        tasks.iter().zip(0..).filter_map(|(task, number)| {
            let pending = &task.pending;
            // A task that began at rest waits for the same as another task of its group.
            let waits = task.status != Status::Ended && !task.begun_at_rest;
            let access = pending.access;
            (waits && pending.visible && pending.gates != 0).then(|| Blocked {
                task: number,
                access: StepAccess {
                    key: Key::of(access.op, access.var),
                    class: class_of(access.op, access.var, false).unwrap_or(Class::Write),
                },
                gates: pending.gates,
                steps: self.steps.len(),
            })
        })
    }

    /// Returns the operations that are blocked at this point of the execution, each with the steps before which it
    /// could have happened. `is_enabled` returns `true` for a task that can continue.
    pub fn blocked_so_far(
        &self,
        tasks: &[Task],
        is_enabled: impl Fn(u32) -> bool,
    ) -> Vec<(Blocked, Vec<usize>)> {
        let blocked = self.waiting(tasks).filter(|blocked| !is_enabled(blocked.task));
        blocked
            .map(|blocked| (blocked, self.races_of_blocked(&blocked)))
            .collect()
    }

    /// Returns the way the last execution ended.
    pub fn ending(&self) -> Ending {
        self.ending
    }

    /// Returns the operations that were blocked at its end.
    pub fn blocked(&self) -> &[Blocked] {
        &self.blocked
    }

    /// Returns the last entry that the blocked task had at that point.
    fn head_of(&self, blocked: &Blocked) -> u32 {
        let mut head = self.head(blocked.task);
        while head != NONE && self.entries[head as usize].step as usize >= blocked.steps {
            head = self.entries[head as usize].before;
        }
        head
    }

    /// Returns the steps before which a blocked operation could have happened.
    pub fn races_of_blocked(&self, blocked: &Blocked) -> Vec<usize> {
        let head = self.head_of(blocked);
        let mut steps = Vec::new();
        let Some(list) = self.keys.get(blocked.access.key.index()) else {
            return steps;
        };
        let last = list
            .last()
            .filter(|last| last.class.commutes(blocked.access.class));
        let group = last.map_or(list.len() as u32, |last| last.group);
        self.could_precede(blocked.access.key, group, blocked.gates, NONE, head, &mut steps);
        steps
    }

    /// Returns `true` if a step happened before a blocked operation, or belongs to the same task.
    pub fn precedes_blocked(&self, earlier: usize, blocked: &Blocked) -> bool {
        let step = &self.steps[earlier];
        step.task == blocked.task
            || step.stands != NONE
                && step.stands >= step.entries
                && self.known(step.stands, self.head_of(blocked))
    }
}
