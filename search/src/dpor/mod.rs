//! Dynamic partial-order reduction with sleep sets: with source sets, and the optimal algorithm with wakeup trees
//! (Abdulla, Aronis, Jonsson, Sagonas, "Source Sets", JACM 2017).
//!
//! Each execution is run to its end. Then every race in it is examined: two dependent steps that are ordered by nothing
//! but their own dependence. A sequence of steps that reverses the race is planned before the first of the two, unless
//! one that is or was explored there leads to the same trace. A task whose step has been tried *sleeps* until some task
//! takes a step that does not commute with it: the executions that it could begin in between have been explored.
//!
//! Source sets keep only the first step of the sequence. That is cheap, but some executions reach a point at which all
//! enabled tasks are asleep. They are *redundant*. Wakeup trees keep and follow the whole sequence, and have no
//! redundant executions.
//!
//! Beyond the paper:
//! - *Values.* Choices that are not about tasks (`choose(n)`, the waiter to notify) are enumerated within their step. A
//!   step that is planned in a sequence is explored only with the values that it chose there, and sleeps only with
//!   these. With other values it is a different step, which other executions plan if it matters.
//! - *Fates.* If the environment may let an operation fail that could succeed, its step counts as two steps, because a
//!   failure only reads. Each of the two sleeps and is woken separately. A sequence that reverses a race of the
//!   operation plans only one fate, if the first step of the race did not change the operation's variable: the other
//!   fate is explored after that step. A sleeper, or a branch, with one fate covers only half of a sequence with which
//!   it commutes: the executions in which its operation has that fate (`tree::halves`).
//! - *Variables* that are first used after a step may have other numbers in other executions. There they are recognised
//!   by the stable identities of the operations on them (`names`). If these do not show whether a branch leads to the
//!   same trace as a sequence, the search falls back to source sets, which do not need to know.
//! - *Sleepers that were not woken.* A sleeper that commutes with a sequence makes the sequence unnecessary only if
//!   everything found after the sleeper's step is planned further up, and followed. A leaf of a tree covers everything
//!   that begins with it, so the path to it has to wake the tasks that sleep there. A failed exchange may succeed when
//!   it comes earlier: it is planned as if it did, and so wakes tasks that load. If it fails nevertheless, they stay
//!   asleep: they *overslept*. From there on, such a sleeper covers only sequences that begin with its own step, as
//!   with source sets.
//! - *Handles.* The last handle to a shared object is dropped within the step before; the last but one is dropped in a
//!   separate step. Drops commute, so in another order one planned step may be two steps, or two may be one. Trees are
//!   adjusted to that. The last drop runs the destructor, so it does not commute; when it is moved before the other
//!   step of its race, it is no longer the last.
//! - *Waits with a limit.* To come before the notification that ended it, a wait has to time out. The sequence plans
//!   the time-out, if enough time has passed by then, or if it may come early; otherwise the race cannot be reversed.
//! - *Blocked operations* take part in races although they do not happen: at the end of a stuck execution, and where an
//!   execution is cut with source sets or in a share.
//! - *Time-outs* that are due, or that may come early, are another possible next step of a waiting task. One is tried
//!   before each step that does not commute with it (`time_outs`).
//! - An *abandoned execution* (the body panicked, or the limit on steps was reached) does not show what would have
//!   followed, so every alternative along it is tried. Tasks that wakeup trees expect the plan to wake may then stay
//!   asleep, so the search falls back to source sets.
//!
//! Misses: nothing. A task that fair scheduling holds back may go where a race requires it (`held_back`). Memory: the
//! path, its sleep sets, and the sequences still to be explored; within a bound, known states.

mod all_saved;
mod allowance;
mod analysis_limit;
mod backtrack;
mod bound;
mod bounded;
mod crew;
mod elided_rounds;
mod enter;
mod held_back;
mod insertion;
mod known_states;
mod names;
mod node;
mod races;
mod saved;
mod sequence;
mod share;
mod shared_node;
mod sharing;
mod sleep;
mod time_outs;
mod tree;
mod values;

use crate::partition::Locus;
pub use allowance::Allowance;
use bound::Bound;
use bounded::PossibleFootprints;
pub use insertion::Insertion;
use intermezzo_engine::schedule::{Choice, ChoiceKind};
use intermezzo_engine::strategy::{
    ChoicePoint, Coverage, FallbackReason, Needs, Parallel, Partition, Partitioned, Plan, Resumable, SoFar,
    Status, Strategy, TimeIsOver,
};
use intermezzo_engine::trace::{Blocked, Ending, Trace};
use known_states::KnownStates;
use node::{Candidate, Node, Path};
use races::Examined;
use sequence::{Sequence, Sequences};
use sharing::Sharing;
use sleep::{Footprint, Sleeper, is_asleep};
use tree::Tree;
use values::{Values, next_value};

