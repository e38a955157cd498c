//! The treatment of loops that only wait, as a setting.

use intermezzo_search::value::Named;

/// The treatment of a loop that only waits for another task.
///
/// A round of such a loop is seen to wait if the task comes back to the state in which the round began, with nothing
/// written. Memory outside variables and the task's own stack is not compared: choose [`SpinLoops::Run`] for a loop that
/// ends because of a count in the heap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SpinLoops {
    /// After a round that was seen to wait, the task is disabled until a variable that it read changes.
    #[default]
    Park,
    /// A loop that was once seen to wait is assumed to wait from its first round on, wherever a task performs the same
    /// operations at the same places. Its failed rounds then count as not having happened: there are fewer traces, and
    /// fewer executions.
    ///
    /// A loop is seen to wait in an execution, and the search then restarts with that known. Executions until then are
    /// mentioned in a note, and not counted.
    ///
    /// Behaviours may be missed that depend on how often such a loop went round *before* its state repeats: a back-off
    /// that grows up to a limit, or a count that no variable holds. If the rounds of a loop differ and one ends like
    /// another, changes of a variable that only the longer one reads may be missed, too.
    Assume,
    /// Every round is run.
    Run,
}

impl Named for SpinLoops {
    const WHAT: &'static str = "treatment of loops that wait";
    const NAMES: &'static [(&'static str, SpinLoops)] = &[
        ("park", SpinLoops::Park),
        ("assume", SpinLoops::Assume),
        ("run", SpinLoops::Run),
    ];
}
