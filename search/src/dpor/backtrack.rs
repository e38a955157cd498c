//! Backtracking: from one execution back along the path to the deepest choice with an untried alternative.

use super::Dpor;
use super::sleep::{Sleeper, is_asleep, is_asleep_with};
use super::tree;
use super::values::{Fate, values};
use intermezzo_engine::schedule::{Choice, ChoiceKind};
use intermezzo_engine::strategy::Plan;
use intermezzo_engine::trace::{StepAccess, Trace};

impl Dpor {
    /// Returns the completed fraction of the search, from the position of its last execution in the tree of
    /// alternatives.
    pub(super) fn progress(&self, choices: &[Choice]) -> f64 {
        let own = self
            .cut
            .as_ref()
            .map_or(choices, |cut| &choices[..cut.choices.min(choices.len())]);
        let mut nodes = self.nodes.iter().rev().peekable();
        let mut share = 1.0;
        for (at, choice) in own.iter().enumerate().rev() {
            while nodes
                .next_if(|node| node.choice.is_none_or(|choice| choice > at))
                .is_some()
            {}
            let (tried, all) = match nodes.peek() {
                Some(node) if choice.kind == ChoiceKind::Task && node.choice == Some(at) => (
                    node.tried,
                    node.tried + 1 + node.pending.first_tasks().count() as u32,
                ),
                _ if choice.kind == ChoiceKind::Task => (0, 1),
                _ => (choice.taken, choice.alternatives),
            };
            share = (f64::from(tried) + share) / f64::from(all);
        }
        share
    }

    /// Changes the plan to the next execution, at the deepest choice with an untried alternative.
    pub(super) fn backtrack(&mut self, plan: &mut Plan, trace: &Trace) -> bool {
        while plan.choices().len() > self.part.fixed {
            let at = plan.choices().len() - 1;
            let last = plan.choices()[at];
            if last.kind != ChoiceKind::Task {
                // It is a value, chosen in the step that is the last one then.
                while self
                    .nodes
                    .last()
                    .is_some_and(|node| node.choice.is_some_and(|choice| choice > at))
                {
                    self.leave();
                }
                self.leave_forced(at, trace);
                let depth = self.nodes.len() - 1;
                let begin = depth
                    .checked_sub(1)
                    .map_or(0, |before| trace.steps()[before].choices_end);
                let made = plan.choices().get(begin..=at).unwrap_or_default();
                let fate = match Fate::of(&last) {
                    Some(fate) if !self.is_bounded() && values(made).len() == 1 => Some(fate),
                    _ => None,
                };
                let next = match fate {
                    Some(fate) => self.fate_after(depth, fate).map(Fate::alternative),
                    None => Some(last.taken + 1).filter(|&next| next < last.alternatives),
                };
                if (next.is_some() || fate.is_some()) && depth > 0 && depth < trace.steps().len() {
                    self.nodes[depth].add_to_footprint(&trace.footprint_with_elided(depth));
                }
                if let Some(fate) = fate {
                    let node = &mut self.nodes[depth];
                    let footprint = std::mem::take(&mut node.footprint);
                    node.explored_fates.push((fate, footprint));
                }
                if let Some(next) = next {
                    plan.take(at, next);
                    self.values = values(plan.choices().get(begin..=at).unwrap_or_default());
                    self.fresh = depth;
                    return true;
                }
                plan.truncate(at);
                continue;
            }
            while self.nodes.last().is_some_and(|node| node.choice != Some(at)) {
                self.leave();
            }
            let depth = self.nodes.len() - 1;
            let node = &mut self.nodes[depth];
            if node.pending.is_empty() {
                // No other task is tried here any more, so the step's footprint is not needed.
                self.leave();
                plan.truncate(at);
                continue;
            }
            let task = node.task;
            let tried = |fate, footprint| Sleeper {
                task,
                footprint,
                fate,
                across_elided: trace.is_void(depth),
                overslept: false,
            };
            // With a bound no task stays asleep: these are just the tasks that were tried here.
            if node.explored_fates.is_empty() {
                node.add_to_footprint(&trace.footprint_with_elided(depth));
                self.sleepers
                    .push(tried(None, std::mem::take(&mut node.footprint)));
            } else {
                let explored = node.explored_fates.drain(..);
                self.sleepers
                    .extend(explored.map(|(fate, footprint)| tried(Some(fate), footprint)));
            }
            node.went_on = None;
            let from = node.sleepers;
            while let Some(task) = self.nodes[depth].next_pending() {
                let asleep = &self.sleepers[from..];
                let fates = self.nodes[depth].sequences.first_fates();
                let is_seen = |fate| !fates.has(fate) || is_asleep_with(asleep, task, fate);
                if is_asleep(asleep, task) || Fate::BOTH.into_iter().all(is_seen) {
                    continue;
                }
                self.nodes[depth].fates = fates;
                let node = &self.nodes[depth];
                let listed = &self.candidates[node.candidates.clone()];
                let place = listed.iter().position(|candidate| candidate.task == task);
                let Some(alternative) = place else {
                    self.do_without_plan(depth);
                    continue;
                };
                if !self.bound.allows(node, alternative) {
                    continue;
                }
                let node = &mut self.nodes[depth];
                node.task = task;
                node.tried += 1;
                self.values.clear();
                self.fresh = depth;
                plan.take(at, alternative as u32);
                return true;
            }
            self.leave();
            plan.truncate(at);
        }
        self.part.is_shared() && self.turn(plan, trace)
    }