/// The point after which an execution is not part of the search.
struct Abort {
    /// The numbers of steps, and of choices, that belong to the search; later ones do not.
    steps: usize,
    choices: usize,
    /// The operations that were blocked there, each with the steps before which it could have happened.
    blocked: Vec<(Blocked, Vec<usize>)>,
}

/// The state when the running execution was prepared, from which it can be run again.
#[derive(Default)]
struct Planned {
    nodes: usize,
    values: Values,
    /// The sequences of the last node.
    sequences: Tree,
    redundant: u64,
    blocked: u64,
    /// The nodes from which the search has since continued after a failed round.
    gone_on: Vec<usize>,
    /// The part of the search below the last node's branch.
    after: Option<Locus>,
}

/// A search that runs one execution, or few, for each trace.
pub struct Dpor {
    insertion: Insertion,
    begun: bool,
    is_over: bool,
    /// The number of executions that it has prepared.
    executions: u64,
    /// The choices of an execution that is already prepared, if the search continues an earlier one.
    prepared: Option<Vec<Choice>>,
    /// The data of each step of the running execution. The first step, before any decision, has an empty node.
    nodes: Path,
    /// The candidates of all steps of the path, in order of their alternatives; and the sleepers before each.
    candidates: Vec<Candidate>,
    sleepers: Vec<Sleeper>,
    /// The sequences to follow next, if the step just decided belongs to one.
    wakeup_sequence: Tree,
    /// The counts that the plan expects the last step to have changed, if that is checked.
    expected_counts: Footprint,
    /// The values that the current step has chosen.
    values: Values,
    /// The first step of the last execution that was not in the one before.
    fresh: usize,
    /// The status of each race of the path.
    examined: Vec<Examined>,
    /// A lower bound on the entries that precede each new step of the execution: see [`Trace::known_to_all`].
    known_to_all: Vec<[u32; 4]>,
    cut: Option<Abort>,
    planned: Planned,
    redundant: u64,
    blocked: u64,
    bound: Bound,
    /// The steps after which the search is replaced by one with a bound; `None` for no limit.
    allowance: Option<Allowance>,
    /// `None` while the last execution is analysed.
    sequences: Option<Box<Sequences>>,
    /// The footprints of the last execution's steps, if the search has a bound.
    footprints: PossibleFootprints,
    /// The states from which a search within a bound has continued; `None` if they are not remembered.
    known: Option<Box<KnownStates>>,
    /// The worker's share of the search.
    part: Sharing,
    /// The share of the search that this process explores; `None` for all of it.
    partition: Option<Partition>,
}

impl Dpor {
    /// Creates a search that has run nothing.
    pub fn new(insertion: Insertion) -> Dpor {
        Dpor::within(insertion, Bound::new(insertion))
    }

    fn within(insertion: Insertion, bound: Bound) -> Dpor {
        Dpor {
            insertion,
            begun: false,
            is_over: false,
            executions: 0,
            prepared: None,
            nodes: Path::default(),
            candidates: Vec::new(),
            sleepers: Vec::new(),
            wakeup_sequence: Tree::default(),
            expected_counts: Footprint::new(),
            values: Values::new(),
            fresh: 0,
            examined: Vec::new(),
            known_to_all: Vec::new(),
            cut: None,
            planned: Planned::default(),
            redundant: 0,
            blocked: 0,
            allowance: None,
            sequences: Some(Box::new(Sequences::new(bound.apart.clone()))),
            footprints: PossibleFootprints::default(),
            bound,
            known: None,
            part: Sharing::default(),
            partition: None,
        }
    }

    /// Ends the search's part of the execution; `blocked` is `true` if the reason is a failed round.
    fn cut(&mut self, point: &ChoicePoint<'_>, blocked: bool) {
        *if blocked {
            &mut self.blocked
        } else {
            &mut self.redundant
        } += 1;
        // Other executions show what follows. In them, a task that waits here may continue only after a step of another
        // task, and its races are found only after that step. That is not enough where one step is planned at a time:
        // with source sets, and above the frontier of a share.
        let plans_steps = self.insertion == Insertion::SourceSets || self.partition.is_some();
        let waiting = match plans_steps && !self.is_bounded() {
            true => {
                let is_enabled = |task| point.is_enabled(task);
                point.trace().blocked_so_far(point.created_tasks(), is_enabled)
            }
            false => Vec::new(),
        };
        self.cut = Some(Abort {
            steps: self.nodes.len(),
            choices: point.choices,
            blocked: waiting,
        });
    }

