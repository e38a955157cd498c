//! `std::collections::HashSet`, whose keys for hashing can be fixed.

use crate::hash::RandomState;
use serde::{Deserialize, Serialize};
use std::collections::hash_set::{IntoIter, Iter};
use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::ops::{BitAnd, BitOr, BitXor, Deref, DerefMut, Sub};
use std::panic::UnwindSafe;

type Inner<T, S> = std::collections::HashSet<T, S>;

/// A hash set: `std::collections::HashSet`, which it dereferences to.
///
/// Inside an exploration it iterates in the same order in every execution that does the same with it.
///
/// ```
/// use intermezzo_explorer::collections::HashSet;
///
/// let mut seen = HashSet::from([1, 2]);
/// assert!(seen.insert(3) && !seen.insert(1));
/// assert_eq!(&seen & &HashSet::from([3, 4]), HashSet::from([3]));
/// ```
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
#[serde(bound(
    serialize = "T: Serialize",
    deserialize = "T: Deserialize<'de> + Eq + Hash, S: BuildHasher + Default"
))]
pub struct HashSet<T, S = RandomState>(Inner<T, S>);

impl<T> HashSet<T> {
    /// Returns an empty set.
    #[must_use]
    pub fn new() -> Self {
        HashSet::default()
    }

    /// Returns an empty set with room for `capacity` elements.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        HashSet::with_capacity_and_hasher(capacity, RandomState::new())
    }
}

impl<T, S> HashSet<T, S> {
    /// Returns an empty set with this hasher.
    pub const fn with_hasher(hasher: S) -> Self {
        HashSet(Inner::with_hasher(hasher))
    }

    /// Returns an empty set with room for `capacity` elements, with this hasher.
    pub fn with_capacity_and_hasher(capacity: usize, hasher: S) -> Self {
        HashSet(Inner::with_capacity_and_hasher(capacity, hasher))
    }
}

impl<T, S> Deref for HashSet<T, S> {
    type Target = Inner<T, S>;
    fn deref(&self) -> &Inner<T, S> {
        &self.0
    }
}

impl<T, S> DerefMut for HashSet<T, S> {
    fn deref_mut(&mut self) -> &mut Inner<T, S> {
        &mut self.0
    }
}

impl<T: UnwindSafe, S: UnwindSafe> UnwindSafe for HashSet<T, S> {}

impl<T, S: Default> Default for HashSet<T, S> {
    fn default() -> Self {
        HashSet(Inner::default())
    }
}

impl<T: fmt::Debug, S> fmt::Debug for HashSet<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: Eq + Hash, S: BuildHasher> PartialEq for HashSet<T, S> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<T: Eq + Hash, S: BuildHasher> Eq for HashSet<T, S> {}

impl<T: Eq + Hash, const N: usize> From<[T; N]> for HashSet<T> {
    fn from(elements: [T; N]) -> Self {
        elements.into_iter().collect()
    }
}

impl<T: Eq + Hash, S: BuildHasher + Default> FromIterator<T> for HashSet<T, S> {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Self {
        HashSet(elements.into_iter().collect())
    }
}

impl<T: Eq + Hash, S: BuildHasher> Extend<T> for HashSet<T, S> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, elements: I) {
        self.0.extend(elements);
    }
}

impl<'a, T: Eq + Hash + Copy + 'a, S: BuildHasher> Extend<&'a T> for HashSet<T, S> {
    fn extend<I: IntoIterator<Item = &'a T>>(&mut self, elements: I) {
        self.0.extend(elements);
    }
}

impl<T, S> IntoIterator for HashSet<T, S> {
    type Item = T;
    type IntoIter = IntoIter<T>;
    fn into_iter(self) -> IntoIter<T> {
        self.0.into_iter()
    }
}

impl<'a, T, S> IntoIterator for &'a HashSet<T, S> {
    type Item = &'a T;
    type IntoIter = Iter<'a, T>;
    fn into_iter(self) -> Iter<'a, T> {
        self.0.iter()
    }
}

impl<T: Eq + Hash + Clone, S: BuildHasher + Default> BitOr<&HashSet<T, S>> for &HashSet<T, S> {
    type Output = HashSet<T, S>;
    fn bitor(self, other: &HashSet<T, S>) -> HashSet<T, S> {
        HashSet(&self.0 | &other.0)
    }
}

impl<T: Eq + Hash + Clone, S: BuildHasher + Default> BitAnd<&HashSet<T, S>> for &HashSet<T, S> {
    type Output = HashSet<T, S>;
    fn bitand(self, other: &HashSet<T, S>) -> HashSet<T, S> {
        HashSet(&self.0 & &other.0)
    }
}

impl<T: Eq + Hash + Clone, S: BuildHasher + Default> BitXor<&HashSet<T, S>> for &HashSet<T, S> {
    type Output = HashSet<T, S>;
    fn bitxor(self, other: &HashSet<T, S>) -> HashSet<T, S> {
        HashSet(&self.0 ^ &other.0)
    }
}

impl<T: Eq + Hash + Clone, S: BuildHasher + Default> Sub<&HashSet<T, S>> for &HashSet<T, S> {
    type Output = HashSet<T, S>;
    fn sub(self, other: &HashSet<T, S>) -> HashSet<T, S> {
        HashSet(&self.0 - &other.0)
    }
}
