//! States of a specification, each kept once, and the operations with which they were reached.

use super::bits::Bits;

use hashbrown::{DefaultHashBuilder, HashSet, HashTable};
use std::hash::{BuildHasher, Hash};

/// A state by its number.
pub(super) type StateId = u32;

/// The states seen so far.
pub(super) struct States<S> {
    states: Vec<S>,
    numbers: HashTable<StateId>,
    hasher: DefaultHashBuilder,
}

impl<S: Eq + Hash> States<S> {
    pub(super) fn new() -> States<S> {
        States {
            states: Vec::new(),
            numbers: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
        }
    }

    /// Returns the number of a state, new or not.
    pub(super) fn number(&mut self, state: S) -> StateId {
        let States {
            states,
            numbers,
            hasher,
        } = self;
        let hash = hasher.hash_one(&state);
        if let Some(known) = numbers.find(hash, |number| states[*number as usize] == state) {
            return *known;
        }
        let number = states.len() as StateId;
        states.push(state);
        numbers.insert_unique(hash, number, |number| hasher.hash_one(&states[*number as usize]));
        number
    }

    pub(super) fn get(&self, number: StateId) -> &S {
        &self.states[number as usize]
    }

    /// Takes a state out, and drops the others.
    pub(super) fn take(mut self, number: StateId) -> S {
        self.states.swap_remove(number as usize)
    }
}

/// The sets of operations that were done with each state: the continuation depends on nothing else (Lowe, 2017).
#[derive(Default)]
pub(super) struct Reached(HashSet<(Bits, StateId)>);

impl Reached {
    /// Adds the pair. `true` if it is new.
    pub(super) fn insert(&mut self, done: &Bits, state: StateId) -> bool {
        self.0.insert((done.clone(), state))
    }

    pub(super) fn len(&self) -> u64 {
        self.0.len() as u64
    }
}
