//! Races of the last execution, and the sequences that reverse them.
//!
//! Let steps e and f race. The sequence that reverses the race contains every step that need not come after e,
//! including steps after f, so it depends on how the execution ends. Source sets use only its first step. Wakeup trees
//! use all of it, so every race of every execution is examined, not only new ones; skipping this missed traces in
//! random programs of four tasks. Most races are dismissed cheaply: the new steps change nothing for them, or a
//! sleeping task already leads to the same trace.

use super::held_back::Held;
use super::node::Candidate;
use super::sequence::Sequence;
use super::sleep::{Footprint, Sleeper};
use super::tree::Explored;
use super::{Dpor, Insertion};
use intermezzo_engine::schedule::Choice;
use intermezzo_engine::strategy::FallbackReason;
use intermezzo_engine::trace::{Blocked, Ending, Race, Trace};

/// The status of a race.
#[derive(Clone, Copy, Debug)]
pub(super) struct Examined {
    seen: Seen,
    /// The last step that need not come after the race's first, in the execution in which it was examined; later steps
    /// do not matter.
    last: usize,
}

/// The reason why the reversal of a race is explored anyway.
#[derive(Clone, Copy, Debug)]
pub(super) enum Seen {
    /// It may not be explored: that depends on the later steps.
    Maybe,
    /// It begins with a sleeper's step.
    Begun,
    /// There is no such reversal.
    Impossible,
    /// The sleeper at this index commutes with it.
    Commutes(usize),
}

/// The status of a race that was not examined.
const NEVER: Examined = Examined {
    seen: Seen::Maybe,
    last: usize::MAX,
};

/// Returns `true` if the task is among the candidates, and fairness lets it go in some order of the steps before.
fn can_begin(candidates: &[Candidate], task: u32) -> bool {
    let may_go = |candidate: &Candidate| candidate.task == task && candidate.held != Held::Always;
    candidates.iter().any(may_go)
}

/// Returns `true` if fairness holds back the task in every order of the steps before.
fn is_always_held(candidates: &[Candidate], task: u32) -> bool {
    let held = |candidate: &Candidate| candidate.task == task && candidate.held == Held::Always;
    candidates.iter().any(held)
}

impl Dpor {
    /// Plans the reversal of every race of the last execution. `choices` are those of the execution, or none if it
    /// chose no values.
    pub(super) fn reverse_races(&mut self, trace: &Trace, choices: &[Choice]) {
        let steps = self.nodes.len().min(trace.steps().len());
        let mut sequences = self.take_sequences();
        let races = trace.races_from(0);
        let whole = self.insertion == Insertion::WakeupTrees;
        if whole && trace.has_tasks_from(self.fresh) {
            for (number, lineage) in trace.lineages() {
                self.bound.number_is_of(number, lineage);
            }
        }
        let known = races.len() - trace.races_from(self.fresh).len();
        let mut examined = std::mem::take(&mut self.examined);
        examined.truncate(known);
        examined.resize(races.len(), NEVER);
        // With source sets, the later steps do not matter.
        let from = if whole { 0 } else { known };
        if from < known {
            trace.known_to_all(self.fresh, steps, &mut self.known_to_all);
        }
        for (&Race { earlier, later }, examined) in races[from..].iter().zip(&mut examined[from..]) {
            let (earlier, later) = (earlier as usize, later as usize);
            if later >= steps || earlier == 0 || !self.has_news(trace, *examined, earlier, steps) {
                continue;
            }
            if sequences.analysis_limit().ends_after(steps - earlier) {
                break;
            }
            let Some(sequence) = sequences.reversing_up_to(trace, choices, earlier, later) else {
                let (seen, last) = (Seen::Impossible, later);
                *examined = Examined { seen, last };
                continue;
            };
            // If the sequence begins with a sleeper's step, later steps do not matter, unless the race's second step
            // ends a wait with a limit.
            let is_sure = whole && !self.nodes[earlier].fair && !trace.is_timed_wait(later);
            if is_sure && self.begins_asleep(trace, choices, earlier, sequence) {
                let (seen, last) = (Seen::Begun, later);
                *examined = Examined { seen, last };
                continue;
            }
            let until = if whole { steps } else { later + 1 };
            let sequence = sequences.and_later(trace, until);
            let last = sequence.last_step();
            let seen = match whole && !sequence.can_reverse(trace, earlier) {
                true => Seen::Maybe,
                false => self.insert(trace, choices, earlier, sequence),
            };
            *examined = Examined { seen, last };
        }
        self.examined = examined;
        self.sequences = Some(sequences);
        self.reverse_ends_of_waits(trace, choices, steps);
        if let Some(cut) = &mut self.cut {
            let blocked = std::mem::take(&mut cut.blocked);
            if !blocked.is_empty() {
                self.reverse_races_of_blocked(trace, choices, steps, &blocked);
            }
        } else if trace.ending() == Ending::Stuck {
            let blocked = trace.blocked().iter();
            let blocked: Vec<_> = blocked
                .map(|&blocked| (blocked, trace.races_of_blocked(&blocked)))
                .collect();
            self.reverse_races_of_blocked(trace, choices, steps, &blocked);
        }
    }

