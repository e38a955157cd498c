//! Depth-first search: every schedule exactly once.
//!
//! Memory: the choices of one execution, and the work that workers give to each other.

use super::branching::Branching;
use super::partition::Belongs;
use super::tree::Tree;
use crate::estimate;
use intermezzo_engine::schedule::Choice;
use intermezzo_engine::strategy::{
    ChoicePoint, Coverage, Idle, Parallel, Partition, Partitioned, Plan, Resumable, SearchPosition,
    SearchState, SoFar, Status, Strategy,
};
use intermezzo_engine::trace::Trace;
use std::ops::Range;

/// A search that runs every schedule exactly once.
pub struct DepthFirst {
    tree: Tree,
}

impl Default for DepthFirst {
    fn default() -> Self {
        DepthFirst::new()
    }
}

impl DepthFirst {
    /// Returns a search that has not begun.
    pub fn new() -> DepthFirst {
        DepthFirst { tree: Tree::new() }
    }
}

/// The branching in which every alternative is explored.
struct All;

impl Branching for All {
    #[inline]
    fn is_free(&self, _: &Choice) -> bool {
        true
    }

    #[inline]
    fn aside(&self, _: &Choice, _: u32) -> Range<u32> {
        0..0
    }
}

impl Strategy for DepthFirst {
    fn next(&mut self, plan: &mut Plan, _: &Trace) -> bool {
        self.tree.next(plan, &All)
    }

    fn choose(&mut self, _: &ChoicePoint<'_>) -> Option<u32> {
        Some(0)
    }

    fn coverage(&self, finished: bool) -> Coverage {
        if finished {
            Coverage::Exhaustive
        } else {
            Coverage::stopped()
        }
    }

    fn status(&self, so_far: &SoFar<'_>) -> Status {
        Status {
            progress: Some(estimate::share_until(so_far.choices)),
            ..Status::named("dfs")
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

impl Partitioned for DepthFirst {
    fn keep_to(&mut self, partition: Partition) {
        self.tree.keep_to(partition);
    }

    fn is_here(&mut self, choices: &[Choice]) -> bool {
        self.tree.belongs(choices, false, &All) == Belongs::Here
    }

    fn is_elsewhere(&mut self, choices: &[Choice]) -> bool {
        self.tree.belongs(choices, true, &All) == Belongs::Elsewhere
    }
}

impl Parallel for DepthFirst {
    fn split(&mut self) -> Box<dyn Strategy> {
        Box::new(DepthFirst {
            tree: self.tree.fork(),
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
}

impl Resumable for DepthFirst {
    fn save(&mut self, plan: &Plan) -> Option<String> {
        Some(self.tree.save(plan))
    }

    fn save_prepared(&mut self, plan: &Plan) -> Option<String> {
        Some(self.tree.save_prepared(plan))
    }

    fn save_shared(&mut self) -> Option<String> {
        intermezzo_engine::serial::to_string(&self.tree.save_shared()).ok()
    }

    fn restore(&mut self, state: &SearchState) -> bool {
        let shared = intermezzo_engine::serial::from_str(&state.shared).ok();
        match shared.and_then(|shared| Tree::restored(&shared, state)) {
            Some(tree) => {
                self.tree = tree;
                true
            }
            None => false,
        }
    }
}
