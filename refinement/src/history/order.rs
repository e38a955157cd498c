//! The order that the operations of a history must keep.
//!
//! Without a memory model, an operation comes before another if it had returned when the other was called. Under a memory
//! model, the order of an execution's steps is not a time that all tasks share: a read may be stale long after the newer store
//! was performed. There an operation comes before another if its return happens before the other's call.

use crate::run::record::{Mark, TextId};
use crate::scenario::{Phase, Place, Scenario};
use intermezzo_sdk as sdk;
use sdk::{EventId, Moments as _, SyncVarAccess, SyncVarOp, Synchronisation, VectorClock};

/// The orders of operations that are allowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Same {
    /// An operation that returned before another was called comes before it: linearizability (Herlihy & Wing,
    /// TOPLAS 1990).
    #[default]
    Linearizable,
    /// Operations of each process keep their order, and no others: sequential consistency (Lamport, 1979).
    Sequential,
    /// An operation comes before another if a moment lies between them at which none was running: quiescent
    /// consistency (Aspnes, Herlihy & Shavit, JACM 1994). It does not constrain the order of one process's
    /// operations.
    Quiescent,
}

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

/// The history of an execution: its calls and returns, and the order that they must keep.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ComparedHistory {
    pub(crate) marks: Vec<Mark>,
    /// The order under a memory model. Without one it is real time, which is the order of the marks.
    pub(crate) happens_before: Option<HappensBefore>,
}

impl ComparedHistory {
    /// Rewrites the history in its normal form: the same for all histories that are compared alike.
    pub(crate) fn normalise(&mut self) {
        match self.happens_before {
            None => Mark::normalise(&mut self.marks),
            Some(_) => self.marks.sort_unstable(),
        }
    }
}

/// The operations of an execution that happen before others: each returns before the other's call, in the happens-before
/// order of C++20.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct HappensBefore {
    /// By the places of the two operations.
    precedes: Vec<Vec<bool>>,
}

impl HappensBefore {
    /// Returns the order of an execution of a scenario. `known` is reset first, and only used for its memory.
    ///
    /// Operations before the tasks happen before all operations of the tasks, and those after the tasks happen after them.
    pub(crate) fn of(
        accesses: &[SyncVarAccess],
        scenario: &Scenario,
        known: &mut Synchronisation<VectorClock>,
    ) -> HappensBefore {
        known.forget();
        let places = scenario.len();
        let mut called: Vec<Option<VectorClock>> = vec![None; places];
        let mut returned: Vec<Option<EventId>> = vec![None; places];
        for access in accesses {
            let EventId { task, index } = access.event;
            known.known(task).know(task, index);
            known.observe(access);
            let place = access.written as usize;
            match access.op {
                SyncVarOp::OperationCall if place < places => {
                    called[place] = Some(known.known(task).clone());
                }
                SyncVarOp::OperationReturn if place < places => returned[place] = Some(access.event),
                _ => {}
            }
        }
        let precedes = |a: usize, b: usize| match (scenario.phase(a), scenario.phase(b)) {
            (first, second) if first != second => first < second,
            (Phase::Tasks, _) => match (returned[a], &called[b]) {
                (Some(returned), Some(called)) => called.knows(returned),
                _ => false,
            },
            _ => a < b,
        };
        let row = |a: usize| (0..places).map(|b| precedes(a, b)).collect();
        HappensBefore {
            precedes: (0..places).map(row).collect(),
        }
    }

    /// Returns the pairs of operations of different tasks of which the first happens before the second, without those that
    /// follow from others.
    pub(crate) fn across_tasks(&self, scenario: &Scenario) -> Vec<(Place, Place)> {
        let performers = scenario.performers();
        let places = 0..scenario.len();
        let of_tasks = places.clone().filter(|&place| performers[place] > 0);
        let of_tasks: Vec<usize> = of_tasks.collect();
        let mut pairs = Vec::new();
        for &a in &of_tasks {
            for &b in &of_tasks {
                let between = |&other: &usize| self.precedes[a][other] && self.precedes[other][b];
                if performers[a] != performers[b] && self.precedes[a][b] && !of_tasks.iter().any(between) {
                    pairs.push((Place(a as u32), Place(b as u32)));
                }
            }
        }
        pairs
    }
}

/// The order of the calls and returns of operations.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Brackets {
    /// By place; [`Brackets::NEVER`] for an event that did not happen.
    pub(crate) called: Vec<u32>,
    pub(crate) returned: Vec<u32>,
}

impl Brackets {
    /// The value for an event that did not happen.
    pub(crate) const NEVER: u32 = u32::MAX;

    /// Returns those of a history of `places` operations, and the outcome of each. An operation that has not returned
    /// waits.
    pub(crate) fn of(marks: &[Mark], places: usize) -> (Brackets, Outcomes) {
        let mut brackets = Brackets {
            called: vec![Brackets::NEVER; places],
            returned: vec![Brackets::NEVER; places],
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
        self.returned[a] != Brackets::NEVER
            && self.called[b] != Brackets::NEVER
            && self.returned[a] < self.called[b]
    }
}

/// The order that the operations of a history must keep, by place.
pub(crate) struct Order<'a> {
    brackets: Brackets,
    happens_before: Option<&'a HappensBefore>,
}

impl<'a> Order<'a> {
    /// Returns the order of a history of `places` operations, and the outcome of each.
    pub(crate) fn of(history: &'a ComparedHistory, places: usize) -> (Order<'a>, Outcomes) {
        let (brackets, outcomes) = Brackets::of(&history.marks, places);
        let happens_before = history.happens_before.as_ref();
        let order = Order {
            brackets,
            happens_before,
        };
        (order, outcomes)
    }

    /// `true` if `a` comes before `b`.
    fn precedes(&self, a: usize, b: usize) -> bool {
        match self.happens_before {
            Some(order) => order.precedes[a][b],
            None => self.brackets.precedes(a, b),
        }
    }

    /// `true` if the operations can be divided into two sides, with `a` on the first and `b` on the second, so that each of
    /// the first comes before each of the second. In real time, nothing is running at the moment between them.
    fn apart(&self, a: usize, b: usize) -> bool {
        // The smallest first side with `a`. It includes each operation that does not come after all others of that side.
        let mut first_side = vec![a];
        let mut is_first = vec![false; self.brackets.called.len()];
        is_first[a] = true;
        let mut at = 0;
        while let Some(&one) = first_side.get(at) {
            at += 1;
            for (other, is_first) in is_first.iter_mut().enumerate() {
                let was_called = self.brackets.called[other] != Brackets::NEVER;
                if was_called && !*is_first && !self.precedes(one, other) {
                    *is_first = true;
                    first_side.push(other);
                }
            }
        }
        self.precedes(a, b) && !is_first[b]
    }

    /// `true` if `observed` keeps the order required here: where an operation has to come before another, it does so
    /// there. Only operations in `among` count.
    pub(crate) fn is_kept_by(&self, observed: &Brackets, same: Same, among: &[usize]) -> bool {
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
