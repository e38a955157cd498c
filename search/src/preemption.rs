//! Iterative preemption bounding (Musuvathi & Qadeer, PLDI 2007): all executions without a preemption, then all with
//! one, then all with two.
//!
//! A work item is a prefix that ends with a preemption. Below it, depth-first search branches at the choices that cost
//! no preemption (switches away from a task that blocked or yielded, and values). Every alternative that would cost one
//! more preemption becomes an item of the next round. So nothing is run twice, and each bound is complete before the
//! next one begins. Memory: the items of the next round; the last round has none.

use super::branching::Branching;
use super::partition::Belongs;
use super::tree::{SavedTree, Tree};
use crate::estimate::{self, Pace};
use intermezzo_engine::schedule::Choice;
use intermezzo_engine::serial::{Deserialize, Serialize};
use intermezzo_engine::strategy::{
    ChoicePoint, Coverage, Idle, Needs, Parallel, Partition, Partitioned, Plan, Resumable, SearchPosition,
    SearchState, SoFar, Status, Strategy,
};
use intermezzo_engine::trace::Trace;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// A search that runs executions in the order of their numbers of preemptions, up to a bound.
pub struct IterativePreemptionBounding {
    tree: Tree,
    bound: Bound,
    /// The counts of the rounds, from which the progress of the search is estimated.
    pace: Pace,
}

/// A branching in which each preemption is left to the next round.
#[derive(Clone)]
struct Bound {
    most: u32,
    /// `true` if any worker left out an alternative beyond the bound.
    left_out: Arc<AtomicBool>,
}

#[derive(Serialize, Deserialize)]
struct Saved {
    tree: SavedTree,
    left_out: bool,
}

impl IterativePreemptionBounding {
    /// Returns a search up to `bound_max` preemptions.
    pub fn new(bound_max: u32) -> IterativePreemptionBounding {
        IterativePreemptionBounding {
            tree: Tree::new(),
            bound: Bound {
                most: bound_max,
                left_out: Arc::default(),
            },
            pace: Pace::default(),
        }
    }
}

impl Branching for Bound {
    #[inline]
    fn is_free(&self, choice: &Choice) -> bool {
        !choice.preempts
    }

    /// Returns the alternatives that preempt.
    #[inline]
    fn aside(&self, choice: &Choice, round: u32) -> Range<u32> {
        if !choice.preempts {
            0..0
        } else if round == self.most {
            self.left_out.store(true, Relaxed);
            0..0
        } else {
            1..choice.alternatives
        }
    }
}

impl Strategy for IterativePreemptionBounding {
    fn next(&mut self, plan: &mut Plan, _: &Trace) -> bool {
        let more = self.tree.next(plan, &self.bound);
        if more {
            self.pace
                .begin_execution(self.tree.round(), self.tree.items_left());
        }
        more
    }

    fn choose(&mut self, _: &ChoicePoint<'_>) -> Option<u32> {
        Some(0)
    }

    fn coverage(&self, finished: bool) -> Coverage {
        let round = self.tree.search_round();
        // A round begins when the one before it is complete.
        let completed = if finished {
            Some(round)
        } else {
            round.checked_sub(1)
        };
        match (finished, self.bound.left_out.load(Relaxed), completed) {
            (true, false, _) => Coverage::Exhaustive,
            (true, true, Some(bound)) => Coverage::within_preemptions(bound, None),
            (_, _, Some(bound)) => Coverage::within_preemptions(
                bound,
                Some(format!(
                    "stopped before every execution with {} preemptions was run",
                    bound + 1
                )),
            ),
            (_, _, None) => Coverage::stopped(),
        }
    }

    fn status(&self, so_far: &SoFar<'_>) -> Status {
        let choices = so_far.choices;
        let item = estimate::share_until_free(&choices[self.tree.floor().min(choices.len())..]);
        let rounds_left = self.bound.most - self.tree.round();
        Status {
            progress: Some(self.pace.share(item, self.tree.items_later(), rounds_left)),
            ..Status::named("dfs")
        }
    }

    fn needs(&self) -> Needs {
        Needs {
            in_order: true,
            ..Needs::default()
        }
    }

    fn parallel(&mut self) -> Option<&mut dyn Parallel> {
        Some(self)
    }

    fn partitioned(&mut self) -> Result<&mut dyn Partitioned, &'static str> {
        Ok(self)
    }

    fn resumable(&mut self) -> Option<&mut dyn Resumable> {
        Some(self)
    }
}

impl Partitioned for IterativePreemptionBounding {
    fn keep_to(&mut self, partition: Partition) {
        self.tree.keep_to(partition);
    }

    fn is_here(&mut self, choices: &[Choice]) -> bool {
        self.tree.belongs(choices, false, &self.bound) == Belongs::Here
    }

    fn is_elsewhere(&mut self, choices: &[Choice]) -> bool {
        self.tree.belongs(choices, true, &self.bound) == Belongs::Elsewhere
    }
}

impl Parallel for IterativePreemptionBounding {
    fn split(&mut self) -> Box<dyn Strategy> {
        Box::new(IterativePreemptionBounding {
            tree: self.tree.fork(),
            bound: self.bound.clone(),
            pace: Pace::default(),
        })
    }

    fn wait(&mut self) -> bool {
        self.tree.wait()
    }

    fn idle(&mut self) -> Idle {
        self.tree.idle()
    }

    fn discard(&mut self) {
        self.tree.skip();
    }

    fn stop(&mut self) {
        self.tree.stop();
    }

    fn segment(&mut self) -> Option<SearchPosition> {
        self.tree.span()
    }

    fn position(&mut self, choices: &[Choice]) -> SearchPosition {
        SearchPosition::of_choices(self.tree.round(), choices)
    }
}

impl Resumable for IterativePreemptionBounding {
    fn save(&mut self, plan: &Plan) -> Option<String> {
        Some(self.tree.save(plan))
    }

    fn save_prepared(&mut self, plan: &Plan) -> Option<String> {
        Some(self.tree.save_prepared(plan))
    }

    fn save_shared(&mut self) -> Option<String> {
        let saved = Saved {
            tree: self.tree.save_shared(),
            left_out: self.bound.left_out.load(Relaxed),
        };
        intermezzo_engine::serial::to_string(&saved).ok()
    }

    fn restore(&mut self, state: &SearchState) -> bool {
        let Ok(saved) = intermezzo_engine::serial::from_str::<Saved>(&state.shared) else {
            return false;
        };
        let Some(tree) = Tree::restored(&saved.tree, state) else {
            return false;
        };
        self.tree = tree;
        self.bound.left_out.store(saved.left_out, Relaxed);
        true
    }
}
