//! A deque of linked nodes, after `java.util.concurrent.ConcurrentLinkedDeque`: an element is removed by taking the value
//! out of its node.
//!
//! `poll_first` looks for the first node with a value and takes the value by a compare-exchange. In between, another
//! node may come before it: then the taken value is not the first (shown by Lincheck: Koval et al., CAV 2023).
//! Looking once more before taking, as the JDK's correction does, only shortens the time in which that can happen.
//! Nodes stay in the list here, which does not affect the bug.

use super::pool::{NODES, NONE};
use super::{Against, Effort, Object, refuted};
use intermezzo::refinement::{RefinementReport, fresh, refine};
use intermezzo::sync::Mutex;
use intermezzo::sync::atomic::{AtomicU8, AtomicUsize, Ordering::SeqCst};
use std::collections::VecDeque;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    /// One operation at a time.
    Correct,
    /// Looks for the first, and takes it.
    Looks,
    /// Looks for the first, checks that it still is, and takes it.
    LooksTwice,
}

struct Deque {
    first: AtomicUsize,
    /// The node of a value is the value's own.
    nodes: [Node; NODES],
    turns: Mutex<()>,
    version: Version,
}

struct Node {
    next: AtomicUsize,
    /// 0 if it was taken.
    value: AtomicU8,
}

impl Deque {
    fn new(version: Version) -> Deque {
        Deque {
            first: AtomicUsize::new(NONE),
            nodes: std::array::from_fn(|_| Node {
                next: AtomicUsize::new(NONE),
                value: AtomicU8::new(0),
            }),
            turns: Mutex::new(()),
            version,
        }
    }

    fn in_turn<R>(&self, operation: impl FnOnce() -> R) -> R {
        let _turn = (self.version == Version::Correct).then(|| self.turns.lock().unwrap());
        operation()
    }

    fn node(&self, value: u8) -> usize {
        let node = usize::from(value);
        self.nodes[node].value.store(value, SeqCst);
        node
    }

    fn add_first(&self, value: u8) {
        let node = self.node(value);
        loop {
            let first = self.first.load(SeqCst);
            self.nodes[node].next.store(first, SeqCst);
            let added = self.first.compare_exchange(first, node, SeqCst, SeqCst);
            if added.is_ok() {
                return;
            }
        }
    }

    fn add_last(&self, value: u8) {
        let node = self.node(value);
        let mut link = &self.first;
        loop {
            match link.compare_exchange(NONE, node, SeqCst, SeqCst) {
                Ok(_) => return,
                Err(next) => link = &self.nodes[next].next,
            }
        }
    }

    fn poll_first(&self) -> Option<u8> {
        'again: loop {
            let first = self.first.load(SeqCst);
            let mut at = first;
            while at != NONE {
                let value = self.nodes[at].value.load(SeqCst);
                if value != 0 {
                    if self.version == Version::LooksTwice && self.first.load(SeqCst) != first {
                        continue 'again;
                    }
                    let taken = self.nodes[at].value.compare_exchange(value, 0, SeqCst, SeqCst);
                    if taken.is_ok() {
                        return Some(value);
                    }
                }
                at = self.nodes[at].next.load(SeqCst);
            }
            return None;
        }
    }

    fn peek_last(&self) -> Option<u8> {
        let mut last = None;
        let mut at = self.first.load(SeqCst);
        while at != NONE {
            let value = self.nodes[at].value.load(SeqCst);
            if value != 0 {
                last = Some(value);
            }
            at = self.nodes[at].next.load(SeqCst);
        }
        last
    }
}

fn run(version: Version, against: Against, effort: Effort) -> RefinementReport {
    let test = refine(move || Deque::new(version))
        .op("add_first", fresh::<u8>(), |deque: &Deque, value| {
            deque.in_turn(|| deque.add_first(value));
        })
        .op("add_last", fresh::<u8>(), |deque, value| {
            deque.in_turn(|| deque.add_last(value));
        })
        .op("poll_first", (), |deque, ()| deque.in_turn(|| deque.poll_first()))
        .op("peek_last", (), |deque, ()| deque.in_turn(|| deque.peek_last()))
        .threads(2..=2)
        .init(1..=2)
        .post(0..=0);
    let test = effort.of(100, test);
    match against {
        Against::Itself => test.run(),
        Against::Model => test
            .spec(VecDeque::new)
            .means("add_first", |deque: &mut VecDeque<u8>, value: &u8| {
                deque.push_front(*value);
            })
            .means("add_last", |deque, value: &u8| deque.push_back(*value))
            .means("poll_first", |deque, (): &()| deque.pop_front())
            .means("peek_last", |deque, (): &()| deque.back().copied())
            .run(),
    }
}

/// The value that it takes is not the first any more.
pub(super) const LOOKS: Object = Object {
    name: "linked_deque_looks",
    about: "a deque that takes the value that was first when it was read",
    outcomes: &refuted(4),
    run: |against, effort| run(Version::Looks, against, effort),
};

/// The same, in a shorter time.
pub(super) const LOOKS_TWICE: Object = Object {
    name: "linked_deque_looks_twice",
    about: "a deque that takes the value that was still first in a second read",
    outcomes: &refuted(4),
    run: |against, effort| run(Version::LooksTwice, against, effort),
};

/// Under a lock.
pub(super) const CORRECT: Object = Object {
    name: "linked_deque_correct",
    about: "a deque whose operations come one at a time",
    outcomes: super::CORRECT,
    run: |against, effort| run(Version::Correct, against, effort),
};
