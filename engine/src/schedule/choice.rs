//! One decision of an execution. A search decides over sequences of these.

use crate::serial::{Deserialize, Serialize};

/// The kind of a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum ChoiceKind {
    /// Chooses the task that goes next. Alternative 0 is the default continuation.
    Task = 0,
    /// The value of `choose(n)`.
    Value = 1,
    /// Chooses whether a weak compare-exchange that could succeed succeeds (0) or fails (1).
    WeakExchange = 2,
    /// Chooses whether a `try_lock` of a free lock succeeds (0) or fails (1).
    TryLock = 3,
    /// Chooses the waiter that `notify_one` wakes, in order of arrival.
    Waiter = 4,
    /// Chooses whether a wait that begins lasts (0), or ends spuriously or may time out early (1). In versions of the
    /// formats before 3 it chose the reason why a waiting task continued.
    Wake = 5,
    /// Chose, in versions of the formats before 3, whether an execution ended in which no task could continue (0), or
    /// which waiting task woke spuriously.
    Rescue = 6,
    /// Chooses whether a query about a task whose closure has returned finds it ended (0) or not yet (1).
    Ended = 7,
}

impl ChoiceKind {
    /// Every kind, by its number.
    pub const ALL: [ChoiceKind; 8] = [
        ChoiceKind::Task,
        ChoiceKind::Value,
        ChoiceKind::WeakExchange,
        ChoiceKind::TryLock,
        ChoiceKind::Waiter,
        ChoiceKind::Wake,
        ChoiceKind::Rescue,
        ChoiceKind::Ended,
    ];

    /// Returns `true` if it is an action of the environment, whose number is bounded in each task.
    pub fn is_bounded_by_task(self) -> bool {
        self.is_failure() || matches!(self, ChoiceKind::Wake | ChoiceKind::Rescue)
    }

    /// Returns `true` if it chooses whether an operation that could succeed fails. The operation's access depends on
    /// that: a failure only reads.
    #[inline(always)]
    pub fn is_failure(self) -> bool {
        matches!(self, ChoiceKind::WeakExchange | ChoiceKind::TryLock)
    }
}

/// One decision: its kind, the number of alternatives, and the one taken.
///
/// Only real decisions are recorded: `alternatives` is at least 2, and `taken` is below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Choice {
    /// The kind of decision.
    pub kind: ChoiceKind,
    /// `true` if every alternative but 0 is a preemption: the running task could have continued.
    pub preempts: bool,
    /// The number of alternatives, at least 2.
    pub alternatives: u32,
    /// The alternative taken, from 0.
    pub taken: u32,
}

impl Choice {
    /// Returns the number of preemptions that alternative `taken` costs: 0 or 1.
    pub fn cost(&self, taken: u32) -> u32 {
        u32::from(self.preempts && taken != 0)
    }
}
