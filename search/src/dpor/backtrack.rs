//! Backtracking: from one execution back along the path to the deepest choice with an untried alternative.

use super::Dpor;
use super::node::add;
use super::sleep::{self, Footprint, Sleeper, is_asleep, is_asleep_with};
use super::values::{Values, next_value, values};
use intermezzo_engine::schedule::{Choice, ChoiceKind};
use intermezzo_engine::strategy::Plan;
use intermezzo_engine::trace::Trace;

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
                // It is a value, which was chosen in the step that becomes the last one.
                while self
                    .nodes
                    .last()
                    .is_some_and(|node| node.choice.is_some_and(|choice| choice > at))
                {
                    self.close(trace);
                }
                self.leave_forced(at, trace);
                let depth = self.nodes.len() - 1;
                let begin = depth
                    .checked_sub(1)
                    .map_or(0, |before| trace.steps()[before].choices_end);
                let made = plan.choices().get(begin..=at).unwrap_or_default();
                if depth > 0 {
                    self.note_explored(depth, at, made, trace);
                }
                let mut before = values(made);
                before.pop();
                let next = (last.taken + 1..last.alternatives)
                    .find(|&next| self.is_to_explore(depth, &before, last.kind, next));
                if let Some(next) = next {
                    plan.take(at, next);
                    let made = plan.choices().get(begin..=at).unwrap_or_default();
                    self.values = values(made);
                    self.turn_in_share(made);
                    self.fresh = depth;
                    return true;
                }
                plan.truncate(at);
                continue;
            }
            while self.nodes.last().is_some_and(|node| node.choice != Some(at)) {
                self.close(trace);
            }
            let depth = self.nodes.len() - 1;
            let overslept = self.is_above_frontier(depth);
            let node = &mut self.nodes[depth];
            if node.pending.is_empty() {
                // No other task will be tried here, so the step's footprint is not needed.
                self.close(trace);
                plan.truncate(at);
                continue;
            }
            let task = node.task;
            let tried = |values, footprint| Sleeper {
                task,
                footprint,
                values,
                gives_up: trace.gives_up_share(depth),
                across_elided: trace.is_void(depth),
                overslept,
            };
            // With a bound, no task sleeps: the list then only records the tasks that were tried here.
            if node.explored.is_empty() {
                node.add_to_footprint(&trace.footprint_with_elided(depth));
                let mut all = tried(Values::new(), std::mem::take(&mut node.footprint));
                // Values that slept were not tried again.
                for own in &self.sleepers[node.sleepers..] {
                    if own.task == task {
                        add(&mut all.footprint, &own.footprint);
                        all.overslept |= own.overslept;
                        all.across_elided |= own.across_elided;
                    }
                }
                self.sleepers.push(all);
            } else {
                let explored = node.explored.drain(..);
                self.sleepers
                    .extend(explored.map(|(values, footprint)| tried(values, footprint)));
            }
            node.went_on = None;
            let from = node.sleepers;
            while let Some(task) = self.nodes[depth].next_pending() {
                let asleep = &self.sleepers[from..];
                let wanted = self.nodes[depth].sequences.first_values();
                let is_seen = |values: &Values| is_asleep_with(asleep, task, values);
                if is_asleep(asleep, task) || !wanted.are_all() && wanted.beginnings().iter().all(is_seen) {
                    continue;
                }
                self.nodes[depth].forget_explored();
                self.nodes[depth].want(wanted);
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
                self.turn_in_share(&[]);
                if self.is_last_elsewhere() {
                    break;
                }
                self.values.clear();
                self.fresh = depth;
                plan.take(at, alternative as u32);
                return true;
            }
            self.close(trace);
            plan.truncate(at);
        }
        self.part.is_shared() && self.turn(plan, trace)
    }

    /// Notes the values with which the step at `depth` was explored, if the choice `at` is its last. `made` are its
    /// choices.
    fn note_explored(&mut self, depth: usize, at: usize, made: &[Choice], trace: &Trace) {
        let step = trace.steps().get(depth);
        if step.is_some_and(|step| step.choices_end != at + 1) {
            return;
        }
        let footprint = step
            .map(|_| trace.footprint_with_elided(depth))
            .unwrap_or_default();
        if self.is_bounded() {
            return self.nodes[depth].add_to_footprint(&footprint);
        }
        let of_values = made.iter().filter(|choice| choice.kind != ChoiceKind::Task);
        let widths: Values = of_values.map(|choice| choice.alternatives).collect();
        let (task, from) = (self.nodes[depth].task, self.nodes[depth].sleepers);
        let own = self.sleepers[from..self.sleepers_end(depth).max(from)].iter();
        let own = own.filter(|sleeper| sleeper.task == task && !sleeper.overslept && !sleeper.across_elided);
        let others: Vec<(Values, Footprint)> = own
            .map(|sleeper| (sleeper.values.clone(), sleeper.footprint.clone()))
            .collect();
        self.nodes[depth].add_explored(&values(made), &footprint, &widths, &others);
    }

    /// Returns `true` if the step at `depth` must be explored with this alternative of its next choice, after these
    /// values.
    fn is_to_explore(&self, depth: usize, before: &[u32], kind: ChoiceKind, alternative: u32) -> bool {
        if self.is_bounded() {
            return true;
        }
        let node = &self.nodes[depth];
        let from = node.sleepers;
        let asleep = &self.sleepers[from..self.sleepers_end(depth).max(from)];
        let mut own = asleep
            .iter()
            .filter(|sleeper| sleeper.task == node.task && (kind.is_failure() || !sleeper.values.is_empty()))
            .peekable();
        if node.wanted.are_all() && own.peek().is_none() {
            return true;
        }
        let mut values = Values::from_slice(before);
        values.push(next_value(before, kind, alternative));
        node.wanted.have(&values) && !own.any(|sleeper| values.starts_with(&sleeper.values))
    }

    /// Returns the first alternative to explore of a choice in the last step of the path.
    pub(super) fn first_alternative(&self, kind: ChoiceKind, alternatives: u32) -> u32 {
        let depth = self.nodes.len() - 1;
        (0..alternatives)
            .find(|&alternative| self.is_to_explore(depth, &self.values, kind, alternative))
            .unwrap_or(0)
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
            self.close(trace);
        }
    }

    /// Adjusts the planned sequences to the step that has ended, which should have made the expected counts. A task
    /// drops a handle in a separate step, except for the last handle, which it drops in the step before; and the order
    /// decides which handle is the last. The candidates for the next step are those from `candidates` on.
    #[inline(never)]
    pub(super) fn fit_plan(&mut self, candidates: usize, trace: &Trace) {
        let counts = &self.expected_counts;
        let depth = self.nodes.len() - 1;
        let task = self.nodes[depth].task;
        let made = sleep::counts(trace.footprint(depth));
        let mut listed = self.candidates[candidates..].iter();
        if made > counts.len() {
            self.wakeup_sequence.leave_out(task, made - counts.len());
        } else if made < counts.len() && listed.any(|candidate| candidate.task == task) {
            self.wakeup_sequence.put_first(task, &counts[made..]);
        }
    }

    /// Plans every alternative at a step, because a part of its plan cannot be followed and is lost. The sleepers there
    /// count as overslept, because it is no longer certain that everything that they lead to is planned.
    #[cold]
    pub(super) fn do_without_plan(&mut self, depth: usize) {
        let (from, end) = (self.nodes[depth].sleepers, self.sleepers_end(depth));
        for sleeper in &mut self.sleepers[from..end] {
            sleeper.overslept = true;
        }
        self.try_all(depth);
    }
}
