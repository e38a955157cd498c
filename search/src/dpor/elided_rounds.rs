//! Rounds of loops that prove to have been in vain once they are over, and count as not having happened since.
//!
//! Until then they are like all steps, so they wake those who sleep and are ordered with the steps of others. Here that is
//! made good: who sleeps on over such a round, which executions could go on only with what is seen elsewhere, and what the
//! others could have shown if the round had begun later.

use super::node::Reads;
use super::{Dpor, Sleeper};
use intermezzo_engine::schedule::Choice;
use intermezzo_engine::trace::{Trace, conflict};

impl Dpor {
    /// Returns `true` if the step belongs to a round that would have been in vain at once, and in which others have
    /// then done what lets it go on, but nothing that has to come after its beginning: it may as well have begun after
    /// that, which is seen from where the search went on without it.
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

    /// Returns a round that ended with this step was in vain: whom its operations woke sleeps on. Sleep sets along the
    /// way are left as they are, for should the search go back to them the round is not over.
    ///
    /// Without the round the task is where it was when that began. What can come from there is seen elsewhere if somebody
    /// else was tried there before, or if the search went on from there after such a round already.
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
        // A round that is void may have begun within another.
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

    /// A round that is made void, or put back, takes part in the order of all steps since: they are to be looked at anew.
    pub(super) fn refresh(&mut self, trace: &Trace) {
        for round in trace.elided_rounds().iter().rev() {
            if round.at >= self.fresh {
                self.fresh = self.fresh.min(round.from);
            }
        }
    }

    /// Sees to what the last execution's rounds in vain could have been. A round's first operation may as well come later,
    /// when the task goes round again; but with that where it is the others could have come later, and shown something else.
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
                    // What would have come is not known.
                    self.try_all(step);
                }
            }
        }
        self.sequences = sequences;
        self.refresh(trace);
    }
}
