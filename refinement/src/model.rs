//! Models of objects, given by the meaning of each operation.

use crate::check::general::Checker;
use crate::check::{Verdict, Violation};
use crate::history::{History, Outcome, Same};
use crate::operation::Argument;
use crate::run::record::{TextId, Texts};
use crate::scenario::{Place, Scenario, Step};
use crate::serial::{OneByOne, Unknown};
use crate::specification::{Next, Specification};
use crate::{result, said};
use std::collections::HashMap;
use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Arc;

/// A model, with the type of its states taken away.
pub(crate) trait Model: Send + Sync {
    /// Returns whether the history of a scenario is allowed, if after the operations that returned this one must wait.
    fn check(
        &self,
        scenario: &Scenario,
        orders: Orders<'_>,
        history: &History<u32, Arc<str>>,
        waits: Option<u32>,
    ) -> Result<(), Violation<()>>;

    /// Returns the possible outcomes of an operation after these, with these results, one at a time.
    fn after(
        &self,
        scenario: &Scenario,
        texts: &Texts,
        before: &[(Place, TextId)],
        next: Place,
    ) -> Vec<Outcome>;
}

/// The orders in which operations may take effect.
#[derive(Clone)]
pub(crate) struct Orders<'a> {
    pub(crate) same: Same,
    /// The operations that have to come before each operation of the history; `None` for real time.
    pub(crate) before: Option<Vec<Vec<usize>>>,
    /// `true` for each operation that may take effect late, by place.
    pub(crate) late: &'a [bool],
}

/// A model that answers questions about the operations of a scenario.
pub(crate) struct Asked<'a> {
    pub(crate) model: &'a dyn Model,
    pub(crate) scenario: &'a Scenario,
    pub(crate) texts: &'a Texts,
}

impl OneByOne for Asked<'_> {
    fn outcomes(
        &mut self,
        before: &[(Place, TextId)],
        next: Place,
        _: &[Place],
    ) -> Result<Vec<Outcome>, Unknown> {
        Ok(self.model.after(self.scenario, self.texts, before, next))
    }
}

/// The possible effects of an operation on a state: new states, each with its result.
type Outcomes<M> = Box<dyn Fn(&M, &Argument) -> Vec<(M, String)> + Send + Sync>;

/// The states in which an operation has to wait.
type Waits<M> = Box<dyn Fn(&M, &Argument) -> bool + Send + Sync>;

/// The meanings of operations for a model with states of type `M`.
pub(crate) struct Meanings<M> {
    pub(crate) initial: Box<dyn Fn() -> M + Send + Sync>,
    /// By operation.
    outcomes: HashMap<usize, Outcomes<M>>,
    waits: HashMap<usize, Waits<M>>,
}

impl<M: Clone + 'static> Meanings<M> {
    pub(crate) fn new(initial: impl Fn() -> M + Send + Sync + 'static) -> Meanings<M> {
        Meanings {
            initial: Box::new(initial),
            outcomes: HashMap::new(),
            waits: HashMap::new(),
        }
    }

    /// Sets the effect of an operation on the model.
    pub(crate) fn means<V: 'static, R: Debug>(
        &mut self,
        operation: usize,
        apply: impl Fn(&mut M, &V) -> R + Send + Sync + 'static,
    ) {
        self.may(operation, move |state, value| {
            let mut state = state.clone();
            let returned = apply(&mut state, value);
            vec![(state, returned)]
        });
    }

    /// Sets the possible effects of an operation on the model.
    pub(crate) fn may<V: 'static, R: Debug>(
        &mut self,
        operation: usize,
        outcomes: impl Fn(&M, &V) -> Vec<(M, R)> + Send + Sync + 'static,
    ) {
        let texts = move |state: &M, argument: &Argument| {
            let (all, said) = said::asking(|| outcomes(state, argument.value::<V>()));
            let in_words = |(state, returned): (M, R)| {
                let mut text = String::new();
                result::append(&mut text, &returned);
                text.push_str(&said);
                (state, text)
            };
            all.into_iter().map(in_words).collect()
        };
        self.outcomes.insert(operation, Box::new(texts));
    }

    /// Makes an operation wait in states for which this holds.
    pub(crate) fn waits<V: 'static>(
        &mut self,
        operation: usize,
        when: impl Fn(&M, &V) -> bool + Send + Sync + 'static,
    ) {
        self.waits.insert(
            operation,
            Box::new(move |state, argument| when(state, argument.value::<V>())),
        );
    }

    /// `true` if the operation has a meaning.
    pub(crate) fn has(&self, operation: usize) -> bool {
        self.outcomes.contains_key(&operation)
    }
}

