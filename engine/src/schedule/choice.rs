//! One decision of an execution. A search is a policy over the sequence of these.

use serde::{Deserialize, Serialize};

/// What a choice decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum ChoiceKind {
    /// Which task goes next. Alternative 0 is the default continuation.
    Task = 0,
    /// The value of `choose(n)`.
    Value = 1,
    /// Whether a weak compare-exchange that could succeed does (0) or fails (1).
    WeakExchange = 2,
    /// Whether a `try_lock` of a free lock succeeds (0) or fails (1).
    TryLock = 3,
    /// Which waiter `notify_one` wakes, in the order in which they came.
    Waiter = 4,
    /// Why a waiting task goes on unasked: its time-out (0) or a spurious wake-up (1).
    Wake = 5,
    /// Where nobody can go on: whether that is the end (0), or which of the waiting tasks goes on for no reason.
    Rescue = 6,
    /// Whether a look at a task that is over finds it ended (0) or not yet (1).
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
}

/// One decision: its kind, how many alternatives there were, and which was taken.
///
/// Only real decisions are recorded: `alternatives` is at least 2, and `taken` is below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Choice {
    /// What was decided.
    pub kind: ChoiceKind,
    /// Whether every alternative but 0 is a preemption: the running task could have gone on.
    pub preempts: bool,
    /// Number of alternatives, at least 2.
    pub alternatives: u32,
    /// The alternative taken, from 0.
    pub taken: u32,
}

impl Choice {
    /// How many preemptions taking alternative `taken` costs: 0 or 1.
    pub fn cost(&self, taken: u32) -> u32 {
        u32::from(self.preempts && taken != 0)
    }
}
