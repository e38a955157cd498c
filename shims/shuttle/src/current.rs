//! `shuttle::current`: the calling task, its labels, and the execution.

pub use crate::clock::VectorClock;
pub use crate::labels::{ChildLabelFn, Labels, TaskName};
#[allow(deprecated, reason = "shuttle still has it")]
pub use crate::tag::{Tag, Taggable};
pub use crate::task_id::TaskId;

use crate::{clocks, state};
use std::fmt::Debug;
use std::sync::Arc;

/// Returns the number of steps that the execution has taken, the beginning of the test's own body included.
///
/// # Panics
/// Outside an execution.
pub fn context_switches() -> usize {
    let steps = intermezzo::steps();
    let steps = steps.expect("`ExecutionState` is not set: this is outside a test of shuttle");
    steps as usize + 1
}

/// Counts the steps of the execution from here on, for [`Config::max_steps`](crate::Config::max_steps).
/// [`context_switches`] still counts all of them.
///
/// # Panics
/// Outside an execution.
pub fn reset_step_count() {
    state::me();
    intermezzo::reset_step_count();
}

/// Returns the calling task.
///
/// # Panics
/// Outside an execution.
pub fn me() -> TaskId {
    state::me()
}

/// Returns the calling task.
///
/// # Panics
/// Outside an execution.
pub fn get_current_task() -> Option<TaskId> {
    Some(state::me())
}

/// Returns the calling task; `None` outside an execution.
pub fn try_get_current_task() -> Option<TaskId> {
    state::task()
}

/// Returns the calling task's clock: how many events of each task come before its next one. It is empty outside an execution,
/// and without the feature `vector-clocks`.
pub fn clock() -> VectorClock {
    state::task().map_or_else(VectorClock::new, clocks::of)
}

/// Returns a task's clock. It is empty outside an execution, and without the feature `vector-clocks`.
pub fn clock_for(task_id: TaskId) -> VectorClock {
    match state::task() {
        Some(_) => clocks::of(task_id),
        None => VectorClock::new(),
    }
}

/// Calls `f` with the labels of a task.
pub fn with_labels_for_task<F, T>(task_id: TaskId, f: F) -> T
where
    F: FnOnce(&mut Labels) -> T,
{
    state::with_labels(task_id, f)
}

/// Returns a task's label of this type.
pub fn get_label_for_task<T: Clone + Debug + 'static>(task_id: TaskId) -> Option<T> {
    state::with_labels(task_id, |labels| labels.get().cloned())
}

/// Sets a task's label of this type, and returns the one before.
pub fn set_label_for_task<T: Clone + Debug + 'static>(task_id: TaskId, value: T) -> Option<T> {
    state::with_labels(task_id, |labels| labels.insert(value))
}

/// Takes a task's label of this type away.
pub fn remove_label_for_task<T: Clone + Debug + 'static>(task_id: TaskId) -> Option<T> {
    state::with_labels(task_id, Labels::remove)
}

/// Returns the name that a task's label gives it.
pub fn get_name_for_task(task_id: TaskId) -> Option<TaskName> {
    get_label_for_task(task_id)
}

/// Gives a task a name by a label, and returns the one before.
pub fn set_name_for_task(task_id: TaskId, task_name: impl Into<TaskName>) -> Option<TaskName> {
    set_label_for_task(task_id, task_name.into())
}

/// Sets the calling task's tag, and returns the one before.
#[deprecated]
#[allow(deprecated, reason = "shuttle still has it")]
pub fn set_tag_for_current_task(tag: Arc<dyn Tag>) -> Option<Arc<dyn Tag>> {
    state::set_tag(state::me(), tag)
}

/// Returns the calling task's tag.
#[deprecated]
#[allow(deprecated, reason = "shuttle still has it")]
pub fn get_tag_for_current_task() -> Option<Arc<dyn Tag>> {
    state::tag(state::me())
}

/// Returns a task's tag.
#[deprecated]
#[allow(deprecated, reason = "shuttle still has it")]
pub fn get_tag_for_task(task_id: TaskId) -> Option<Arc<dyn Tag>> {
    state::tag(task_id)
}

/// Sets a task's tag, and returns the one before.
#[deprecated]
#[allow(deprecated, reason = "shuttle still has it")]
pub fn set_tag_for_task(task: TaskId, tag: Arc<dyn Tag>) -> Option<Arc<dyn Tag>> {
    state::set_tag(task, tag)
}
