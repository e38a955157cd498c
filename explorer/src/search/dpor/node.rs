//! What is known of one step of the path: who could take it, who did, and what is left to try.

use super::sleep::Touches;
use super::tree::Tree;
use crate::trace::{Key, Touch};
use smallvec::SmallVec;
use std::ops::Range;

/// Variables that a round read, with the values.
pub(super) type Reads = SmallVec<[(u32, u64); 2]>;

/// Somebody who can take a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) task: u32,
    /// If it would go on unasked: what it waits for.
    pub(super) waits_for: Option<Key>,
}

/// One step of the path.
pub(super) struct Node {
    /// Who takes it.
    pub(super) task: u32,
    /// Where its candidates are.
    pub(super) candidates: Range<usize>,
    /// Where those begin who sleep before it; they end where the next step's begin.
    pub(super) sleepers: usize,
    /// Whether one of them would go on unasked.
    pub(super) unasked: bool,
    /// Whether fairness was at work, and may have held back others.
    pub(super) fair: bool,
    /// Which choice of the execution decides who takes it; `None` if there is but one candidate.
    pub(super) choice: Option<usize>,
    /// Whether the task of the first alternative could go on, so that another's step preempts it; and how many
    /// preemptions there have been.
    pub(super) preempts: bool,
    pub(super) preemptions: u32,
    /// If `task` began a round here that was in vain, and the search went on from there as if it had not: what it read.
    pub(super) went_on: Option<Reads>,
    /// What the step touched with other values of the choices that it makes.
    pub(super) touches: Touches,
    /// What is to be tried after this step, for values that it may choose.
    pub(super) sequences: Tree,
    /// How many branches were tried before the present one.
    pub(super) tried: u32,
    /// What is to be tried after `task`, in order.
    pub(super) pending: Tree,
}

impl Node {
    pub(super) fn new(candidates: Range<usize>, sleepers: usize, choice: Option<usize>, fair: bool) -> Node {
        Node {
            task: 0,
            candidates,
            sleepers,
            fair,
            unasked: false,
            choice,
            preempts: false,
            preemptions: 0,
            went_on: None,
            touches: Touches::new(),
            sequences: Tree::default(),
            tried: 0,
            pending: Tree::default(),
        }
    }

    /// Turns to the next task to be tried, with all sequences that it begins.
    pub(super) fn next_pending(&mut self) -> Option<u32> {
        self.pending.take_first(&mut self.sequences)
    }

    /// Adds what the step touched.
    pub(super) fn add_touches(&mut self, touches: &[Touch]) {
        for touch in touches {
            if !self.touches.contains(touch) {
                self.touches.push(*touch);
            }
        }
    }
}
