//! Concurrent objects, each with known bugs, and corrected: to be compared with themselves and with models.

mod array_stack;
mod batch_stealing;
mod channel;
mod event;
mod lazy_list;
mod linked_deque;
mod map;
mod michael_scott_queue;
mod models;
mod pool;
mod shards;
mod skip_list;
mod snark_deque;
mod timed_bag;
mod treiber_stack;
mod vyukov_queue;

use crate::Expected;
use intermezzo::refinement::{Refinement, RefinementReport};
use std::fmt;

/// The standard with which an object is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Against {
    /// The object itself, one operation at a time.
    Itself,
    /// A model.
    Model,
}

impl fmt::Display for Against {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Against::Itself => "itself",
            Against::Model => "a model",
        })
    }
}

/// The number of scenarios and executions that are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// As much as it takes to find the bugs: two tasks.
    Usual,
    /// Up to three tasks, twice the scenarios, and more executions of each: hours.
    Large,
}

impl Effort {
    /// Returns the test with `scenarios` scenarios, or more.
    fn of<T: Sync + 'static>(self, scenarios: usize, test: Refinement<T>) -> Refinement<T> {
        match self {
            Effort::Usual => test.scenarios(scenarios),
            Effort::Large => test.threads(2..=3).scenarios(2 * scenarios).executions(1_000_000),
        }
    }
}

/// The expected outcome of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// The standard of the comparison.
    pub against: Against,
    /// The expected verdict, with the kind of finding.
    pub expected: Expected,
    /// The number of operations in the failing scenario after minimisation; 0 if nothing is found.
    pub operations: usize,
}

/// An object, in one of its versions.
pub struct Object {
    /// Its name, unique.
    pub name: &'static str,
    /// A description in one sentence.
    pub about: &'static str,
    /// The comparisons, with their expected outcomes.
    pub outcomes: &'static [Outcome],
    run: fn(Against, Effort) -> RefinementReport,
}

impl Object {
    /// Compares it.
    pub fn run(&self, against: Against, effort: Effort) -> RefinementReport {
        (self.run)(against, effort)
    }
}

/// Returns the outcomes where either comparison finds the bug, in a scenario of this number of operations.
const fn refuted(operations: usize) -> [Outcome; 2] {
    [
        finds(Against::Itself, "refinement", operations),
        finds(Against::Model, "refinement", operations),
    ]
}

const fn finds(against: Against, kind: &'static str, operations: usize) -> Outcome {
    Outcome {
        against,
        expected: Expected::Fail(kind),
        operations,
    }
}

const fn passes(against: Against) -> Outcome {
    Outcome {
        against,
        expected: Expected::Pass,
        operations: 0,
    }
}

/// Neither comparison finds anything.
const CORRECT: &[Outcome] = &[passes(Against::Itself), passes(Against::Model)];

/// Every object, in order of name.
pub(crate) const ALL: &[Object] = &[
    array_stack::CORRECT,
    array_stack::READS_LATE,
    batch_stealing::BROKEN,
    batch_stealing::CORRECT,
    channel::CORRECT,
    channel::LOSES,
    event::CORRECT,
    event::STICKS,
    lazy_list::CORRECT,
    lazy_list::UNINITIALISED,
    linked_deque::CORRECT,
    linked_deque::LOOKS,
    linked_deque::LOOKS_TWICE,
    map::CORRECT,
    map::LOAD_OR_STORE,
    map::PUT,
    michael_scott_queue::CORRECT,
    michael_scott_queue::NOT_SWUNG,
    michael_scott_queue::SWUNG_EARLY,
    shards::CORRECT,
    shards::ONE_BY_ONE,
    skip_list::CORRECT,
    skip_list::GAP,
    snark_deque::CORRECT,
    snark_deque::EMPTY,
    snark_deque::TWICE,
    timed_bag::CORRECT,
    timed_bag::GIVES_UP,
    treiber_stack::ABA,
    treiber_stack::CORRECT,
    treiber_stack::COUNTED_LATE,
    treiber_stack::TAGGED,
    vyukov_queue::CORRECT,
    vyukov_queue::FALSE_EMPTY,
    vyukov_queue::FALSE_FULL,
];
