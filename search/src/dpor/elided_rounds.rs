//! Failed rounds of loops, which are elided once they have ended.
//!
//! Until a round ends, its steps count like any others: they wake sleeping tasks and order other steps. If the round
//! turns out to have had no effect, this module corrects the consequences: tasks may stay asleep across it, executions
//! may become redundant, and its operations could have had other results if they had come later.

use super::node::Reads;
use super::sleep::is_asleep;
use super::values::with_values;
use super::{Dpor, Sleeper};
use intermezzo_engine::schedule::Choice;
use intermezzo_engine::trace::{Trace, conflict};

impl Dpor {
    /// Returns `true` if the step belongs to a round that started too early. If the round had run without interruption,
    /// it would have failed, and the search has already continued from there without it. In this execution, other tasks
    /// have changed a variable that the round reads, and none of their steps depends on the round's earlier steps. So
    /// the round could start after their steps just as well, which is explored in the continuation without it.
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
            let footprint = trace.footprint_with_elided(own);
            others().all(|other| other < own || !conflict(&footprint, &trace.footprint_with_elided(other)))
        };
        has_changed && others().next().is_some() && (from..depth).filter(own).all(commute)
    }

    /// Lets tasks stay asleep after the step that ended a failed round if only the round's operations woke them. The
    /// sleep sets along the path are not changed: if the search backtracks to them, the round has not ended.
    ///
    /// Returns `false` if the execution is redundant. Without the round, its task is in the state in which the round
    /// began. The continuations from there are explored elsewhere in three cases: another branch was tried there
    /// before; the search has already continued from there after such a round; or a task that sleeps there takes one of
    /// the remaining steps.
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
                if asleep
                    .iter()
                    .all(|known| known.task != sleeper.task || !sleeper.values.starts_with(&known.values))
                {
                    asleep.push(sleeper.clone());
                }
            }
            let elided = trace.is_void(step);
            if !elided && is_asleep(&asleep, node.task) {
                return false;
            }
            let footprint = trace.footprint(step);
            asleep.retain(|sleeper| sleeper.task != node.task && !sleeper.is_woken(trace, step, footprint));
            if elided {
                let woken = trace.footprint_with_elided(step);
                for sleeper in &mut asleep {
                    sleeper.across_elided |= conflict(&sleeper.footprint, &woken);
                }
            }
        }
        self.sleepers.extend(asleep);
        true
    }

    /// Marks all steps since the beginning of a round as new if its last step is new, so that they are examined again.
    /// Their order changes when the round is elided, and when it is restored because its end was undone.
    pub(super) fn refresh(&mut self, trace: &Trace) {
        for round in trace.elided_rounds().iter().rev() {
            if round.at >= self.fresh {
                self.fresh = self.fresh.min(round.from);
            }
        }
    }

    /// Plans the alternatives to the last execution's failed rounds. The first operation of a round needs no
    /// alternative, because the task repeats it in its next round. But the round's other operations could have come
    /// after steps of other tasks, and the round could have had another result.
    #[inline(always)]
    pub(super) fn follow_void_rounds(&mut self, trace: &Trace, choices: &[Choice]) {
        if !trace.elided_rounds().is_empty() {
            self.follow_each_void_round(trace, choices);
        }
    }

    #[inline(never)]
    fn follow_each_void_round(&mut self, trace: &Trace, choices: &[Choice]) {
        let steps = self.nodes.len().min(trace.steps().len());
        let mut sequences = self.take_sequences();
        for round in trace.elided_rounds() {
            if round.at >= steps || self.is_bounded() {
                continue;
            }
            let task = self.nodes[round.from].task;
            for step in (round.from + 1..=round.at).filter(|&step| trace.is_void(step)) {
                if self.nodes[step].task != task {
                    continue;
                }
                let footprint = trace.footprint_with_elided(step);
                let conflicts = |&later: &usize| {
                    trace.steps()[later].task != task
                        && conflict(&footprint, &trace.footprint_with_elided(later))
                };
                if let Some(later) = (step + 1..steps).find(conflicts) {
                    if later >= self.fresh || round.at >= self.fresh {
                        let sequence = sequences.reversing_up_to(trace, with_values(choices), step, later);
                        if let Some(sequence) = sequence {
                            self.insert(trace, choices, step, sequence);
                        }
                    }
                } else if self.cut.is_some() && round.at >= self.fresh {
                    // The continuation is not known.
                    self.try_all(step);
                }
            }
        }
        self.sequences = Some(sequences);
        self.refresh(trace);
    }
}
