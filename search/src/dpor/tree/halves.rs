//! Sequences that are covered in halves: by one branch with one fate of an operation, and by another branch with the
//! other fate.
//!
//! A branch plans one fate of an operation. The sequence does not contain the operation, or contains it with either
//! fate. So the branch covers the sequence only for executions in which the operation has the planned fate. If
//! something else that is or was explored from the same node covers it with the other fate, nothing is missing.
//! Otherwise the sequence is planned separately; the operation then has only the other fate, because the first one is
//! asleep.

use super::{Branch, Leads, Tree};
use crate::dpor::sequence::{Assumption, Sequence};
use crate::dpor::sleep::{Footprint, Sleeper, counts};
use crate::dpor::values::{Fate, Values, Wanted};
use intermezzo_engine::schedule::Choice;
use intermezzo_engine::trace::{StepAccess, Trace};

/// Everything that is or was explored from a node, besides the pending sequences.
pub(in crate::dpor) struct Explored<'a> {
    pub(in crate::dpor) asleep: &'a [Sleeper],
    /// The task whose step is being explored, the values with which it must be explored, those with which it was, and
    /// the sequences that remain to be explored after it.
    pub(in crate::dpor) task: u32,
    pub(in crate::dpor) wanted: &'a Wanted,
    pub(in crate::dpor) values: &'a [(Values, Footprint)],
    pub(in crate::dpor) sequences: &'a Tree,
}

/// An assumed fate of an operation with which some branch begins the sequence. The branch has to be extended.
pub(in crate::dpor) struct Begun {
    task: u32,
    assumption: Assumption,
}

impl Explored<'_> {
    /// Returns `true` if nothing is missing for executions in which the operation of a task has this fate: something
    /// covers the sequence there, or begins it and can be extended. In the second case, it is added to `begun`.
    pub(in crate::dpor) fn has_half(
        &self,
        pending: &Tree,
        trace: &Trace,
        choices: &[Choice],
        sequence: &mut Sequence,
        half @ (task, fate, other): (u32, Fate, &[StepAccess]),
        begun: &mut Vec<Begun>,
    ) -> bool {
        if self.covers(pending, trace, choices, sequence, half) {
            return true;
        }
        let Some(before) = sequence.assume(task, fate, other) else {
            return false;
        };
        let mut trees = [self.sequences, pending].into_iter();
        let is_begun = trees.any(|tree| tree.begins_half(trace, choices, sequence, task));
        if is_begun {
            let assumption = sequence.assumption();
            begun.push(Begun { task, assumption });
        }
        sequence.put_back(before);
        is_begun
    }

    /// Returns `true` if something covers the sequence for executions in which the operation of a task has this fate.
    /// With the other fate, its step has the footprint `other`. `pending` are the pending sequences of the node.
    pub(in crate::dpor) fn covers(
        &self,
        pending: &Tree,
        trace: &Trace,
        choices: &[Choice],
        sequence: &mut Sequence,
        (task, fate, other): (u32, Fate, &[StepAccess]),
    ) -> bool {
        let Some(before) = sequence.assume(task, fate, other) else {
            return false;
        };
        let is_covered = self.is_asleep(pending, trace, choices, sequence)
            || self.is_explored(trace, sequence)
            || self.walks(self.sequences, pending, trace, choices, sequence)
            || self.walks(pending, pending, trace, choices, sequence);
        sequence.put_back(before);
        is_covered
    }

    /// Returns `true` if a sleeper covers the sequence.
    fn is_asleep(&self, pending: &Tree, trace: &Trace, choices: &[Choice], sequence: &mut Sequence) -> bool {
        self.asleep.iter().any(|sleeper| {
            let Sleeper { task, footprint, .. } = sleeper;
            let place = sequence.may_begin(trace, *task, footprint, sleeper.gives_up);
            match (place, sequence.assumed(*task)) {
                (None, _) => false,
                (Some(None), _) if sleeper.overslept => false,
                (Some(None), Some(assumed)) => assumed.values.starts_with(&sleeper.values),
                (Some(None), None) => match sleeper.fate() {
                    None => true,
                    Some(fate) => self.covers(
                        pending,
                        trace,
                        choices,
                        sequence,
                        (*task, fate.other(), footprint),
                    ),
                },
                (Some(Some(place)), _) => sequence.is_tried(trace, choices, place, sleeper, self.asleep),
            }
        })
    }

    /// Returns `true` if the step that is being explored covers the sequence, with values with which it was or will be
    /// explored here.
    fn is_explored(&self, trace: &Trace, sequence: &Sequence) -> bool {
        let Some(assumed) = sequence.assumed(self.task) else {
            return false;
        };
        self.values.iter().any(|(values, footprint)| {
            assumed.values.starts_with(values)
                && sequence.may_begin(trace, self.task, footprint, false) == Some(None)
        }) || self.wanted.are_all()
            && self.asleep.iter().all(|sleeper| sleeper.task != self.task)
            && sequence.assumed_commutes(trace, self.task)
    }

    /// Returns `true` if a tree of sequences from the node covers the sequence.
    fn walks(
        &self,
        tree: &Tree,
        pending: &Tree,
        trace: &Trace,
        choices: &[Choice],
        sequence: &mut Sequence,
    ) -> bool {
        let before = sequence.begin_again();
        let (mut at, mut end, mut is_covered) = (tree.gone, tree.branches.len(), false);
        while at < end {
            let branch = &tree.branches[at];
            let after = at + branch.size as usize;
            if self.lead(branch, pending, trace, choices, sequence) {
                is_covered = sequence.is_empty() || branch.is_last();
                if is_covered {
                    break;
                }
                (at, end) = (at + 1, after);
            } else {
                at = after;
            }
        }
        sequence.put_back(before);
        is_covered
    }

    /// Returns `true` if a branch begins something that leads to the same trace as the sequence, or if it does so for
    /// one fate and something else does so for the other. Its step was then moved from the sequence to the steps that
    /// are done.
    fn lead(
        &self,
        branch: &Branch,
        pending: &Tree,
        trace: &Trace,
        choices: &[Choice],
        sequence: &mut Sequence,
    ) -> bool {
        match branch.leads(trace, choices, sequence) {
            Leads::Along => true,
            Leads::Half(other) => {
                let footprint = branch.half_footprint(trace, sequence);
                let half = (branch.task, other, &footprint[..]);
                self.covers(pending, trace, choices, sequence, half) && branch.take_from(trace, sequence)
            }
            Leads::Elsewhere | Leads::Unsure => false,
        }
    }
}

