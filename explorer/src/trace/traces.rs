//! How many traces there have been: a set of fingerprints that nobody asks for one.

use super::set::{Fingerprints, SHARDS, locked, shard_of};
use std::sync::Mutex;

/// Fingerprints that are only counted, shared by all workers of an exploration.
///
/// A table of many is not in the processor's caches, and each fingerprint has a place of its own: put in one by one, each
/// would wait for memory. So some wait, those of each part of the table apart, and are put in together, when the processor
/// can ask for all their places at once.
pub(crate) struct Traces {
    waiting: [Mutex<Vec<u128>>; SHARDS],
    known: Fingerprints<()>,
}

/// How many wait for one part of the table.
const WAITING: usize = 32;

impl Traces {
    /// A set that may take about so many bytes.
    pub(crate) fn new(bytes: usize) -> Traces {
        Traces {
            waiting: Default::default(),
            known: Fingerprints::new(bytes),
        }
    }

    /// There was an execution of this trace.
    #[inline]
    pub(crate) fn add(&self, fingerprint: u128) {
        let shard = shard_of(fingerprint);
        let mut waiting = locked(&self.waiting[shard]);
        waiting.push(fingerprint);
        if waiting.len() >= WAITING {
            self.known.add_all(shard, &mut waiting);
        }
    }

    /// All there were, in one table.
    fn known(&self) -> &Fingerprints<()> {
        for (shard, waiting) in self.waiting.iter().enumerate() {
            self.known.add_all(shard, &mut locked(waiting));
        }
        &self.known
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.known().count()
    }

    /// Whether some had no room.
    pub(crate) fn overflowed(&self) -> bool {
        self.known().overflowed()
    }

    /// Forgets all; nobody else must be at it.
    pub(crate) fn clear(&self) {
        self.known().clear();
    }

    /// The set as text.
    pub(crate) fn saved(&self) -> String {
        self.known().saved()
    }

    /// Adds what was saved. False if that cannot be.
    pub(crate) fn restore(&self, text: &str) -> bool {
        self.known().restore(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fingerprints of all parts of the table.
    fn fingerprints(count: u128) -> impl Iterator<Item = u128> {
        (1..=count).map(|number| number.wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835))
    }

    #[test]
    fn each_trace_counts_once_whether_it_waits_or_not() {
        let traces = Traces::new(1 << 20);
        let mut counted = 0;
        for (number, fingerprint) in fingerprints(3_000).enumerate() {
            traces.add(fingerprint);
            traces.add(fingerprint);
            if number % 7 == 0 {
                assert_eq!(traces.count(), number + 1);
            }
            counted = number + 1;
        }
        fingerprints(3_000).for_each(|again| traces.add(again));
        assert_eq!((traces.count(), traces.overflowed()), (counted, false));
        traces.clear();
        assert_eq!(traces.count(), 0);
    }

    #[test]
    fn what_waits_is_saved() {
        let traces = Traces::new(1 << 20);
        fingerprints(5).for_each(|fingerprint| traces.add(fingerprint));
        let again = Traces::new(1 << 20);
        assert!(again.restore(&traces.saved()));
        assert_eq!(again.count(), 5);
    }

    #[test]
    fn more_than_there_is_room_for_is_told() {
        let traces = Traces::new(1_000);
        fingerprints(20).for_each(|fingerprint| traces.add(fingerprint));
        assert!(!traces.overflowed(), "20 have room");
        fingerprints(100).for_each(|fingerprint| traces.add(fingerprint));
        assert!(traces.overflowed());
    }
}
