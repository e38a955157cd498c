//! Observations: the sequential behaviour of an object.

mod set;

pub use set::{
    Difference, OBSERVATIONS_FORMAT, Observation, ObservationError, ObservationSet, ObservedOutcome,
    ObservedScenario,
};

use crate::history::{Brackets, ComparedHistory, Order, Outcome, Outcomes, Same};
use crate::run::record::{Mark, TextId};
use crate::scenario::Place;
use std::collections::{BTreeMap, BTreeSet};

/// Different outcomes of the same operations in the same order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Undetermined {
    /// The operations before, in order.
    pub(crate) before: Vec<(Place, TextId)>,
    /// The operation, and two outcomes of it.
    pub(crate) operation: Place,
    pub(crate) outcomes: [Outcome; 2],
}

/// The observations of a scenario.
#[derive(Default)]
pub(crate) struct Observations {
    places: usize,
    /// The observed orders for each combination of outcomes.
    observed: BTreeMap<Outcomes, BTreeSet<Brackets>>,
    /// The outcome of an operation after others, in order, for sequential runs.
    outcomes: BTreeMap<(Vec<(Place, TextId)>, Place), Outcome>,
    /// `true` if any operation was observed to wait.
    pub(crate) some_wait: bool,
}

impl Observations {
    /// Creates an empty set, for a scenario with this number of operations.
    pub(crate) fn new(places: usize) -> Observations {
        Observations {
            places,
            ..Observations::default()
        }
    }

    /// Returns the number of observations.
    pub(crate) fn len(&self) -> usize {
        self.observed.values().map(BTreeSet::len).sum()
    }

    /// Adds a sequential history, and every prefix of it.
    ///
    /// # Errors
    /// If the object is not deterministic: the same operations had another outcome before.
    pub(crate) fn add_serial(&mut self, marks: &[Mark]) -> Result<(), Undetermined> {
        let mut before = Vec::new();
        self.add(&[]);
        for at in (0..marks.len()).step_by(2) {
            let Mark::Call(place) = marks[at] else {
                unreachable!("one at a time, each returns before the next is called")
            };
            let outcome = match marks.get(at + 1) {
                Some(Mark::Return(_, text)) => Outcome::Returned(*text),
                _ => Outcome::Waits,
            };
            let key = (before.clone(), place);
            let known = *self.outcomes.entry(key).or_insert(outcome);
            if known != outcome {
                return Err(Undetermined {
                    before,
                    operation: place,
                    outcomes: [known, outcome],
                });
            }
            match outcome {
                Outcome::Returned(text) => before.push((place, text)),
                _ => self.some_wait = true,
            }
            self.add(&marks[..marks.len().min(at + 2)]);
        }
        Ok(())
    }

    /// Returns the outcome of an operation after these, sequentially in this order; `None` if that was not observed.
    pub(crate) fn after(&self, before: &[(Place, TextId)], next: Place) -> Option<Outcome> {
        self.outcomes.get(&(before.to_vec(), next)).copied()
    }

    /// `true` if prefixes of histories were observed, too, in which tasks perform only some of their operations. This holds
    /// for sequential runs.
    fn has_beginnings(&self) -> bool {
        self.observed.contains_key(&vec![Outcome::Absent; self.places])
    }

    /// Adds a history.
    pub(crate) fn add(&mut self, marks: &[Mark]) {
        let (brackets, outcomes) = Brackets::of(marks, self.places);
        self.observed.entry(outcomes).or_default().insert(brackets);
    }

    /// `true` if a history was observed, up to the order of operations that may come in any order.
    ///
    /// In a sequential run, at most one operation waits. So each operation that waits must be observed to wait alone, after
    /// all that returned (Burckhardt et al., PLDI 2010). In concurrent observations, the operations that wait must be
    /// observed to wait together.
    pub(crate) fn allow(&self, history: &ComparedHistory, same: Same) -> bool {
        let (order, outcomes) = Order::of(history, self.places);
        let waiting: Vec<usize> = places_of(&outcomes, |outcome| outcome == Outcome::Waits);
        let returned: Vec<usize> = places_of(&outcomes, |outcome| matches!(outcome, Outcome::Returned(_)));
        let seen = |outcomes: &Outcomes| {
            let observed = self.observed.get(outcomes);
            observed.is_some_and(|all| all.iter().any(|one| order.is_kept_by(one, same, &returned)))
        };
        if seen(&outcomes) {
            return true;
        }
        let waits_alone = |&alone: &usize| {
            let mut outcomes = outcomes.clone();
            for &other in waiting.iter().filter(|&&other| other != alone) {
                outcomes[other] = Outcome::Absent;
            }
            seen(&outcomes)
        };
        !waiting.is_empty() && waiting.iter().all(waits_alone)
    }
}

fn places_of(outcomes: &[Outcome], which: impl Fn(Outcome) -> bool) -> Vec<usize> {
    let all = outcomes.iter().enumerate();
    all.filter(|(_, outcome)| which(**outcome))
        .map(|(place, _)| place)
        .collect()
}
