//! Whether a history is what a specification allows.

mod bits;
pub mod general;
mod interval;
pub mod long;
mod patience;
mod process_order;
mod states;

use crate::history::History;
use crate::specification::Specification;

/// Which orders of operations are allowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Same {
    /// An operation that returned before another was called comes before it: linearizability (Herlihy & Wing,
    /// TOPLAS 1990).
    #[default]
    Linearizable,
    /// Operations of each process come in their order, and that is all: sequential consistency (Lamport, 1979).
    Sequential,
    /// An operation comes before another if they are apart by a moment at which none was under way: quiescent
    /// consistency (Aspnes, Herlihy & Shavit, JACM 1994). It says nothing of the order of one process's operations.
    Quiescent,
}

/// What a checker says about a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict<S> {
    /// It is allowed, by this order: places in the history. Operations that never returned are in it if they have to
    /// have happened.
    Allowed {
        /// The operations in an order in which, one at a time, they return what they returned.
        order: Vec<usize>,
    },
    /// It is not.
    Violation(Violation<S>),
    /// Too many states were looked at, or time was over.
    Unknown {
        /// How many.
        states: u64,
    },
}

impl<S> Verdict<S> {
    /// Whether the history is allowed.
    pub fn is_allowed(&self) -> bool {
        matches!(self, Verdict::Allowed { .. })
    }
}

/// Why a history is not allowed: how far an order of its operations can get at most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation<S> {
    /// As many operations as can be put in order before one has to come that cannot: places in the history.
    pub longest: Vec<usize>,
    /// The state that they lead to.
    pub state: S,
    /// The operations that could come next then, none of which may return what it returned.
    pub stuck: Vec<usize>,
    /// The operations that it is about: those of one part of the object, or all.
    pub part: Vec<usize>,
}

impl<S> Violation<S> {
    /// The same without the state.
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
/// The specification names no state for a pending operation that it allowed: an error of its own.
pub fn check<S: Specification>(
    specification: &S,
    history: &History<S::Call, S::Return>,
    same: Same,
) -> Verdict<S::State> {
    general::Checker::new(specification).same(same).check(history)
}
