//! Why an execution stopped.

use super::crash::Crash;
use super::endless::Endless;
use crate::schedule::Choice;

/// Why an execution stopped.
#[derive(Clone, Debug)]
pub(crate) enum Stop {
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
    /// It met another decision than the schedule says, or one where the schedule has ended, or none where the
    /// schedule says one.
    Diverged {
        at: usize,
        expected: Option<Choice>,
        found: Option<Choice>,
    },
    /// It did something else than the execution before had done under the same choices.
    Differed {
        /// The how-manieth event it was, from 1, what it had been, and what it was now; empty at the end.
        at: usize,
        before: String,
        now: String,
    },
    /// The test uses the tool in a way that cannot work.
    Misuse(String),
    /// A signal ended the current task.
    Crashed(Crash),
}

/// A panic of a task.
#[derive(Clone, Debug)]
pub(crate) struct PanicNote {
    pub(crate) task: u32,
    pub(crate) message: String,
    /// `file:line:column`
    pub(crate) place: Option<String>,
    /// Whether it ended its task, and was not caught inside.
    pub(crate) escaped: bool,
    /// Whether somebody joined the task and so learned of it.
    pub(crate) joined: bool,
}
