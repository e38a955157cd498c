//! A register: the last value written is read; with compare-and-set.

use crate::specification::Sequential;
use std::hash::Hash;

/// An operation of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Call<V> {
    /// Reads it.
    Read,
    /// Writes it.
    Write(V),
    /// Writes the second value if it holds the first.
    CompareAndSet(V, V),
}

/// The result of an operation of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Return<V> {
    /// The value read.
    Value(V),
    /// It was written.
    Done,
    /// `true` if it held the value compared with.
    Was(bool),
}

/// A register with its first value.
#[derive(Clone, Copy, Debug)]
pub struct Register<V>(pub V);

impl<V: Clone + Eq + Hash> Sequential for Register<V> {
    type Call = Call<V>;
    type Return = Return<V>;
    type State = V;

    fn initial(&self) -> V {
        self.0.clone()
    }

    fn apply(&self, state: &mut V, call: &Call<V>) -> Option<Return<V>> {
        Some(match call {
            Call::Read => Return::Value(state.clone()),
            Call::Write(value) => {
                *state = value.clone();
                Return::Done
            }
            Call::CompareAndSet(expected, new) => {
                let held = *state == *expected;
                if held {
                    *state = new.clone();
                }
                Return::Was(held)
            }
        })
    }
}
