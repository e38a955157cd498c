//! Checks long histories with distinct values in n log n. The general search takes exponential time.
//!
//! If no value is inserted twice, each value shows which operations belong together, and an object's rules become
//! statements about the times of those operations (Gibbons & Korach, SIAM J. Comput. 1997; Emmi & Enea, PLDI 2018;
//! Abdulla et al., PLDI 2025; Lee & Mathur, OOPSLA 2025). Two moments of a value matter. At the first return of any of its
//! operations, the value must have been inserted. Until the last call of any of them, it must not be removed; if no
//! operation removes it, it stays for ever. If the first moment comes before the second, the time in between is the
//! *critical interval* of the value. Each file proves its own condition.
//!
//! Each condition is exact, so the check misses nothing where it applies. It does not apply if a value is inserted twice,
//! if an operation's result is impossible for its kind, and to some pending operations; it then says so.

mod container;
mod cover;
mod gaps;
mod order;
mod shrink;
mod time;

pub mod fetch_add;
pub mod priority_queue;
pub mod queue;
pub mod register;
pub mod set;
pub mod stack;

use super::{Same, Verdict};
use crate::history::History;
use crate::specification::Specification;

/// The result of a check of a long history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Long {
    /// The operations can be put in order.
    Linearizable,
    /// They cannot.
    Violation(Violation),
    /// The history is of a kind that this check does not decide, for this reason.
    NotApplicable(&'static str),
}

/// The reason why a history is not linearizable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// In words; `#3` is the operation at place 3 of the history.
    pub why: String,
    /// The places in the history of the operations concerned, in order: even these alone are not linearizable.
    pub operations: Vec<usize>,
}

impl Violation {
    fn new(why: String, operations: impl IntoIterator<Item = u32>) -> Violation {
        let mut operations: Vec<usize> = operations.into_iter().map(|id| id as usize).collect();
        operations.sort_unstable();
        operations.dedup();
        Violation { why, operations }
    }
}

/// A specification whose long histories can be checked fast.
pub trait CheckLong: Specification {
    /// Returns whether the history is linearizable, in n log n.
    fn check_long(&self, history: &History<Self::Call, Self::Return>) -> Long;
}

const MISFIT: &str = "an operation answers what its kind never answers";

/// The result of [`check`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decided<S> {
    /// The operations can be put in order.
    Linearizable,
    /// They cannot.
    Violation(Violation),
    /// The history is not of a kind that is checked fast; this is the general checker's verdict.
    General(Verdict<S>),
}

impl<S> Decided<S> {
    /// `true` if the history is linearizable.
    pub fn is_linearizable(&self) -> bool {
        match self {
            Decided::Linearizable => true,
            Decided::Violation(_) => false,
            Decided::General(verdict) => verdict.is_allowed(),
        }
    }
}

/// Checks whether a history is linearizable: fast if possible, otherwise by the general checker.
pub fn check<S: CheckLong>(specification: &S, history: &History<S::Call, S::Return>) -> Decided<S::State> {
    match specification.check_long(history) {
        Long::Linearizable => Decided::Linearizable,
        Long::Violation(violation) => Decided::Violation(violation),
        Long::NotApplicable(_) => Decided::General(super::check(specification, history, Same::Linearizable)),
    }
}
