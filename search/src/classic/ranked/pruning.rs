//! Happens-before pruning within a set of variables: the executions that continue from a state are run once.
//!
//! The search does not continue from a state (the trace up to the last choice) that was reached before with preemptions
//! at the same variables or some of them, if the same task could continue without a preemption. Everything that is
//! possible from here within a set was possible from there. Nothing is pruned because of a state reached with
//! preemptions at other variables. The numbers of preemptions need not be compared, because the search runs executions
//! with fewer ones first.
//!
//! Differs from the caching of other bounded searches: there, one preemption fewer makes up for a different task that
//! can continue. Here, that preemption might have to be made at a variable where none is allowed.

use super::agenda::Set;
use intermezzo_engine::strategy::ChoicePoint;
use intermezzo_engine::trace::Fingerprints;
use std::sync::Arc;

/// The visited states, and what the current execution found among them.
pub(super) struct Pruning {
    states: Arc<Fingerprints<()>>,
    /// The states that the current execution is the first to reach. They are added to `states` when it has ended: if it
    /// is run again, it may not reach them again, and the executions that continue from them would be missed.
    reached: Vec<u128>,
    /// The number of choices after which the current execution reached a known state.
    known_after: Option<usize>,
    pub(super) redundant: u64,
}

/// The maximum number of variables of which all subsets are looked up. In larger sets, less is pruned.
const SUBSETS_OF: usize = 6;

impl Pruning {
    /// Returns an empty set of states that may use this many bytes.
    pub(super) fn new(bytes: usize) -> Pruning {
        Pruning {
            states: Arc::new(Fingerprints::new(bytes)),
            reached: Vec::new(),
            known_after: None,
            redundant: 0,
        }
    }

    /// Returns `true` if the current execution has reached a known state.
    pub(super) fn has_pruned(&self) -> bool {
        self.known_after.is_some()
    }

    /// Ends the execution. If it reached a known state, returns the number of choices up to there.
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

    /// Returns `true` if continuing from here shows nothing that was not shown with preemptions at a part of this set,
    /// or all of it.
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
