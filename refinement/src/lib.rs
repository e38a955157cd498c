//! Is this concurrent queue, stack, map or lock what its sequential self is?
//!
//! A [`History`](history::History) says which operations ran when and what they returned. It is *linearizable* with
//! respect to a [`Specification`](specification::Specification) if each operation can be given a moment between its
//! call and its return at which, one after the other, they would have returned just that (Herlihy & Wing, TOPLAS 1990).

pub mod check;
pub mod history;
pub mod recorded;
pub mod specification;
pub mod specs;
