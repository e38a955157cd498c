//! Time-outs of waiting tasks, as alternatives of the steps before which they could come.
//!
//! A wait does not race with the step that ended it, because it could not have ended before that step. But it could
//! have timed out before it. So while a task waits, its time-out is planned before each step that does not commute with
//! it. Once the wait was ended, the time-out is planned before each such step *after* the others that need not come
//! after this step, as for a race. These may include steps that do not commute with the time-out. If it were planned
//! only before them, the sequences in which it comes after them would be missed: a task that sleeps at the step would
//! cover them, because it commutes with all of them.

use super::Dpor;
use super::sleep::{self, Footprint};
use intermezzo_engine::schedule::Choice;
use intermezzo_engine::trace::{Trace, conflict};

impl Dpor {
    /// Plans time-outs of waiting tasks before the step at `depth`, unless they commute with it. With a preemption
    /// bound all of them are planned.
    #[inline(always)]
    pub(super) fn plan_time_outs(&mut self, depth: usize, trace: &Trace) {
        if self.nodes[depth].may_time_out {
            self.plan_each_time_out(depth, trace);
        }
    }

    #[inline(never)]
    fn plan_each_time_out(&mut self, depth: usize, trace: &Trace) {
        let node = &self.nodes[depth];
        let footprint = trace.footprint(depth);
        let mut woken: Vec<(u32, Footprint)> = Vec::new();
        for candidate in &self.candidates[node.candidates.clone()] {
            // The step may be the time-out of its own task.
            let Some(key) = candidate.waits_for.filter(|_| candidate.task != node.task) else {
                continue;
            };
            let wake = sleep::time_out(key);
            // Within a bound, the cost of a time-out depends on its position.
            let conflicts = |footprint: &Footprint| conflict(&wake, footprint);
            if self.is_bounded()
                || conflict(&wake, footprint)
                || conflicts(&node.footprint)
                || node.explored_footprints().any(conflicts)
            {
                woken.push((candidate.task, Footprint::from_slice(&wake)));
            }
        }
        for (task, footprint) in woken {
            self.try_task(depth, task, footprint);
        }
    }

    /// Plans time-outs of waits that were ended in another way. The time-out comes before a step, and after all later
    /// steps that need not come after that step.
    pub(super) fn reverse_ends_of_waits(&mut self, trace: &Trace, choices: &[Choice], steps: usize) {
        if trace.ended_waits().is_empty() {
            return;
        }
        let mut sequences = self.take_sequences();
        for wait in trace.ended_waits() {
            for earlier in wait.begin as usize + 1..steps.min(wait.ender as usize + 1) {
                if sequences.analysis_limit().ends_after(steps - earlier) {
                    break;
                }
                if self.is_waiting(wait.task, earlier)
                    && let Some(sequence) = sequences.timing_out(trace, wait, earlier, steps)
                {
                    self.insert(trace, choices, earlier, sequence);
                }
            }
        }
        self.sequences = Some(sequences);
    }

    /// Returns `true` if a task's wait was not over before the step at `depth`.
    fn is_waiting(&self, task: u32, depth: usize) -> bool {
        let mut listed = self.candidates[self.nodes[depth].candidates.clone()].iter();
        listed.all(|candidate| candidate.task != task || candidate.waits_for.is_some())
    }
}
