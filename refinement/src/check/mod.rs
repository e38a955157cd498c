//! The check of a history against a specification.

mod bits;
pub mod general;
mod interval;
mod limits;
pub mod long;
mod process_order;
mod states;

use crate::history::History;
pub use crate::history::Same;
use crate::specification::Specification;

/// A checker's verdict about a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict<S> {
    /// It is allowed, by this order of its operations. An operation that never returned is part of it if it must have
    /// happened.
    Allowed {
        /// The positions in the history of the operations, in a sequential order that explains the results.
        order: Vec<usize>,
    },
    /// It is not.
    Violation(Violation<S>),
    /// Too many states were examined, or the time was over.
    Unknown {
        /// The number of states.
        states: u64,
    },
}

impl<S> Verdict<S> {
    /// `true` if the history is allowed.
    pub fn is_allowed(&self) -> bool {
        matches!(self, Verdict::Allowed { .. })
    }
}

/// The reason why a history is not allowed: the longest possible order of its operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation<S> {
    /// The longest prefix of a sequential order that explains the results: positions in the history.
    pub longest: Vec<usize>,
    /// The state that they lead to.
    pub state: S,
    /// The operations that could come next, none of which may return its result.
    pub stuck: Vec<usize>,
    /// The operations concerned: those of one part of the object, or all.
    pub part: Vec<usize>,
}

impl<S> Violation<S> {
    /// Returns the same without the state.
    pub(crate) fn without_state(self) -> Violation<()> {
        Violation {
            longest: self.longest,
            state: (),
            stuck: self.stuck,
            part: self.part,
        }
    }
}

/// Checks a history. Parts are checked one after the other if every operation has one.
///
/// # Panics
/// If the specification returns no state for a pending operation that it allowed, which is an error of the specification.
pub fn check<S: Specification>(
    specification: &S,
    history: &History<S::Call, S::Return>,
    same: Same,
) -> Verdict<S::State> {
    general::Checker::new(specification).same(same).check(history)
}
