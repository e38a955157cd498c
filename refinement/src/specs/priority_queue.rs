//! A priority queue: the greatest comes first.

use crate::specification::Sequential;
use std::hash::Hash;
use std::marker::PhantomData;

/// An operation of a priority queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Call<V> {
    /// Puts a value in.
    Insert(V),
    /// Takes the greatest value.
    Poll,
}

/// The result of an operation of a priority queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Return<V> {
    /// A value was inserted.
    Done,
    /// The greatest value; `None` if there was none.
    Greatest(Option<V>),
}

/// A priority queue of values.
#[derive(Clone, Copy, Debug)]
pub struct PriorityQueue<V>(PhantomData<fn() -> V>);

of_any_values!(PriorityQueue<V>);

impl<V: Clone + Ord + Hash> Sequential for PriorityQueue<V> {
    type Call = Call<V>;
    type Return = Return<V>;
    /// In order, the greatest last.
    type State = Vec<V>;

    fn initial(&self) -> Vec<V> {
        Vec::new()
    }

    fn apply(&self, state: &mut Vec<V>, call: &Call<V>) -> Option<Return<V>> {
        Some(match call {
            Call::Insert(value) => {
                let at = state.partition_point(|other| other <= value);
                state.insert(at, value.clone());
                Return::Done
            }
            Call::Poll => Return::Greatest(state.pop()),
        })
    }
}
