//! The lock-free queue of Michael and Scott (PODC 1996), of nodes in an array that are linked by index and
//! tag.
//!
//! The broken form leaves out a line of the dequeue: that the head must not overtake a tail that lags behind. A node
//! is then given back while the tail still points to it.

use crate::{Expected, Program};
use intermezzo::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};
use intermezzo::thread;

/// Nodes: the dummy, and one for each of two items.
const NODES: usize = 3;
/// The end of the list.
const NONE: usize = u32::MAX as usize;

/// Packs an index with a tag into one word.
fn link(tag: u64, index: usize) -> u64 {
    tag << 32 | index as u64
}

fn index(link: u64) -> usize {
    link as u32 as usize
}

fn exchange(link_to: &AtomicU64, seen: u64, new: usize) -> bool {
    link_to
        .compare_exchange(seen, link((seen >> 32) + 1, new), SeqCst, SeqCst)
        .is_ok()
}

struct Node {
    next: AtomicU64,
    value: AtomicUsize,
}

struct Queue {
    head: AtomicU64,
    tail: AtomicU64,
    nodes: [Node; NODES],
    /// `true` if a dequeue moves a tail that lags behind: leaving it out is the bug.
    helping: bool,
}

impl Queue {
    /// Creates an empty queue, whose dummy is node 0.
    fn new(helping: bool) -> Queue {
        let node = || Node {
            next: AtomicU64::new(link(0, NONE)),
            value: AtomicUsize::new(0),
        };
        Queue {
            head: AtomicU64::new(link(0, 0)),
            tail: AtomicU64::new(link(0, 0)),
            nodes: [(); NODES].map(|()| node()),
            helping,
        }
    }

    /// Appends a value, in a node that is not in the queue.
    fn enqueue(&self, node: usize, value: usize) {
        self.nodes[node].value.store(value, SeqCst);
        let end = self.nodes[node].next.load(SeqCst);
        self.nodes[node].next.store(link((end >> 32) + 1, NONE), SeqCst);
        loop {
            let tail = self.tail.load(SeqCst);
            let next = self.nodes[index(tail)].next.load(SeqCst);
            if self.tail.load(SeqCst) != tail {
                continue;
            }
            if index(next) != NONE {
                exchange(&self.tail, tail, index(next));
            } else if exchange(&self.nodes[index(tail)].next, next, node) {
                exchange(&self.tail, tail, node);
                return;
            }
        }
    }

    /// Takes the first value, and the node that is free now.
    fn dequeue(&self) -> Option<(usize, usize)> {
        loop {
            let head = self.head.load(SeqCst);
            let tail = self.tail.load(SeqCst);
            let next = self.nodes[index(head)].next.load(SeqCst);
            if self.head.load(SeqCst) != head {
                continue;
            }
            if index(next) == NONE {
                return None;
            }
            if index(head) == index(tail) && self.helping {
                exchange(&self.tail, tail, index(next));
                continue;
            }
            let value = self.nodes[index(next)].value.load(SeqCst);
            if exchange(&self.head, head, index(next)) {
                return Some((value, index(head)));
            }
        }
    }
}

fn run(helping: bool) {
    let queue = Queue::new(helping);
    let taken = thread::scope(|scope| {
        scope.spawn(|| queue.enqueue(1, 10));
        let other = scope.spawn(|| {
            let taken = queue.dequeue();
            // The freed node is used again at once.
            queue.enqueue(taken.map_or(2, |(_, free)| free), 20);
            taken
        });
        other.join().unwrap()
    });
    let rest = std::iter::from_fn(|| queue.dequeue()).take(NODES);
    let mut values: Vec<usize> = taken.into_iter().chain(rest).map(|(value, _)| value).collect();
    if taken.is_some() {
        assert_eq!(values, [10, 20], "what comes out, in this order");
    }
    values.sort_unstable();
    assert_eq!(values, [10, 20], "what comes out");
}

/// An item is lost.
pub(super) const BROKEN: Program = Program {
    name: "michael_scott_queue",
    about: "Michael and Scott's queue, whose head may overtake the tail; one task enqueues, one dequeues \
            and enqueues",
    parameters: &[],
    settings: &[("preemptions", "2")],
    expected: Expected::Fail("assertion"),
    body: |_| run(false),
};

/// Its twin with the help for the tail.
pub(super) const FIXED: Program = Program {
    name: "michael_scott_queue_fixed",
    about: "the same queue, corrected",
    parameters: &[],
    settings: &[("preemptions", "3")],
    expected: Expected::Pass,
    body: |_| run(true),
};

/// A queue that is never found empty.
pub(super) const BOTH: Program = Program {
    name: "ms-queue",
    about: "Michael and Scott's queue: two tasks enqueue, then dequeue; each gets an item",
    parameters: &[],
    settings: &[("preemptions", "2")],
    expected: Expected::Pass,
    body: |_| {
        let queue = &Queue::new(true);
        let mut taken = thread::scope(|scope| {
            [1, 2]
                .map(|node| {
                    scope.spawn(move || {
                        queue.enqueue(node, 10 * node);
                        queue.dequeue().expect("an item for each").0
                    })
                })
                .map(|task| task.join().unwrap())
        });
        taken.sort_unstable();
        assert_eq!(taken, [10, 20]);
    },
};
