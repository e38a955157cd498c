//! The node of a step that is about to be taken: its candidates, the tasks asleep there, and the one that goes.

use super::held_back::Held;
use super::node::{Candidate, Node};
use super::sleep::{self, is_asleep};
use super::{Dpor, Insertion};
use intermezzo_engine::strategy::ChoicePoint;
use intermezzo_engine::trace::Trace;
use intermezzo_sdk::TaskId;

impl Dpor {
    /// Returns `true` if nothing is planned after the last step, no task slept before it, and none could be woken.
    #[inline(always)]
    pub(super) fn is_plain(&self, trace: &Trace) -> bool {
        let is_plain = |last: &Node| {
            last.sequences.is_empty() && last.sleepers == self.sleepers.len() && !last.may_time_out
        };
        self.nodes.last().is_some_and(is_plain)
            && self.values.is_empty()
            && !trace.has_voids()
            && !self.is_bounded()
    }

    /// Begins the node of a step that only this task can take.
    #[inline(always)]
    pub(super) fn enter_only(&mut self, task: u32, fair: bool) {
        self.wakeup_sequence.clear();
        let (candidates, sleepers) = (self.candidates.len(), self.sleepers.len());
        self.candidates.push(Candidate::enabled(task));
        let node = self.nodes.push();
        (node.task, node.fair) = (task, fair);
        (node.candidates, node.sleepers) = (candidates..candidates + 1, sleepers);
        self.begin_in_share();
    }

    /// Begins the node of the step that is about to be taken. Returns the alternative to take.
    // A separate function, because most steps do not need it: see `enter_only`.
    #[inline(never)]
    pub(super) fn enter(&mut self, point: &ChoicePoint<'_>) -> u32 {
        let trace = point.trace();
        let depth = self.nodes.len();
        debug_assert_eq!(depth, trace.steps().len(), "one node for each step");
        let expects_counts = self.follow_values(trace);
        let candidates = self.candidates.len();
        let sleeping = self.sleepers.len();
        if depth > 1 {
            if !self.is_bounded() && !self.inherit_sleep(depth - 1, trace) {
                self.sleepers.truncate(sleeping);
                self.cut(point, true);
                return 0;
            }
            self.plan_time_outs(depth - 1, trace);
        }
        let preemptions = match self.nodes.last() {
            Some(last) if self.is_bounded() => last.preemptions + self.cost(last, last.task),
            _ => 0,
        };
        let order_matters = match self.is_bounded() {
            true => point.order_matters,
            false => !point.holds.is_empty(),
        };
        if order_matters {
            self.bound.note_held_back();
        }
        if self.is_known(point, preemptions) {
            self.cut(point, false);
            return 0;
        }
        let is_simple = point.candidates.are_enabled() && point.holds.is_empty();
        let may_time_out = if is_simple {
            let list = &mut self.candidates;
            point.for_each_task(|TaskId(task)| list.push(Candidate::enabled(task)));
            false
        } else {
            self.list_candidates(point)
        };
        if expects_counts {
            self.fit_plan(candidates, trace);
        }
        let choice = (point.alternatives > 1).then_some(point.choices);
        let listed = &self.candidates[candidates..];
        let node = self.nodes.push();
        (node.candidates, node.sleepers) = (candidates..self.candidates.len(), sleeping);
        (node.choice, node.fair, node.may_time_out) = (choice, point.fair, may_time_out);
        (node.preempts, node.preemptions) = (point.preempts, preemptions);
        let (mut guided, mut planned) = (None, 0);
        if !self.wakeup_sequence.is_empty() {
            std::mem::swap(&mut node.pending, &mut self.wakeup_sequence);
            guided = std::iter::from_fn(|| node.next_pending())
                .inspect(|_| planned += 1)
                .find_map(|task| listed.iter().position(|candidate| candidate.task == task));
        }
        let mut had_overslept = false;
        if guided.is_none() && self.insertion == Insertion::WakeupTrees {
            // The tasks that are still asleep were not woken by the plan.
            let asleep = self.sleepers[sleeping..].iter_mut();
            asleep.for_each(|sleeper| had_overslept |= std::mem::replace(&mut sleeper.overslept, true));
        }
        if guided.is_some() {
            node.want(node.sequences.first_values());
        }
        // Without a sequence to follow, or if its next step has already been done, any task may go.
        let alternative = match guided {
            Some(guided) => Some(guided),
            None if is_simple => {
                let asleep = &self.sleepers[sleeping..];
                listed
                    .iter()
                    .position(|candidate| !is_asleep(asleep, candidate.task))
            }
            None => self.first_awake(point, candidates, sleeping),
        };
        let Some(alternative) = alternative else {
            return self.enter_asleep(point, had_overslept);
        };
        self.nodes[depth].task = self.candidates[candidates + alternative].task;
        if guided.is_some() && planned > 1 {
            self.do_without_plan(depth);
        }
        self.begin_in_share();
        self.expand_above_frontier();
        alternative as u32
    }

    /// Lists the candidates at a point at which some wait or are held back. Returns `true` if one may time out.
    #[cold]
    #[inline(never)]
    fn list_candidates(&mut self, point: &ChoicePoint<'_>) -> bool {
        let mut may_time_out = false;
        let all_enabled = point.candidates.are_enabled();
        point.for_each_task(|TaskId(task)| {
            let waits_for = if all_enabled { None } else { point.waits_for(task) };
            may_time_out |= waits_for.is_some();
            let held = Held::of(task, point.holds, point.trace());
            self.candidates.push(Candidate {
                task,
                waits_for,
                held,
            });
        });
        may_time_out
    }

    /// Continues with the planned sequences below the last step, for the values that it chose. With wakeup trees,
    /// returns `true` if counts matter: the plan expects some, now in `expected_counts`, or the step made some.
    #[inline(always)]
    fn follow_values(&mut self, trace: &Trace) -> bool {
        let (mut expects_counts, next) = (false, self.nodes.len());
        if let Some(node) = self.nodes.last_mut() {
            let may_count =
                || node.sequences.may_begin_with_counts() || sleep::counts(trace.footprint(next - 1)) > 0;
            if self.insertion == Insertion::WakeupTrees && node.sequences.goes_on() && may_count() {
                expects_counts = node
                    .sequences
                    .counts_after(&self.values, &mut self.expected_counts);
            }
            node.sequences.take_after(&self.values, &mut self.wakeup_sequence);
        }
        self.values.clear();
        expects_counts && !self.wakeup_sequence.is_empty()
    }

    /// Lets tasks that sleep before a step stay asleep after it, unless it is their own step or wakes them.
    ///
    /// Returns `false` if the execution is redundant, because the step ended a failed round or belongs to a round that
    /// started too early.
    pub(super) fn inherit_sleep(&mut self, depth: usize, trace: &Trace) -> bool {
        if trace.has_voids() {
            if trace
                .elided_rounds()
                .last()
                .is_some_and(|round| round.at == depth)
            {
                return self.inherit_over_void(depth, trace);
            }
            if self.starts_too_early(depth, trace) {
                return false;
            }
        }
        let node = &self.nodes[depth];
        let footprint = trace.footprint(depth);
        for at in node.sleepers..self.sleepers.len() {
            let sleeper = &self.sleepers[at];
            if sleeper.task != node.task && !sleeper.is_woken(trace, depth, footprint) {
                let sleeper = sleeper.clone();
                self.sleepers.push(sleeper);
            }
        }
        true
    }
}