/// The operations of a scenario, by place, as the specification that the meanings make.
struct OfScenario<'a, M> {
    meanings: &'a Meanings<M>,
    steps: Vec<&'a Step>,
}

impl<M: Clone + Eq + Hash> Specification for OfScenario<'_, M> {
    type Call = u32;
    type Return = Arc<str>;
    type State = M;

    fn initial(&self) -> M {
        (self.meanings.initial)()
    }

    fn next(&self, state: &M, place: &u32, returned: Option<&Arc<str>>) -> Next<M> {
        // An operation that has not returned waits, and has done nothing. It counts for the moments at which nothing runs.
        let Some(returned) = returned.filter(|_| !self.blocks(state, place)) else {
            return Next::None;
        };
        let step = self.steps[*place as usize];
        let outcomes = self.meanings.outcomes[&step.operation](state, &step.argument);
        let fits = |text: &str| **returned == *text;
        let fit = outcomes.into_iter().filter(|(_, text)| fits(text));
        let mut states: Vec<M> = fit.map(|(state, _)| state).collect();
        match states.len() {
            0 => Next::None,
            1 => Next::One(states.remove(0)),
            _ => Next::Any(states),
        }
    }

    fn blocks(&self, state: &M, place: &u32) -> bool {
        let step = self.steps[*place as usize];
        let when = self.meanings.waits.get(&step.operation);
        when.is_some_and(|when| when(state, &step.argument))
    }
}

impl<M: Clone + Eq + Hash + Send + Sync + 'static> Model for Meanings<M> {
    fn check(
        &self,
        scenario: &Scenario,
        orders: Orders<'_>,
        history: &History<u32, Arc<str>>,
        waits: Option<u32>,
    ) -> Result<(), Violation<()>> {
        let specification = OfScenario {
            meanings: self,
            steps: scenario.steps().collect(),
        };
        let mut checker = Checker::new(&specification)
            .same(orders.same)
            // The operations before and after the tasks are of one process, which creates the tasks.
            .parent(0)
            .before(orders.before)
            .late(|place| orders.late[*place as usize]);
        if let Some(place) = waits {
            let specification = &specification;
            checker = checker.ends(move |state| specification.blocks(state, &place));
        }
        match checker.check(history) {
            Verdict::Allowed { .. } => Ok(()),
            Verdict::Violation(violation) => Err(violation.without_state()),
            // No scenario is that large.
            Verdict::Unknown { states } => {
                panic!("a history of {} operations has {states} states", history.len())
            }
        }
    }
    fn after(
        &self,
        scenario: &Scenario,
        texts: &Texts,
        before: &[(Place, TextId)],
        next: Place,
    ) -> Vec<Outcome> {
        let specification = OfScenario {
            meanings: self,
            steps: scenario.steps().collect(),
        };
        let mut states = vec![(self.initial)()];
        for (place, text) in before {
            let returned = texts.text(*text);
            let next = |state| match specification.next(state, &place.0, Some(&returned)) {
                Next::None => Vec::new(),
                Next::One(state) => vec![state],
                Next::Any(states) => states,
            };
            states = states.iter().flat_map(next).collect();
        }
        let step = specification.steps[next.index()];
        let mut outcomes: Vec<Outcome> = Vec::new();
        for state in &states {
            let may = match specification.blocks(state, &next.0) {
                true => vec![Outcome::Waits],
                false => {
                    let all = self.outcomes[&step.operation](state, &step.argument);
                    all.iter()
                        .map(|(_, text)| Outcome::Returned(texts.number(text)))
                        .collect()
                }
            };
            outcomes.extend(may);
        }
        outcomes.sort_unstable();
        outcomes.dedup();
        outcomes
    }
}
