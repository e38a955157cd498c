//! The strongest reduction that is sound for a program.

use crate::serial::{Deserialize, Serialize};
use intermezzo_sdk::SyncVarOp;

/// The strongest reduction that is sound for a program's operations, the strongest first.
///
/// A reduction reorders steps, and relies on each step being the same in every order. Some are not: the step in which a
/// task ends depends on the last step that it waited for. In random programs with such operations, stronger reductions
/// missed traces, if rarely.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum SoundReduction {
    /// Wakeup trees, which plan whole sequences of steps.
    #[default]
    WakeupTrees,
    /// Source sets, which plan one step: for parked tasks, if there is no bound.
    SourceSets,
    /// Happens-before caching, which plans no steps: for queries whether a task has ended, waits until all tasks are
    /// quiet, and other operations whose effect depends on more than the accesses of steps.
    Caching,
    /// No reduction: for regions in which the test turns preemptions off.
    Nothing,
}

impl SoundReduction {
    /// Returns the strongest reduction that is sound with an operation.
    pub const fn of(op: SyncVarOp) -> SoundReduction {
        match op {
            SyncVarOp::TaskCheck | SyncVarOp::Quiesce => SoundReduction::Caching,
            _ => SoundReduction::WakeupTrees,
        }
    }
}
