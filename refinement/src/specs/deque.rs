//! A deque: values are inserted and removed at both ends.

use crate::specification::Sequential;
use std::collections::VecDeque;
use std::hash::Hash;
use std::marker::PhantomData;

/// An operation of a deque.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Call<V> {
    /// Inserts a value at the front.
    PushFront(V),
    /// Inserts a value at the back.
    PushBack(V),
    /// Removes the value at the front.
    PopFront,
    /// Removes the value at the back.
    PopBack,
}

/// The result of an operation of a deque.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Return<V> {
    /// A value was inserted.
    Done,
    /// The value at that end; `None` if the deque was empty.
    Taken(Option<V>),
}

/// A deque of values. A work-stealing deque is one to which only its owner pushes, and from whose front others take.
#[derive(Clone, Copy, Debug)]
pub struct Deque<V>(PhantomData<fn() -> V>);

of_any_values!(Deque<V>);

impl<V: Clone + Eq + Hash> Sequential for Deque<V> {
    type Call = Call<V>;
    type Return = Return<V>;
    type State = VecDeque<V>;

    fn initial(&self) -> VecDeque<V> {
        VecDeque::new()
    }

    fn apply(&self, state: &mut VecDeque<V>, call: &Call<V>) -> Option<Return<V>> {
        Some(match call {
            Call::PushFront(value) => {
                state.push_front(value.clone());
                Return::Done
            }
            Call::PushBack(value) => {
                state.push_back(value.clone());
                Return::Done
            }
            Call::PopFront => Return::Taken(state.pop_front()),
            Call::PopBack => Return::Taken(state.pop_back()),
        })
    }
}
