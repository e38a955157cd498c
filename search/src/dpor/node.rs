//! The data of each step of the path: the tasks that could take it, the task that did, and the untried branches.

use super::held_back::Held;
use super::sleep::Footprint;
use super::tree::Tree;
use super::values::{Fate, Values, Wanted};
use crate::partition::{Belongs, Locus};
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
    pub(super) held: Held,
}

impl Candidate {
    /// Returns a task that can take the step at once.
    #[inline(always)]
    pub(super) fn enabled(task: u32) -> Candidate {
        Candidate {
            task,
            waits_for: None,
            held: Held::Not,
        }
    }
}

/// One step of the path.
pub(super) struct Node {
    /// The task that takes it.
    pub(super) task: u32,
    /// The range of its candidates.
    pub(super) candidates: Range<usize>,
    /// The index at which the sleepers before it begin; they end where the next step's begin.
    pub(super) sleepers: usize,
    /// `true` if one of the candidates waits, and may time out.
    pub(super) may_time_out: bool,
    /// `true` if fairness was active, and may have held back other tasks.
    pub(super) fair: bool,
    /// The index of the choice that decides which task takes it; `None` if there is only one candidate.
    pub(super) choice: Option<usize>,
    /// `true` if the task of the first alternative could continue, so that another task's step preempts it.
    pub(super) preempts: bool,
    /// The number of preemptions before the step.
    pub(super) preemptions: u32,
    /// The values that were read by a failed round of `task` that began here, if the search continued from here as if
    /// the round had not begun.
    pub(super) went_on: Option<Reads>,
    /// The footprint of the step with the values that were explored before the current ones.
    pub(super) footprint: Footprint,
    /// The values with which the step must be explored.
    pub(super) wanted: Wanted,
    /// The beginnings of the values with which it was explored, each with the footprint of the step. Empty if all
    /// values that were explored before the current ones sleep together; their footprint is then `footprint`.
    pub(super) explored: SmallVec<[(Values, Footprint); 2]>,
    /// The sequences to be explored that begin with this step, for the values that it may choose.
    pub(super) sequences: Tree,
    /// The number of branches that were tried before the current one.
    pub(super) tried: u32,
    /// Within a bound, a bit for each of the first 64 tasks that were planned here, or for which all tasks were planned
    /// instead.
    pub(super) planned: u64,
    /// The sequences to be explored after those of `task`, in order.
    pub(super) pending: Tree,
    /// The share of the search that the executions through this node belong to. At a node that belongs to all shares,
    /// all tasks are tried.
    pub(super) belongs: Belongs,
    /// The part of the search below the node; the number of its branches; and the part below its current branch.
    pub(super) locus: Locus,
    pub(super) width: u32,
    pub(super) after: Locus,
}

impl Node {
    pub(super) fn blank() -> Node {
        Node {
            task: 0,
            candidates: 0..0,
            sleepers: 0,
            fair: false,
            may_time_out: false,
            choice: None,
            preempts: false,
            preemptions: 0,
            went_on: None,
            footprint: Footprint::new(),
            wanted: Wanted::default(),
            explored: SmallVec::new(),
            sequences: Tree::default(),
            tried: 0,
            planned: 0,
            pending: Tree::default(),
            belongs: Belongs::Here,
            locus: Locus::ROOT,
            width: 1,
            after: Locus::ROOT,
        }
    }

