//! Partial-order reduction within a preemption bound (Coons, Musuvathi, McKinley, "Bounded partial-order reduction",
//! OOPSLA 2013).
//!
//! A bound and a reduction interfere: of a trace, the reduction keeps one schedule, which may have more preemptions
//! than the bound allows, while another schedule has fewer. So there are no sleep sets. Each task is tried before every
//! step of another task that does not commute with its next one. It is also tried before the block of uninterrupted
//! steps that this step belongs to, because the switch costs nothing there, and within the block wherever the other
//! task has yielded.
//!
//! Fairness that holds a task back depends on steps that commute with the task's own. If no task can continue, time
//! passes and ends waits; a switch is then a preemption only if the wait of the task that ran last is among them. In
//! both cases another search takes over. Until then all schedules within the bound are explored, as without fairness.

use super::node::Node;
use super::{Dpor, Footprint};
use intermezzo_engine::trace::{Class, Ending, StepAccess, Trace};
use std::ops::Range;

/// The number used for a task of which it is only known that it has not begun.
pub(super) const UNBEGUN: u32 = u32::MAX;

/// The footprints of an execution's steps, as if failed operations had succeeded. They are kept, because each is
/// compared with many others.
#[derive(Default)]
pub(super) struct PossibleFootprints {
    accesses: Vec<StepAccess>,
    steps: Vec<PossibleStep>,
    /// The steps that access each key, in order, with the class of the access.
    by_key: Vec<Vec<(u32, Class)>>,
    /// The first step of each task.
    begins: Vec<u32>,
}

/// A step, for comparisons.
struct PossibleStep {
    task: u32,
    /// The first step of the block of uninterrupted steps of the task that the step belongs to.
    block: u32,
    /// The last step of the block, up to this one, before which a switch to another task is not a preemption.
    switch: u32,
    accesses: Range<usize>,
    /// A bit for each of the first 64 tasks that were planned at the step, and at the free switches before it.
    tried: u64,
}

impl PossibleFootprints {
    /// Removes all but the first `count` steps, which the next execution shares with the last one.
    pub(super) fn truncate(&mut self, count: usize) {
        if count >= self.steps.len() {
            return;
        }
        let end = self.steps[count].accesses.start;
        for access in self.accesses.drain(end..) {
            self.by_key[access.key.index()].pop();
        }
        self.steps.truncate(count);
        for first in &mut self.begins {
            if *first as usize >= count {
                *first = u32::MAX;
            }
        }
    }

    /// Adds the steps of an execution after those that were kept, up to its last node. The first step comes before any
    /// decision.
    fn take_in(&mut self, trace: &Trace, nodes: &[Node]) {
        let count = nodes.len().min(trace.steps().len());
        if !trace.has_fixed_footprints() {
            self.truncate(0);
        }
        self.truncate(count);
        for (step, node) in nodes.iter().enumerate().take(count).skip(self.steps.len()) {
            let begin = self.accesses.len();
            trace.with_possible_footprint(step, |footprint| self.accesses.extend_from_slice(footprint));
            for access in &self.accesses[begin..] {
                let key = access.key.index();
                if key >= self.by_key.len() {
                    self.by_key.resize_with(2 * key + 16, Vec::new);
                }
                self.by_key[key].push((step as u32, access.class));
            }
            let task = trace.steps()[step].task;
            if task as usize >= self.begins.len() {
                self.begins.resize(task as usize + 1, u32::MAX);
            }
            let first = &mut self.begins[task as usize];
            *first = (*first).min(step as u32);
            let before = step.checked_sub(1).filter(|&before| before > 0);
            let before = before
                .map(|before| &self.steps[before])
                .filter(|before| before.task == task);
            let own = step as u32;
            let (block, switch) = match before {
                None => (own, own),
                // The task has yielded, for instance.
                Some(before) if !node.preempts => (before.block, own),
                Some(before) => (before.block, before.switch),
            };
            self.steps.push(PossibleStep {
                task,
                block,
                switch,
                accesses: begin..self.accesses.len(),
                tried: 0,
            });
        }
    }

    /// Returns the steps before which a switch is not a preemption, in the block of uninterrupted steps that this one
    /// belongs to, and no later than this one. They come in descending order, down to the first step of the block,
    /// before which there is a switch in any case.
    pub(super) fn free_switches(&self, step: usize) -> impl Iterator<Item = usize> {
        let first = self.steps[step].block;
        let before = move |&at: &u32| {
            at.checked_sub(1)
                .filter(|_| at > first)
                .map(|at| self.steps[at as usize].switch)
        };
        std::iter::successors(Some(self.steps[step].switch), before).map(|at| at as usize)
    }