    /// Returns the fate to explore after this one, if any is left: of the operation of the step at `depth`.
    fn fate_after(&self, depth: usize, last: Fate) -> Option<Fate> {
        let mut others = Fate::BOTH.into_iter();
        others.by_ref().find(|&fate| fate == last);
        others.find(|&fate| self.is_to_explore(depth, fate))
    }

    /// Returns `true` if the step at `depth` is to be explored with this fate.
    fn is_to_explore(&self, depth: usize, fate: Fate) -> bool {
        let node = &self.nodes[depth];
        let asleep = &self.sleepers[node.sleepers..self.sleepers_end(depth).max(node.sleepers)];
        node.fates.has(fate) && !is_asleep_with(asleep, node.task, fate)
    }

    /// Returns the first fate to explore, of the operation of the last step of the path.
    pub(super) fn first_fate(&self) -> Fate {
        let depth = self.nodes.len() - 1;
        let mut fates = Fate::BOTH.into_iter();
        fates
            .find(|&fate| self.is_to_explore(depth, fate))
            .unwrap_or(Fate::Succeeds)
    }

    /// Removes the last node of the path.
    pub(super) fn leave(&mut self) {
        let node = self.nodes.last().expect("a node to leave");
        self.candidates.truncate(node.candidates.start);
        self.sleepers.truncate(node.sleepers);
        self.nodes.pop();
    }

    /// Removes nodes of the path that come after the step with the choice `at`, and had no choice of their own.
    fn leave_forced(&mut self, at: usize, trace: &Trace) {
        while self.nodes.len() > 1
            && (trace.steps().get(self.nodes.len() - 2)).is_some_and(|step| step.choices_end > at)
        {
            self.leave();
        }
    }

    /// Adjusts the planned sequences to the step that has ended, which should have made these counts. A task drops a
    /// handle in a step of its own, but the last handle in the step before; and which handle is the last depends on the
    /// order. The candidates for the next step are those from `candidates` on.
    #[inline(never)]
    pub(super) fn fit_guide(&mut self, counts: &[StepAccess], candidates: usize, trace: &Trace) {
        let depth = self.nodes.len() - 1;
        let task = self.nodes[depth].task;
        let made = tree::counts(trace.footprint(depth));
        let mut listed = self.candidates[candidates..].iter();
        if made > counts.len() {
            self.wakeup_sequence.leave_out(task, made - counts.len());
        } else if made < counts.len() && listed.any(|candidate| candidate.task == task) {
            self.wakeup_sequence.put_first(task, &counts[made..]);
        }
    }

    /// Plans every alternative at a step because a part of its plan cannot be followed, and is lost. The sleepers there
    /// have overslept: it is no longer certain that everything they lead to is planned.
    #[cold]
    pub(super) fn do_without_plan(&mut self, depth: usize) {
        let (from, end) = (self.nodes[depth].sleepers, self.sleepers_end(depth));
        for sleeper in &mut self.sleepers[from..end] {
            sleeper.overslept = true;
        }
        self.try_all(depth);
    }
}