    /// Returns the node as part of another path, without planned sequences.
    pub(super) fn passed(&self) -> Node {
        Node {
            task: self.task,
            candidates: self.candidates.clone(),
            sleepers: self.sleepers,
            may_time_out: self.may_time_out,
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

    /// Notes that no part of the task's step was explored yet, and that it must be explored with all values.
    #[inline(always)]
    pub(super) fn forget_explored(&mut self) {
        // Usually there is nothing to forget.
        if !self.footprint.is_empty() {
            self.footprint.clear();
        }
        self.want(Wanted::default());
        if !self.explored.is_empty() {
            self.explored.clear();
        }
    }

    /// Notes the values with which the step must be explored. Usually these are all, as before.
    #[inline(always)]
    pub(super) fn want(&mut self, wanted: Wanted) {
        if !(wanted.are_all() && self.wanted.are_all()) {
            self.wanted = wanted;
        }
    }

    /// Returns the footprints of the step with values that were explored before the current ones and sleep separately.
    pub(super) fn explored_footprints(&self) -> impl Iterator<Item = &Footprint> {
        self.explored.iter().map(|(_, footprint)| footprint)
    }

    /// Adds to the footprint of the step.
    pub(super) fn add_to_footprint(&mut self, footprint: &[StepAccess]) {
        add(&mut self.footprint, footprint);
    }

    /// Notes that the step was explored with these values, and had this footprint. `widths` are the numbers of
    /// alternatives of the choices of the values, and `others` are more values with which the step sleeps, with its
    /// footprint. If then all values with the same beginning sleep, they are replaced by that beginning.
    pub(super) fn add_explored(
        &mut self,
        values: &[u32],
        footprint: &[StepAccess],
        widths: &[u32],
        others: &[(Values, Footprint)],
    ) {
        let beginning = match self.wanted.explored_as(values) {
            None => return,
            Some([]) => return self.add_to_footprint(footprint),
            Some(beginning) => beginning,
        };
        match self.explored.last_mut() {
            Some((last, known)) if last[..] == *beginning => add(known, footprint),
            _ => self
                .explored
                .push((Values::from_slice(beginning), Footprint::from_slice(footprint))),
        }
        let mut all = beginning;
        while let [before @ .., last] = all
            && Fate::of_value(*last).is_none()
        {
            let is_sibling =
                |(values, _): &&(Values, Footprint)| values.len() == all.len() && values.starts_with(before);
            let asleep = self.explored.iter().chain(others).filter(is_sibling);
            let mut siblings: SmallVec<[u32; 8]> =
                asleep.clone().map(|(values, _)| values[before.len()]).collect();
            siblings.sort_unstable();
            siblings.dedup();
            if widths.get(before.len()) != Some(&(siblings.len() as u32)) {
                return;
            }
            let mut union = Footprint::new();
            asleep.for_each(|(_, footprint)| add(&mut union, footprint));
            self.explored
                .retain(|(values, _)| !(values.len() == all.len() && values.starts_with(before)));
            self.explored.push((Values::from_slice(before), union));
            all = before;
        }
    }
}

/// Adds accesses to a footprint, each once.
pub(super) fn add(footprint: &mut Footprint, more: &[StepAccess]) {
    for access in more {
        if !footprint.contains(access) {
            footprint.push(*access);
        }
    }
}

/// The nodes of a path, which grows and shrinks with every execution. Nodes beyond its end are kept to reuse the memory
/// of their trees.
#[derive(Default)]
pub(super) struct Path {
    nodes: Vec<Node>,
    length: usize,
}

impl Path {
    /// Adds an empty node.
    #[inline(always)]
    pub(super) fn push(&mut self) -> &mut Node {
        if self.length == self.nodes.len() {
            self.grow();
        }
        let node = &mut self.nodes[self.length];
        self.length += 1;
        (node.task, node.tried, node.planned) = (0, 0, 0);
        (node.candidates, node.sleepers) = (0..0, 0);
        (node.fair, node.may_time_out, node.choice) = (false, false, None);
        (node.preempts, node.preemptions) = (false, 0);
        if node.went_on.is_some() {
            node.went_on = None;
        }
        node.belongs = Belongs::Here;
        node.forget_explored();
        node.sequences.clear();
        node.pending.clear();
        node
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        self.nodes.push(Node::blank());
    }

    /// Adds the node of another path, with candidates and sleepers at the same indices.
    pub(super) fn push_passed(&mut self, passed: &Node) {
        let node = self.push();
        node.task = passed.task;
        (node.candidates, node.sleepers) = (passed.candidates.clone(), passed.sleepers);
        (node.fair, node.may_time_out, node.choice) = (passed.fair, passed.may_time_out, passed.choice);
        (node.preempts, node.preemptions) = (passed.preempts, passed.preemptions);
    }

    /// Removes the last node.
    pub(super) fn pop(&mut self) {
        self.length -= 1;
    }
}

impl Deref for Path {
    type Target = [Node];
    #[inline(always)]
    fn deref(&self) -> &[Node] {
        &self.nodes[..self.length]
    }
}

impl DerefMut for Path {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [Node] {
        &mut self.nodes[..self.length]
    }
}
