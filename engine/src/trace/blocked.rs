//! How an execution ended, and what those wanted who could not go on.

use super::{Class, Key, NONE, Touch, Trace, class_of};
use crate::record::{Gates, Status, Task};

/// How an execution ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ending {
    /// Every task came to its end.
    #[default]
    Complete,
    /// Nobody could go on.
    Stuck,
    /// It was given up although somebody could have gone on.
    GivenUp,
}

/// A visible operation that never came to happen.
#[derive(Clone, Copy, Debug)]
pub struct Blocked {
    /// The task.
    pub task: u32,
    /// What its operation touches.
    pub touch: Touch,
    gates: Gates,
}

impl Trace {
    /// The execution is over; these were its tasks.
    pub fn end(&mut self, ending: Ending, tasks: &[Task]) {
        self.ending = ending;
        self.blocked.clear();
        if ending != Ending::Stuck {
            return;
        }
        for (task, number) in tasks.iter().zip(0..) {
            let pending = &task.pending;
            if task.status != Status::Ended && pending.visible && pending.gates != 0 {
                let access = pending.access;
                self.blocked.push(Blocked {
                    task: number,
                    touch: Touch {
                        key: Key::of(access.op, access.var),
                        class: class_of(access.op, access.var, false).unwrap_or(Class::Write),
                    },
                    gates: pending.gates,
                });
            }
        }
    }

    /// How the last execution ended.
    pub fn ending(&self) -> Ending {
        self.ending
    }

    /// The operations that could never happen in it.
    pub fn blocked(&self) -> &[Blocked] {
        &self.blocked
    }

    /// The steps that a blocked operation could have come before.
    pub fn races_of_blocked(&self, blocked: &Blocked) -> Vec<usize> {
        let head = self.head(blocked.task);
        let mut steps = Vec::new();
        let Some(list) = self.keys.get(blocked.touch.key.index()) else {
            return steps;
        };
        let last = list
            .last()
            .filter(|last| last.class.commutes(blocked.touch.class));
        let group = last.map_or(list.len() as u32, |last| last.group);
        self.could_precede(blocked.touch.key, group, blocked.gates, NONE, head, &mut steps);
        steps
    }

    /// Whether the task of a blocked operation knew of a step, or it is its own.
    pub fn precedes_blocked(&self, earlier: usize, blocked: &Blocked) -> bool {
        let step = &self.steps[earlier];
        let head = self.head(blocked.task);
        step.task == blocked.task
            || step.stands != NONE && step.stands >= step.entries && self.known(step.stands, head)
    }
}
