//! `std::collections::HashMap`, whose keys for hashing can be fixed.

use crate::hash::RandomState;
use intermezzo_engine::serial::{Deserialize, Serialize};
use std::borrow::Borrow;
use std::collections::TryReserveError;
use std::collections::hash_map::{
    Drain, Entry, ExtractIf, IntoIter, IntoKeys, IntoValues, Iter, IterMut, Keys, Values, ValuesMut,
};
use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::ops::{Deref, DerefMut, Index};
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

impl<K, V> HashMap<K, V> {
    /// Returns an empty map.
    #[must_use]
    pub fn new() -> Self {
        HashMap::default()
    }

    /// Returns an empty map with room for `capacity` entries.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        HashMap::with_capacity_and_hasher(capacity, RandomState::new())
    }
}

impl<K, V, S> HashMap<K, V, S> {
    /// Returns an empty map with this hasher.
    pub const fn with_hasher(hasher: S) -> Self {
        HashMap(Inner::with_hasher(hasher))
    }

    /// Returns an empty map with room for `capacity` entries, with this hasher.
    pub fn with_capacity_and_hasher(capacity: usize, hasher: S) -> Self {
        HashMap(Inner::with_capacity_and_hasher(capacity, hasher))
    }

    /// Returns the keys, and drops the values.
    pub fn into_keys(self) -> IntoKeys<K, V> {
        self.0.into_keys()
    }

    /// Returns the values, and drops the keys.
    pub fn into_values(self) -> IntoValues<K, V> {
        self.0.into_values()
    }
}

// The other methods would be there by dereferencing, but then not by their paths (`HashMap::len`), and an argument could
// not use the map that a method changes.
impl<K, V, S> HashMap<K, V, S> {
    /// Returns the number of entries that there is room for.
    pub fn capacity(&self) -> usize {
        self.0.capacity()
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

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns `true` if there is no entry.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Removes all entries, and returns an iterator over them.
    pub fn drain(&mut self) -> Drain<'_, K, V> {
        self.0.drain()
    }

    /// Keeps the entries for which the function returns `true`.
    pub fn retain<F: FnMut(&K, &mut V) -> bool>(&mut self, f: F) {
        self.0.retain(f);
    }

    /// Returns an iterator that removes the entries for which the function returns `true`.
    pub fn extract_if<F: FnMut(&K, &mut V) -> bool>(&mut self, f: F) -> ExtractIf<'_, K, V, F> {
        self.0.extract_if(f)
    }

    /// Removes all entries.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns the hasher.
    pub fn hasher(&self) -> &S {
        self.0.hasher()
    }
}

impl<K: Eq + Hash, V, S: BuildHasher> HashMap<K, V, S> {
    /// Makes room for this many more entries.
    ///
    /// # Panics
    /// There is not enough memory.
    pub fn reserve(&mut self, additional: usize) {
        self.0.reserve(additional);
    }

    /// Makes room for this many more entries.
    ///
    /// # Errors
    /// There is not enough memory.
    pub fn try_reserve(&mut self, additional: usize) -> Result<(), TryReserveError> {
        self.0.try_reserve(additional)
    }

    /// Gives up the room that is not used.
    pub fn shrink_to_fit(&mut self) {
        self.0.shrink_to_fit();
    }

    /// Gives up the room that is not used, except for this many entries.
    pub fn shrink_to(&mut self, min_capacity: usize) {
        self.0.shrink_to(min_capacity);
    }

    /// Returns the place of a key, with or without a value.
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
    /// No two keys are equal.
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

impl<K, V, S> Deref for HashMap<K, V, S> {
    type Target = Inner<K, V, S>;
    fn deref(&self) -> &Inner<K, V, S> {
        &self.0
    }
}

impl<K, V, S> DerefMut for HashMap<K, V, S> {
    fn deref_mut(&mut self) -> &mut Inner<K, V, S> {
        &mut self.0
    }
}

impl<K: UnwindSafe, V: UnwindSafe, S: UnwindSafe> UnwindSafe for HashMap<K, V, S> {}

impl<K, V, S: Default> Default for HashMap<K, V, S> {
    fn default() -> Self {
        HashMap(Inner::default())
    }
}

impl<K: fmt::Debug, V: fmt::Debug, S> fmt::Debug for HashMap<K, V, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
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

impl<K: Eq + Hash, V, const N: usize> From<[(K, V); N]> for HashMap<K, V> {
    fn from(entries: [(K, V); N]) -> Self {
        entries.into_iter().collect()
    }
}

impl<K: Eq + Hash, V, S: BuildHasher + Default> FromIterator<(K, V)> for HashMap<K, V, S> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        HashMap(entries.into_iter().collect())
    }
}

impl<K: Eq + Hash, V, S: BuildHasher> Extend<(K, V)> for HashMap<K, V, S> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        self.0.extend(entries);
    }
}

impl<'a, K: Eq + Hash + Copy, V: Copy, S: BuildHasher> Extend<(&'a K, &'a V)> for HashMap<K, V, S> {
    fn extend<I: IntoIterator<Item = (&'a K, &'a V)>>(&mut self, entries: I) {
        self.0.extend(entries);
    }
}

impl<K, V, S> IntoIterator for HashMap<K, V, S> {
    type Item = (K, V);
    type IntoIter = IntoIter<K, V>;
    fn into_iter(self) -> IntoIter<K, V> {
        self.0.into_iter()
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
