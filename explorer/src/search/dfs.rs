//! Exhaustive depth first search: every schedule, once.
//!
//! The choices of the last execution are the search's whole state: the deepest one with an alternative
//! left is advanced, and everything after it forgotten. Memory is one execution's choices.

use super::{ChoicePoint, Plan, Strategy};
use crate::estimate;
use crate::report::Coverage;
use crate::schedule::Choice;
use crate::trace::Trace;

/// Every schedule, once.
#[derive(Default)]
pub struct DepthFirst {
    begun: bool,
}

impl DepthFirst {
    /// A search that has not begun.
    pub fn new() -> DepthFirst {
        DepthFirst::default()
    }
}

impl Strategy for DepthFirst {
    fn next(&mut self, plan: &mut Plan, _: &Trace) -> bool {
        if !self.begun {
            self.begun = true;
            plan.truncate(0);
            return true;
        }
        while let Some(last) = plan.choices().last().copied() {
            let at = plan.choices().len() - 1;
            if last.taken + 1 < last.alternatives {
                plan.take(at, last.taken + 1);
                return true;
            }
            plan.truncate(at);
        }
        false
    }

    fn choose(&mut self, _: &ChoicePoint<'_>) -> Option<u32> {
        Some(0)
    }

    fn share(&self, choices: &[Choice]) -> Option<f64> {
        Some(estimate::share_until(choices))
    }

    fn coverage(&self, finished: bool) -> Coverage {
        if finished {
            Coverage::Exhaustive
        } else {
            Coverage::stopped()
        }
    }

    fn name(&self) -> String {
        "dfs".into()
    }
}
