//! Nodes of a linked object, by index: what is free is used again, what has been free longest first.

use intermezzo::sync::Mutex;
use std::collections::VecDeque;

/// The end of a list.
pub(super) const NONE: usize = u16::MAX as usize;

/// How many nodes there are: enough for all values of a scenario.
pub(super) const NODES: usize = 16;

/// Which nodes are free.
pub(super) struct Pool(Mutex<Free>);

struct Free {
    again: VecDeque<usize>,
    /// Those from here on were never used.
    unused: usize,
}

impl Pool {
    /// A pool in which so many nodes are in use.
    pub(super) fn with(used: usize) -> Pool {
        Pool(Mutex::new(Free {
            again: VecDeque::new(),
            unused: used,
        }))
    }

    /// A node for the caller alone.
    ///
    /// # Panics
    /// All are in use.
    pub(super) fn take(&self) -> usize {
        let mut free = self.0.lock().unwrap();
        match free.again.pop_front() {
            Some(node) => node,
            None => {
                assert!(free.unused < NODES, "all {NODES} nodes are in use");
                free.unused += 1;
                free.unused - 1
            }
        }
    }

    /// A node is free again.
    pub(super) fn give(&self, node: usize) {
        self.0.lock().unwrap().again.push_back(node);
    }
}
