//! A queue, bounded or not: first in, first out.

use crate::specification::Sequential;
use std::collections::VecDeque;
use std::hash::Hash;
use std::marker::PhantomData;

/// An operation of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Call<V> {
    /// Puts a value at the end.
    Enqueue(V),
    /// Takes the value at the front.
    Dequeue,
    /// Looks at the value at the front.
    Peek,
}

/// The result of an operation of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Return<V> {
    /// A value was inserted.
    Done,
    /// There was no room for it.
    Full,
    /// The value at the front; `None` if the queue was empty.
    Front(Option<V>),
}

/// A queue of values.
#[derive(Clone, Copy, Debug)]
pub struct Queue<V> {
    capacity: Option<usize>,
    values: PhantomData<fn() -> V>,
}

impl<V> Queue<V> {
    /// Creates a queue with room for everything.
    pub fn unbounded() -> Queue<V> {
        Queue {
            capacity: None,
            values: PhantomData,
        }
    }

    /// Creates a queue with room for `capacity` values; it refuses more.
    pub fn bounded(capacity: usize) -> Queue<V> {
        Queue {
            capacity: Some(capacity),
            values: PhantomData,
        }
    }

    /// Returns the number of values for which it has room; `None`: for everything.
    pub fn capacity(&self) -> Option<usize> {
        self.capacity
    }
}

impl<V: Clone + Eq + Hash> Sequential for Queue<V> {
    type Call = Call<V>;
    type Return = Return<V>;
    type State = VecDeque<V>;

    fn initial(&self) -> VecDeque<V> {
        VecDeque::new()
    }

    fn apply(&self, state: &mut VecDeque<V>, call: &Call<V>) -> Option<Return<V>> {
        Some(match call {
            Call::Enqueue(_) if self.capacity.is_some_and(|capacity| state.len() >= capacity) => Return::Full,
            Call::Enqueue(value) => {
                state.push_back(value.clone());
                Return::Done
            }
            Call::Dequeue => Return::Front(state.pop_front()),
            Call::Peek => Return::Front(state.front().cloned()),
        })
    }
}
