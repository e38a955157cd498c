//! The lazy list-based set of Heller et al. (OPODIS 2005): nodes have locks and marks; `contains` takes no lock.
//!
//! CheckFence (Burckhardt, Alur, Martin, PLDI 2007) found that the published code does not initialise the mark of a
//! new node. The memory may then hold anything: an element that was added may not be there.

use super::pool::NODES;
use super::{Against, CORRECT as PASSES, Effort, Object, finds, models};
use intermezzo::any_bool;
use intermezzo::refinement::{RefinementReport, one_of, refine};
use intermezzo::sync::Mutex;
use intermezzo::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering::SeqCst};

struct Node {
    key: AtomicU8,
    next: AtomicUsize,
    /// `true` if it was removed, though it may still be reached.
    marked: AtomicBool,
    lock: Mutex<()>,
}

struct Set {
    /// The first two are the ends, with the least and the greatest key.
    nodes: [Node; NODES],
    used: AtomicUsize,
    initialises: bool,
}

const HEAD: usize = 0;
const END: usize = 1;

impl Set {
    fn new(initialises: bool) -> Set {
        Set {
            nodes: std::array::from_fn(|node| Node {
                key: AtomicU8::new(if node == END { u8::MAX } else { 0 }),
                next: AtomicUsize::new(END),
                marked: AtomicBool::new(false),
                lock: Mutex::new(()),
            }),
            used: AtomicUsize::new(2),
            initialises,
        }
    }

    fn key(&self, node: usize) -> u8 {
        self.nodes[node].key.load(SeqCst)
    }

    fn next(&self, node: usize) -> usize {
        self.nodes[node].next.load(SeqCst)
    }

    /// Returns the last node with a smaller key, and the one after it.
    fn locate(&self, key: u8) -> (usize, usize) {
        let (mut before, mut at) = (HEAD, self.next(HEAD));
        while self.key(at) < key {
            (before, at) = (at, self.next(at));
        }
        (before, at)
    }

    /// Calls `change` with both, locked, once they are neighbours in the list.
    fn with_neighbours<R>(&self, key: u8, change: impl Fn(usize, usize) -> R) -> R {
        loop {
            let (before, at) = self.locate(key);
            let _before = self.nodes[before].lock.lock().unwrap();
            let _at = self.nodes[at].lock.lock().unwrap();
            if !self.nodes[before].marked.load(SeqCst) && self.next(before) == at {
                return change(before, at);
            }
        }
    }

    fn add(&self, key: u8) -> bool {
        self.with_neighbours(key, |before, at| {
            let is_new = self.key(at) != key;
            if is_new {
                let new = self.used.fetch_add(1, SeqCst);
                assert!(new < NODES, "all {NODES} nodes are in use");
                let node = &self.nodes[new];
                // A node that is not initialised has the previous contents of its memory.
                node.marked.store(!self.initialises && any_bool(), SeqCst);
                node.key.store(key, SeqCst);
                node.next.store(at, SeqCst);
                self.nodes[before].next.store(new, SeqCst);
            }
            is_new
        })
    }

    fn remove(&self, key: u8) -> bool {
        self.with_neighbours(key, |before, at| {
            let is_there = self.key(at) == key;
            if is_there {
                self.nodes[at].marked.store(true, SeqCst);
                self.nodes[before].next.store(self.next(at), SeqCst);
            }
            is_there
        })
    }

    fn contains(&self, key: u8) -> bool {
        let (_, at) = self.locate(key);
        self.key(at) == key && !self.nodes[at].marked.load(SeqCst)
    }
}

fn run(initialises: bool, keys: &[u8], against: Against, effort: Effort) -> RefinementReport {
    let keys = || one_of(keys.iter().copied());
    let test = refine(move || Set::new(initialises))
        .op("add", keys(), |set, key| set.add(key))
        .op("remove", keys(), |set, key| set.remove(key))
        .op("contains", keys(), |set, key| set.contains(key))
        .threads(2..=2)
        .post(0..=0);
    let test = effort.of(60, test);
    match against {
        Against::Itself => test.run(),
        Against::Model => models::set(test, &[])
            .means("contains", |set, key: &u8| set.contains(key))
            .run(),
    }
}

/// Its behaviour depends on the previous contents of memory: it is no specification of itself.
pub(super) const UNINITIALISED: Object = Object {
    name: "lazy_list_uninitialised",
    about: "the lazy list-based set, which does not initialise the mark of a new node",
    outcomes: &[
        finds(Against::Itself, "nondeterministic_spec", 2),
        finds(Against::Model, "refinement", 2),
    ],
    // With a second key, an `add` after a node that seems removed would try for ever.
    run: |against, effort| run(false, &[1], against, effort),
};

/// With the mark initialised.
pub(super) const CORRECT: Object = Object {
    name: "lazy_list_correct",
    about: "the lazy list-based set",
    outcomes: PASSES,
    run: |against, effort| run(true, &[1, 2], against, effort),
};