    /// Plans a task at a step, unless it is planned or was tried there; `footprint` is the known part of the footprint
    /// of its step.
    fn try_task(&mut self, depth: usize, task: u32, footprint: Footprint) {
        let end = self.sleepers_end(depth);
        let node = &mut self.nodes[depth];
        let asleep = &self.sleepers[node.sleepers..end.max(node.sleepers)];
        if task == node.task && node.wanted.are_all() || is_asleep(asleep, task) {
            return;
        }
        match self.part.at(depth) {
            Some(_) => self.part.add_leaf(depth, task, footprint),
            None if node.pending.begins_with(task) => {}
            None => node.pending.add_leaf(task, &footprint),
        }
    }

    /// Prepares the first execution.
    #[cold]
    fn begin(&mut self) {
        self.begun = true;
        self.executions = 1;
        self.nodes.push();
        self.begin_in_share();
        self.note_planned();
        self.prepared = Some(Vec::new());
    }

    /// Notes the current state, from which the prepared execution can be run again.
    fn note_planned(&mut self) {
        self.planned.nodes = self.nodes.len();
        if !(self.values.is_empty() && self.planned.values.is_empty()) {
            self.planned.values.clone_from(&self.values);
        }
        match self.nodes.last() {
            Some(last) if last.sequences.goes_on() => self.planned.sequences.clone_from(&last.sequences),
            _ => self.planned.sequences.clear(),
        }
        self.planned.redundant = self.redundant;
        self.planned.blocked = self.blocked;
        self.planned.gone_on.clear();
        self.planned.after = self.nodes.last().map(|last| last.after);
    }

    /// Changes the plan to the next execution. Returns `false` if there is none.
    fn turn_back(&mut self, plan: &mut Plan, trace: &Trace) -> bool {
        let more = self.backtrack(plan, trace);
        // Rounds whose end was undone are restored.
        self.refresh(trace);
        self.footprints.truncate(self.fresh);
        self.note_planned();
        self.executions += u64::from(more);
        self.is_over = !more && !self.part.is_shared();
        more
    }

    /// Returns the index at which the sleepers before a step end.
    fn sleepers_end(&self, depth: usize) -> usize {
        let next = self.nodes.get(depth + 1);
        next.map_or(self.sleepers.len(), |next| next.sleepers)
    }

    #[inline(always)]
    fn sequences(&mut self) -> &mut Sequences {
        self.sequences.as_mut().expect("no execution is analysed")
    }

    /// Takes the factory of sequences out, because planning a sequence needs the search, too.
    #[inline(always)]
    fn take_sequences(&mut self) -> Box<Sequences> {
        self.sequences.take().expect("no execution is analysed")
    }

    /// Makes a choice that may not be the simple case of `choose`.
    fn choose_among(&mut self, point: &ChoicePoint<'_>) -> Option<u32> {
        if self.cut.is_some() {
            return Some(0);
        }
        if point.kind != ChoiceKind::Task {
            let first = match self.is_bounded() {
                true => 0,
                false => self.first_alternative(point.kind, point.alternatives),
            };
            self.values.push(next_value(&self.values, point.kind, first));
            self.choose_in_share(first, point.alternatives);
            return Some(first);
        }
        let steps = point.trace().steps().len();
        if steps < self.nodes.len() {
            // The step before a changed value is taken again as it was.
            let node = &self.nodes[steps];
            return (0..point.alternatives)
                .find(|&at| point.task(at).is_some_and(|task| task.0 == node.task));
        }
        if steps > self.nodes.len() {
            // There were steps that the search does not know. Either a loop ended because of memory that is not
            // compared, so caching takes over, or the path was loaded and belongs to another test.
            self.cut(point, false);
            return Some(0);
        }
        Some(self.enter(point))
    }

    fn is_bounded(&self) -> bool {
        self.insertion.is_bounded()
    }

    /// Returns the number of preemptions, 0 or 1, that it costs if this task takes the step.
    fn cost(&self, node: &Node, task: u32) -> u32 {
        u32::from(node.preempts && self.candidates[node.candidates.start].task != task)
    }
}

