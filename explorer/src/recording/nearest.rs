//! Executions near a failing one. They make the same choices up to one of them, make that one differently, and continue
//! by default.
//!
//! The more choices two executions have in common, the nearer they are. So choices are changed from the last one
//! backwards. Because the last choices of a long execution often decide nothing, preemptions are also removed, likewise
//! from the last. Misses: passing executions that differ in more than one choice.

use intermezzo_engine::schedule::Choice;
use intermezzo_engine::strategy::{ChoicePoint, Coverage, Needs, Plan, SoFar, Status, Strategy};
use intermezzo_engine::trace::Trace;
use std::sync::{Arc, Mutex, PoisonError};

/// The number of executions tried that differ from the failing one in one of its last choices.
const LAST_CHOICES: usize = 64;

/// The number of executions tried in which a preemption is removed.
const PREEMPTIONS: usize = 64;

/// Returns prefixes of executions near the one with these choices, the nearest first. Each differs from it in its last
/// choice.
pub(super) fn beginnings(choices: &[Choice]) -> Vec<Vec<Choice>> {
    let others = |at: usize| {
        let choice = choices[at];
        let others = (0..choice.alternatives).filter(move |&other| other != choice.taken);
        others.map(move |other| (at, other))
    };
    let back = (0..choices.len()).rev();
    let mut changes: Vec<(usize, u32)> = back.clone().flat_map(others).take(LAST_CHOICES).collect();
    let preemptions = back.filter(|&at| choices[at].cost(choices[at].taken) > 0);
    for change in preemptions.map(|at| (at, 0)).take(PREEMPTIONS) {
        if !changes.contains(&change) {
            changes.push(change);
        }
    }
    let beginning = |(at, other): (usize, u32)| {
        let mut beginning = choices[..=at].to_vec();
        beginning[at].taken = other;
        beginning
    };
    changes.into_iter().map(beginning).collect()
}

/// The slot in which a search stores the choices of its execution.
pub(super) type Made = Arc<Mutex<Vec<Choice>>>;

/// A strategy that runs one execution: a prefix, and the default from there.
pub(super) struct Continued {
    beginning: Option<Vec<Choice>>,
    made: Made,
}

impl Continued {
    /// Makes the strategy for the execution that begins with these choices.
    pub(super) fn new(beginning: Vec<Choice>, made: &Made) -> Continued {
        Continued {
            beginning: Some(beginning),
            made: Arc::clone(made),
        }
    }
}

impl Strategy for Continued {
    fn next(&mut self, plan: &mut Plan, _: &Trace) -> bool {
        match self.beginning.take() {
            Some(beginning) => {
                plan.replace(&beginning);
                true
            }
            None => {
                *self.made.lock().unwrap_or_else(PoisonError::into_inner) = plan.choices().to_vec();
                false
            }
        }
    }

    fn choose(&mut self, _: &ChoicePoint<'_>) -> Option<u32> {
        Some(0)
    }

    fn needs(&self) -> Needs {
        Needs {
            scope: false,
            ..Needs::default()
        }
    }

    fn coverage(&self, _: bool) -> Coverage {
        Coverage::Sampled { executions: 1 }
    }

    fn status(&self, _: &SoFar<'_>) -> Status {
        Status::named("continued")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use intermezzo_engine::schedule::ChoiceKind;

    fn choice(preempts: bool, alternatives: u32, taken: u32) -> Choice {
        Choice {
            kind: ChoiceKind::Task,
            preempts,
            alternatives,
            taken,
        }
    }

    #[test]
    fn the_nearest_comes_first_and_each_differs_in_its_last_choice() {
        let choices = [choice(true, 2, 1), choice(false, 3, 2)];
        let taken: Vec<Vec<u32>> = beginnings(&choices)
            .iter()
            .map(|beginning| beginning.iter().map(|choice| choice.taken).collect())
            .collect();
        assert_eq!(taken, [vec![1, 0], vec![1, 1], vec![0]]);
        assert!(beginnings(&[]).is_empty());
    }

    #[test]
    fn preemptions_are_taken_back_beyond_the_last_choices() {
        let mut choices = vec![choice(true, 2, 1)];
        choices.extend((0..500).map(|_| choice(true, 2, 0)));
        let all = beginnings(&choices);
        assert_eq!(all.len(), LAST_CHOICES + 1);
        assert_eq!(all[LAST_CHOICES], [choice(true, 2, 0)]);
    }
}