    /// Does the same for races with blocked operations, each with the steps before which it could have happened.
    #[inline(never)]
    fn reverse_races_of_blocked(
        &mut self,
        trace: &Trace,
        choices: &[Choice],
        steps: usize,
        blocked: &[(Blocked, Vec<usize>)],
    ) {
        let mut sequences = self.take_sequences();
        for (blocked, races) in blocked {
            for &earlier in races {
                if earlier > 0 && !sequences.analysis_limit().ends_after(steps - earlier.min(steps)) {
                    let sequence = sequences.reversing_blocked(trace, earlier, blocked, steps);
                    if let Some(sequence) = sequence {
                        self.insert(trace, choices, earlier, sequence);
                    }
                }
            }
        }
        self.sequences = Some(sequences);
    }

    /// Returns `true` if a race with this status, whose first step is `earlier`, has to be examined because of the new
    /// steps: `fresh` and later.
    #[inline(always)]
    fn has_news(&self, trace: &Trace, examined: Examined, earlier: usize, steps: usize) -> bool {
        let Examined { seen, last } = examined;
        let sleeper = match seen {
            Seen::Begun | Seen::Impossible => return false,
            Seen::Maybe if last >= self.fresh => return true,
            Seen::Maybe => None,
            Seen::Commutes(sleeper) => Some(sleeper),
        };
        match trace.is_known_to_all(earlier, &self.known_to_all) {
            Some(true) => false,
            Some(false) if sleeper.is_none() && !trace.has_voids() => true,
            _ => self.has_news_for(trace, sleeper.map(|at| &self.sleepers[at]), earlier, steps),
        }
    }

    /// Returns `true` if a new step that need not come after `earlier` wakes the sleeper before the sleeper's own task
    /// takes such a step. Without a sleeper, returns `true` if there is any such step. Elided steps do not count.
    #[inline(never)]
    fn has_news_for(&self, trace: &Trace, sleeper: Option<&Sleeper>, earlier: usize, steps: usize) -> bool {
        let (mut begins, mut news) = (false, false);
        trace.for_each_independent(earlier, self.fresh, steps, |number, step| match sleeper {
            None => news |= !trace.is_void(number),
            Some(sleeper) if !begins && !news && !trace.is_void(number) => {
                begins = step.task == sleeper.task;
                news = !begins && sleeper.is_woken(trace, number, &trace.footprint_with_elided(number));
            }
            Some(_) => {}
        });
        news
    }

    /// Returns `true` if a sequence that would be planned before the step at `depth` begins with a step that was tried
    /// there.
    #[inline(always)]
    fn begins_asleep(&self, trace: &Trace, choices: &[Choice], depth: usize, sequence: &Sequence) -> bool {
        let asleep = &self.sleepers[self.nodes[depth].sleepers..self.sleepers_end(depth)];
        let begins = |sleeper| sequence.begins_asleep(trace, choices, sleeper, asleep);
        asleep.iter().any(begins)
    }

    /// Plans a sequence before the step at `depth`, unless its trace is explored anyway. Returns the reason why the
    /// reversal of its race is explored, whatever comes after it.
    pub(super) fn insert(
        &mut self,
        trace: &Trace,
        choices: &[Choice],
        depth: usize,
        sequence: &mut Sequence,
    ) -> Seen {
        let node = &self.nodes[depth];
        let candidates = &self.candidates[node.candidates.clone()];
        let can_begin = |task: u32| can_begin(candidates, task);
        if !sequence.begins(trace).any(can_begin) {
            if node.fair {
                // Fairness may hold back the task that should go first. Then trees are not reliable, as after a
                // failure.
                self.bound.invalidate(FallbackReason::HeldBack);
                self.try_all(depth);
            }
            // Otherwise the task that should go first cannot: the order was not reversible.
            return Seen::Maybe;
        }
        if self.is_above_frontier(depth) {
            // Every task is tried there.
            return Seen::Maybe;
        }
        if self.insertion == Insertion::WakeupTrees {
            if node.fair && is_always_held(candidates, sequence.last_task()) {
                self.bound.invalidate(FallbackReason::HeldBack);
                return Seen::Maybe;
            }
            return self.insert_whole(trace, choices, depth, sequence);
        }
        self.insert_first(trace, choices, depth, sequence);
        Seen::Maybe
    }

