//! Vyukov's lock-free stack of array nodes, as SCTBench has it.
//!
//! Differs: a pop yields when it has to try again, so that fair schedules end. The bug (ABA: two owners of a node)
//! needs three tasks and five preemptions, which is beyond a bounded search in seconds (`surw(all)` finds it in some
//! million executions). Within the program's own settings nothing must be found.

use super::scaffold::twin;
use crate::{Expected, Program};
use intermezzo::sync::Mutex;
use intermezzo::sync::atomic::{AtomicI64, AtomicUsize, Ordering::SeqCst};
use intermezzo::thread;

/// Nodes in the array.
const NODES: usize = 3;
/// No node.
const NONE: i64 = -1;

/// A pop takes a node's link away before it exchanges the head, which is seldom wrong.
struct Stack {
    head: AtomicI64,
    count: AtomicI64,
    next: [AtomicI64; NODES],
}

impl Stack {
    fn full() -> Stack {
        let next =
            std::array::from_fn(|node| AtomicI64::new(if node + 1 < NODES { node as i64 + 1 } else { NONE }));
        Stack {
            head: AtomicI64::new(0),
            count: AtomicI64::new(NODES as i64),
            next,
        }
    }

    fn pop(&self) -> Option<usize> {
        while self.count.load(SeqCst) > 1 {
            let head = self.head.load(SeqCst);
            let next = self.next[head as usize].swap(NONE, SeqCst);
            if next >= 0 {
                if self.head.compare_exchange(head, next, SeqCst, SeqCst).is_ok() {
                    self.count.fetch_sub(1, SeqCst);
                    return Some(head as usize);
                }
                self.next[head as usize].swap(next, SeqCst);
            }
            thread::yield_now();
        }
        None
    }

    fn push(&self, node: usize) {
        loop {
            let head = self.head.load(SeqCst);
            self.next[node].store(head, SeqCst);
            if self
                .head
                .compare_exchange(head, node as i64, SeqCst, SeqCst)
                .is_ok()
            {
                break;
            }
        }
        self.count.fetch_add(1, SeqCst);
    }
}

/// Two owners of a node, out of reach of its own settings.
pub(super) const SAFESTACK: Program = Program {
    name: "safestack",
    about: "3 tasks pop, own and push nodes twice each; wrong, which takes 5 preemptions (SCTBench \
            misc.safestack)",
    parameters: &[],
    settings: &[("preemptions", "2")],
    expected: Expected::Pass,
    body: |_| {
        let stack = Stack::full();
        own_nodes(|| stack.pop(), |node| stack.push(node));
    },
};

/// Its twin: one operation at a time.
pub(super) const SAFESTACK_FIXED: Program = twin(
    &SAFESTACK,
    "safestack_fixed",
    "safestack, with each operation under a lock",
    |_| {
        let stack = Mutex::new(Stack::full());
        own_nodes(
            || stack.lock().unwrap().pop(),
            |node| stack.lock().unwrap().push(node),
        );
    },
);

/// Runs three tasks that twice pop a node, own it, and push it back.
fn own_nodes(pop: impl Fn() -> Option<usize> + Sync, push: impl Fn(usize) + Sync) {
    let owner = [const { AtomicUsize::new(0) }; NODES];
    let own = |task| {
        for _ in 0..2 {
            let node = loop {
                match pop() {
                    Some(node) => break node,
                    None => thread::yield_now(),
                }
            };
            owner[node].store(task, SeqCst);
            assert_eq!(owner[node].load(SeqCst), task);
            push(node);
        }
    };
    let own = &own;
    thread::scope(|scope| {
        for task in 1..=3 {
            scope.spawn(move || own(task));
        }
    });
}
