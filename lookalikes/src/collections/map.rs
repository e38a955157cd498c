//! `std::collections::HashMap`, with hash keys that can be fixed.

use super::table::hash_table;
use crate::hash::RandomState;
use intermezzo_engine::serial::{Deserialize, Serialize};
use std::borrow::Borrow;
use std::collections::hash_map::{
    Drain, Entry, ExtractIf, IntoIter, IntoKeys, IntoValues, Iter, IterMut, Keys, Values, ValuesMut,
};
use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::ops::Index;
use std::panic::UnwindSafe;

type Inner<K, V, S> = std::collections::HashMap<K, V, S>;

/// A hash map: `std::collections::HashMap`, which it dereferences to.
///
/// Inside an exploration it iterates in the same order in every execution that does the same with it.
///
/// ```
/// # use intermezzo_explorer as intermezzo;
/// use intermezzo::collections::HashMap;
///
/// let mut ages = HashMap::from([("Ada", 36)]);
/// ages.insert("Kurt", 71);
/// *ages.entry("Ada").or_default() += 1;
/// assert_eq!((ages["Ada"], ages.len()), (37, 2));
/// ```
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
#[serde(bound(
    serialize = "K: Serialize, V: Serialize",
    deserialize = "K: Deserialize<'de> + Eq + Hash, V: Deserialize<'de>, S: BuildHasher + Default"
))]
pub struct HashMap<K, V, S = RandomState>(Inner<K, V, S>);

hash_table!(HashMap<K, V>, K, (K, V));

impl<K, V, S> HashMap<K, V, S> {
    /// Returns the keys, and drops the values.
    pub fn into_keys(self) -> IntoKeys<K, V> {
        self.0.into_keys()
    }

    /// Returns the values, and drops the keys.
    pub fn into_values(self) -> IntoValues<K, V> {
        self.0.into_values()
    }

    /// Returns an iterator over the keys.
    pub fn keys(&self) -> Keys<'_, K, V> {
        self.0.keys()
    }

    /// Returns an iterator over the values.
    pub fn values(&self) -> Values<'_, K, V> {
        self.0.values()
    }

    /// Returns an iterator over the values, which can be changed.
    pub fn values_mut(&mut self) -> ValuesMut<'_, K, V> {
        self.0.values_mut()
    }

    /// Returns an iterator over the entries.
    pub fn iter(&self) -> Iter<'_, K, V> {
        self.0.iter()
    }

    /// Returns an iterator over the entries, whose values can be changed.
    pub fn iter_mut(&mut self) -> IterMut<'_, K, V> {
        self.0.iter_mut()
    }

    /// Keeps the entries for which the function returns `true`.
    pub fn retain<F: FnMut(&K, &mut V) -> bool>(&mut self, f: F) {
        self.0.retain(f);
    }

    /// Returns an iterator that removes the entries for which the function returns `true`.
    pub fn extract_if<F: FnMut(&K, &mut V) -> bool>(&mut self, f: F) -> ExtractIf<'_, K, V, F> {
        self.0.extract_if(f)
    }
}

impl<K: Eq + Hash, V, S: BuildHasher> HashMap<K, V, S> {
    /// Returns the entry for a key, occupied or vacant.
    pub fn entry(&mut self, key: K) -> Entry<'_, K, V> {
        self.0.entry(key)
    }

    /// Returns the value of a key.
    pub fn get<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.0.get(key)
    }

    /// Returns the entry of a key.
    pub fn get_key_value<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> Option<(&K, &V)>
    where
        K: Borrow<Q>,
    {
        self.0.get_key_value(key)
    }

    /// Returns `true` if there is a value of this key.
    pub fn contains_key<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.0.contains_key(key)
    }

    /// Returns the values of these keys, which can be changed.
    ///
    /// # Panics
    /// If two keys are equal.
    pub fn get_disjoint_mut<Q: Hash + Eq + ?Sized, const N: usize>(
        &mut self,
        keys: [&Q; N],
    ) -> [Option<&mut V>; N]
    where
        K: Borrow<Q>,
    {
        self.0.get_disjoint_mut(keys)
    }

    /// Returns the values of these keys, which can be changed.
    ///
    /// # Safety
    /// No two keys may be equal.
    pub unsafe fn get_disjoint_unchecked_mut<Q: Hash + Eq + ?Sized, const N: usize>(
        &mut self,
        keys: [&Q; N],
    ) -> [Option<&mut V>; N]
    where
        K: Borrow<Q>,
    {
        // SAFETY: as the caller says.
        unsafe { self.0.get_disjoint_unchecked_mut(keys) }
    }

    /// Returns the value of a key, which can be changed.
    pub fn get_mut<Q: Hash + Eq + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        self.0.get_mut(key)
    }

    /// Sets the value of a key, and returns the one before.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        self.0.insert(key, value)
    }

    /// Removes and returns the value of a key.
    pub fn remove<Q: Hash + Eq + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        self.0.remove(key)
    }

    /// Removes and returns the entry of a key.
    pub fn remove_entry<Q: Hash + Eq + ?Sized>(&mut self, key: &Q) -> Option<(K, V)>
    where
        K: Borrow<Q>,
    {
        self.0.remove_entry(key)
    }
}

impl<K: Eq + Hash, V: PartialEq, S: BuildHasher> PartialEq for HashMap<K, V, S> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<K: Eq + Hash, V: Eq, S: BuildHasher> Eq for HashMap<K, V, S> {}

impl<K: Eq + Hash + Borrow<Q>, Q: Eq + Hash + ?Sized, V, S: BuildHasher> Index<&Q> for HashMap<K, V, S> {
    type Output = V;
    fn index(&self, key: &Q) -> &V {
        &self.0[key]
    }
}

impl<'a, K: Eq + Hash + Copy, V: Copy, S: BuildHasher> Extend<(&'a K, &'a V)> for HashMap<K, V, S> {
    fn extend<I: IntoIterator<Item = (&'a K, &'a V)>>(&mut self, entries: I) {
        self.0.extend(entries);
    }
}

impl<'a, K, V, S> IntoIterator for &'a HashMap<K, V, S> {
    type Item = (&'a K, &'a V);
    type IntoIter = Iter<'a, K, V>;
    fn into_iter(self) -> Iter<'a, K, V> {
        self.0.iter()
    }
}

impl<'a, K, V, S> IntoIterator for &'a mut HashMap<K, V, S> {
    type Item = (&'a K, &'a mut V);
    type IntoIter = IterMut<'a, K, V>;
    fn into_iter(self) -> IterMut<'a, K, V> {
        self.0.iter_mut()
    }
}
