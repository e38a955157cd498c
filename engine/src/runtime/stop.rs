//! The reasons why an execution stops.

use super::crash::Crash;
use super::livelock::Endless;
use super::watchdog::Hang;
use crate::schedule::Choice;
use std::time::Duration;

/// The reason why an execution stopped.
#[derive(Clone, Debug)]
pub enum Stop {
    /// Every task ended.
    Complete,
    /// The test's own body panicked.
    Panicked,
    /// Tasks are left, and none of them can continue.
    Deadlock,
    /// Tasks are left, and those of them that can continue wait in loops for something that never happens.
    Livelock,
    /// It reached the limit of steps.
    StepLimit(Endless),
    /// The program ended successfully before all its tasks had.
    Ended,
    /// The program ended with a failure, of which this is the description.
    Failed(String),
    /// It was abandoned without a finding: by the search, or at a limit on steps that is not a finding.
    GivenUp,
    /// Its last operation read a store that it cannot read: the memory model does not allow this execution.
    Inconsistent,
    /// Its time was over, or the user interrupted it, while it ran.
    CutOff,
    /// It would have exceeded the limit of tasks.
    TaskLimit {
        /// The limit.
        most: u32,
        /// The place in the source where the task that was too many was created, as `file:line:column`.
        site: String,
    },
    /// It reached another decision than the schedule has, or one after the end of the schedule, or none where the
    /// schedule has one.
    Diverged {
        /// The number of the decision, from 0.
        at: usize,
        /// The decision that was prescribed; `None` if the execution should have ended.
        expected: Option<Choice>,
        /// The decision that was found; `None` if the execution had ended.
        found: Option<Choice>,
    },
    /// Under the same choices, it did something else than the previous execution.
    Differed {
        /// The number of the event, from 1.
        at: usize,
        /// The operation at this index before; empty at the end.
        before: String,
        /// The operation at this index now; empty at the end.
        now: String,
        /// `true` if the same operation of the same task concerned another variable.
        another_var: bool,
    },
    /// The test uses the tool in a way that cannot work.
    Misuse(String),
    /// A signal ended the current task.
    Crashed(Crash),
    /// It took longer than one execution may.
    TookTooLong {
        /// The limit.
        limit: Duration,
        /// The place of the operation before which the current task was, as `file:line:column`; `None` if the task had
        /// ended.
        site: Option<String>,
    },
    /// The current task did nothing visible for too long.
    Hung(Hang),
}

/// A panic of a task.
#[derive(Clone, Debug)]
pub struct PanicNote {
    /// The task that panicked.
    pub task: u32,
    /// The panic's message.
    pub message: String,
    /// `file:line:column`
    pub place: Option<String>,
    /// `true` if it ended its task: it was not caught inside.
    pub(crate) escaped: bool,
    /// `true` if another task joined the task and so observed the panic.
    pub joined: bool,
    /// The number of panics that the task was unwinding from once this one had begun, this one included.
    pub depth: u32,
    /// `true` if the task was unwinding from it when the execution ended.
    pub unwinding: bool,
    /// `true` if a scope has caught it, and passes it on once the scope's tasks have ended.
    pub(crate) passed_on: bool,
}

impl PanicNote {
    /// Returns `true` if nothing caught it, and no other task observed it.
    pub fn unhandled(&self) -> bool {
        self.escaped && !self.joined || self.unwinding || self.passed_on
    }
}
