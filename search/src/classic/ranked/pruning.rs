//! Happens-before pruning within a set of variables: the executions after a state are run once.
//!
//! The search does not continue from a state (a trace, up to the last decision) that was reached before after
//! preemptions at the same variables or fewer, if the same task could continue without a preemption. Everything
//! possible from here within a set was possible from there. Nothing is pruned because of a state reached by way of
//! other variables. The numbers of preemptions need not be compared, because the search runs fewer first.
//!
//! Differs from the caching of other bounded searches, for which fewer preemptions make up for another task that can
//! continue: the saved one might have to be made where none is allowed.

use super::agenda::Set;
use intermezzo_engine::strategy::ChoicePoint;
use intermezzo_engine::trace::Fingerprints;
use std::sync::Arc;

/// The visited states, and the results of visits.
pub(super) struct Pruning {
    states: Arc<Fingerprints<()>>,
    /// The states that the running execution was the first to reach. They are known once it has ended: if it is run again,
    /// it need not reach them again, and what follows them would be missed.
    reached: Vec<u128>,
    /// The number of choices after which the running execution reached a known state.
    known_after: Option<usize>,
    pub(super) redundant: u64,
}

/// The largest number of variables of which all subsets are looked up. Beyond it less is pruned.
const SUBSETS_OF: usize = 6;

impl Pruning {
    /// Returns an empty set of states that may take this many bytes.
    pub(super) fn new(bytes: usize) -> Pruning {
        Pruning {
            states: Arc::new(Fingerprints::new(bytes)),
            reached: Vec::new(),
            known_after: None,
            redundant: 0,
        }
    }

    /// Returns `true` if the running execution reached a known state.
    pub(super) fn has_pruned(&self) -> bool {
        self.known_after.is_some()
    }

    /// Ends the execution. Returns the number of its own choices, if it reached a known state.
    pub(super) fn take(&mut self) -> Option<usize> {
        for state in self.reached.drain(..) {
            self.states.visit(state, || (), |()| ());
        }
        self.known_after.take()
    }

    /// Notes that the execution is run again.
    pub(super) fn again(&mut self) {
        self.reached.clear();
        if self.known_after.take().is_some() {
            self.redundant -= 1;
        }
    }

    /// Returns `true` if continuing from here shows nothing that was not shown after preemptions at a part of this set.
    pub(super) fn prunes(&mut self, point: &ChoicePoint<'_>, set: &Set) -> bool {
        if point.fair {
            return false;
        }
        let going_on = if point.preempts { point.task(0) } else { None };
        let going_on = going_on.map(|task| task.0);
        let numbers = set.numbers();
        let looked_at = numbers.len().min(SUBSETS_OF);
        let (first, rest) = numbers.split_at(looked_at);
        let some_of = |chosen: u32| -> Vec<u32> {
            let chosen = first.iter().enumerate().filter(|(at, _)| chosen >> at & 1 == 1);
            chosen.map(|(_, var)| *var).chain(rest.iter().copied()).collect()
        };
        let whole = (1 << looked_at) - 1;
        let by_fewer = (0..whole).any(|chosen| {
            self.states
                .contains(point.trace().state_fingerprint(&some_of(chosen), going_on))
        });
        let here = point.trace().state_fingerprint(&numbers, going_on);
        let known = by_fewer || self.states.contains(here);
        if known {
            self.known_after = Some(point.choices);
            self.redundant += 1;
        } else {
            self.reached.push(here);
        }
        known
    }
}
