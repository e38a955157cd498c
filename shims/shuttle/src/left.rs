//! The futures for which an execution does not wait, and the stage of their teardown.

use crate::task_id::TaskId;
use intermezzo::thread::Thread;
use std::sync::Arc;

/// A future that can be aborted.
pub(crate) trait Abort: Send + Sync {
    fn abort(&self);
    /// Notes that it is aborted, and lets it run on.
    fn mark(&self);
    /// Lets it look at what was noted.
    fn wake(&self);
    fn is_polled(&self) -> bool;
    fn is_finished(&self) -> bool;
    fn number(&self) -> Option<TaskId>;
}

/// The teardown of an execution.
#[derive(Default)]
pub(crate) struct Teardown {
    /// `true` once it has begun.
    pub(crate) is_running: bool,
    /// Set once the test's own body has ended and there was nothing to tear down: the function that does so later, and its
    /// argument.
    pub(crate) later: Option<(fn(usize), usize)>,
    /// The futures for which the execution does not wait.
    pub(crate) left: Vec<Left>,
    /// The tasks that are to drop their futures, and wait until it is their turn.
    pub(crate) awaiting_turn: Vec<(TaskId, Thread)>,
    /// The tasks whose destructors give way, until the other tasks wait.
    pub(crate) giving_way: Vec<Thread>,
    /// The number of times that they were let go.
    pub(crate) rounds: usize,
}

/// A future for which the execution does not wait.
#[derive(Clone)]
pub(crate) struct Left {
    pub(crate) task: TaskId,
    pub(crate) future: Arc<dyn Abort>,
    pub(crate) stage: Stage,
}

/// The stage of a future's teardown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// It runs.
    Running,
    /// It is in the middle of a poll, and takes no further step.
    Held,
    /// It is dropped, or its stack is unwound.
    Dropped,
}

impl Teardown {
    /// Returns `true` if there is a future for which the execution does not wait.
    pub(crate) fn has_left(&self) -> bool {
        !self.left.is_empty()
    }
}
