//! The choices of an execution, as monitors see them.

/// The kind of a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
#[non_exhaustive]
pub enum ChoiceKind {
    /// The task that goes next. Alternative 0 is the default continuation.
    Task = 0,
    /// The value of `choose(n)`.
    Value = 1,
    /// A weak compare-exchange that could succeed does (0) or fails (1).
    WeakExchange = 2,
    /// A `try_lock` of a free lock succeeds (0) or fails (1).
    TryLock = 3,
    /// The waiter that `notify_one` wakes, in order of arrival.
    Waiter = 4,
    /// A wait that begins lasts (0), or ends spuriously or may time out early (1).
    Wake = 5,
    /// A query about a task whose closure has returned finds it ended (0) or not yet (1).
    Ended = 6,
}

impl ChoiceKind {
    /// Every kind, by its number.
    pub const ALL: [ChoiceKind; 7] = {
        use ChoiceKind::*;
        [Task, Value, WeakExchange, TryLock, Waiter, Wake, Ended]
    };
}

/// One choice of an execution: `taken` of `alternatives`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The kind.
    pub kind: ChoiceKind,
    /// `true` if every alternative but 0 is a preemption: the running task could have continued.
    pub preempts: bool,
    /// Number of alternatives, at least 2.
    pub alternatives: u32,
    /// The alternative taken, from 0.
    pub taken: u32,
}
