//! The interface between the engine and its searches: a [`Strategy`] prescribes the first choices of the next
//! execution, and is asked for the choices that follow.
//!
//! The engine knows strategies by this trait only. The module also defines the arguments of a strategy: the choice to
//! be made ([`ChoicePoint`]), the next operation of a task ([`Operation`]), and the execution that has ended
//! ([`CompletedExecution`]). It also defines the results of a strategy: its needs ([`Needs`]), its progress
//! ([`Status`]), and its coverage ([`Coverage`]).

mod candidates;
mod completed;
mod coverage;
mod needs;
mod operation;
mod parallel;
mod partition;
mod plan;
mod point;
mod position;
mod rank_bound;
mod resumable;
mod status;

pub use candidates::Candidates;
pub use completed::{CompletedExecution, operations};
pub use coverage::Coverage;
pub use needs::{FallbackReason, Needs};
pub use operation::Operation;
pub use parallel::{Idle, Parallel};
pub use partition::{Partition, Partitioned};
pub use plan::Plan;
pub use point::{ChoicePoint, Hold};
pub use position::SearchPosition;
pub use rank_bound::{Arrays, Epsilon, RankBound};
pub use resumable::{Resumable, SearchState};
pub use status::{SoFar, Status};

use crate::trace::Trace;
use std::sync::Arc;

/// A function that tells whether the time of a search is over.
pub type TimeIsOver = Arc<dyn Fn() -> bool + Send + Sync>;

/// A search over the executions of a test, or one worker's share of it.
///
/// For each execution the engine calls [`next`](Strategy::next), then [`choose`](Strategy::choose) at each choice
/// beyond the prescribed ones, then [`finished`](Strategy::finished). The four methods without a default are enough for
/// a search by one worker. Several workers need [`Parallel`] in addition, and checkpoints [`Resumable`].
pub trait Strategy: Send {
    /// Prepares the next execution. Returns `false` if the search is over, or if this worker has nothing to do at the
    /// moment (see [`Parallel::wait`]).
    ///
    /// `plan` holds the choices of the last execution, and is empty before the first. On return it holds the choices
    /// that the next execution must make first. `trace` is the last execution's.
    fn next(&mut self, plan: &mut Plan, trace: &Trace) -> bool;

    /// Returns the alternative to take at a choice beyond the prescribed ones. Returns `None` if no such choice should
    /// exist: then the execution has departed from its schedule.
    fn choose(&mut self, point: &ChoicePoint<'_>) -> Option<u32>;

    /// Called after `choose` has returned `None`. Returns `true` to abandon the execution, which then counts and is not
    /// a finding. Returns `false` if the execution has departed from its schedule.
    fn gives_up(&mut self) -> bool {
        false
    }

    /// Returns the coverage of the executions so far. `finished` is `true` if `next` has returned `false`.
    fn coverage(&self, finished: bool) -> Coverage;

    /// Returns the name of the strategy and its progress, for reports.
    fn status(&self, so_far: &SoFar<'_>) -> Status;

    /// Returns the requirements of the strategy on the engine. Called when the search begins and after each call of
    /// `next`.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// Notifies the search that the last prepared execution has ended and followed its schedule.
    fn finished(&mut self, execution: &CompletedExecution<'_>) {
        let _ = execution;
    }

    /// Notifies the search that the last execution departed from its schedule, because the test does not always do the
    /// same; or that it was cut off, because the time of the search was over. The execution is run again with the same
    /// choices prescribed, so the search must forget what `choose` learned in it.
    ///
    /// If it departs each time and the exploration continues, `next` is called with a plan of just the prescribed
    /// choices, and an empty trace.
    fn retry(&mut self) {}

    /// Gives the search a function that tells whether its time is over. A [`next`](Strategy::next) that takes long may
    /// then give up.
    fn heed_time(&mut self, is_over: &TimeIsOver) {
        let _ = is_over;
    }

    /// Returns `true` if `next` gave up because the time was over, and so returned `false`. The search can then neither
    /// continue nor be saved, and its coverage is not complete.
    fn gave_up(&self) -> bool {
        false
    }

    /// Lets a search that consists of several run from now on only the one that covers every trace, if that one seems to be
    /// within reach of its end. Returns `true` if it does. Called when the limit is reached that holds where none is set.
    fn keep_to_whole(&mut self) -> bool {
        false
    }

    /// Returns the same search from its beginning, with what it has learned. Returns `None` if it can be made from the
    /// settings.
    ///
    /// Called when the engine has learned something about the test that makes the earlier executions worthless.
    fn restart(&mut self) -> Option<Box<dyn Strategy>> {
        None
    }

    /// Returns the strategy as one that several workers can share; `None` if it cannot be split.
    fn parallel(&mut self) -> Option<&mut dyn Parallel> {
        None
    }

    /// Returns the strategy as one of which several processes can explore a share each.
    ///
    /// # Errors
    /// If it cannot be divided in this way. The text says why, and what to use instead.
    fn partitioned(&mut self) -> Result<&mut dyn Partitioned, &'static str> {
        Err(
            "its next execution depends on those before, so shares would have to talk to each other: give \
             `dfs`, with the reduction `dpor` or without, or a search that draws executions, as `random`",
        )
    }

    /// Returns the strategy as one that a checkpoint can save; `None` if it cannot be saved.
    fn resumable(&mut self) -> Option<&mut dyn Resumable> {
        None
    }
}
