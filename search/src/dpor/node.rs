//! The data of each step of the path: the tasks that could take it, the task that did, and the untried branches.

use super::sleep::Footprint;
use super::tree::Tree;
use super::values::{Fate, Fates};
use intermezzo_engine::trace::{Key, StepAccess};
use smallvec::SmallVec;
use std::ops::{Deref, DerefMut, Range};

/// The variables that a round read, with the values.
pub(super) type Reads = SmallVec<[(u32, u64); 2]>;

/// A task that can take a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) task: u32,
    /// The key that the task waits for, if only the environment would wake it.
    pub(super) waits_for: Option<Key>,
}

/// One step of the path.
pub(super) struct Node {
    /// The task that takes it.
    pub(super) task: u32,
    /// The range of its candidates.
    pub(super) candidates: Range<usize>,
    /// The index at which the sleepers before it begin; they end where the next step's begin.
    pub(super) sleepers: usize,
    /// `true` if the environment would wake one of the candidates.
    pub(super) environment_wake: bool,
    /// `true` if fairness was active, and may have held back other tasks.
    pub(super) fair: bool,
    /// The index of the choice that decides which task takes it; `None` if there is only one candidate.
    pub(super) choice: Option<usize>,
    /// `true` if the task of the first alternative could continue, so that another task's step preempts it; and the
    /// number of preemptions so far.
    pub(super) preempts: bool,
    pub(super) preemptions: u32,
    /// The values that a failed round of `task` read that began here, if the search continued from here as if it had
    /// not begun.
    pub(super) went_on: Option<Reads>,
    /// The footprint of the step with other values of the choices that it makes.
    pub(super) footprint: Footprint,
    /// The fates of the step's operation that are to be explored, if the environment may let it fail.
    pub(super) fates: Fates,
    /// Those that were explored, each with the footprint of the step.
    pub(super) explored_fates: SmallVec<[(Fate, Footprint); 2]>,
    /// The sequences to be explored after this step, for the values that it may choose.
    pub(super) sequences: Tree,
    /// The number of branches that were tried before the present one.
    pub(super) tried: u32,
    /// The sequences to be explored after those of `task`, in order.
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
            footprint: Footprint::new(),
            fates: Fates::ALL,
            explored_fates: SmallVec::new(),
            sequences: Tree::default(),
            tried: 0,
            pending: Tree::default(),
        }
    }

    /// Returns the node as part of another path, without planned sequences.
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

    /// Turns to the next planned task, with all sequences that it begins.
    #[inline(always)]
    pub(super) fn next_pending(&mut self) -> Option<u32> {
        if self.pending.is_empty() {
            self.sequences.clear();
            return None;
        }
        self.pending.take_first(&mut self.sequences)
    }

    /// Notes that no part of the task's step was explored yet, and that all its fates are to be explored.
    #[inline(always)]
    pub(super) fn forget_explored(&mut self) {
        self.footprint.clear();
        self.fates = Fates::ALL;
        self.explored_fates.clear();
    }

    /// Returns the footprints of the step with each fate that was explored before the present one.
    pub(super) fn footprints_of_fates(&self) -> impl Iterator<Item = &Footprint> {
        self.explored_fates.iter().map(|(_, footprint)| footprint)
    }

    /// Adds to the footprint of the step.
    pub(super) fn add_to_footprint(&mut self, footprint: &[StepAccess]) {
        for access in footprint {
            if !self.footprint.contains(access) {
                self.footprint.push(*access);
            }
        }
    }
}

/// The nodes of a path, which grows and shrinks with every execution. Nodes beyond its end stay, because their trees
/// have memory.
#[derive(Default)]
pub(super) struct Path {
    nodes: Vec<Node>,
    length: usize,
}

impl Path {
    /// Adds an empty node.
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
        node.forget_explored();
        node.sequences.clear();
        node.pending.clear();
        node
    }

    /// Adds the node of another path, with candidates and sleepers at the same indices.
    pub(super) fn push_passed(&mut self, passed: &Node) {
        let node = self.push();
        node.task = passed.task;
        (node.candidates, node.sleepers) = (passed.candidates.clone(), passed.sleepers);
        (node.fair, node.environment_wake, node.choice) =
            (passed.fair, passed.environment_wake, passed.choice);
        (node.preempts, node.preemptions) = (passed.preempts, passed.preemptions);
    }

    /// Removes the last node.
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
