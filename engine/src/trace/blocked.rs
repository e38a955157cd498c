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

/// A visible operation that never happened.
#[derive(Clone, Copy, Debug)]
pub struct Blocked {
    /// The task.
    pub task: u32,
    /// The footprint of its operation.
    pub access: StepAccess,
    gates: Gates,
}

impl Trace {
    /// Notes the end of the execution and the operations of the tasks that are blocked.
    pub fn end(&mut self, ending: Ending, tasks: &[Task]) {
        self.ending = ending;
        self.blocked.clear();
        if ending != Ending::Stuck {
            return;
        }
        for (task, number) in tasks.iter().zip(0..) {
            let pending = &task.pending;
            // What began at rest waits for what another task of its group waits for.
            let waits = task.status != Status::Ended && !task.begun_at_rest;
            if waits && pending.visible && pending.gates != 0 {
                let access = pending.access;
                self.blocked.push(Blocked {
                    task: number,
                    access: StepAccess {
                        key: Key::of(access.op, access.var),
                        class: class_of(access.op, access.var, false).unwrap_or(Class::Write),
                    },
                    gates: pending.gates,
                });
            }
        }
    }

    /// Returns the way the last execution ended.
    pub fn ending(&self) -> Ending {
        self.ending
    }

    /// Returns the operations that never happened in it.
    pub fn blocked(&self) -> &[Blocked] {
        &self.blocked
    }

    /// Returns the steps that a blocked operation could have preceded.
    pub fn races_of_blocked(&self, blocked: &Blocked) -> Vec<usize> {
        let head = self.head(blocked.task);
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
        let head = self.head(blocked.task);
        step.task == blocked.task
            || step.stands != NONE && step.stands >= step.entries && self.known(step.stands, head)
    }
}
