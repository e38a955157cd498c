//! Strategies: which schedule comes next. Each is one file.
//!
//! A strategy is a policy over the sequence of choices that determines an execution: it prescribes the
//! first choices of the next execution, and is asked about the ones beyond. It sees executions, never
//! findings.

mod caching;
mod dfs;
mod dpor;
mod plan;
mod preemption;
mod random;
mod replay;

pub(crate) use caching::Caching;
pub use dfs::DepthFirst;
pub(crate) use dpor::{Dpor, Insertion};
pub use plan::Plan;
pub use preemption::IterativePreemptionBounding;
pub use random::RandomWalk;
pub use replay::Replay;

use crate::report::Coverage;
use crate::runtime::{Candidates, Task, TaskSet};
use crate::schedule::{Choice, ChoiceKind};
use crate::trace::{Key, Trace};
use intermezzo_sdk::TaskId;

/// A search over the executions of a test.
pub trait Strategy: Send {
    /// Prepares the next execution. `plan` holds the last execution's choices (none, before the first), and is
    /// left holding those that the next one must make first; `trace` is what the last execution was. False when
    /// the search is over.
    fn next(&mut self, plan: &mut Plan, trace: &Trace) -> bool;

    /// Which alternative to take at a choice beyond the prescribed ones. `None` if there must be no such
    /// choice: the execution has departed from what it should have been.
    fn choose(&mut self, point: &ChoicePoint<'_>) -> Option<u32>;

    /// Whether to be asked before every step, even where there is but one alternative.
    fn asks_always(&self) -> bool {
        false
    }

    /// The last execution departed from what was prescribed, because the test does not always do the same, and is
    /// run again with the same choices prescribed: what `choose` learned in it does not hold.
    ///
    /// Where it departs each time and the exploration goes on past it, `next` is called with a plan of just the
    /// prescribed choices, and a trace of nothing.
    fn again(&mut self) {}

    /// Whether the search can go on past an execution that departed each time.
    fn goes_past_departures(&self) -> bool {
        true
    }

    /// Which share of what is to be run has been, after the last execution, as far as can be told: it made these
    /// choices. Between 0 and 1; `None` if there is no telling, or no end.
    fn share(&self, _choices: &[Choice]) -> Option<f64> {
        None
    }

    /// Whether executions come in order of their preemptions.
    fn is_in_order(&self) -> bool {
        false
    }

    /// How many of the executions so far showed nothing that another does not show as well.
    fn redundant(&self) -> u64 {
        0
    }

    /// The reduction at work, for reports: `"none"`, `"dpor"`.
    fn reduction(&self) -> &'static str {
        "none"
    }

    /// What the executions so far cover. `finished` says whether `next` has returned false.
    fn coverage(&self, finished: bool) -> Coverage;

    /// The strategy and its parameters, for reports: `"dfs"`, `"random"`.
    fn name(&self) -> String;
}

/// A choice to be made.
pub struct ChoicePoint<'a> {
    /// What it decides.
    pub kind: ChoiceKind,
    /// Whether every alternative but 0 is a preemption.
    pub preempts: bool,
    /// How many alternatives there are: at least 2, but for a search that is always asked. Alternative 0 is the
    /// default.
    pub alternatives: u32,
    /// How many choices the execution has made.
    pub choices: usize,
    /// Whether fairness is at work: which tasks may go then depends on more than where they stand.
    pub fair: bool,
    /// How many steps the execution has taken.
    pub step: u64,
    pub(crate) candidates: Candidates<'a>,
    pub(crate) trace: &'a Trace,
    pub(crate) tasks: &'a [Task],
    pub(crate) enabled: &'a TaskSet,
    pub(crate) overdue: &'a TaskSet,
}

impl ChoicePoint<'_> {
    /// What the execution has been up to here.
    pub fn trace(&self) -> &Trace {
        self.trace
    }

    /// Whether the task's next operation is possible.
    pub(crate) fn is_enabled(&self, task: u32) -> bool {
        self.enabled.contains(task)
    }

    /// If the task of this alternative would go on unasked, because its time is up or for no reason: what it waits
    /// for, which may yet wake it otherwise.
    pub(crate) fn waits_for(&self, task: u32) -> Option<Key> {
        if self.enabled.contains(task) && !self.overdue.contains(task) {
            return None;
        }
        let access = self.tasks[task as usize].pending.access;
        Some(Key::of(access.op, access.var))
    }

    /// The task that goes next if this alternative is taken; `None` if the choice is not about tasks.
    pub fn task(&self, alternative: u32) -> Option<TaskId> {
        self.candidates.task(alternative)
    }
}
