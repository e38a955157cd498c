//! The lock-free queue of Michael and Scott (PODC 1996): nodes linked by index and tag, the first a dummy.
//!
//! The tail lags behind by a node at most, and no task may overtake it. Without the line of the dequeue that ensures
//! this, a node is used again while the tail still points to it. A tail that is swung before the node is linked makes
//! a gap: the nodes after it are in the queue and cannot be reached.

use super::pool::{NODES, NONE, Pool};
use super::{Against, Object, models, refuted};
use intermezzo::refinement::{Refinement, RefinementReport, fresh, refine};
use intermezzo::sync::atomic::{AtomicU8, AtomicU64, Ordering::SeqCst};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    Correct,
    /// A dequeue does not swing a tail that lags behind.
    NotSwung,
    /// An enqueue swings the tail first.
    SwungEarly,
}

/// Most steps of an execution: a node that is linked to itself is walked for ever.
const STEPS_MAX: u64 = 500;

/// With this seed the first scenario in which a tail was not swung shows a lost value. In others an enqueue never
/// ends, because the node to which it should link is linked to itself.
const SEED: u64 = 4;

struct Node {
    next: AtomicU64,
    value: AtomicU8,
}

struct Queue {
    head: AtomicU64,
    tail: AtomicU64,
    nodes: [Node; NODES],
    pool: Pool,
    version: Version,
}

/// Packs an index with a tag into one word.
fn link(tag: u64, index: usize) -> u64 {
    tag << 32 | index as u64
}

fn index(link: u64) -> usize {
    link as u32 as usize
}

fn exchange(word: &AtomicU64, seen: u64, new: usize) -> bool {
    word.compare_exchange(seen, link((seen >> 32) + 1, new), SeqCst, SeqCst)
        .is_ok()
}

impl Queue {
    fn new(version: Version) -> Queue {
        Queue {
            head: AtomicU64::new(link(0, 0)),
            tail: AtomicU64::new(link(0, 0)),
            nodes: std::array::from_fn(|_| Node {
                next: AtomicU64::new(link(0, NONE)),
                value: AtomicU8::new(0),
            }),
            pool: Pool::with(1),
            version,
        }
    }

    fn enqueue(&self, value: u8) {
        let node = self.pool.take();
        self.nodes[node].value.store(value, SeqCst);
        let end = self.nodes[node].next.load(SeqCst);
        self.nodes[node].next.store(link((end >> 32) + 1, NONE), SeqCst);
        loop {
            let tail = self.tail.load(SeqCst);
            let last = &self.nodes[index(tail)].next;
            if self.version == Version::SwungEarly {
                if exchange(&self.tail, tail, node) {
                    let end = last.load(SeqCst);
                    last.store(link((end >> 32) + 1, node), SeqCst);
                    return;
                }
                continue;
            }
            let next = last.load(SeqCst);
            if self.tail.load(SeqCst) != tail {
                continue;
            }
            if index(next) != NONE {
                exchange(&self.tail, tail, index(next));
            } else if exchange(last, next, node) {
                exchange(&self.tail, tail, node);
                return;
            }
        }
    }

    fn dequeue(&self) -> Option<u8> {
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
            if index(head) == index(tail) && self.version != Version::NotSwung {
                exchange(&self.tail, tail, index(next));
                continue;
            }
            let value = self.nodes[index(next)].value.load(SeqCst);
            if exchange(&self.head, head, index(next)) {
                self.pool.give(index(head));
                return Some(value);
            }
        }
    }
}

fn test(version: Version) -> Refinement<Queue> {
    refine(move || Queue::new(version))
        .op("enqueue", fresh::<u8>(), |queue, value| queue.enqueue(value))
        .op("dequeue", (), |queue, ()| queue.dequeue())
        .threads(2..=2)
        .init(0..=1)
        .post(0..=0)
        .seed(SEED)
        .explorer(|explorer| explorer.steps_per_execution(STEPS_MAX))
}

fn run(test: Refinement<Queue>, against: Against) -> RefinementReport {
    match against {
        Against::Itself => test.run(),
        Against::Model => models::queue(test).run(),
    }
}

/// The head overtakes the tail.
pub(super) const NOT_SWUNG: Object = Object {
    name: "michael_scott_queue_tail_not_swung",
    about: "Michael and Scott's queue, whose head may overtake the tail",
    outcomes: &refuted(4),
    run: |against, effort| run(effort.of(40, test(Version::NotSwung)), against),
};

/// A gap before the tail.
pub(super) const SWUNG_EARLY: Object = Object {
    name: "michael_scott_queue_tail_swung_early",
    about: "Michael and Scott's queue, whose tail is swung to a node that is not linked yet",
    outcomes: &refuted(3),
    run: |against, effort| run(effort.of(40, test(Version::SwungEarly)), against),
};

/// As published.
pub(super) const CORRECT: Object = Object {
    name: "michael_scott_queue_correct",
    about: "Michael and Scott's queue",
    outcomes: super::CORRECT,
    run: |against, effort| run(effort.of(40, test(Version::Correct)), against),
};
