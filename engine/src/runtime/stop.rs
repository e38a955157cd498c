//! Why an execution stopped.

use super::crash::Crash;
use super::livelock::Endless;
use super::watchdog::Hang;
use crate::schedule::Choice;

/// Why an execution stopped.
#[derive(Clone, Debug)]
pub enum Stop {
    /// Every task came to its end.
    Complete,
    /// The test's own body panicked.
    Panicked,
    /// Tasks are left, and none of them can go on.
    Deadlock,
    /// Tasks are left, and those of them that can go on wait in loops for what never comes.
    Livelock,
    /// It took more steps than allowed.
    StepLimit(Endless),
    /// It would have created more tasks than allowed, at this place.
    TaskLimit {
        /// The limit.
        most: u32,
        /// Where in the source one more was created, as `file:line:column`.
        site: String,
    },
    /// It met another decision than the schedule says, or one where the schedule has ended, or none where the
    /// schedule says one.
    Diverged {
        /// The number of the decision, from 0.
        at: usize,
        /// The decision that was prescribed; `None` if the execution was to be over.
        expected: Option<Choice>,
        /// The decision that was found; `None` if the execution was over.
        found: Option<Choice>,
    },
    /// It did something else than the execution before had done under the same choices.
    Differed {
        /// The how-manieth event it was, from 1, what it had been, and what it was now; empty at the end.
        at: usize,
        /// The operation that came at this place before.
        before: String,
        /// The operation that came now.
        now: String,
        /// `true` if the same operation of the same task came to another variable.
        another_var: bool,
    },
    /// The test uses the tool in a way that cannot work.
    Misuse(String),
    /// A signal ended the current task.
    Crashed(Crash),
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
    /// `true` if it ended its task, and was not caught inside.
    pub(crate) escaped: bool,
    /// `true` if another task joined the task and so learned of it.
    pub joined: bool,
    /// Panics that the task was unwinding from once this one had begun, this one included.
    pub depth: u32,
    /// `true` if the task was unwinding from it when the execution ended.
    pub unwinding: bool,
}

impl PanicNote {
    /// `true` if nothing caught it, and no other task learned of it.
    pub fn unhandled(&self) -> bool {
        self.escaped && !self.joined || self.unwinding
    }
}
