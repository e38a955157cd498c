//! Specifications: the allowed sequential behaviour of an object.

use std::hash::Hash;

/// The states in which an operation may leave an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next<S> {
    /// The operation is not allowed with this result.
    None,
    /// This one.
    One(S),
    /// Any of these.
    Any(Vec<S>),
}

/// The allowed behaviour of an object. For an object whose every operation has one outcome, implement [`Sequential`]
/// instead.
pub trait Specification {
    /// An operation with its arguments.
    type Call;
    /// The result of an operation.
    type Return;
    /// A state of the object. Cloned often.
    type State: Clone + Eq + Hash;

    /// Returns the state in which it begins.
    fn initial(&self) -> Self::State;

    /// Returns the states in which `call` may leave the object if it returns `returned`; if that is `None`, with any
    /// result.
    fn next(
        &self,
        state: &Self::State,
        call: &Self::Call,
        returned: Option<&Self::Return>,
    ) -> Next<Self::State>;

    /// `true` if the operation has to wait in this state.
    fn blocks(&self, state: &Self::State, call: &Self::Call) -> bool {
        let _ = (state, call);
        false
    }

    /// Returns the part of the object that the operation accesses, if it reads and changes only that part. If all
    /// operations of an object have a part, its history is checked part by part, each from the initial state.
    fn part(&self, call: &Self::Call) -> Option<u64> {
        let _ = call;
        None
    }
}

/// An object that is used by one operation at a time, each with one outcome: a `VecDeque` where a concurrent queue is
/// checked.
pub trait Sequential {
    /// An operation with its arguments.
    type Call;
    /// The result of an operation.
    type Return: PartialEq;
    /// A state of the object.
    type State: Clone + Eq + Hash;

    /// Returns the state in which it begins.
    fn initial(&self) -> Self::State;

    /// Performs the operation. `None`, and no change, if it has to wait.
    fn apply(&self, state: &mut Self::State, call: &Self::Call) -> Option<Self::Return>;

    /// See [`Specification::part`].
    fn part(&self, call: &Self::Call) -> Option<u64> {
        let _ = call;
        None
    }
}

impl<S: Sequential> Specification for S {
    type Call = S::Call;
    type Return = S::Return;
    type State = S::State;

    fn initial(&self) -> S::State {
        Sequential::initial(self)
    }

    fn next(&self, state: &S::State, call: &S::Call, returned: Option<&S::Return>) -> Next<S::State> {
        let mut state = state.clone();
        match (self.apply(&mut state, call), returned) {
            (Some(value), Some(returned)) if value != *returned => Next::None,
            (Some(_), _) => Next::One(state),
            (None, _) => Next::None,
        }
    }

    fn blocks(&self, state: &S::State, call: &S::Call) -> bool {
        self.apply(&mut state.clone(), call).is_none()
    }

    fn part(&self, call: &S::Call) -> Option<u64> {
        Sequential::part(self, call)
    }
}
