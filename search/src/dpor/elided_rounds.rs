//! Failed rounds of loops, which are elided once they have ended.
//!
//! Until a round ends it counts like any other steps: it wakes sleeping tasks and orders others. If it turns out to
//! have had no effect, this module corrects the consequences: which tasks stay asleep across it, which executions
//! become redundant, and what the others would have shown had it started later.

use super::node::Reads;
use super::{Dpor, Sleeper};
use intermezzo_engine::schedule::Choice;
use intermezzo_engine::trace::{Trace, conflict};

impl Dpor {
    /// Returns `true` if the step belongs to a round that started too early. It would have failed at once; then other
    /// tasks did what lets it continue, but nothing that has to come after the round's beginning. So it may as well
    /// have started after that, which is seen from where the search continued without it.
    pub(super) fn starts_too_early(&self, depth: usize, trace: &Trace) -> bool {
        let task = self.nodes[depth].task;
        let own = |step: &usize| self.nodes[*step].task == task;
        let began = |step: &usize| self.nodes[*step].went_on.is_some() && !trace.is_void(*step);
        let Some(from) = (1..depth).rev().filter(own).find(began) else {
            return false;
        };
        let Some(reads) = &self.nodes[from].went_on else {
            return false;
        };
        let told = |var: u32| reads.iter().rev().find(|(read, _)| *read == var);
        let has_changed = trace
            .reads(depth)
            .any(|(var, value)| told(var).is_some_and(|&(_, then)| then != value));
        let others = || (from + 1..depth).filter(|step| !own(step));
        let commute = |own: usize| {
            let touches = trace.could_touch(own);
            others().all(|other| other < own || !conflict(&touches, &trace.could_touch(other)))
        };
        has_changed && others().next().is_some() && (from..depth).filter(own).all(commute)
    }

    /// Lets tasks stay asleep that only the operations of a failed round woke, after the step that ended the round. The
    /// sleep sets along the path are not changed, because the round has not ended if the search backtracks to them.
    /// Returns `false` if the execution shows only what is seen elsewhere.
    ///
    /// Without the round the task is in the state in which the round began. The continuations from there are seen
    /// elsewhere in two cases: if another task was tried there before, or if the search has already continued from
    /// there after such a round.
    pub(super) fn inherit_over_void(&mut self, depth: usize, trace: &Trace) -> bool {
        let mut from = depth;
        if let Some(round) = trace.elided_rounds().last() {
            let began = &mut self.nodes[round.from];
            if began.tried > 0 || began.went_on.is_some() {
                return false;
            }
            let at_once = (round.from..=depth).all(|step| trace.is_void(step));
            let reads: Reads = (round.from..=depth).flat_map(|step| trace.reads(step)).collect();
            began.went_on = at_once.then_some(reads);
            self.planned.gone_on.push(round.from);
        }
        // An elided round may have begun within another.
        for round in trace.elided_rounds().iter().rev() {
            if round.at >= from {
                from = from.min(round.from);
            }
        }
        let from = from.max(1);
        let mut asleep: Vec<Sleeper> = Vec::new();
        for step in from..=depth {
            let node = &self.nodes[step];
            let end = self
                .nodes
                .get(step + 1)
                .map_or(self.sleepers.len(), |next| next.sleepers);
            for sleeper in &self.sleepers[node.sleepers..end] {
                if asleep.iter().all(|known| known.task != sleeper.task) {
                    asleep.push(sleeper.clone());
                }
            }
            let elided = trace.is_void(step);
            if !elided && asleep.iter().any(|sleeper| sleeper.task == node.task) {
                return false;
            }
            let touched = trace.touches(step);
            let wakes = |sleeper: &Sleeper| {
                conflict(&sleeper.touches, touched) || trace.makes_last(step, &sleeper.touches)
            };
            asleep.retain(|sleeper| sleeper.task != node.task && !wakes(sleeper));
            if elided {
                let woken = trace.could_touch(step);
                for sleeper in &mut asleep {
                    sleeper.across_elided |= conflict(&sleeper.touches, &woken);
                }
            }
        }
        self.sleepers.extend(asleep);
        true
    }

    /// Marks all steps since the beginning of a round that is elided or put back as new: their order has changed, so
    /// they must be examined again.
    pub(super) fn refresh(&mut self, trace: &Trace) {
        for round in trace.elided_rounds().iter().rev() {
            if round.at >= self.fresh {
                self.fresh = self.fresh.min(round.from);
            }
        }
    }

    /// Plans the alternatives to the last execution's failed rounds. A round's first operation may come later, when the
    /// task repeats the round. But if it stays where it is, the other tasks' steps could have come later, and shown
    /// something else.
    #[inline(always)]
    pub(super) fn follow_void_rounds(&mut self, trace: &Trace, choices: &[Choice]) {
        if !trace.elided_rounds().is_empty() {
            self.follow_each_void_round(trace, choices);
        }
    }

    #[inline(never)]
    fn follow_each_void_round(&mut self, trace: &Trace, choices: &[Choice]) {
        let steps = self.nodes.len().min(trace.steps().len());
        let mut sequences = std::mem::take(&mut self.sequences);
        for round in trace.elided_rounds() {
            if round.at >= steps || self.is_bounded() {
                continue;
            }
            let task = self.nodes[round.from].task;
            for step in (round.from + 1..=round.at).filter(|&step| trace.is_void(step)) {
                if self.nodes[step].task != task {
                    continue;
                }
                let touches = trace.could_touch(step);
                let conflicts = |&later: &usize| {
                    trace.steps()[later].task != task && conflict(&touches, &trace.could_touch(later))
                };
                if let Some(later) = (step + 1..steps).find(conflicts) {
                    if later >= self.fresh || round.at >= self.fresh {
                        let sequence = sequences.reversing(trace, step, later, later + 1);
                        self.insert(trace, choices, step, sequence);
                    }
                } else if self.cut.is_some() && round.at >= self.fresh {
                    // The continuation is not known.
                    self.try_all(step);
                }
            }
        }
        self.sequences = sequences;
        self.refresh(trace);
    }
}
