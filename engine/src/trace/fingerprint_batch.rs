//! Fingerprints that wait to be counted.

use super::fingerprints::{Fingerprints, SHARDS, shard_of};

/// A worker's fingerprints that are not counted yet, separate for each part of the table.
///
/// A large table is not in the processor's caches, and fingerprints are scattered over it. Inserted one by one, each
/// would wait for memory. So many are inserted together, and the processor can request all their places at once. Each
/// worker has its own batch, because otherwise the workers would contend for the parts after every execution.
#[derive(Default)]
pub struct FingerprintBatch {
    waiting: [Vec<u128>; SHARDS],
}

/// The number of fingerprints that may wait for one part of the table.
const WAITING: usize = 32;

impl FingerprintBatch {
    /// Adds the trace of an execution, which will be counted later.
    #[inline]
    pub fn add(&mut self, fingerprint: u128, traces: &Fingerprints<()>) {
        let shard = shard_of(fingerprint);
        let waiting = &mut self.waiting[shard];
        waiting.push(fingerprint);
        if waiting.len() >= WAITING {
            traces.add_all(shard, waiting);
        }
    }

    /// Inserts all waiting fingerprints into the table.
    pub fn count(&mut self, traces: &Fingerprints<()>) {
        for (shard, waiting) in self.waiting.iter_mut().enumerate() {
            traces.add_all(shard, waiting);
        }
    }

    /// Drops the waiting fingerprints.
    pub fn clear(&mut self) {
        self.waiting.iter_mut().for_each(Vec::clear);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns fingerprints of all parts of the table.
    fn fingerprints(count: u128) -> impl Iterator<Item = u128> {
        (1..=count).map(|number| number.wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835))
    }

    #[test]
    fn each_trace_counts_once_whoever_ran_it() {
        let traces = Fingerprints::new(1 << 20);
        let mut workers = [FingerprintBatch::default(), FingerprintBatch::default()];
        for (number, fingerprint) in fingerprints(3_000).enumerate() {
            workers
                .iter_mut()
                .for_each(|worker| worker.add(fingerprint, &traces));
            if number % 7 == 0 {
                workers.iter_mut().for_each(|worker| worker.count(&traces));
                assert_eq!(traces.count(), number + 1);
            }
        }
        workers.iter_mut().for_each(|worker| worker.count(&traces));
        assert_eq!((traces.count(), traces.overflowed()), (3_000, false));
        assert!(fingerprints(3_000).all(|fingerprint| traces.contains(fingerprint)));
    }

    #[test]
    fn what_is_forgotten_is_not_counted() {
        let traces = Fingerprints::new(1 << 20);
        let mut worker = FingerprintBatch::default();
        fingerprints(5).for_each(|fingerprint| worker.add(fingerprint, &traces));
        worker.clear();
        worker.count(&traces);
        assert_eq!(traces.count(), 0);
    }

    #[test]
    fn more_than_there_is_room_for_is_told() {
        let traces = Fingerprints::new(1_000);
        let mut worker = FingerprintBatch::default();
        let mut all = |count| {
            fingerprints(count).for_each(|fingerprint| worker.add(fingerprint, &traces));
            worker.count(&traces);
            traces.overflowed()
        };
        assert!(!all(20), "20 have room");
        assert!(all(100));
    }
}
