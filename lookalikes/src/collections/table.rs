//! The methods and traits that maps and sets have in common.

/// Implements for a map or a set around std's, `Inner`, what both have. `$key` is hashed, and `$element` is what the table
/// is made of.
macro_rules! hash_table {
    ($table:ident<$($generic:ident),+>, $key:ident, $element:ty) => {
        impl<$($generic),+> $table<$($generic),+> {
            /// Creates an empty one.
            #[must_use]
            pub fn new() -> Self {
                $table::default()
            }

            /// Creates an empty one with room for `capacity` elements.
            #[must_use]
            pub fn with_capacity(capacity: usize) -> Self {
                $table::with_capacity_and_hasher(capacity, RandomState::new())
            }
        }

        impl<$($generic),+, S> $table<$($generic),+, S> {
            /// Creates an empty one with this hasher.
            pub const fn with_hasher(hasher: S) -> Self {
                $table(Inner::with_hasher(hasher))
            }

            /// Creates an empty one with room for `capacity` elements, with this hasher.
            pub fn with_capacity_and_hasher(capacity: usize, hasher: S) -> Self {
                $table(Inner::with_capacity_and_hasher(capacity, hasher))
            }

            /// Returns the number of elements that there is room for.
            pub fn capacity(&self) -> usize {
                self.0.capacity()
            }

            /// Returns the number of elements.
            pub fn len(&self) -> usize {
                self.0.len()
            }

            /// Returns `true` if there is no element.
            pub fn is_empty(&self) -> bool {
                self.0.is_empty()
            }

            /// Removes all elements, and returns an iterator over them.
            pub fn drain(&mut self) -> Drain<'_, $($generic),+> {
                self.0.drain()
            }

            /// Removes all elements.
            pub fn clear(&mut self) {
                self.0.clear();
            }

            /// Returns the hasher.
            pub fn hasher(&self) -> &S {
                self.0.hasher()
            }
        }

        impl<$($generic),+, S: BuildHasher> $table<$($generic),+, S>
        where
            $key: Eq + Hash,
        {
            /// Makes room for this many more elements.
            ///
            /// # Panics
            /// If there is not enough memory.
            pub fn reserve(&mut self, additional: usize) {
                self.0.reserve(additional);
            }

            /// Makes room for this many more elements.
            ///
            /// # Errors
            /// If there is not enough memory.
            pub fn try_reserve(
                &mut self,
                additional: usize,
            ) -> Result<(), std::collections::TryReserveError> {
                self.0.try_reserve(additional)
            }

            /// Gives up the room that is not used.
            pub fn shrink_to_fit(&mut self) {
                self.0.shrink_to_fit();
            }

            /// Gives up the room that is not used, except for this many elements.
            pub fn shrink_to(&mut self, min_capacity: usize) {
                self.0.shrink_to(min_capacity);
            }
        }

        impl<$($generic),+, S> std::ops::Deref for $table<$($generic),+, S> {
            type Target = Inner<$($generic),+, S>;
            fn deref(&self) -> &Self::Target {
                &self.0
            }
        }

        impl<$($generic),+, S> std::ops::DerefMut for $table<$($generic),+, S> {
            fn deref_mut(&mut self) -> &mut Self::Target {
                &mut self.0
            }
        }

        impl<$($generic: UnwindSafe),+, S: UnwindSafe> UnwindSafe for $table<$($generic),+, S> {}

        impl<$($generic),+, S: Default> Default for $table<$($generic),+, S> {
            fn default() -> Self {
                $table(Inner::default())
            }
        }

        impl<$($generic: fmt::Debug),+, S> fmt::Debug for $table<$($generic),+, S> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl<$($generic),+, const N: usize> From<[$element; N]> for $table<$($generic),+>
        where
            $key: Eq + Hash,
        {
            fn from(elements: [$element; N]) -> Self {
                elements.into_iter().collect()
            }
        }

        impl<$($generic),+, S: BuildHasher + Default> FromIterator<$element> for $table<$($generic),+, S>
        where
            $key: Eq + Hash,
        {
            fn from_iter<I: IntoIterator<Item = $element>>(elements: I) -> Self {
                $table(elements.into_iter().collect())
            }
        }

        impl<$($generic),+, S: BuildHasher> Extend<$element> for $table<$($generic),+, S>
        where
            $key: Eq + Hash,
        {
            fn extend<I: IntoIterator<Item = $element>>(&mut self, elements: I) {
                self.0.extend(elements);
            }
        }

        impl<$($generic),+, S> IntoIterator for $table<$($generic),+, S> {
            type Item = $element;
            type IntoIter = IntoIter<$($generic),+>;
            fn into_iter(self) -> Self::IntoIter {
                self.0.into_iter()
            }
        }
    };
}

pub(super) use hash_table;
