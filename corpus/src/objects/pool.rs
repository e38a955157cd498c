//! Nodes of a linked object, by index: free nodes are used again, in the order in which they became free.

use intermezzo::sync::Mutex;
use std::collections::VecDeque;

/// The end of a list.
pub(super) const NONE: usize = u16::MAX as usize;

/// The number of nodes: enough for all values of a scenario.
pub(super) const NODES: usize = 16;

/// The free nodes.
pub(super) struct Pool(Mutex<Free>);

struct Free {
    again: VecDeque<usize>,
    /// The nodes from this one on were never used.
    unused: usize,
}

impl Pool {
    /// Creates a pool in which `used` nodes are in use.
    pub(super) fn with(used: usize) -> Pool {
        Pool(Mutex::new(Free {
            again: VecDeque::new(),
            unused: used,
        }))
    }

    /// Takes a node for the caller alone.
    ///
    /// # Panics
    /// If all are in use.
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

    /// Gives a node back.
    pub(super) fn give(&self, node: usize) {
        self.0.lock().unwrap().again.push_back(node);
    }
}
