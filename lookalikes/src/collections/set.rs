//! `std::collections::HashSet`, whose keys for hashing can be fixed.

use super::table::hash_table;
use crate::hash::RandomState;
use intermezzo_engine::serial::{Deserialize, Serialize};
use std::borrow::Borrow;
use std::collections::hash_set::{
    Difference, Drain, ExtractIf, Intersection, IntoIter, Iter, SymmetricDifference, Union,
};
use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::ops::{BitAnd, BitOr, BitXor, Sub};
use std::panic::UnwindSafe;

type Inner<T, S> = std::collections::HashSet<T, S>;

/// A hash set: `std::collections::HashSet`, which it dereferences to.
///
/// Inside an exploration it iterates in the same order in every execution that does the same with it.
///
/// ```
/// # use intermezzo_explorer as intermezzo;
/// use intermezzo::collections::HashSet;
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

hash_table!(HashSet<T>, T, T);

impl<T, S> HashSet<T, S> {
    /// Returns an iterator over the elements.
    pub fn iter(&self) -> Iter<'_, T> {
        self.0.iter()
    }

    /// Keeps the elements for which the function returns `true`.
    pub fn retain<F: FnMut(&T) -> bool>(&mut self, f: F) {
        self.0.retain(f);
    }

    /// Returns an iterator that removes the elements for which the function returns `true`.
    pub fn extract_if<F: FnMut(&T) -> bool>(&mut self, f: F) -> ExtractIf<'_, T, F> {
        self.0.extract_if(f)
    }
}

impl<T: Eq + Hash, S: BuildHasher> HashSet<T, S> {
    /// Returns an iterator over the elements that are not in the other set.
    pub fn difference<'a>(&'a self, other: &'a HashSet<T, S>) -> Difference<'a, T, S> {
        self.0.difference(&other.0)
    }

    /// Returns an iterator over the elements that are in one of the sets only.
    pub fn symmetric_difference<'a>(&'a self, other: &'a HashSet<T, S>) -> SymmetricDifference<'a, T, S> {
        self.0.symmetric_difference(&other.0)
    }

    /// Returns an iterator over the elements that are in both sets.
    pub fn intersection<'a>(&'a self, other: &'a HashSet<T, S>) -> Intersection<'a, T, S> {
        self.0.intersection(&other.0)
    }

    /// Returns an iterator over the elements that are in any of the sets.
    pub fn union<'a>(&'a self, other: &'a HashSet<T, S>) -> Union<'a, T, S> {
        self.0.union(&other.0)
    }

    /// Returns `true` if there is such an element.
    pub fn contains<Q: Hash + Eq + ?Sized>(&self, value: &Q) -> bool
    where
        T: Borrow<Q>,
    {
        self.0.contains(value)
    }

    /// Returns the element that equals this value.
    pub fn get<Q: Hash + Eq + ?Sized>(&self, value: &Q) -> Option<&T>
    where
        T: Borrow<Q>,
    {
        self.0.get(value)
    }

    /// Returns `true` if the sets have no element in common.
    pub fn is_disjoint(&self, other: &HashSet<T, S>) -> bool {
        self.0.is_disjoint(&other.0)
    }

    /// Returns `true` if all elements are in the other set.
    pub fn is_subset(&self, other: &HashSet<T, S>) -> bool {
        self.0.is_subset(&other.0)
    }

    /// Returns `true` if all elements of the other set are in this one.
    pub fn is_superset(&self, other: &HashSet<T, S>) -> bool {
        self.0.is_superset(&other.0)
    }

    /// Adds an element. Returns `true` if there was no equal one.
    pub fn insert(&mut self, value: T) -> bool {
        self.0.insert(value)
    }

    /// Adds an element, and returns the equal one that was there.
    pub fn replace(&mut self, value: T) -> Option<T> {
        self.0.replace(value)
    }

    /// Removes an element. Returns `true` if it was there.
    pub fn remove<Q: Hash + Eq + ?Sized>(&mut self, value: &Q) -> bool
    where
        T: Borrow<Q>,
    {
        self.0.remove(value)
    }

    /// Removes and returns an element.
    pub fn take<Q: Hash + Eq + ?Sized>(&mut self, value: &Q) -> Option<T>
    where
        T: Borrow<Q>,
    {
        self.0.take(value)
    }
}

impl<T: Eq + Hash, S: BuildHasher> PartialEq for HashSet<T, S> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<T: Eq + Hash, S: BuildHasher> Eq for HashSet<T, S> {}

impl<'a, T: Eq + Hash + Copy + 'a, S: BuildHasher> Extend<&'a T> for HashSet<T, S> {
    fn extend<I: IntoIterator<Item = &'a T>>(&mut self, elements: I) {
        self.0.extend(elements);
    }
}

impl<'a, T, S> IntoIterator for &'a HashSet<T, S> {
    type Item = &'a T;
    type IntoIter = Iter<'a, T>;
    fn into_iter(self) -> Iter<'a, T> {
        self.0.iter()
    }
}

/// Implements the operators on sets, as std's do.
macro_rules! operators {
    ($($operator:ident $method:ident;)*) => {$(
        impl<T: Eq + Hash + Clone, S: BuildHasher + Default> $operator<&HashSet<T, S>> for &HashSet<T, S> {
            type Output = HashSet<T, S>;
            fn $method(self, other: &HashSet<T, S>) -> HashSet<T, S> {
                HashSet((&self.0).$method(&other.0))
            }
        }
    )*};
}

operators! {
    BitOr bitor;
    BitAnd bitand;
    BitXor bitxor;
    Sub sub;
}
