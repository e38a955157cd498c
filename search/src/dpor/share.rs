//! A share of a search that several processes explore without communicating.
//!
//! An execution may show that a task has to be tried far up its path, in a part that is common to the shares. So at the
//! steps above the frontier (`crate::partition`) every task that does not sleep is tried, and nothing that is found
//! below can add to that. A task that was tried there sleeps in the branches that follow, as everywhere. So no trace is
//! explored twice, and the part below each prefix of the frontier can be explored separately, given the tasks that
//! sleep there.
//!
//! Each share runs all steps above the frontier, because it needs the footprints of the tasks that sleep. For a prefix
//! of another share it runs one execution, unless the prefix is the last branch of its step, and does not examine its
//! races.
//!
//! A task that sleeps from above the frontier may never be woken below it: with wakeup trees, such a sleeper has
//! *overslept* from the beginning. The executions that it leads to plan nothing above the frontier, so they may
//! themselves rely on the branches that follow.
//!
//! Costs: if a task is asleep that nothing wakes, there may be redundant executions that an undivided search would not
//! run.

use super::Dpor;
use crate::partition::Belongs;
use intermezzo_engine::schedule::{Choice, ChoiceKind};
use intermezzo_engine::strategy::{Partition, Partitioned, Plan};
use intermezzo_engine::trace::Trace;

impl Dpor {
    /// Notes the share that the last node of the path belongs to, which was just added.
    #[inline(always)]
    pub(super) fn begin_in_share(&mut self) {
        let Some(partition) = self.partition else {
            return;
        };
        let depth = self.nodes.len() - 1;
        match depth.checked_sub(1).map(|before| self.nodes[before].belongs) {
            None | Some(Belongs::ToAll) => self.place_in_share(partition),
            // Below the frontier, the other fields of its place are not read.
            Some(belongs) => self.nodes[depth].belongs = belongs,
        }
    }

    #[inline(never)]
    fn place_in_share(&mut self, partition: Partition) {
        let depth = self.nodes.len() - 1;
        let (belongs, locus) = match self.nodes[..depth].last() {
            None => (Belongs::ToAll, self.nodes[depth].locus),
            Some(before) => before.after.settled(partition),
        };
        let node = &mut self.nodes[depth];
        (node.belongs, node.locus, node.after, node.width) = (belongs, locus, locus, 1);
    }

    /// Plans every task at the last node of the path, if it is above the frontier.
    #[inline(always)]
    pub(super) fn expand_above_frontier(&mut self) {
        if self.partition.is_some() && self.is_above_frontier(self.nodes.len() - 1) {
            self.expand();
        }
    }

    #[inline(never)]
    fn expand(&mut self) {
        let depth = self.nodes.len() - 1;
        self.try_all(depth);
        let node = &mut self.nodes[depth];
        node.width = 1 + node.pending.first_tasks().count() as u32;
        node.after = node.locus.below(0, node.width);
    }

    /// Returns `true` if the step at `depth` is above the frontier: every task is tried there.
    #[inline(always)]
    pub(super) fn is_above_frontier(&self, depth: usize) -> bool {
        self.nodes[depth].belongs == Belongs::ToAll
    }

    /// Notes that the last step of the path has chosen a value.
    #[inline(always)]
    pub(super) fn choose_in_share(&mut self, taken: u32, alternatives: u32) {
        if let Some(partition) = self.partition
            && let Some(node) = self.nodes.last_mut()
            && node.belongs == Belongs::ToAll
            && !node.after.is_beyond(partition)
        {
            node.after = node.after.below(taken, alternatives);
        }
    }

    /// Notes that the last step of the path turns to another branch, or to other values. `made` are its choices.
    pub(super) fn turn_in_share(&mut self, made: &[Choice]) {
        if self.partition.is_none() {
            return;
        }
        match self.nodes.last_mut() {
            Some(node) if node.belongs == Belongs::ToAll => {
                node.after = node.locus.below(node.tried.min(node.width - 1), node.width);
            }
            _ => return,
        }
        for choice in made.iter().filter(|choice| choice.kind != ChoiceKind::Task) {
            self.choose_in_share(choice.taken, choice.alternatives);
        }
    }

    /// Returns `true` if the branch to which the last step of the path has just turned need not be run: it is the
    /// step's last branch, so its footprint is not needed, and it belongs to another share.
    pub(super) fn is_last_elsewhere(&self) -> bool {
        let Some(partition) = self.partition else {
            return false;
        };
        self.nodes.last().is_some_and(|node| {
            node.belongs == Belongs::ToAll
                && node.pending.is_empty()
                && node.after.settled(partition).0 == Belongs::Elsewhere
        })
    }

    /// Returns the share that the last execution belongs to.
    fn belongs(&self) -> Belongs {
        match (self.partition, self.nodes.last()) {
            (Some(partition), Some(last)) if last.belongs == Belongs::ToAll => {
                last.after.belongs_at_last(partition)
            }
            (Some(_), Some(last)) => last.belongs,
            _ => Belongs::Here,
        }
    }

    /// Skips an execution of another share: the search continues at the last step above the frontier. Returns `false`
    /// if the execution belongs to this share.
    pub(super) fn pass_by(&mut self, plan: &mut Plan, trace: &Trace) -> bool {
        if self.partition.is_none() || self.belongs() != Belongs::Elsewhere {
            return false;
        }
        (self.redundant, self.blocked) = (self.planned.redundant, self.planned.blocked);
        if let Some(cut) = self.cut.take() {
            plan.truncate(cut.choices);
        }
        while self
            .nodes
            .last()
            .is_some_and(|last| last.belongs == Belongs::Elsewhere)
        {
            self.leave();
        }
        if let Some(step) = trace.steps().get(self.nodes.len() - 1) {
            plan.truncate(step.choices_end);
        }
        true
    }
}

impl Partitioned for Dpor {
    fn keep_to(&mut self, partition: Partition) {
        self.partition = Some(partition);
    }

    fn is_here(&mut self, _: &[Choice]) -> bool {
        self.nodes.last().is_none_or(|last| last.belongs == Belongs::Here)
    }

    fn is_elsewhere(&mut self, _: &[Choice]) -> bool {
        self.belongs() == Belongs::Elsewhere
    }
}
