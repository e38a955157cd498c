//! Tasks as schedulers see them.

use crate::labels::TaskName;
use crate::signature::TaskSignature;
use crate::state;
use crate::task_id::TaskId;

/// A task that a scheduler may choose.
#[derive(Clone, Debug)]
pub struct Task {
    id: TaskId,
    parent: Option<TaskId>,
    name: Option<String>,
    /// The place of its creation, which several tasks may have in common.
    pub signature: TaskSignature,
}

impl Task {
    pub(crate) fn new(
        id: TaskId,
        parent: Option<TaskId>,
        name: Option<String>,
        signature: TaskSignature,
    ) -> Task {
        Task {
            id,
            parent,
            name,
            signature,
        }
    }

    /// Returns the task's number.
    pub fn id(&self) -> TaskId {
        self.id
    }

    /// Returns the number of the task that created it.
    pub fn parent_task_id(&self) -> Option<TaskId> {
        self.parent
    }

    /// Returns the name that it was created with.
    pub fn name(&self) -> Option<String> {
        self.name.clone()
    }

    /// Returns the name of its label, or the one that it was created with, with its number.
    pub fn display_name(&self) -> String {
        let label = state::with_labels(self.id, |labels| labels.get::<TaskName>().cloned());
        let label = label.map(String::from);
        match label.or_else(|| self.name()) {
            Some(name) => format!("{name}({})", self.id),
            None => format!("task-{}", self.id),
        }
    }

    /// Returns `true`: a scheduler is shown no others.
    pub fn runnable(&self) -> bool {
        true
    }

    /// Returns `false`: a scheduler is shown no blocked tasks.
    pub fn blocked(&self) -> bool {
        false
    }

    /// Returns `false`: a scheduler is shown no tasks that wait for a waker.
    pub fn sleeping(&self) -> bool {
        false
    }

    /// Returns `false`: a scheduler is shown no tasks that have ended.
    pub fn finished(&self) -> bool {
        false
    }
}