impl Tree {
    /// Returns `true` if one of its sequences begins something that leads to the same trace as the sequence, with the
    /// fate that is assumed for the operation of this task.
    fn begins_half(&self, trace: &Trace, choices: &[Choice], sequence: &mut Sequence, task: u32) -> bool {
        let before = sequence.begin_again();
        let (mut at, mut end) = (self.gone, self.branches.len());
        while at < end {
            let branch = &self.branches[at];
            let after = at + branch.size as usize;
            match branch.leads(trace, choices, sequence) {
                Leads::Along if branch.is_last() => break,
                Leads::Along => (at, end) = (at + 1, after),
                _ => at = after,
            }
        }
        let begins = !sequence.is_to_have_fate(task);
        sequence.put_back(before);
        begins
    }

    /// Extends the branch that begins the sequence under this assumption, which the sequence keeps. Returns `None` if
    /// the tree has no such branch, and otherwise `true` if the tree is not reliable, as [`Tree::insert`] does.
    pub(in crate::dpor) fn continue_half(
        &mut self,
        trace: &Trace,
        choices: &[Choice],
        sequence: &mut Sequence,
        Begun { task, assumption }: &Begun,
    ) -> Option<bool> {
        sequence.assume_again(assumption);
        let begins = self.begins_half(trace, choices, sequence, *task);
        begins.then(|| self.insert(trace, choices, sequence, None))
    }

    /// Returns the footprint of the step of a task that may come first, if it is known and chooses no values.
    pub(in crate::dpor) fn first_footprint(&self, task: u32) -> Option<Footprint> {
        let mut first = self.first().map(|at| &self.branches[at]);
        let first = first.find(|first| first.task == task && first.values().is_empty())?;
        let is_known = |access: &StepAccess| access.key.unknown_from().is_none();
        let footprint = first.footprint();
        (!footprint.is_empty() && footprint.iter().all(is_known)).then(|| Footprint::from_slice(footprint))
    }

    /// Adds a sequence, unless the tree holds one that leads to the same trace. Returns `true` if that is unknown for a
    /// branch tried before: then a task that sleeps in it may stay asleep, and the tree is not reliable.
    #[inline(always)]
    #[must_use]
    pub(in crate::dpor) fn insert(
        &mut self,
        trace: &Trace,
        choices: &[Choice],
        sequence: &mut Sequence,
        mut explored: Option<(&Explored<'_>, &mut Vec<Begun>)>,
    ) -> bool {
        let (mut unsure, mut depth) = (false, 0);
        let (mut at, mut end) = (self.gone, self.branches.len());
        while at < end {
            let branch = &self.branches[at];
            let after = at + branch.size as usize;
            let is_along = match branch.leads(trace, choices, sequence) {
                Leads::Along => true,
                Leads::Half(other) => {
                    let footprint = branch.half_footprint(trace, sequence);
                    let half = (branch.task, other, &footprint[..]);
                    let is_seen = explored.as_mut().is_some_and(|(explored, begun)| {
                        explored.has_half(self, trace, choices, sequence, half, begun)
                    });
                    is_seen && branch.take_from(trace, sequence)
                }
                elsewhere => {
                    unsure |= matches!(elsewhere, Leads::Unsure);
                    false
                }
            };
            if !is_along {
                at = after;
            } else if sequence.is_empty() || branch.is_last() {
                return unsure;
            } else {
                depth += 1;
                (at, end) = (at + 1, after);
            }
        }
        let (before, added) = (self.branches.len(), sequence.len());
        self.grow(depth, end, added as u32);
        self.add(trace, choices, sequence);
        if end < before {
            self.branches[end..].rotate_right(added);
        }
        unsure
    }
}

impl Branch {
    /// Returns the footprint of its step in the last execution. It is empty if unknown; then no fate can be assumed.
    fn half_footprint(&self, trace: &Trace, sequence: &Sequence) -> Footprint {
        match sequence.place_of_step(self.task) {
            Some(place) => sequence.footprint_at(trace, place),
            None => self.footprint_in(trace, sequence).unwrap_or_default(),
        }
    }

    /// Moves its step, which may begin the sequence, to the steps that are done. Returns `true`, or `false` if its
    /// footprint is unknown.
    fn take_from(&self, trace: &Trace, sequence: &mut Sequence) -> bool {
        if let Some(place) = sequence.place_of_step(self.task) {
            if let Some(fate) = self.fate() {
                sequence.have_fate(trace, place, fate);
            }
            sequence.take_counting(trace, place, counts(self.footprint()));
            return true;
        }
        let footprint = self.footprint_in(trace, sequence);
        footprint.is_some_and(|footprint| {
            sequence.take_accessing(
                self.task,
                None,
                self.values(),
                &footprint,
                self.is_all(&footprint),
            );
            true
        })
    }
}
