//! A set of keys. Each key is a part of its own.

use crate::specification::Sequential;
use std::collections::BTreeSet;
use std::hash::{BuildHasher, Hash};
use std::marker::PhantomData;

/// An operation of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Call<K> {
    /// Puts a key in.
    Insert(K),
    /// Takes a key out.
    Remove(K),
    /// Checks that a key is there.
    Contains(K),
}

impl<K> Call<K> {
    /// Returns the key of the operation.
    pub fn key(&self) -> &K {
        match self {
            Call::Insert(key) | Call::Remove(key) | Call::Contains(key) => key,
        }
    }
}

/// A set of keys. Each operation returns `true` if it changed the set, or found the key.
#[derive(Clone, Copy, Debug)]
pub struct Set<K>(PhantomData<fn() -> K>);

of_any_values!(Set<K>);

impl<K: Clone + Ord + Hash> Sequential for Set<K> {
    type Call = Call<K>;
    type Return = bool;
    type State = BTreeSet<K>;

    fn initial(&self) -> BTreeSet<K> {
        BTreeSet::new()
    }

    fn apply(&self, state: &mut BTreeSet<K>, call: &Call<K>) -> Option<bool> {
        Some(match call {
            Call::Insert(key) => state.insert(key.clone()),
            Call::Remove(key) => state.remove(key),
            Call::Contains(key) => state.contains(key),
        })
    }

    fn part(&self, call: &Call<K>) -> Option<u64> {
        Some(part_of(call.key()))
    }
}

/// Returns the part of a key: the same in every process. Two keys with one part are only checked together.
pub(super) fn part_of<K: Hash>(key: &K) -> u64 {
    std::hash::BuildHasherDefault::<std::hash::DefaultHasher>::default().hash_one(key)
}
