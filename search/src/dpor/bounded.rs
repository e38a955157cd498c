//! Partial-order reduction within a preemption bound (Coons, Musuvathi, McKinley, "Bounded partial-order reduction",
//! OOPSLA 2013).
//!
//! A bound and a reduction interfere: the one schedule that the reduction keeps of a trace may cost more preemptions
//! than the bound allows, and another schedule fewer. So there are no sleep sets. Each task is tried before every step
//! of another task that does not commute with its next one. It is also tried before the block of uninterrupted steps
//! that this step belongs to, because it costs nothing there.

use super::{Dpor, Footprint};
use intermezzo_engine::trace::{Ending, StepAccess, Trace};

impl Dpor {
    /// Plans each task before the steps that do not commute with its steps in the last execution.
    pub(super) fn try_conflicting(&mut self, trace: &Trace) {
        let steps = self.nodes.len().min(trace.steps().len());
        for later in self.fresh.max(1)..steps {
            let footprint = trace.possible_footprint(later);
            self.try_before(trace, trace.steps()[later].task, &footprint, later);
            for earlier in trace.waited_for(later) {
                self.try_all_around(trace, earlier);
            }
        }
        if trace.ending() == Ending::Stuck && self.cut.is_none() {
            for blocked in trace.blocked() {
                self.try_before(trace, blocked.task, &[blocked.access], steps);
            }
        }
    }

    /// Plans every task at this step, and before the block of uninterrupted steps that it belongs to. Some task waited
    /// for it, and whether a task has to wait decides the cost of switching away from it.
    fn try_all_around(&mut self, trace: &Trace, depth: usize) {
        if depth == 0 {
            return;
        }
        self.try_all(depth);
        let task = trace.steps()[depth].task;
        let block = (1..depth)
            .rev()
            .take_while(|&step| trace.steps()[step].task == task);
        if let Some(first) = block.last() {
            self.try_all(first);
        }
    }

    /// Plans a task before each step of another that conflicts with this footprint of its step `end`. (The last such
    /// step of each other task would suffice if the task could continue since; but the step that it waited for may have
    /// to be reordered as well.)
    fn try_before(&mut self, trace: &Trace, task: u32, footprint: &[StepAccess], end: usize) {
        for earlier in (1..end).rev() {
            let other = trace.steps()[earlier].task;
            let theirs = trace.possible_footprint(earlier);
            let conflicts = || {
                footprint
                    .iter()
                    .any(|access| theirs.iter().any(|other| access.conflicts(*other)))
            };
            if other == task || !conflicts() {
                continue;
            }
            self.try_at(earlier, task);
            let block = (1..earlier)
                .rev()
                .take_while(|&step| trace.steps()[step].task == other);
            if let Some(first) = block.last() {
                self.try_at(first, task);
            }
        }
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
