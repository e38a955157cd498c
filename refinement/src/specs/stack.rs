//! A stack: last in, first out.

use crate::specification::Sequential;
use std::hash::Hash;
use std::marker::PhantomData;

/// An operation of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Call<V> {
    /// Puts a value on top.
    Push(V),
    /// Takes the value on top.
    Pop,
    /// Reads the value on top.
    Top,
}

/// The result of an operation of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Return<V> {
    /// A value was put on top.
    Done,
    /// The value on top; `None` if the stack was empty.
    Top(Option<V>),
}

/// A stack of values.
#[derive(Clone, Copy, Debug)]
pub struct Stack<V>(PhantomData<fn() -> V>);

of_any_values!(Stack<V>);

impl<V: Clone + Eq + Hash> Sequential for Stack<V> {
    type Call = Call<V>;
    type Return = Return<V>;
    type State = Vec<V>;

    fn initial(&self) -> Vec<V> {
        Vec::new()
    }

    fn apply(&self, state: &mut Vec<V>, call: &Call<V>) -> Option<Return<V>> {
        Some(match call {
            Call::Push(value) => {
                state.push(value.clone());
                Return::Done
            }
            Call::Pop => Return::Top(state.pop()),
            Call::Top => Return::Top(state.last().cloned()),
        })
    }
}
