//! An unexplored prefix: the first choices of an execution that was run, with another alternative taken at the last
//! one.

use intermezzo_engine::schedule::Choice;
use intermezzo_engine::strategy::Plan;
use std::cmp::Ordering;
use std::sync::Arc;

/// A point at which an execution branches off from one that was run.
#[derive(Clone)]
pub(super) struct Branch {
    /// The choices of that execution. All branches off it share them, because there may be millions of branches.
    path: Arc<[Choice]>,
    /// The number of choices of this branch, and the alternative that it takes at the last one.
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

    /// Returns the branch with exactly these choices.
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

    /// Prescribes these choices for the next execution.
    pub(super) fn prescribe(&self, plan: &mut Plan) {
        plan.replace(&self.path[..self.length()]);
        if let Some(last) = self.length().checked_sub(1) {
            plan.take(last, self.taken);
        }
    }

    /// Compares by the alternatives taken. The first one that differs decides. This is the order of depth-first search.
    pub(crate) fn order(&self, other: &Branch) -> Ordering {
        // Branches off the same execution are compared in constant time: a long execution has as many of them as
        // choices.
        if !Arc::ptr_eq(&self.path, &other.path) {
            return self.all_taken().cmp(other.all_taken());
        }
        let least = self.length().min(other.length());
        let last_common = |branch: &Branch| match least.checked_sub(1) {
            Some(at) if branch.length() == least => (at, branch.taken),
            Some(at) => (at, branch.path[at].taken),
            None => (0, 0),
        };
        last_common(self)
            .cmp(&last_common(other))
            .then(self.length.cmp(&other.length))
    }

    /// Returns the alternatives that it takes.
    fn all_taken(&self) -> impl Iterator<Item = u32> {
        let last = (self.length > 0).then_some(self.taken);
        let before = &self.path[..self.length().saturating_sub(1)];
        before.iter().map(|choice| choice.taken).chain(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use intermezzo_engine::schedule::ChoiceKind;

    #[test]
    fn branches_off_one_execution_have_the_order_of_depth_first_search() {
        for number in 0..3_u32.pow(4) {
            let taken = |at: u32| number / 3_u32.pow(at) % 3;
            let path: Arc<[Choice]> = (0..4)
                .map(|at| Choice {
                    kind: ChoiceKind::Task,
                    preempts: false,
                    taken: taken(at),
                    alternatives: 3,
                })
                .collect();
            let branches: Vec<Branch> = (0..=4)
                .flat_map(|length| (0..3).map(move |taken| (length, taken)))
                .map(|(length, taken)| Branch::beside(path.clone(), length, taken))
                .collect();
            for one in &branches {
                for other in &branches {
                    assert_eq!(one.order(other), one.all_taken().cmp(other.all_taken()));
                }
            }
        }
    }
}
