//! The bound on preemptions of a search, which all its hands share, and what else all have in common.

use super::Insertion;
use super::node::Node;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// What a report says where some of the search is missing.
pub(super) const LOST: &str =
    "what the checkpoint said was left of the search does not fit what the test does";

/// How many preemptions an execution may have, and whether anything was left out for having more.
#[derive(Clone)]
pub(super) struct Bound {
    pub(super) most: u32,
    left_out: Arc<AtomicBool>,
    /// Whether some of the search is missing: it was loaded, and is of something else.
    lost: Arc<AtomicBool>,
    /// Whether what some tree holds cannot be relied on: see [`Tree::insert`](super::tree::Tree::insert).
    doubted: Arc<AtomicBool>,
}

impl Bound {
    pub(super) fn new(insertion: Insertion) -> Bound {
        let most = match insertion {
            Insertion::Bounded(most) => most,
            Insertion::First | Insertion::Whole => u32::MAX,
        };
        Bound {
            most,
            left_out: Arc::default(),
            lost: Arc::default(),
            doubted: Arc::default(),
        }
    }

    /// Whether this alternative may be taken at a step; else it is left out.
    #[inline(always)]
    pub(super) fn allows(&self, node: &Node, alternative: usize) -> bool {
        let allowed = node.preemptions + u32::from(node.preempts && alternative != 0) <= self.most;
        if !allowed {
            self.leave_out();
        }
        allowed
    }

    /// Something is left out.
    pub(super) fn leave_out(&self) {
        self.left_out.store(true, Relaxed);
    }

    /// Some of the search is missing.
    pub(super) fn lose(&self) {
        self.lost.store(true, Relaxed);
    }

    /// Whether some of the search is missing.
    pub(super) fn has_lost(&self) -> bool {
        self.lost.load(Relaxed)
    }

    /// What some tree holds cannot be relied on.
    pub(super) fn doubt(&self) {
        self.doubted.store(true, Relaxed);
    }

    /// Whether what some tree holds cannot be relied on.
    #[inline]
    pub(super) fn doubted(&self) -> bool {
        self.doubted.load(Relaxed)
    }

    /// Whether anything was left out.
    pub(super) fn left_out(&self) -> bool {
        self.left_out.load(Relaxed)
    }
}
