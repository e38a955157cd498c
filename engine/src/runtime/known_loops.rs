//! Loops that were seen to only wait, and are assumed to from their first round on.
//!
//! Whether a round was in vain is certain only if the task is back, byte by byte, where it was (`spin.rs`): the first
//! round of each loop comes too early for that. Here a loop is known by its *round*: which operations it does at which
//! places, from the first to the yield. One that was verified once, anywhere in the exploration, is taken for one
//! that only waits wherever a task does the same at the same places, and reads only.
//!
//! What an execution of the search shows holds once the search starts anew: so it rests on the same loops from beginning to
//! end. What others show (one that departed from what was prescribed, a warm-up) is forgotten. A round is kept as a hash of its places in the source, which means the same in
//! every process, so that a schedule can carry it.
//!
//! Misses: what a loop does that is like one that waits only at times: the same operations at the same places, but
//! with a count that no variable holds. And if a shorter round ends like a longer one that is not known, what the
//! longer one reads first is not waited for.

use crate::record::{Event, Site};
use intermezzo_sdk::SyncVarOp;

/// Most operations in a round that is looked for.
const LONGEST: usize = 64;

/// The rounds of known loops.
#[derive(Default)]
pub(super) struct KnownLoops {
    /// Hashes of the rounds known in this execution, in order.
    known: Vec<u64>,
    /// Those that the last execution showed.
    learned: Vec<u64>,
    /// `true` if no more are learned.
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

    /// These, to which nothing is added.
    pub(super) fn fixed(known: Vec<u64>) -> KnownLoops {
        KnownLoops {
            fixed: true,
            ..KnownLoops::new(known)
        }
    }

    /// Returns the rounds known, in order.
    pub(super) fn known(&self) -> &[u64] {
        &self.known
    }

    /// A round, of which these are the events from the last to the first, was verified.
    pub(super) fn learn<'a>(&mut self, backwards: impl Iterator<Item = &'a Event>) {
        let hash = backwards.fold(0, |hash, event| extended(hash, event.op, event.site));
        if !self.fixed && !self.known.contains(&hash) && !self.learned.contains(&hash) {
            self.learned.push(hash);
        }
    }

    /// Returns `true` if the execution showed any that was not known.
    pub(super) fn has_learned(&self) -> bool {
        !self.learned.is_empty()
    }

    /// What the last execution showed is known from now on.
    pub(super) fn adopt(&mut self) {
        self.known.append(&mut self.learned);
        self.known.sort_unstable();
    }

    /// What it showed is not.
    pub(super) fn forget(&mut self) {
        self.learned.clear();
    }

    /// How many of these events, from the last to the first, are a round of a known loop: the longest that fits.
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

/// Returns the hash of a round with one operation more before it (FNV-1a).
fn extended(hash: u64, op: SyncVarOp, site: Site) -> u64 {
    let mut hash = hash ^ 0xcbf2_9ce4_8422_2325;
    let mut add = |byte: u8| hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    site.file().bytes().for_each(&mut add);
    site.line().to_le_bytes().into_iter().for_each(&mut add);
    site.column().to_le_bytes().into_iter().for_each(&mut add);
    add(op as u8);
    hash
}
