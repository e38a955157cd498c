//! The set of traces seen so far: fingerprints that all workers of an exploration share.

mod saved;

pub use saved::Saved;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A hasher that takes a fingerprint as its own hash.
#[derive(Clone, Copy, Default)]
pub struct Itself(u64);

impl Hasher for Itself {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    #[inline(always)]
    fn write_u128(&mut self, fingerprint: u128) {
        self.0 = fingerprint as u64 ^ (fingerprint >> 64) as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// Hashing for tables by fingerprint.
pub type ByFingerprint = BuildHasherDefault<Itself>;

/// A part of the table.
type Shard<V> = HashMap<u128, V, ByFingerprint>;

/// A map from fingerprints to values, with a limit on its size.
///
/// It has locks around std's tables, and does not use a concurrent map from another crate. Such maps depend on crates
/// that users test with intermezzo, and these could then not be patched to use it.
pub struct Fingerprints<V> {
    shards: [Mutex<Shard<V>>; SHARDS],
    count: AtomicUsize,
    most: usize,
    full: AtomicBool,
}

/// Returns the memory that an entry takes, including the empty part of the table, whose size doubles when it is seven
/// eighths full.
const fn entry_bytes<V>() -> usize {
    2 * (size_of::<(u128, V)>() + 1)
}

impl<V> Fingerprints<V> {
    /// Returns a table that may take about this many bytes.
    pub fn new(bytes: usize) -> Fingerprints<V> {
        Fingerprints {
            shards: Default::default(),
            count: AtomicUsize::new(0),
            most: bytes / entry_bytes::<V>(),
            full: AtomicBool::new(false),
        }
    }

    /// Returns the number of fingerprints.
    pub fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    /// Forgets all fingerprints. No other worker may use the table in the meantime.
    pub fn clear(&self) {
        for shard in &self.shards {
            locked(shard).clear();
        }
        self.count.store(0, Ordering::Relaxed);
        self.full.store(false, Ordering::Relaxed);
    }

    /// Returns `true` if some fingerprints had no room.
    pub fn overflowed(&self) -> bool {
        self.full.load(Ordering::Relaxed)
    }

    /// Returns `true` if the table has a value for a fingerprint.
    pub fn contains(&self, fingerprint: u128) -> bool {
        locked(&self.shards[shard_of(fingerprint)]).contains_key(&fingerprint)
    }

    /// Returns the value of a fingerprint.
    pub fn get(&self, fingerprint: u128) -> Option<V>
    where
        V: Copy,
    {
        locked(&self.shards[shard_of(fingerprint)])
            .get(&fingerprint)
            .copied()
    }

    /// Passes the value of a fingerprint to `change`, which may change it, and returns the result of `change`. For a
    /// new fingerprint, inserts the value of `first` if there is room, and returns `None`.
    pub fn visit<R>(
        &self,
        fingerprint: u128,
        first: impl FnOnce() -> V,
        change: impl FnOnce(&mut V) -> R,
    ) -> Option<R> {
        let mut known = locked(&self.shards[shard_of(fingerprint)]);
        if self.count() >= self.most {
            let known = known.get_mut(&fingerprint);
            if known.is_none() {
                self.full.store(true, Ordering::Relaxed);
            }
            return known.map(change);
        }
        match known.entry(fingerprint) {
            Entry::Occupied(mut known) => Some(change(known.get_mut())),
            Entry::Vacant(place) => {
                place.insert(first());
                self.count.fetch_add(1, Ordering::Relaxed);
                None
            }
        }
    }
}

impl Fingerprints<()> {
    /// Adds fingerprints that all belong to one part of the table.
    pub(super) fn add_all(&self, shard: usize, fingerprints: &mut Vec<u128>) {
        let mut known = locked(&self.shards[shard]);
        let before = known.len();
        let room = self.most.saturating_sub(self.count());
        for fingerprint in fingerprints.drain(..) {
            if known.len() - before < room {
                // Nothing between two insertions may make the processor wait for the first.
                known.insert(fingerprint, ());
            } else if !known.contains_key(&fingerprint) {
                self.full.store(true, Ordering::Relaxed);
            }
        }
        self.count.fetch_add(known.len() - before, Ordering::Relaxed);
    }
}

/// The number of parts of the table, each with its own lock; a power of two.
pub(super) const SHARDS: usize = 16;

/// Returns the part that a fingerprint belongs to. It is chosen by bits that the part's own table hardly uses.
#[inline(always)]
pub(super) fn shard_of(fingerprint: u128) -> usize {
    (fingerprint >> 40) as usize % SHARDS
}

/// Locks a mutex, even if it is poisoned.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_table_keeps_what_it_has() {
        let table = Fingerprints::new(10 * entry_bytes::<u32>());
        for fingerprint in 0..20 {
            assert_eq!(table.visit(fingerprint, || 0, |_| ()), None);
        }
        assert_eq!((table.count(), table.overflowed()), (10, true));
        let again = (0..20).filter(|&fingerprint| table.visit(fingerprint, || 0, |n| *n += 1).is_some());
        assert_eq!(again.count(), 10);
    }
}
