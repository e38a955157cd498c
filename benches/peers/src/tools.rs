//! The tools, each reduced to: run this case until exhausted or out of time.
//!
//! A tool's file brings its `AtomicUsize`, `Mutex`, `Ordering` and `thread` into scope for its own
//! copy of `kernels.rs`, and its `explore` sets the tool up: depth first, no preemption bound, no
//! limit but time, no output.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::Serialize;

use crate::{Case, Outcomes, Took};

mod intermezzo;
mod loom;
mod shuttle;

/// Held while a tool explores: tools side by side would measure each other, and would swap each
/// other's panic hooks, which belong to the process.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// A systematic concurrency tester.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Tool {
    /// This project, with its optimal partial-order reduction.
    #[serde(rename = "intermezzo dpor")]
    IntermezzoDpor,
    /// This project, every schedule.
    #[serde(rename = "intermezzo dfs")]
    IntermezzoDfs,
    /// `loom`, with its partial-order reduction.
    Loom,
    /// `shuttle` with its depth-first scheduler, which has no reduction.
    Shuttle,
}

impl Tool {
    /// All tools, the one that the others are compared with first.
    pub const ALL: [Tool; 4] = [
        Tool::IntermezzoDpor,
        Tool::IntermezzoDfs,
        Tool::Loom,
        Tool::Shuttle,
    ];

    /// Returns the number of threads that the tool can hold besides the main one, if it has a limit.
    pub fn threads_max(self) -> Option<usize> {
        match self {
            Tool::Loom => Some(::loom::MAX_THREADS - 1),
            Tool::IntermezzoDpor | Tool::IntermezzoDfs | Tool::Shuttle => None,
        }
    }

    /// Returns `true` if the tool may show outcomes that sequential consistency forbids although every operation asks
    /// for it. Loom treats `SeqCst` operations as `AcqRel` (its README, "Unsupported features").
    pub fn weakens_seq_cst(self) -> bool {
        self == Tool::Loom
    }

    /// Runs the case until the tool has exhausted it, or until `cap` is over. Returns the number of executions and
    /// their time, including the set-up of the tool. The outcomes of executions that ended are added to `outcomes`.
    ///
    /// # Panics
    ///
    /// If the case has more threads than [`threads_max`](Tool::threads_max).
    pub fn explore(self, case: Case, cap: Duration, outcomes: &Arc<Outcomes>) -> (u64, Took) {
        let explore = match self {
            Tool::IntermezzoDpor => intermezzo::explore_dpor,
            Tool::IntermezzoDfs => intermezzo::explore_dfs,
            Tool::Loom => loom::explore,
            Tool::Shuttle => shuttle::explore,
        };
        let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let start = Took::so_far();
        let executions = explore(case, cap, outcomes.clone());
        (executions, Took::so_far().since(start))
    }
}

impl fmt::Display for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Tool::IntermezzoDpor => "intermezzo dpor",
            Tool::IntermezzoDfs => "intermezzo dfs",
            Tool::Loom => "loom",
            Tool::Shuttle => "shuttle",
        })
    }
}
