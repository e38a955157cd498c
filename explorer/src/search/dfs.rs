//! Exhaustive depth first search: every schedule, once.
//!
//! The choices of the last execution are the search's whole state: the deepest one with an alternative
//! left is advanced, and everything after it forgotten. Memory is one execution's choices.

use super::{ChoicePoint, Strategy};
use crate::report::Coverage;
use crate::schedule::Choice;

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
    fn next(&mut self, choices: &mut Vec<Choice>) -> bool {
        if !self.begun {
            self.begun = true;
            choices.clear();
            return true;
        }
        while let Some(last) = choices.last_mut() {
            if last.taken + 1 < last.alternatives {
                last.taken += 1;
                return true;
            }
            choices.pop();
        }
        false
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

    fn name(&self) -> String {
        "dfs".into()
    }
}
