//! What is known of each step of the path: who could take it, who did, and what is left to try.

use super::sleep::Touches;
use super::tree::Tree;
use intermezzo_engine::trace::{Key, Touch};
use smallvec::SmallVec;
use std::ops::{Deref, DerefMut, Range};

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
    /// `true` if one of them would go on unasked.
    pub(super) environment_wake: bool,
    /// `true` if fairness was at work, and may have held back others.
    pub(super) fair: bool,
    /// Which choice of the execution decides who takes it; `None` if there is but one candidate.
    pub(super) choice: Option<usize>,
    /// `true` if the task of the first alternative could go on, so that another's step preempts it; and how many
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
    fn blank() -> Node {
        Node {
            task: 0,
            candidates: 0..0,
            sleepers: 0,
            fair: false,
            environment_wake: false,
            choice: None,
            preempts: false,
            preemptions: 0,
            went_on: None,
            touches: Touches::new(),
            sequences: Tree::default(),
            tried: 0,
            pending: Tree::default(),
        }
    }

    /// Returns the step as others come by it, without what is to be tried.
    pub(super) fn passed(&self) -> Node {
        Node {
            task: self.task,
            candidates: self.candidates.clone(),
            sleepers: self.sleepers,
            environment_wake: self.environment_wake,
            fair: self.fair,
            choice: self.choice,
            preempts: self.preempts,
            preemptions: self.preemptions,
            ..Node::blank()
        }
    }

    /// Turns to the next task to be tried, with all sequences that it begins.
    #[inline(always)]
    pub(super) fn next_pending(&mut self) -> Option<u32> {
        if self.pending.is_empty() {
            self.sequences.clear();
            return None;
        }
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

/// The nodes of a path, which is walked up and down with every execution. Those beyond its end stay, for the room that
/// their trees have.
#[derive(Default)]
pub(super) struct Path {
    nodes: Vec<Node>,
    length: usize,
}

impl Path {
    /// Adds a step about which nothing is known.
    pub(super) fn push(&mut self) -> &mut Node {
        if self.length == self.nodes.len() {
            self.nodes.push(Node::blank());
        }
        let node = &mut self.nodes[self.length];
        self.length += 1;
        (node.task, node.tried) = (0, 0);
        (node.candidates, node.sleepers) = (0..0, 0);
        (node.fair, node.environment_wake, node.choice) = (false, false, None);
        (node.preempts, node.preemptions) = (false, 0);
        node.went_on = None;
        node.touches.clear();
        node.sequences.clear();
        node.pending.clear();
        node
    }

    /// Adds a step as another path came by it, with candidates and sleepers in the same places.
    pub(super) fn push_passed(&mut self, passed: &Node) {
        let node = self.push();
        node.task = passed.task;
        (node.candidates, node.sleepers) = (passed.candidates.clone(), passed.sleepers);
        (node.fair, node.environment_wake, node.choice) =
            (passed.fair, passed.environment_wake, passed.choice);
        (node.preempts, node.preemptions) = (passed.preempts, passed.preemptions);
    }

    /// Takes the last step off.
    pub(super) fn pop(&mut self) {
        self.length -= 1;
    }
}

impl Deref for Path {
    type Target = [Node];
    fn deref(&self) -> &[Node] {
        &self.nodes[..self.length]
    }
}

impl DerefMut for Path {
    fn deref_mut(&mut self) -> &mut [Node] {
        &mut self.nodes[..self.length]
    }
}
