//! An unexplored prefix: the first choices of an execution that was run, followed by another alternative.

use intermezzo_engine::schedule::Choice;
use intermezzo_engine::strategy::Plan;
use std::cmp::Ordering;
use std::sync::Arc;

/// A point at which an execution branches off from one that was run.
#[derive(Clone)]
pub(super) struct Branch {
    /// The choices of that execution, shared by all branches off it: there may be millions.
    path: Arc<[Choice]>,
    /// The number of choices of this one, and the alternative that it takes at the last.
    length: u32,
    taken: u32,
}

impl Branch {
    /// Returns the branch with the first `length` choices of an execution, but with another alternative at the last.
    pub(crate) fn beside(path: Arc<[Choice]>, length: usize, taken: u32) -> Branch {
        Branch {
            path,
            length: length as u32,
            taken,
        }
    }

    /// Returns the branch with just these choices.
    pub(super) fn along(choices: &[Choice]) -> Branch {
        Branch {
            path: choices.into(),
            length: choices.len() as u32,
            taken: choices.last().map_or(0, |last| last.taken),
        }
    }

    /// Returns the number of choices.
    pub(crate) fn length(&self) -> usize {
        self.length as usize
    }

    /// Returns the choices.
    pub(crate) fn choices(&self) -> Vec<Choice> {
        let mut choices = self.path[..self.length()].to_vec();
        if let Some(last) = choices.last_mut() {
            last.taken = self.taken;
        }
        choices
    }

    /// Prescribes the choices for the next execution.
    pub(super) fn prescribe(&self, plan: &mut Plan) {
        plan.replace(&self.path[..self.length()]);
        if let Some(last) = self.length().checked_sub(1) {
            plan.take(last, self.taken);
        }
    }

    /// Compares by the alternatives taken; the first that differs decides. This is the order of depth-first search.
    pub(crate) fn order(&self, other: &Branch) -> Ordering {
        fn taken(branch: &Branch) -> impl Iterator<Item = u32> {
            let last = (branch.length > 0).then_some(branch.taken);
            let before = &branch.path[..branch.length().saturating_sub(1)];
            before.iter().map(|choice| choice.taken).chain(last)
        }
        taken(self).cmp(taken(other))
    }
}
