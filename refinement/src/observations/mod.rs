//! Observations: the behaviour of an object whose operations ran one at a time.

mod set;

pub use set::{
    Difference, OBSERVATIONS_FORMAT, Observation, ObservationError, ObservationSet, ObservedOutcome,
    ObservedScenario,
};

use crate::check::Same;
use crate::run::record::{Mark, TextId};
use crate::scenario::Place;
use std::collections::{BTreeMap, BTreeSet};

/// The outcome of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Outcome {
    /// It was not called.
    Absent,
    /// It was called and waits for ever.
    Waits,
    /// It returned this.
    Returned(TextId),
}

/// The outcome of each operation, by place.
pub(crate) type Outcomes = Vec<Outcome>;

/// The order of the calls and returns of operations.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Brackets {
    /// By place; `u32::MAX` for an event that did not happen.
    called: Vec<u32>,
    returned: Vec<u32>,
}

/// The value for an event that is not in this history.
const NEVER: u32 = u32::MAX;

impl Brackets {
    /// Returns those of a history of `places` operations, and the outcome of each. An operation that has not returned
    /// waits.
    pub(crate) fn of(marks: &[Mark], places: usize) -> (Brackets, Outcomes) {
        let mut brackets = Brackets {
            called: vec![NEVER; places],
            returned: vec![NEVER; places],
        };
        let mut outcomes = vec![Outcome::Absent; places];
        for (mark, now) in marks.iter().zip(0..) {
            match *mark {
                Mark::Call(place) => {
                    brackets.called[place.index()] = now;
                    outcomes[place.index()] = Outcome::Waits;
                }
                Mark::Return(place, text) => {
                    brackets.returned[place.index()] = now;
                    outcomes[place.index()] = Outcome::Returned(text);
                }
            }
        }
        (brackets, outcomes)
    }

    /// `true` if `a` had returned before `b` was called.
    fn precedes(&self, a: usize, b: usize) -> bool {
        self.returned[a] != NEVER && self.called[b] != NEVER && self.returned[a] < self.called[b]
    }

    /// `true` if there was a moment between `a` and `b` at which no operation was running.
    fn apart(&self, a: usize, b: usize) -> bool {
        let places = 0..self.called.len();
        let quiet = |now: u32| {
            places
                .clone()
                .all(|other| self.called[other] >= now || self.returned[other] < now)
        };
        self.precedes(a, b)
            && places.clone().any(|other| {
                let now = self.called[other];
                now != NEVER && self.returned[a] < now && now <= self.called[b] && quiet(now)
            })
    }

    /// `true` if `observed` keeps the order required here: where an operation has to come before another, it does so
    /// there. Only operations in `among` count.
    fn keeps(&self, observed: &Brackets, same: Same, among: &[usize]) -> bool {
        among.iter().all(|&a| {
            among
                .iter()
                .all(|&b| a == b || !self.ordered(a, b, same) || observed.precedes(a, b))
        })
    }

    /// `true` if `a` has to come before `b` in any order. The order of a task's own operations is not considered
    /// here.
    pub(crate) fn ordered(&self, a: usize, b: usize, same: Same) -> bool {
        match same {
            Same::Linearizable => self.precedes(a, b),
            Same::Quiescent => self.apart(a, b),
            Same::Sequential => false,
        }
    }
}

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
    /// The outcome of an operation after others, in order: for objects whose operations come one at a time.
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

    /// Adds a history in which operations came one at a time, and every prefix of it.
    ///
    /// # Errors
    /// If the object is not determined: the same operations had another outcome before.
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

    /// Returns the outcome of an operation after these, in this order, one at a time; `None` if that was not
    /// observed.
    pub(crate) fn after(&self, before: &[(Place, TextId)], next: Place) -> Option<Outcome> {
        self.outcomes.get(&(before.to_vec(), next)).copied()
    }

    /// `true` if the beginnings of histories were observed, too: those in which tasks perform only some of their
    /// operations. That is so where operations came one at a time.
    fn has_beginnings(&self) -> bool {
        self.observed.contains_key(&vec![Outcome::Absent; self.places])
    }

    /// Adds a history.
    pub(crate) fn add(&mut self, marks: &[Mark]) {
        let (brackets, outcomes) = Brackets::of(marks, self.places);
        self.observed.entry(outcomes).or_default().insert(brackets);
    }

    /// `true` if a history was observed, up to the order of operations that may come in any.
    ///
    /// One at a time, no more than one operation is observed to wait. So each operation that waits must be observed to
    /// wait alone, after all that returned (Burckhardt et al., PLDI 2010). Where tasks were observed at once, those
    /// that wait must be observed to wait together.
    pub(crate) fn allow(&self, marks: &[Mark], same: Same) -> bool {
        let (brackets, outcomes) = Brackets::of(marks, self.places);
        let waiting: Vec<usize> = places_of(&outcomes, |outcome| outcome == Outcome::Waits);
        let returned: Vec<usize> = places_of(&outcomes, |outcome| matches!(outcome, Outcome::Returned(_)));
        let seen = |outcomes: &Outcomes| {
            let observed = self.observed.get(outcomes);
            observed.is_some_and(|all| all.iter().any(|one| brackets.keeps(one, same, &returned)))
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
