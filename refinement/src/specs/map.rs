//! A map from keys to values. Each key is a part of its own.

use super::set::part_of;
use crate::specification::Sequential;
use std::collections::BTreeMap;
use std::hash::Hash;
use std::marker::PhantomData;

/// An operation of a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Call<K, V> {
    /// Inserts a value; returns the previous one.
    Insert(K, V),
    /// Inserts a value if there is none; returns the existing one.
    InsertIfAbsent(K, V),
    /// Reads a value.
    Get(K),
    /// Removes a value.
    Remove(K),
}

impl<K, V> Call<K, V> {
    /// Returns the key of the operation.
    pub fn key(&self) -> &K {
        match self {
            Call::Insert(key, _) | Call::InsertIfAbsent(key, _) | Call::Get(key) | Call::Remove(key) => key,
        }
    }
}

/// A map from keys to values. Each operation returns the value that was there before.
#[derive(Clone, Copy, Debug)]
pub struct Map<K, V>(PhantomData<fn() -> (K, V)>);

of_any_values!(Map<K, V>);

impl<K: Clone + Ord + Hash, V: Clone + Eq + Hash> Sequential for Map<K, V> {
    type Call = Call<K, V>;
    type Return = Option<V>;
    type State = BTreeMap<K, V>;

    fn initial(&self) -> BTreeMap<K, V> {
        BTreeMap::new()
    }

    fn apply(&self, state: &mut BTreeMap<K, V>, call: &Call<K, V>) -> Option<Option<V>> {
        Some(match call {
            Call::Insert(key, value) => state.insert(key.clone(), value.clone()),
            Call::InsertIfAbsent(key, value) => {
                let there = state.get(key).cloned();
                state.entry(key.clone()).or_insert_with(|| value.clone());
                there
            }
            Call::Get(key) => state.get(key).cloned(),
            Call::Remove(key) => state.remove(key),
        })
    }

    fn part(&self, call: &Call<K, V>) -> Option<u64> {
        Some(part_of(call.key()))
    }
}
