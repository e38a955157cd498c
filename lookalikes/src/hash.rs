//! `std::hash`, with keys that are the same in every execution.
//!
//! std's `RandomState` has other keys each time, so that a table iterates in another order in each execution. A test
//! that depends on it does not always do the same under the same schedule, and cannot be explored in full.

use intermezzo_engine::runtime::Engine;
pub use std::hash::*;

/// The keys of a hash table: `std::hash::RandomState`.
///
/// Inside an exploration all have the same keys. Outside they are std's, random.
#[derive(Clone, Debug)]
pub struct RandomState(
    /// `None` for the keys of explorations.
    Option<std::hash::RandomState>,
);

impl RandomState {
    /// Returns new keys.
    ///
    /// ```
    /// # use intermezzo_explorer as intermezzo;
    /// use intermezzo::hash::{BuildHasher, RandomState};
    ///
    /// let keys = RandomState::new();
    /// assert_eq!(keys.hash_one("a"), keys.clone().hash_one("a"));
    /// ```
    #[must_use]
    pub fn new() -> RandomState {
        RandomState(match Engine::current() {
            Some(_) => None,
            None => Some(std::hash::RandomState::new()),
        })
    }
}

impl Default for RandomState {
    fn default() -> Self {
        RandomState::new()
    }
}

impl BuildHasher for RandomState {
    type Hasher = DefaultHasher;

    #[inline]
    fn build_hasher(&self) -> DefaultHasher {
        match &self.0 {
            None => DefaultHasher::new(),
            Some(random) => random.build_hasher(),
        }
    }
}
