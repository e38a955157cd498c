//! A map as a skip list of two levels: one writer at a time, and readers without locks.
//!
//! If `put` takes the old node out and then links the new one, there is a gap: a `get` of a key that is there all the
//! time finds nothing. The corrected version links the new node in the place of the old.

use super::pool::{NODES, NONE};
use super::{Against, Effort, Object, models, refuted};
use intermezzo::refinement::{RefinementReport, fresh, one_of, refine};
use intermezzo::sync::Mutex;
use intermezzo::sync::atomic::{AtomicU8, AtomicUsize, Ordering::SeqCst};

struct Node {
    key: AtomicU8,
    value: AtomicU8,
    /// The next of all nodes, and the next of the tall ones.
    next: [AtomicUsize; 2],
}

struct Map {
    /// The first is before all keys.
    nodes: [Node; NODES],
    /// Held by the writer: the first node that was never used.
    unused: Mutex<usize>,
    leaves_a_gap: bool,
}

const HEAD: usize = 0;

/// `true` for every other key, which has a tall node.
fn is_tall(key: u8) -> bool {
    key.is_multiple_of(2)
}

impl Map {
    fn new(leaves_a_gap: bool) -> Map {
        Map {
            nodes: std::array::from_fn(|_| Node {
                key: AtomicU8::new(0),
                value: AtomicU8::new(0),
                next: [const { AtomicUsize::new(NONE) }; 2],
            }),
            unused: Mutex::new(1),
            leaves_a_gap,
        }
    }

    fn next(&self, node: usize, level: usize) -> usize {
        self.nodes[node].next[level].load(SeqCst)
    }

    /// Searches at this level, from that node on. Returns the last node with a smaller key, and the one with the key,
    /// if there is one.
    fn locate(&self, from: usize, key: u8, level: usize) -> (usize, Option<usize>) {
        let mut before = from;
        loop {
            let next = self.next(before, level);
            if next == NONE {
                return (before, None);
            }
            let found = self.nodes[next].key.load(SeqCst);
            if found >= key {
                return (before, (found == key).then_some(next));
            }
            before = next;
        }
    }

    fn get(&self, key: u8) -> Option<u8> {
        let (tall, _) = self.locate(HEAD, key, 1);
        let (_, node) = self.locate(tall, key, 0);
        Some(self.nodes[node?].value.load(SeqCst))
    }

    /// Stores a value. Returns the value before.
    fn put(&self, key: u8, value: u8) -> Option<u8> {
        let mut unused = self.unused.lock().unwrap();
        let at_tall = self.locate(HEAD, key, 1);
        let levels = [self.locate(at_tall.0, key, 0), at_tall];
        let (_, old) = levels[0];
        let old_value = old.map(|old| self.nodes[old].value.load(SeqCst));
        // The nodes after the new one, at each level.
        let afters = [0, 1].map(|level| {
            let (before, old) = levels[level];
            self.next(old.unwrap_or(before), level)
        });
        if self.leaves_a_gap {
            for level in [1, 0] {
                self.nodes[levels[level].0].next[level].store(afters[level], SeqCst);
            }
        }
        let new = *unused;
        *unused += 1;
        let node = &self.nodes[new];
        node.key.store(key, SeqCst);
        node.value.store(value, SeqCst);
        for level in 0..=usize::from(is_tall(key)) {
            node.next[level].store(afters[level], SeqCst);
            self.nodes[levels[level].0].next[level].store(new, SeqCst);
        }
        old_value
    }
}

fn run(leaves_a_gap: bool, against: Against, effort: Effort) -> RefinementReport {
    let keys = || one_of([1u8, 2]);
    let test = refine(move || Map::new(leaves_a_gap))
        .op("put", (keys(), fresh::<u8>()), |map: &Map, (key, value)| {
            map.put(key, value)
        })
        .op("get", keys(), |map, key| map.get(key))
        .threads(2..=2)
        .init(0..=2)
        .post(0..=1);
    let test = effort.of(60, test);
    match against {
        Against::Itself => test.run(),
        Against::Model => models::map(test).run(),
    }
}

/// Nothing, though there is a value before and after.
pub(super) const GAP: Object = Object {
    name: "skip_list_gap",
    about: "a skip list that takes a key's old node out before it links the new one",
    outcomes: &refuted(3),
    run: |against, effort| run(true, against, effort),
};

/// The new node in the old one's place.
pub(super) const CORRECT: Object = Object {
    name: "skip_list_correct",
    about: "a skip list that links a key's new node in the place of the old",
    outcomes: super::CORRECT,
    run: |against, effort| run(false, against, effort),
};
