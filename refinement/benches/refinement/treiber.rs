//! Treiber's stack, over indices that are used once.

use intermezzo_explorer::sync::atomic::{AtomicU8, AtomicUsize, Ordering::SeqCst};

const NODES: usize = 8;

/// A stack with room for `NODES` pushes in all.
#[derive(Default)]
pub(crate) struct Treiber {
    /// The node on top, from 1; 0 for none.
    top: AtomicUsize,
    next: [AtomicUsize; NODES],
    values: [AtomicU8; NODES],
    used: AtomicUsize,
}

impl Treiber {
    pub(crate) fn push(&self, value: u8) {
        let node = self.used.fetch_add(1, SeqCst) + 1;
        self.values[node].store(value, SeqCst);
        loop {
            let top = self.top.load(SeqCst);
            self.next[node].store(top, SeqCst);
            if self.top.compare_exchange(top, node, SeqCst, SeqCst).is_ok() {
                return;
            }
        }
    }

    pub(crate) fn pop(&self) -> Option<u8> {
        loop {
            let top = self.top.load(SeqCst);
            if top == 0 {
                return None;
            }
            let next = self.next[top].load(SeqCst);
            if self.top.compare_exchange(top, next, SeqCst, SeqCst).is_ok() {
                return Some(self.values[top].load(SeqCst));
            }
        }
    }
}
