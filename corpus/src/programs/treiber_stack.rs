//! Treiber's lock-free stack (1986), of nodes in an array that are linked by index.
//!
//! A popped node may be pushed again: the head can be the same while its successor is another (ABA). A tag
//! that changes with every exchange of the head prevents this.

use super::scaffold::number;
use crate::{Expected, Program};
use intermezzo::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};
use intermezzo::thread;

/// Nodes, all in the stack at first: 0 on top.
const NODES: usize = 3;
/// The end of the list.
const NONE: usize = u32::MAX as usize;

/// Packs the head into one word: tag and index.
fn head(tag: u64, index: usize) -> u64 {
    tag << 32 | index as u64
}

fn index(head: u64) -> usize {
    head as u32 as usize
}

struct Stack {
    head: AtomicU64,
    next: [AtomicUsize; NODES],
    /// The number that an exchange of the head adds to the tag: 0 is the bug.
    tagging: u64,
}

impl Stack {
    /// Creates an empty stack.
    fn empty(tagging: u64) -> Stack {
        Stack {
            head: AtomicU64::new(head(0, NONE)),
            next: [const { AtomicUsize::new(NONE) }; NODES],
            tagging,
        }
    }

    /// Creates a stack of all nodes.
    fn full(tagging: u64) -> Stack {
        let next =
            std::array::from_fn(|node| AtomicUsize::new(if node + 1 < NODES { node + 1 } else { NONE }));
        Stack {
            head: AtomicU64::new(head(0, 0)),
            next,
            tagging,
        }
    }

    fn exchange(&self, seen: u64, new: usize) -> bool {
        let new = head((seen >> 32) + self.tagging, new);
        self.head.compare_exchange(seen, new, SeqCst, SeqCst).is_ok()
    }

    fn push(&self, node: usize) {
        loop {
            let seen = self.head.load(SeqCst);
            self.next[node].store(index(seen), SeqCst);
            if self.exchange(seen, node) {
                return;
            }
        }
    }

    fn pop(&self) -> Option<usize> {
        loop {
            let seen = self.head.load(SeqCst);
            let node = index(seen);
            if node == NONE {
                return None;
            }
            let next = self.next[node].load(SeqCst);
            if self.exchange(seen, next) {
                return Some(node);
            }
        }
    }
}

fn run(tagging: u64) {
    let stack = Stack::full(tagging);
    let mut nodes = Vec::new();
    thread::scope(|scope| {
        let one = scope.spawn(|| stack.pop());
        let two = scope.spawn(|| {
            let popped = [stack.pop(), stack.pop()];
            popped[0].inspect(|&node| stack.push(node));
            popped[1]
        });
        nodes.extend(one.join().unwrap());
        nodes.extend(two.join().unwrap());
    });
    nodes.extend(std::iter::from_fn(|| stack.pop()).take(NODES));
    nodes.sort_unstable();
    assert_eq!(nodes, (0..NODES).collect::<Vec<_>>(), "each node is in one place");
}

/// A node is popped twice.
pub(super) const BROKEN: Program = Program {
    name: "treiber_stack",
    about: "Treiber's stack without tags: one task pops, another pops two nodes and pushes the first again \
            (ABA)",
    parameters: &[],
    settings: &[("preemptions", "2")],
    expected: Expected::Fail("assertion"),
    body: |_| run(0),
};

/// Its twin with tags.
pub(super) const FIXED: Program = Program {
    name: "treiber_stack_fixed",
    about: "the same stack, whose head has a tag",
    parameters: &[],
    settings: &[("preemptions", "4")],
    expected: Expected::Pass,
    body: |_| run(1),
};

/// Tasks that push a node each, and tasks that pop one each.
pub(super) const PUSHERS_AND_POPPERS: Program = Program {
    name: "treiber_stack_pushers",
    about: "Treiber's stack with tags, empty at first: pushers push a node each, poppers pop once each; no node \
            is lost or popped twice",
    parameters: &[
        number("pushers", 2, (1, NODES as u64), "tasks that push"),
        number("poppers", 1, (0, 3), "tasks that pop"),
    ],
    settings: &[("preemptions", "2")],
    expected: Expected::Pass,
    body: |values| {
        let (pushers, poppers) = (values[0] as usize, values[1]);
        let stack = &Stack::empty(1);
        let mut nodes: Vec<usize> = thread::scope(|scope| {
            for node in 0..pushers {
                scope.spawn(move || stack.push(node));
            }
            let popping: Vec<_> = (0..poppers).map(|_| scope.spawn(|| stack.pop())).collect();
            popping
                .into_iter()
                .filter_map(|task| task.join().unwrap())
                .collect()
        });
        nodes.extend(std::iter::from_fn(|| stack.pop()).take(NODES));
        nodes.sort_unstable();
        assert_eq!(
            nodes,
            (0..pushers).collect::<Vec<_>>(),
            "each node is in one place"
        );
    },
};