impl Strategy for Dpor {
    fn next(&mut self, plan: &mut Plan, trace: &Trace) -> bool {
        if self.is_over {
            return false;
        }
        if !self.begun {
            self.begin();
        }
        if let Some(choices) = self.prepared.take() {
            plan.replace(&choices);
            return true;
        }
        if self.part.is_idle() {
            let more = self.acquire(plan);
            self.note_planned();
            return more;
        }
        if self.part.unproved && !self.is_proved(plan.choices(), trace) {
            return false;
        }
        if trace.has_time_passed() {
            self.bound.note_time_passed();
        }
        if self.pass_by(plan, trace) {
            return self.turn_back(plan, trace);
        }
        self.settle_line(plan, trace);
        if self.cut.is_none() {
            if self.nodes.len() > 1 && self.nodes.len() <= trace.steps().len() {
                self.plan_time_outs(self.nodes.len() - 1, trace);
            }
            if trace.ending() == Ending::GivenUp {
                self.bound.invalidate(FallbackReason::CutShort);
                (1..self.nodes.len()).for_each(|depth| self.try_all(depth));
            }
        }
        if !self.sequences().look_at(trace) {
            self.bound.invalidate(FallbackReason::SameVariable);
        }
        self.follow_void_rounds(trace, plan.choices());
        match self.insertion {
            Insertion::Bounded(_) => self.try_conflicting(trace),
            _ => self.reverse_races(trace, plan.choices_with_values()),
        }
        if let Some(cut) = self.cut.take() {
            debug_assert_eq!(cut.steps, self.nodes.len(), "a cut execution has no nodes beyond");
            plan.truncate(cut.choices);
        }
        self.look_after_others(plan, trace);
        if self.sequences().analysis_limit().has_ended() {
            self.is_over = true;
            self.part.stop();
            return false;
        }
        self.spend(plan.choices(), trace.steps().len() as u64);
        self.turn_back(plan, trace)
    }

    fn retry(&mut self) {
        while self.nodes.len() > self.planned.nodes {
            self.leave();
        }
        self.values.clone_from(&self.planned.values);
        if let Some(last) = self.nodes.last_mut() {
            last.sequences.clone_from(&self.planned.sequences);
            last.after = self.planned.after.unwrap_or(last.after);
        }
        for depth in self.planned.gone_on.drain(..) {
            if let Some(node) = self.nodes.get_mut(depth) {
                node.went_on = None;
            }
        }
        self.redundant = self.planned.redundant;
        self.blocked = self.planned.blocked;
        self.cut = None;
        if let Some(known) = &mut self.known {
            known.retry();
        }
    }

    fn choose(&mut self, point: &ChoicePoint<'_>) -> Option<u32> {
        // Usually only one task can go, and nothing is planned or asleep.
        if let Some(task) = point.candidates.only_enabled()
            && self.cut.is_none()
            && point.trace().steps().len() == self.nodes.len()
            && self.is_plain(point.trace())
        {
            self.enter_only(task, point.fair);
            return Some(0);
        }
        self.choose_among(point)
    }

    fn heed_time(&mut self, is_over: &TimeIsOver) {
        self.sequences().heed_time(is_over);
    }

    fn gave_up(&self) -> bool {
        let sequences = self.sequences.as_ref();
        sequences.is_some_and(|sequences| sequences.analysis_limit().has_ended())
    }

    fn coverage(&self, finished: bool) -> Coverage {
        match (finished, self.insertion) {
            _ if self.bound.has_lost() => Coverage::unbounded(bound::LOST),
            (true, _) if self.bound.left_out() => Coverage::within_preemptions(self.bound.most, None),
            (true, _) => Coverage::Exhaustive,
            (false, _) => Coverage::stopped(),
        }
    }

    fn status(&self, so_far: &SoFar<'_>) -> Status {
        Status {
            reduction: self.insertion.name(),
            redundant: self.redundant,
            blocked: self.blocked,
            progress: Some(self.progress(so_far.choices)),
            ..Status::named("dfs")
        }
    }

    fn needs(&self) -> Needs {
        Needs {
            every_step: true,
            analysis: self.insertion.analysis(),
            scope: false,
            // A departed execution cannot be analysed, so the executions that are needed besides it are unknown.
            replays_exactly: true,
            explores_orders: !self.is_bounded(),
            all_listed: !self.is_bounded(),
            // Unreliable sequences concern only wakeup trees.
            fallback: match self.insertion {
                _ if self.is_too_large() && !self.is_over => Some(FallbackReason::TooMany),
                Insertion::Bounded(_) if self.bound.has_held_back() => Some(FallbackReason::FairWithinBound),
                Insertion::SourceSets | Insertion::WakeupTrees
                    if self.bound.has_held_back() && self.bound.has_time_passed() =>
                {
                    Some(FallbackReason::FairInTime)
                }
                Insertion::WakeupTrees => self.bound.unreliable(),
                Insertion::SourceSets | Insertion::Bounded(_) => None,
            },
            ..Needs::default()
        }
    }

    fn parallel(&mut self) -> Option<&mut dyn Parallel> {
        Some(self)
    }

    fn partitioned(&mut self) -> Result<&mut dyn Partitioned, &'static str> {
        Ok(self)
    }

    fn resumable(&mut self) -> Option<&mut dyn Resumable> {
        Some(self)
    }
}