    /// Does the same with wakeup trees.
    #[inline(always)]
    fn insert_whole(
        &mut self,
        trace: &Trace,
        choices: &[Choice],
        depth: usize,
        sequence: &mut Sequence,
    ) -> Seen {
        let end = self.sleepers_end(depth);
        let node = &mut self.nodes[depth];
        let asleep = &self.sleepers[node.sleepers..end];
        let pending = &mut node.pending;
        if !choices.is_empty() {
            sequence.learn_footprint(trace, |task| pending.first_footprint(task));
            sequence.keeps_outside = true;
        }
        let explored = Explored {
            asleep,
            task: node.task,
            wanted: &node.wanted,
            values: &node.explored,
            sequences: &node.sequences,
        };
        let (mut halves, mut begun) = (Vec::new(), Vec::new());
        for (at, sleeper) in asleep.iter().enumerate() {
            let begins = sequence.may_begin(trace, sleeper.task, &sleeper.footprint, sleeper.gives_up);
            let may_have_other = match begins {
                None => continue,
                // The executions that an overslept sleeper leads to may themselves rely on this sequence.
                Some(None) if sleeper.overslept => continue,
                Some(None) if sleeper.fate().is_none() => return Seen::Commutes(node.sleepers + at),
                // After the sequence its operation may have the other fate.
                Some(None) => true,
                Some(Some(place)) if sequence.is_tried(trace, choices, place, sleeper, asleep) => {
                    return Seen::Maybe;
                }
                Some(Some(place)) => {
                    sleeper.values.len() == 1 && sequence.may_have_either(trace, choices, place)
                }
            };
            if may_have_other && let Some(fate) = sleeper.fate() {
                let other = (sleeper.task, fate.other(), &sleeper.footprint[..]);
                if explored.covers(pending, trace, choices, sequence, other) {
                    return Seen::Maybe;
                }
                halves.push(other);
            }
        }
        let is_seen = halves
            .iter()
            .any(|&other| explored.has_half(pending, trace, choices, sequence, other, &mut begun));
        let mut unsure = match self.part.at(depth) {
            _ if is_seen => false,
            None => pending.insert(trace, choices, sequence, Some((&explored, &mut begun))),
            Some(_) => self.part.insert(depth, trace, choices, sequence),
        };
        for begun in &begun {
            let node = &mut self.nodes[depth];
            let continued = [&mut node.sequences, &mut node.pending]
                .into_iter()
                .find_map(|tree| tree.continue_half(trace, choices, sequence, begun));
            debug_assert!(
                continued.is_some(),
                "the tree that began the sequence still begins it"
            );
            unsure |= continued.unwrap_or(false);
        }
        if unsure {
            self.bound.invalidate(FallbackReason::Incomparable);
        }
        Seen::Maybe
    }

    /// Does the same with source sets: plans the first step of the sequence.
    ///
    /// A sleeper that only commutes with the sequence does not make it unnecessary, because the executions that it
    /// leads to may themselves rely on a task that is tried here.
    #[inline(never)]
    fn insert_first(&mut self, trace: &Trace, choices: &[Choice], depth: usize, sequence: &mut Sequence) {
        let node = &self.nodes[depth];
        let asleep = &self.sleepers[node.sleepers..self.sleepers_end(depth)];
        let candidates = &self.candidates[node.candidates.clone()];
        let can_begin = |task: u32| can_begin(candidates, task);
        let sequence = sequence.keep_needed(trace);
        let tried = sequence.first_places(trace).any(|place| {
            let task = sequence.task_at(place);
            let is_tried = |sleeper: &Sleeper| {
                sleeper.task == task && sequence.is_tried(trace, choices, place, sleeper, asleep)
            };
            task == node.task
                || asleep.iter().any(is_tried)
                || match self.part.at(depth) {
                    None => node.pending.begins_with(task),
                    Some(at) => at.place.lock().has(task),
                }
        });
        if !tried {
            let last = sequence.last_task();
            let able = || sequence.begins(trace).filter(|&task| can_begin(task));
            let first = able().find(|&task| task == last).or_else(|| able().next());
            match first {
                Some(first) => self.try_task(depth, first, Footprint::new()),
                // Another task has to go first, so that fairness releases this one.
                None if sequence
                    .begins(trace)
                    .any(|task| is_always_held(candidates, task)) =>
                {
                    self.try_all(depth)
                }
                None => {}
            }
        }
    }
}