    /// Returns `true` if one of the first `steps` steps is of this task.
    pub(super) fn has_begun(&self, task: u32, steps: usize) -> bool {
        (self.begins.get(task as usize)).is_some_and(|&first| (first as usize) < steps)
    }

    fn accesses(&self, step: usize) -> Range<usize> {
        self.steps[step].accesses.clone()
    }
}

impl Dpor {
    /// Plans each task before the steps that do not commute with its steps in the last execution.
    pub(super) fn try_conflicting(&mut self, trace: &Trace) {
        self.begin_continuations();
        let mut footprints = std::mem::take(&mut self.footprints);
        footprints.take_in(trace, &self.nodes);
        let steps = footprints.steps.len();
        for later in self.fresh.max(1)..steps {
            let task = trace.steps()[later].task;
            for access in footprints.accesses(later) {
                let access = footprints.accesses[access];
                self.try_before(&mut footprints, task, access, later, later);
            }
            for earlier in trace.waited_for(later) {
                self.try_all_around(&footprints, earlier);
                self.note_awaited(later, earlier);
            }
        }
        if self.cut.is_some() {
            if !self.plan_as_before(&mut footprints) {
                self.note_partial();
            }
        } else if trace.ending() == Ending::Stuck {
            for blocked in trace.blocked() {
                self.try_before(&mut footprints, blocked.task, blocked.access, steps, steps - 1);
            }
        } else if trace.ending() == Ending::GivenUp {
            self.note_partial();
        }
        self.footprints = footprints;
    }

    /// Plans every task at this step, and where a switch is free in the block of uninterrupted steps that it belongs
    /// to. Some task waited for this step, and the cost of switching away from a task depends on whether it has to
    /// wait.
    pub(super) fn try_all_around(&mut self, footprints: &PossibleFootprints, depth: usize) {
        if depth == 0 {
            return;
        }
        self.try_all(depth);
        let free = footprints.free_switches(depth).filter(|&free| free < depth);
        free.for_each(|free| self.try_all(free));
    }

    /// Plans a task before each step of another task that conflicts with this access of its step `end`. The last such
    /// step of each other task would be enough if the task could continue from there on, but the step that it waited
    /// for may have to be reordered as well. Notes that the access comes after the state before step `at`.
    pub(super) fn try_before(
        &mut self,
        footprints: &mut PossibleFootprints,
        task: u32,
        access: StepAccess,
        end: usize,
        at: usize,
    ) {
        let mut earliest = None;
        let bit = 1_u64.checked_shl(task).unwrap_or(0);
        let key = access.key.index();
        let steps = footprints.by_key.get(key).map_or(&[][..], Vec::as_slice);
        let before = steps.partition_point(|&(step, _)| (step as usize) < end);
        for index in (0..before).rev() {
            let (earlier, class) = footprints.by_key[key][index];
            let step = &mut footprints.steps[earlier as usize];
            if earlier == 0 || step.task == task || class.commutes(access.class) {
                continue;
            }
            earliest = Some(earlier as usize);
            // Most tasks have already been tried there because of another access.
            if step.tried & bit != 0 {
                continue;
            }
            step.tried |= bit;
            self.try_at(earlier as usize, task, bit);
            if step.block < earlier {
                footprints
                    .free_switches(earlier as usize)
                    .for_each(|free| self.try_at(free, task, bit));
            }
        }
        if let Some(earliest) = earliest {
            self.note_follower(at, task, access, earliest);
        }
    }

    /// Plans the task with this bit at this step, or every task if this one cannot go there.
    #[inline]
    fn try_at(&mut self, depth: usize, task: u32, bit: u64) {
        if self.nodes[depth].planned & bit == 0 {
            self.try_first_at(depth, task, bit);
        }
    }

    /// Does the same for a task that was not planned there before.
    #[inline(never)]
    fn try_first_at(&mut self, depth: usize, task: u32, bit: u64) {
        let node = &mut self.nodes[depth];
        node.planned |= bit;
        let candidates = &self.candidates[node.candidates.clone()];
        if candidates.iter().all(|candidate| candidate.task != task) {
            return self.try_all(depth);
        }
        self.try_task(depth, task, Footprint::new());
    }
}
