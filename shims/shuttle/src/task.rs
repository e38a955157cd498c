//! Tasks as schedulers and labels see them.

use crate::labels;
use crate::signature::TaskSignature;
use std::fmt;

/// The number of a task in its execution, in order of creation. That of the test's own body is 0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TaskId(pub(crate) usize);

impl fmt::Debug for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TaskId").field(&self.0).finish()
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<usize> for TaskId {
    fn from(number: usize) -> TaskId {
        TaskId(number)
    }
}

impl From<TaskId> for usize {
    fn from(task: TaskId) -> usize {
        task.0
    }
}

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
        let label = labels::name_of(self.id).map(String::from);
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
