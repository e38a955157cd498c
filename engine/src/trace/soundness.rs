//! Which reductions suit what a program does.

use intermezzo_sdk::SyncVarOp;
use serde::{Deserialize, Serialize};

/// Which reductions are sound for what a program does, the strongest first.
///
/// A reduction reorders steps, and relies on a step being the same in every order. Some are not: where a sender's end is
/// closed that is not the last, that is part of the step before; and when a task has ended depends on whichever
/// step was the last that it waited for. Random programs that did so showed that something was missed, rarely.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum SoundReduction {
    /// Wakeup trees, which plan whole sequences of steps.
    #[default]
    WakeupTrees,
    /// Source sets, which plan one: for parked tasks, where there is no bound.
    SourceSets,
    /// Happens-before caching, which plans none: for shared locks, channels, looks whether a task has ended, and waits
    /// that the environment may end unasked.
    Caching,
    /// None: for regions in which the test says that it is not preempted.
    Nothing,
}

impl SoundReduction {
    /// What an operation needs.
    pub const fn of(op: SyncVarOp) -> SoundReduction {
        match op {
            SyncVarOp::TaskCheck
            | SyncVarOp::SharedAcquire
            | SyncVarOp::SharedTryAcquire
            | SyncVarOp::ChannelSend
            | SyncVarOp::ChannelReceive
            | SyncVarOp::ChannelTryFailed
            | SyncVarOp::ChannelClose => SoundReduction::Caching,
            _ => SoundReduction::WakeupTrees,
        }
    }
}
