//! Partial-order reduction within a preemption bound (Coons, Musuvathi, McKinley, "Bounded partial-order reduction",
//! OOPSLA 2013).
//!
//! A bound and a reduction interfere: the one schedule that the reduction keeps of a trace may cost more preemptions
//! than the bound allows, and another schedule fewer. So there are no sleep sets. Each task is tried before every step
//! of another task that does not commute with its next one. It is also tried before the block of uninterrupted steps
//! that this step belongs to, because it costs nothing there.

use super::{Dpor, Footprint};
use intermezzo_engine::trace::{Ending, StepAccess, Trace, conflict};
use std::ops::Range;

/// The number of a task that has not begun, if that is all that is known of it.
pub(super) const UNBEGUN: u32 = u32::MAX;

/// The footprints of an execution's steps, as if failed operations had succeeded. Each is compared with many others.
#[derive(Default)]
pub(super) struct PossibleFootprints {
    accesses: Vec<StepAccess>,
    steps: Vec<PossibleStep>,
}

/// A step, for comparisons.
struct PossibleStep {
    task: u32,
    /// The first step of the block of uninterrupted steps of the task that the step belongs to.
    block: usize,
    /// The bits of its keys: two steps without a common bit have no common key.
    keys: u64,
    accesses: Range<usize>,
}

impl PossibleFootprints {
    /// Takes in the first `count` steps of an execution. The first one is before any decision.
    fn take_in(&mut self, trace: &Trace, count: usize) {
        self.accesses.clear();
        self.steps.clear();
        for step in 0..count {
            let begin = self.accesses.len();
            trace.with_possible_footprint(step, |footprint| self.accesses.extend_from_slice(footprint));
            let task = trace.steps()[step].task;
            let goes_on = step > 1 && self.steps[step - 1].task == task;
            self.steps.push(PossibleStep {
                task,
                block: if goes_on { self.steps[step - 1].block } else { step },
                keys: keys(&self.accesses[begin..]),
                accesses: begin..self.accesses.len(),
            });
        }
    }

    /// Returns the first step of the block of uninterrupted steps that this one belongs to.
    pub(super) fn block(&self, step: usize) -> usize {
        self.steps[step].block
    }

    fn of(&self, step: usize) -> &[StepAccess] {
        &self.accesses[self.steps[step].accesses.clone()]
    }
}

/// Returns the bits of the keys of a footprint.
fn keys(footprint: &[StepAccess]) -> u64 {
    footprint
        .iter()
        .fold(0, |keys, access| keys | 1 << (access.key.index() % 64))
}

impl Dpor {
    /// Plans each task before the steps that do not commute with its steps in the last execution.
    pub(super) fn try_conflicting(&mut self, trace: &Trace) {
        self.begin_continuations();
        let steps = self.nodes.len().min(trace.steps().len());
        let mut footprints = std::mem::take(&mut self.footprints);
        footprints.take_in(trace, steps);
        for later in self.fresh.max(1)..steps {
            let task = trace.steps()[later].task;
            let earliest = self.try_before(&footprints, task, footprints.of(later), later);
            self.note_follower(later, task, footprints.of(later), earliest);
            for earlier in trace.waited_for(later) {
                self.try_all_around(&footprints, earlier);
                self.note_awaited(later, earlier);
            }
        }
        if self.cut.is_some() {
            if !self.plan_as_before(&footprints) {
                self.note_partial();
            }
        } else if trace.ending() == Ending::Stuck {
            for blocked in trace.blocked() {
                let earliest = self.try_before(&footprints, blocked.task, &[blocked.access], steps);
                self.note_follower(steps - 1, blocked.task, &[blocked.access], earliest);
            }
        } else if trace.ending() == Ending::GivenUp {
            self.note_partial();
        }
        self.footprints = footprints;
    }

    /// Plans every task at this step, and before the block of uninterrupted steps that it belongs to. Some task waited
    /// for it, and whether a task has to wait decides the cost of switching away from it.
    pub(super) fn try_all_around(&mut self, footprints: &PossibleFootprints, depth: usize) {
        if depth == 0 {
            return;
        }
        self.try_all(depth);
        let first = footprints.steps[depth].block;
        if first < depth {
            self.try_all(first);
        }
    }

    /// Plans a task before each step of another that conflicts with this footprint of its step `end`. (The last such
    /// step of each other task would suffice if the task could continue since; but the step that it waited for may have
    /// to be reordered as well.)
    ///
    /// Returns the earliest such step.
    pub(super) fn try_before(
        &mut self,
        footprints: &PossibleFootprints,
        task: u32,
        footprint: &[StepAccess],
        end: usize,
    ) -> Option<usize> {
        let own = keys(footprint);
        let mut earliest = None;
        for earlier in (1..end).rev() {
            let step = &footprints.steps[earlier];
            if step.keys & own == 0 || step.task == task || !conflict(footprint, footprints.of(earlier)) {
                continue;
            }
            self.try_at(earlier, task);
            if step.block < earlier {
                self.try_at(step.block, task);
            }
            earliest = Some(earlier);
        }
        earliest
    }

    /// Plans the task at this step, or every task if it cannot go there.
    fn try_at(&mut self, depth: usize, task: u32) {
        let node = &self.nodes[depth];
        let candidates = &self.candidates[node.candidates.clone()];
        if candidates.iter().all(|candidate| candidate.task != task) {
            return self.try_all(depth);
        }
        self.try_task(depth, task, Footprint::new());
    }
}
