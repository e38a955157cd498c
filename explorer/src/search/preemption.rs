//! Iterative preemption bounding (Musuvathi & Qadeer, PLDI 2007): all executions without a preemption,
//! then all with one, then two.
//!
//! A work item is a prefix that ends with a preemption; below it, depth first search branches on what is
//! free (a task that blocked or yielded is left for another; values), and every alternative that would
//! cost one more preemption becomes an item of the next round. So nothing is run twice, and each bound is
//! complete before the next begins. Memory: the items of the next round; the last round makes none.

use super::{ChoicePoint, Plan, Strategy};
use crate::estimate::{self, Pace};
use crate::report::Coverage;
use crate::schedule::Choice;
use crate::trace::Trace;
use std::collections::VecDeque;

/// Executions in order of their preemptions, up to a bound.
pub struct IterativePreemptionBounding {
    bound_max: u32,
    /// The round that is under way: executions with exactly this many preemptions.
    bound: u32,
    /// Prefixes to explore in this round, and in the next.
    items: VecDeque<Box<[Choice]>>,
    next_items: VecDeque<Box<[Choice]>>,
    /// How many choices of the running item are fixed.
    fixed: usize,
    begun: bool,
    /// Rounds that are complete.
    completed: Option<u32>,
    /// What has been counted of the rounds, to tell how far the search is.
    pace: Pace,
    /// Whether some alternative beyond the bound was left out.
    left_out: bool,
}

impl IterativePreemptionBounding {
    /// A search up to `bound_max` preemptions.
    pub fn new(bound_max: u32) -> IterativePreemptionBounding {
        IterativePreemptionBounding {
            bound_max,
            bound: 0,
            items: VecDeque::new(),
            next_items: VecDeque::new(),
            fixed: 0,
            begun: false,
            completed: None,
            pace: Pace::default(),
            left_out: false,
        }
    }

    /// Keeps the preempting alternatives of the choices from `from` on for the next round.
    fn keep_preemptions(&mut self, choices: &[Choice], from: usize) {
        for (at, choice) in choices
            .iter()
            .enumerate()
            .skip(from)
            .filter(|(_, choice)| choice.preempts)
        {
            if self.bound == self.bound_max {
                self.left_out = true;
                return;
            }
            for taken in 1..choice.alternatives {
                let mut item: Vec<Choice> = Vec::with_capacity(at + 1);
                item.extend_from_slice(&choices[..=at]);
                item[at].taken = taken;
                self.next_items.push_back(item.into());
            }
        }
    }
}

impl Strategy for IterativePreemptionBounding {
    fn next(&mut self, plan: &mut Plan, _: &Trace) -> bool {
        if !self.begun {
            self.begun = true;
            plan.truncate(0);
            self.pace.begin_round(1);
            return true;
        }
        self.pace.executions += 1;
        // Depth first below the fixed prefix, over what costs nothing; what costs goes to the next round.
        while plan.choices().len() > self.fixed {
            let at = plan.choices().len() - 1;
            let last = plan.choices()[at];
            if !last.preempts && last.taken + 1 < last.alternatives {
                plan.take(at, last.taken + 1);
                return true;
            }
            self.keep_preemptions(plan.choices(), at);
            plan.truncate(at);
        }
        self.pace.items += 1;
        if let Some(item) = self.items.pop_front() {
            self.fixed = item.len();
            plan.replace(&item);
            return true;
        }
        self.completed = Some(self.bound);
        if self.next_items.is_empty() {
            return false;
        }
        self.bound += 1;
        self.items = std::mem::take(&mut self.next_items);
        self.pace.begin_round(self.items.len());
        let item = self.items.pop_front().expect("a round with items");
        self.fixed = item.len();
        plan.replace(&item);
        true
    }

    fn choose(&mut self, _: &ChoicePoint<'_>) -> Option<u32> {
        Some(0)
    }

    fn is_in_order(&self) -> bool {
        true
    }

    fn share(&self, choices: &[Choice]) -> Option<f64> {
        let item = estimate::share_until_free(&choices[self.fixed.min(choices.len())..]);
        Some(
            self.pace
                .share(item, self.next_items.len(), self.bound_max - self.bound),
        )
    }

    fn coverage(&self, finished: bool) -> Coverage {
        match (finished, self.left_out, self.completed) {
            (true, false, _) => Coverage::Exhaustive,
            (true, true, Some(bound)) => Coverage::Bounded {
                preemptions: Some(bound),
                reason: None,
            },
            (_, _, Some(bound)) => Coverage::Bounded {
                preemptions: Some(bound),
                reason: Some(format!(
                    "stopped before every execution with {} preemptions was run",
                    bound + 1
                )),
            },
            (_, _, None) => Coverage::stopped(),
        }
    }

    fn name(&self) -> String {
        "dfs".into()
    }
}
