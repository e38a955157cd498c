//! Loops that were observed to only wait, and are assumed to do so from their first round on.
//!
//! A round has certainly failed only if the task is back, byte by byte, in its former state (`spin.rs`). The first
//! round of a loop has no former state to compare with. Here a loop is identified by its *round*: the operations and
//! their places, from the first one to the yield. If a round was verified once, anywhere in the exploration, a loop is
//! assumed to only wait wherever a task performs the same operations at the same places, and only reads.
//!
//! The loops that an execution of the search shows take effect when the search restarts, so a search assumes the same
//! loops from beginning to end. The loops of other executions (a departed one, or a warm-up) are forgotten. A round is
//! kept as a hash of its places in the source, which means the same in every process, so that a schedule can carry it.
//!
//! Misses: effects of a loop that resembles a waiting loop only at times, with the same operations at the same places
//! but with a count that no variable holds. And if a shorter known round ends like a longer unknown one, the first
//! reads of the longer one are not waited for.

use crate::record::Event;
use crate::site::{Place, Site};
use intermezzo_sdk::SyncVarOp;

/// The maximum number of operations in a round.
const LONGEST: usize = 64;

/// The rounds of known loops.
#[derive(Default)]
pub(super) struct KnownLoops {
    /// The hashes of the rounds known in this execution, in order.
    known: Vec<u64>,
    /// The hashes of the rounds that the last execution showed.
    learned: Vec<u64>,
    /// `true` if no more rounds are learned.
    fixed: bool,
}

impl KnownLoops {
    pub(super) fn new(mut known: Vec<u64>) -> KnownLoops {
        known.sort_unstable();
        known.dedup();
        KnownLoops {
            known,
            learned: Vec::new(),
            fixed: false,
        }
    }

    /// Returns these loops, to which none can be added.
    pub(super) fn fixed(known: Vec<u64>) -> KnownLoops {
        KnownLoops {
            fixed: true,
            ..KnownLoops::new(known)
        }
    }

    /// Returns the known rounds, in order.
    pub(super) fn known(&self) -> &[u64] {
        &self.known
    }

    /// Learns a verified round, given its events from the last to the first.
    pub(super) fn learn<'a>(&mut self, backwards: impl Iterator<Item = &'a Event>) {
        let hash = backwards.fold(0, |hash, event| extended(hash, event.op, event.site));
        if !self.fixed && !self.known.contains(&hash) && !self.learned.contains(&hash) {
            self.learned.push(hash);
        }
    }

    /// Returns `true` if the execution showed a round that was not known.
    pub(super) fn has_learned(&self) -> bool {
        !self.learned.is_empty()
    }

    /// Makes the rounds that the last execution showed known from now on.
    pub(super) fn adopt(&mut self) {
        self.known.append(&mut self.learned);
        self.known.sort_unstable();
    }

    /// Forgets the rounds that the last execution showed.
    pub(super) fn forget(&mut self) {
        self.learned.clear();
    }

    /// Returns the number of these events, from the last to the first, that form a round of a known loop: the longest
    /// that fits.
    pub(super) fn round<'a>(&self, backwards: impl Iterator<Item = &'a Event>) -> Option<usize> {
        let (mut hash, mut longest) = (0, None);
        for (length, event) in (1..=LONGEST).zip(backwards) {
            hash = extended(hash, event.op, event.site);
            if self.known.binary_search(&hash).is_ok() {
                longest = Some(length);
            }
        }
        longest
    }
}

/// Returns the hash of a round that is extended by one more operation at its beginning (FNV-1a).
fn extended(hash: u64, op: SyncVarOp, site: Site) -> u64 {
    let Place { file, line, column } = site.place();
    let mut hash = hash ^ 0xcbf2_9ce4_8422_2325;
    let mut add = |byte: u8| hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    file.bytes().for_each(&mut add);
    line.to_le_bytes().into_iter().for_each(&mut add);
    column.to_le_bytes().into_iter().for_each(&mut add);
    add(op as u8);
    hash
}
