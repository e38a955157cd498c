//! Treiber's lock-free stack (1986): nodes linked by index, with one word for the head.
//!
//! Without a tag, the head may be unchanged while its successor is another (ABA). A number of values that is counted
//! after the head has changed is late: it may even be negative.

use super::pool::{NODES, NONE, Pool};
use super::{Against, Effort, Object, models, refuted};
use intermezzo::refinement::{Refinement, RefinementReport, fresh, refine};
use intermezzo::sync::atomic::{AtomicI64, AtomicU8, AtomicU64, AtomicUsize, Ordering::SeqCst};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    /// The head has a tag that changes whenever it does, and the number of values.
    Correct,
    /// The head is the index of a node.
    Untagged,
    /// Values are counted in a word of their own.
    CountedLate,
}

struct Stack {
    /// From the top bits: tag, number of values, index.
    head: AtomicU64,
    nodes: [Node; NODES],
    pool: Pool,
    counted: AtomicI64,
    version: Version,
}

struct Node {
    value: AtomicU8,
    next: AtomicUsize,
}

/// The initial values: the last on top.
const AT_FIRST: &[u8] = &[8, 9];

fn index(head: u64) -> usize {
    usize::from(head as u16)
}

fn count(head: u64) -> u64 {
    u64::from((head >> 16) as u16)
}

impl Stack {
    fn new(version: Version) -> Stack {
        let nodes = std::array::from_fn(|node| Node {
            value: AtomicU8::new(AT_FIRST.get(node).copied().unwrap_or(0)),
            next: AtomicUsize::new(node.checked_sub(1).unwrap_or(NONE)),
        });
        let (values, top) = (AT_FIRST.len() as u64, AT_FIRST.len() as u64 - 1);
        Stack {
            head: AtomicU64::new(match version {
                Version::Untagged => top,
                _ => values << 16 | top,
            }),
            nodes,
            pool: Pool::with(AT_FIRST.len()),
            counted: AtomicI64::new(values as i64),
            version,
        }
    }

    /// Exchanges the head, if it is as seen, for one with `values` values.
    fn exchange(&self, seen: u64, new: usize, values: u64) -> bool {
        let new = match self.version {
            Version::Untagged => new as u64,
            _ => ((seen >> 32) + 1) << 32 | values << 16 | new as u64,
        };
        self.head.compare_exchange(seen, new, SeqCst, SeqCst).is_ok()
    }

    fn push(&self, value: u8) {
        let node = self.pool.take();
        self.nodes[node].value.store(value, SeqCst);
        loop {
            let head = self.head.load(SeqCst);
            self.nodes[node].next.store(index(head), SeqCst);
            if self.exchange(head, node, count(head) + 1) {
                break;
            }
        }
        if self.version == Version::CountedLate {
            self.counted.fetch_add(1, SeqCst);
        }
    }

    fn pop(&self) -> Option<u8> {
        let node = loop {
            let head = self.head.load(SeqCst);
            let node = index(head);
            if node == NONE {
                return None;
            }
            let next = self.nodes[node].next.load(SeqCst);
            if self.exchange(head, next, count(head).saturating_sub(1)) {
                break node;
            }
        };
        let value = self.nodes[node].value.load(SeqCst);
        self.pool.give(node);
        if self.version == Version::CountedLate {
            self.counted.fetch_sub(1, SeqCst);
        }
        Some(value)
    }

    fn len(&self) -> i64 {
        match self.version {
            Version::CountedLate => self.counted.load(SeqCst),
            _ => count(self.head.load(SeqCst)) as i64,
        }
    }
}

fn pushed_and_popped(version: Version) -> Refinement<Stack> {
    refine(move || Stack::new(version))
        .op("push", fresh::<u8>(), |stack, value| stack.push(value))
        .op("pop", (), |stack, ()| stack.pop())
        .threads(2..=2)
        .init(0..=0)
}

/// Tasks in which a node may go and come again.
fn with_reuse(version: Version) -> Refinement<Stack> {
    pushed_and_popped(version).ops(1..=3).post(1..=2)
}

fn run(test: Refinement<Stack>, against: Against) -> RefinementReport {
    match against {
        Against::Itself => test.run(),
        Against::Model => models::stack(test, AT_FIRST).run(),
    }
}

fn run_counted(version: Version, against: Against, effort: Effort) -> RefinementReport {
    let test = pushed_and_popped(version).op("len", (), |stack, ()| stack.len());
    let test = effort.of(40, test);
    match against {
        Against::Itself => test.run(),
        Against::Model => models::stack(test, AT_FIRST)
            .means("len", |stack, (): &()| stack.len())
            .run(),
    }
}

/// A node that was popped is popped again.
pub(super) const ABA: Object = Object {
    name: "treiber_stack_aba",
    about: "Treiber's stack without tags: a head is taken for what it was (ABA)",
    outcomes: &refuted(5),
    run: |against, effort| run(effort.of(150, with_reuse(Version::Untagged)), against),
};

/// Its length is what it was, or will be.
pub(super) const COUNTED_LATE: Object = Object {
    name: "treiber_stack_counted_late",
    about: "Treiber's stack, whose values are counted after they came or went",
    outcomes: &refuted(3),
    run: |against, effort| run_counted(Version::CountedLate, against, effort),
};

/// With a tag, where there was none.
pub(super) const TAGGED: Object = Object {
    name: "treiber_stack_tagged",
    about: "Treiber's stack with tags, in scenarios like those of the one without",
    outcomes: super::CORRECT,
    run: |against, effort| {
        let test = with_reuse(Version::Correct).pin(|scenario| {
            scenario
                .task(|task| task.op("pop", ()).op("pop", ()).op("push", 1u8))
                .task(|task| task.op("pop", ()))
                .post("pop", ())
        });
        run(effort.of(30, test), against)
    },
};

/// With a tag and the number of values in the head.
pub(super) const CORRECT: Object = Object {
    name: "treiber_stack_correct",
    about: "Treiber's stack, with a tag and the number of values in the head",
    outcomes: super::CORRECT,
    run: |against, effort| run_counted(Version::Correct, against, effort),
};
