//! The depth-first search for an order of a history's operations. An operation may come next if no remaining operation must
//! come before it, and if after the operations before it, it returns its result in the history.
//!
//! Differs from the general checker: states are not known, only results. So orders are distinguished by the operations
//! before, and there are more of them if operations return less.

use super::{OneByOne, Unknown};
use crate::history::{ComparedHistory, Order, Outcome, Same};
use crate::run::record::{Mark, TextId};
use crate::scenario::{Place, Scenario};

/// A history, and the order that its operations must keep.
pub(crate) struct Question {
    /// The operations that returned, with their results, in an order that is not forbidden.
    completed: Vec<(Place, TextId)>,
    /// The operations that wait for ever.
    pub(crate) waiting: Vec<Place>,
    /// For each of those completed, the indexes of those that come before it.
    before: Vec<Vec<usize>>,
}

/// An order of some operations after which another does not have its result of the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DeadEnd {
    /// The operations before, each of which returns what it returned.
    pub(crate) order: Vec<Place>,
    pub(crate) next: Place,
    /// Its possible outcomes.
    pub(crate) would: Vec<Outcome>,
}

/// The ways in which orders fail.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reasons {
    /// The largest number of operations that have an order in which each has its result of the history.
    pub(crate) longest: Vec<Place>,
    /// Every way in which an order fails, as far as they are listed.
    pub(crate) dead_ends: Vec<DeadEnd>,
    /// The number of further ones.
    pub(crate) more: usize,
    /// `true` if there may be even more: not every order was examined.
    pub(crate) cut_short: bool,
}

impl Question {
    /// Creates the question of whether an order explains this history of a scenario.
    pub(crate) fn new(scenario: &Scenario, history: &ComparedHistory, same: Same) -> Question {
        let (order, outcomes) = Order::of(history, scenario.len());
        let returned = history.marks.iter().filter_map(|mark| match mark {
            Mark::Return(place, text) => Some((*place, *text)),
            Mark::Call(_) => None,
        });
        let completed: Vec<(Place, TextId)> = returned.collect();
        let program_order = ProgramOrder::new(scenario);
        let comes_before =
            |a: Place, b: Place| program_order.precedes(a, b) || order.ordered(a.index(), b.index(), same);
        let before = completed.iter().map(|&(later, _)| {
            let all = completed.iter().enumerate();
            all.filter(|(_, (earlier, _))| comes_before(*earlier, later))
                .map(|(at, _)| at)
                .collect()
        });
        let before = before.collect();
        let places = outcomes.iter().zip(0..);
        let waiting = places.filter(|(outcome, _)| **outcome == Outcome::Waits);
        Question {
            waiting: waiting.map(|(_, place)| Place(place)).collect(),
            before,
            completed,
        }
    }

    /// `true` if some order explains the history. Each of several waiting operations must wait alone after all that
    /// returned.
    pub(crate) fn is_explained(&self, by: &mut dyn OneByOne) -> Result<bool, Unknown> {
        if self.waiting.is_empty() {
            return self.search(None, by, &mut |_| {});
        }
        for &alone in &self.waiting {
            if !self.search(Some(alone), by, &mut |_| {})? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns how orders fail, with the first of the waiting operations for which all do; at most `listed` dead ends
    /// are listed.
    pub(crate) fn reasons(&self, by: &mut dyn OneByOne, listed: usize) -> Reasons {
        let alone: Vec<Option<Place>> = match self.waiting.is_empty() {
            true => vec![None],
            false => self.waiting.iter().copied().map(Some).collect(),
        };
        for alone in alone {
            let mut reasons = Reasons::default();
            let found = self.search(alone, by, &mut |step| match step {
                Step::Reached(order) if order.len() > reasons.longest.len() => {
                    reasons.longest = order.iter().map(|(place, _)| *place).collect();
                }
                Step::Reached(_) => {}
                Step::DeadEnd(dead_end) if reasons.dead_ends.len() < listed => {
                    reasons.dead_ends.push(dead_end)
                }
                Step::DeadEnd(_) => reasons.more += 1,
            });
            if found == Ok(true) {
                continue;
            }
            reasons.cut_short = found.is_err();
            return reasons;
        }
        Reasons::default()
    }

    /// `true` if some order explains the results, and that this operation waits then.
    fn search(
        &self,
        alone: Option<Place>,
        by: &mut dyn OneByOne,
        told: &mut dyn FnMut(Step<'_>),
    ) -> Result<bool, Unknown> {
        let mut path = Path {
            order: Vec::with_capacity(self.completed.len()),
            done: vec![false; self.completed.len()],
        };
        self.go_on(&mut path, alone, by, told)
    }

    fn go_on(
        &self,
        path: &mut Path,
        alone: Option<Place>,
        by: &mut dyn OneByOne,
        told: &mut dyn FnMut(Step<'_>),
    ) -> Result<bool, Unknown> {
        told(Step::Reached(&path.order));
        if path.order.len() == self.completed.len() {
            let Some(alone) = alone else { return Ok(true) };
            let would = by.outcomes(&path.order, alone, &[])?;
            let waits = would.contains(&Outcome::Waits);
            if !waits {
                told(Step::DeadEnd(path.dead_end(alone, would)));
            }
            return Ok(waits);
        }
        for at in 0..self.completed.len() {
            if path.done[at] || self.before[at].iter().any(|&before| !path.done[before]) {
                continue;
            }
            let (next, text) = self.completed[at];
            let ahead = self.ahead(path, at, alone);
            let would = by.outcomes(&path.order, next, &ahead)?;
            if !would.contains(&Outcome::Returned(text)) {
                told(Step::DeadEnd(path.dead_end(next, would)));
                continue;
            }
            path.done[at] = true;
            path.order.push((next, text));
            let found = self.go_on(path, alone, by, told)?;
            if found {
                return Ok(true);
            }
            path.done[at] = false;
            path.order.pop();
        }
        Ok(false)
    }

    /// Returns the operations that follow if this one is next, in an order that is not forbidden.
    fn ahead(&self, path: &Path, taken: usize, alone: Option<Place>) -> Vec<Place> {
        let left = (0..self.completed.len()).filter(|&at| at != taken && !path.done[at]);
        let left = left.map(|at| self.completed[at].0);
        left.chain(alone).collect()
    }
}

/// The result of a search step.
enum Step<'a> {
    /// These can come first, in this order.
    Reached(&'a [(Place, TextId)]),
    DeadEnd(DeadEnd),
}

struct Path {
    order: Vec<(Place, TextId)>,
    done: Vec<bool>,
}

impl Path {
    fn dead_end(&self, next: Place, would: Vec<Outcome>) -> DeadEnd {
        DeadEnd {
            order: self.order.iter().map(|(place, _)| *place).collect(),
            next,
            would,
        }
    }
}

/// The order that a scenario itself gives its operations: those before the tasks, those of each task, those after them.
pub(crate) struct ProgramOrder<'a> {
    scenario: &'a Scenario,
    performers: Vec<u32>,
}

impl ProgramOrder<'_> {
    pub(crate) fn new(scenario: &Scenario) -> ProgramOrder<'_> {
        ProgramOrder {
            scenario,
            performers: scenario.performers(),
        }
    }

    /// `true` if `a` comes before `b`.
    pub(crate) fn precedes(&self, a: Place, b: Place) -> bool {
        let phase = |place: Place| self.scenario.phase(place.index());
        let same_task = self.performers[a.index()] == self.performers[b.index()];
        phase(a) < phase(b) || phase(a) == phase(b) && same_task && a < b
    }
}
