//! Delay bounding (Emmi, Qadeer, Rakamaric, POPL 2011): all executions without a delay, then all with one, then all
//! with two.
//!
//! The deterministic scheduler is a round robin in the order of creation: it continues with the task that took the last
//! step as long as that can continue, then with the next one. At each choice, taking another task costs the number of
//! tasks skipped before it. Alternatives have the same order, so alternative `n` costs `n`. Choices that are not
//! between tasks (values, the environment) cost nothing. A task that only the environment can wake counts as enabled,
//! as in the other searches. The paper has no such tasks.
//!
//! A work item is a prefix that ends with a delay. Below it, depth-first search branches at the choices that cost
//! nothing. Every alternative that costs delays becomes an item of the round of its total number of delays. So nothing
//! is run twice, and each bound is complete before the next one begins. Memory: the choices of each execution that has
//! alternatives in a later round.

use crate::branch::Branch;
use intermezzo_engine::schedule::{Choice, ChoiceKind};
use intermezzo_engine::strategy::{ChoicePoint, Coverage, Plan, SoFar, Status, Strategy};
use intermezzo_engine::trace::Trace;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// A search that runs executions in the order of their numbers of delays.
pub struct IterativeDelayBounding {
    bound_max: Option<u32>,
    /// The current round: executions with exactly this many delays.
    bound: u32,
    /// The prefixes to explore, by the round to which they belong.
    rounds: BTreeMap<u32, VecDeque<Branch>>,
    /// The number of fixed choices of the current item.
    fixed: usize,
    begun: bool,
    /// The last complete round.
    completed: Option<u32>,
    /// `true` if some alternative beyond the bound was left out.
    left_out: bool,
}

impl IterativeDelayBounding {
    /// Returns a search of the executions with up to `bound_max` delays, or of all executions if that is `None`.
    pub fn new(bound_max: Option<u32>) -> IterativeDelayBounding {
        IterativeDelayBounding {
            bound_max,
            bound: 0,
            rounds: BTreeMap::new(),
            fixed: 0,
            begun: false,
            completed: None,
            left_out: false,
        }
    }

    /// Stores the alternatives that cost delays for their rounds, at the choices from `from` on.
    ///
    /// All of these choices took the default task in this round, so each alternative adds the number of tasks that it
    /// skips.
    fn keep_delays(&mut self, choices: &[Choice], from: usize) {
        let mut execution: Option<Arc<[Choice]>> = None;
        for (at, choice) in choices.iter().enumerate().skip(from) {
            if choice.kind != ChoiceKind::Task {
                continue;
            }
            for taken in 1..choice.alternatives {
                let total = self.bound.saturating_add(taken);
                if self.bound_max.is_some_and(|most| total > most) {
                    self.left_out = true;
                    break;
                }
                let execution = execution.get_or_insert_with(|| choices.into()).clone();
                let branch = Branch::beside(execution, at + 1, taken);
                self.rounds.entry(total).or_default().push_back(branch);
            }
        }
    }

    /// Removes and returns the next prefix to explore, from this round or else from the first later round that has any.
    fn pop(&mut self) -> Option<Branch> {
        loop {
            let mut round = self.rounds.first_entry()?;
            let (bound, item) = (*round.key(), round.get_mut().pop_front());
            if item.is_none() {
                round.remove();
                continue;
            }
            if bound > self.bound {
                // The rounds in between have no executions.
                self.completed = Some(bound - 1);
                self.bound = bound;
            }
            return item;
        }
    }
}

impl Strategy for IterativeDelayBounding {
    fn next(&mut self, plan: &mut Plan, _: &Trace) -> bool {
        if !self.begun {
            self.begun = true;
            plan.truncate(0);
            return true;
        }
        // This is depth-first search below the fixed prefix over the alternatives that cost nothing. At choices that it
        // is done with, those that cost delays are stored for later rounds.
        let fixed = self.fixed.min(plan.choices().len());
        let has_more =
            |choice: &Choice| choice.kind != ChoiceKind::Task && choice.taken + 1 < choice.alternatives;
        let free = plan.choices()[fixed..]
            .iter()
            .rposition(has_more)
            .map(|at| fixed + at);
        self.keep_delays(plan.choices(), free.map_or(fixed, |at| at + 1));
        if let Some(at) = free {
            plan.truncate(at + 1);
            plan.take(at, plan.choices()[at].taken + 1);
            return true;
        }
        let Some(branch) = self.pop() else {
            self.completed = Some(self.bound_max.unwrap_or(self.bound).max(self.bound));
            return false;
        };
        self.fixed = branch.length();
        branch.prescribe(plan);
        true
    }

    fn choose(&mut self, _: &ChoicePoint<'_>) -> Option<u32> {
        Some(0)
    }

    fn coverage(&self, finished: bool) -> Coverage {
        match (finished, self.left_out, self.completed) {
            (true, false, _) => Coverage::Exhaustive,
            (true, true, Some(bound)) => Coverage::within_delays(bound, None),
            (_, _, Some(bound)) => Coverage::within_delays(
                bound,
                Some(format!(
                    "stopped before every execution with {} delays was run",
                    bound + 1
                )),
            ),
            (_, _, None) => Coverage::stopped(),
        }
    }

    fn status(&self, _: &SoFar<'_>) -> Status {
        Status::named(match self.bound_max {
            None => "dfs(delays=none)".to_owned(),
            Some(most) => format!("dfs(delays={most})"),
        })
    }
}
