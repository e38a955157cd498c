//! Dynamic partial-order reduction with sleep sets: source sets, and optimal by wakeup trees (Abdulla, Aronis, Jonsson,
//! Sagonas, "Source Sets", JACM 2017).
//!
//! Each execution is run to its end; then, for every race in it (two steps whose order matters and which nothing but
//! that orders), a sequence of steps that reverses the race is to be tried from before the first of the two, unless one
//! that is tried there already, or was, leads to the same. A task whose step has been tried *sleeps* until somebody
//! takes a step that does not commute with it: what it could start in between was seen.
//!
//! With source sets only the first step of the sequence is kept: cheap, but some executions end where all who could go on
//! are asleep; they are *redundant*. With wakeup trees the whole sequence is kept and followed, and none are.
//!
//! Beyond the paper:
//! - *Values.* Choices other than of tasks (`choose(n)`, whom to notify) are enumerated within the step that makes them.
//! - *Variables* that came into use after a step may have other numbers in other executions, where they are known
//!   again by names of the operations on them (`names`). Where it cannot be told for that reason whether a branch leads to the same as a sequence, source sets take over, which need not know.
//! - *Sleepers that were not woken.* That a sleeper commutes with a sequence is enough to dismiss it only if all that is found
//!   where the sleeper's step was tried is planned further up, and followed. A leaf of a tree takes in all that begins with it; so
//!   who sleeps there has to be woken by what leads to it. An exchange that failed may succeed once it comes earlier, and is
//!   planned as if it did, and as such wakes those who load. If it fails after all they sleep on: they *overslept*. From there on
//!   such a sleeper dismisses only what its own step begins, as with source sets.
//! - *Handles.* Who drops the last handle but one to something shared takes a step for it, and who drops the last does it within
//!   the step before. Drops commute, so in another order a planned step may be two, or two may be one. Trees are made to fit.
//! - *Blocked operations* of an execution that is stuck take part in races, though they never happened.
//! - *Unasked wakings* (a time-out before its time, a spurious wake-up) are another next step of a task that waits. One is
//!   tried before each step that does not commute with it.
//! - An execution that was given up (the body panicked, the limit of steps) tells nothing of what would have come: every
//!   alternative along it is tried. Some tasks sleep on then that wakeup trees take to be woken by what is planned, so source
//!   sets take over.
//!
//! Misses: nothing; but tasks that fair scheduling holds back cannot be tried, and then every other is.
//! Memory: the path, its sleep sets, and the sequences still to be tried.

mod all_saved;
mod backtrack;
mod bound;
mod bounded;
mod crew;
mod elided_rounds;
mod names;
mod node;
mod races;
mod saved;
mod sequence;
mod shared_node;
mod sharing;
mod sleep;
mod tree;

use bound::Bound;
use intermezzo_engine::schedule::{Choice, ChoiceKind};
use intermezzo_engine::strategy::{
    ChoicePoint, Coverage, Idle, Needs, Parallel, Plan, Resumable, SearchPosition, SearchState, SoFar,
    Status, Strategy,
};
use intermezzo_engine::trace::{Analysis, Ending, Trace, conflict};
use intermezzo_sdk::TaskId;
use node::{Candidate, Node, Path};
use races::Examined;
use sequence::{Sequence, Sequences, Values};
use sharing::Sharing;
use sleep::{Sleeper, Touches};
use tree::Tree;

/// Which of the reductions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Insertion {
    /// Source sets: of a sequence that reverses a race, its first step is kept.
    SourceSets,
    /// Wakeup trees: all of it is kept.
    WakeupTrees,
    /// So many preemptions at most: see `bounded`.
    Bounded(u32),
}

/// Why an execution is not gone on with.
struct Abort {
    /// The number of steps, and choices, belong to the search; what came after does not.
    steps: usize,
    choices: usize,
}

/// What there was when the running execution began, to begin it again.
#[derive(Default)]
struct Planned {
    nodes: usize,
    values: Values,
    /// Of the last node.
    sequences: Tree,
    redundant: u64,
    blocked: u64,
    /// The nodes from which it has gone on since after a round in vain.
    gone_on: Vec<usize>,
}

/// A search that runs one execution for each trace, or few.
pub struct Dpor {
    insertion: Insertion,
    begun: bool,
    is_over: bool,
    /// How many executions it has prepared.
    executions: u64,
    /// The choices of the one that is prepared already, of a search that goes on.
    prepared: Option<Vec<Choice>>,
    /// What is known of each step of the running execution. The first step, before any decision, has a node for nothing.
    nodes: Path,
    /// The candidates of all steps of the path, in order of their alternatives; and who sleeps before each.
    candidates: Vec<Candidate>,
    sleepers: Vec<Sleeper>,
    /// What to do next, if the step just decided belongs to a sequence.
    wakeup_sequence: Tree,
    /// The values that the step under way has chosen.
    values: Values,
    /// The first step of the last execution that was not in the one before.
    fresh: usize,
    /// What is known of the races of the path.
    examined: Vec<Examined>,
    /// How much all steps know that were not in the execution before: see [`Trace::known_to_all`].
    known_to_all: Vec<[u32; 4]>,
    cut: Option<Abort>,
    planned: Planned,
    redundant: u64,
    blocked: u64,
    bound: Bound,
    sequences: Sequences,
    /// What it has to do with other hands on the search.
    part: Sharing,
}

impl Dpor {
    /// Makes a search that has run nothing.
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
            values: Values::new(),
            fresh: 0,
            examined: Vec::new(),
            known_to_all: Vec::new(),
            cut: None,
            planned: Planned::default(),
            redundant: 0,
            blocked: 0,
            sequences: Sequences::new(bound.apart.clone()),
            bound,
            part: Sharing::default(),
        }
    }

    /// The execution is not gone on with: because of a round in vain, if `blocked`.
    fn cut(&mut self, point: &ChoicePoint<'_>, blocked: bool) {
        *if blocked {
            &mut self.blocked
        } else {
            &mut self.redundant
        } += 1;
        self.cut = Some(Abort {
            steps: self.nodes.len(),
            choices: point.choices,
        });
    }

    /// Returns `true` if nothing is to be tried after the step that is over, nobody slept before it, and nobody could
    /// be woken.
    #[inline(always)]
    fn is_plain(&self, trace: &Trace) -> bool {
        let is_plain = |last: &Node| {
            last.sequences.is_empty() && last.sleepers == self.sleepers.len() && !last.environment_wake
        };
        self.nodes.last().is_some_and(is_plain)
            && self.values.is_empty()
            && !trace.has_voids()
            && !self.is_bounded()
    }

    /// Begins the node of a step that only this task can take.
    #[inline(always)]
    fn enter_only(&mut self, task: u32, fair: bool) {
        self.wakeup_sequence.clear();
        let (candidates, sleepers) = (self.candidates.len(), self.sleepers.len());
        self.candidates.push(Candidate {
            task,
            waits_for: None,
        });
        let node = self.nodes.push();
        (node.task, node.fair) = (task, fair);
        (node.candidates, node.sleepers) = (candidates..candidates + 1, sleepers);
    }

    /// Begins the node of the step that is about to be taken.
    fn enter(&mut self, point: &ChoicePoint<'_>) -> u32 {
        let trace = point.trace();
        let depth = self.nodes.len();
        debug_assert_eq!(depth, trace.steps().len(), "one node for each step");
        let counts = self.follow_values();
        let candidates = self.candidates.len();
        let mut environment_wake = false;
        let sleeping = self.sleepers.len();
        if depth > 1 {
            if !self.is_bounded() && !self.inherit_sleep(depth - 1, trace) {
                self.sleepers.truncate(sleeping);
                self.cut(point, true);
                return 0;
            }
            self.wake_unasked(depth - 1, trace);
        }
        let all_enabled = point.candidates.are_enabled();
        point.for_each_task(|TaskId(task)| {
            let waits_for = if all_enabled { None } else { point.waits_for(task) };
            environment_wake |= waits_for.is_some();
            self.candidates.push(Candidate { task, waits_for });
        });
        if let Some(counts) = counts {
            self.fit_guide(&counts, candidates, trace);
        }
        let choice = (point.alternatives > 1).then_some(point.choices);
        let preemptions = match self.nodes.last() {
            Some(last) if self.is_bounded() => last.preemptions + self.cost(last, last.task),
            _ => 0,
        };
        let listed = &self.candidates[candidates..];
        let node = self.nodes.push();
        (node.candidates, node.sleepers) = (candidates..self.candidates.len(), sleeping);
        (node.choice, node.fair, node.environment_wake) = (choice, point.fair, environment_wake);
        (node.preempts, node.preemptions) = (point.preempts, preemptions);
        let (mut guided, mut planned) = (None, 0);
        if !self.wakeup_sequence.is_empty() {
            std::mem::swap(&mut node.pending, &mut self.wakeup_sequence);
            guided = std::iter::from_fn(|| node.next_pending())
                .inspect(|_| planned += 1)
                .find_map(|task| listed.iter().position(|candidate| candidate.task == task));
        }
        if guided.is_none() && self.insertion == Insertion::WakeupTrees {
            // Whoever still sleeps was not woken by what was planned.
            let asleep = self.sleepers[sleeping..].iter_mut();
            asleep.for_each(|sleeper| sleeper.overslept = true);
        }
        let asleep = |task: u32| {
            self.sleepers[sleeping..]
                .iter()
                .any(|sleeper| sleeper.task == task)
        };
        // Without a sequence to follow, or where what it wants next was done on the way, anything goes; who could go on
        // only unasked comes last.
        let awake = |environment_wake: bool| {
            listed.iter().position(|candidate| {
                let asked = all_enabled || candidate.waits_for.is_none() || point.is_enabled(candidate.task);
                !asleep(candidate.task) && asked != environment_wake
            })
        };
        let alternative = guided.or_else(|| awake(false)).or_else(|| awake(true));
        let Some(alternative) = alternative else {
            let blocked = self.sleepers[sleeping..]
                .iter()
                .any(|sleeper| sleeper.across_elided);
            self.leave();
            self.cut(point, blocked);
            return 0;
        };
        node.task = listed[alternative].task;
        if guided.is_some() && planned > 1 {
            self.do_without_plan(depth);
        }
        alternative as u32
    }

    /// Returns the step that is over has chosen its values: what is to be tried after them comes next. If that is
    /// anything particular, the counts that the step was to make.
    fn follow_values(&mut self) -> Option<Touches> {
        let mut counts = None;
        if let Some(node) = self.nodes.last_mut() {
            if self.insertion == Insertion::WakeupTrees && node.sequences.goes_on() {
                counts = node.sequences.counts_after(&self.values);
            }
            node.sequences.take_after(&self.values, &mut self.wakeup_sequence);
        }
        self.values.clear();
        counts.filter(|_| !self.wakeup_sequence.is_empty())
    }

    /// Those who sleep before a step, and touch nothing that it does, sleep after it.
    ///
    /// False if the step ended a round in vain, and without that somebody's step was taken who slept: what the execution
    /// shows is seen elsewhere.
    fn inherit_sleep(&mut self, depth: usize, trace: &Trace) -> bool {
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
        let touched = trace.touches(depth);
        for at in node.sleepers..self.sleepers.len() {
            let sleeper = &self.sleepers[at];
            let wakes = conflict(&sleeper.touches, touched) || trace.makes_last(depth, &sleeper.touches);
            if sleeper.task != node.task && !wakes {
                let sleeper = sleeper.clone();
                self.sleepers.push(sleeper);
            }
        }
        true
    }

    /// A step is done. Where somebody waited who could have gone on unasked, and that does not commute with the step,
    /// it is to be tried before it.
    #[inline(always)]
    fn wake_unasked(&mut self, depth: usize, trace: &Trace) {
        if self.nodes[depth].environment_wake {
            self.wake_each_unasked(depth, trace);
        }
    }

    #[inline(never)]
    fn wake_each_unasked(&mut self, depth: usize, trace: &Trace) {
        let node = &self.nodes[depth];
        let touched = trace.touches(depth);
        let mut woken: Vec<(u32, Touches)> = Vec::new();
        for candidate in &self.candidates[node.candidates.clone()] {
            let Some(key) = candidate.waits_for else {
                continue;
            };
            let touches = sleep::environment_wake(key);
            // Within a bound, what it costs depends on where it is.
            if self.is_bounded() || conflict(&touches, touched) || conflict(&touches, &node.touches) {
                woken.push((candidate.task, Touches::from_slice(&touches)));
            }
        }
        for (task, touches) in woken {
            self.try_task(depth, task, touches);
        }
    }

    /// Every alternative at this step is to be tried.
    #[cold]
    fn try_all(&mut self, depth: usize) {
        for place in self.nodes[depth].candidates.clone() {
            let task = self.candidates[place].task;
            self.try_task(depth, task, Touches::new());
        }
    }

    /// A task, whose step touches this as far as is known, is to be tried at a step, unless it is or was.
    fn try_task(&mut self, depth: usize, task: u32, touches: Touches) {
        let end = self.sleepers_end(depth);
        let node = &mut self.nodes[depth];
        let asleep = &self.sleepers[node.sleepers..end.max(node.sleepers)];
        if task == node.task || asleep.iter().any(|sleeper| sleeper.task == task) {
            return;
        }
        match self.part.at(depth) {
            Some(_) => self.part.add_leaf(depth, task, touches),
            None if node.pending.begins_with(task) => {}
            None => node.pending.add_leaf(task, &touches),
        }
    }

    /// Prepares the first execution.
    #[cold]
    fn begin(&mut self) {
        self.begun = true;
        self.executions = 1;
        self.nodes.push();
        self.note_planned();
        self.prepared = Some(Vec::new());
    }

    /// Notes what there is, to begin the execution again that is prepared.
    fn note_planned(&mut self) {
        self.planned.nodes = self.nodes.len();
        self.planned.values.clone_from(&self.values);
        match self.nodes.last() {
            Some(last) if last.sequences.goes_on() => self.planned.sequences.clone_from(&last.sequences),
            _ => self.planned.sequences.clear(),
        }
        self.planned.redundant = self.redundant;
        self.planned.blocked = self.blocked;
        self.planned.gone_on.clear();
    }

    /// Where those end who sleep before a step.
    fn sleepers_end(&self, depth: usize) -> usize {
        let next = self.nodes.get(depth + 1);
        next.map_or(self.sleepers.len(), |next| next.sleepers)
    }

    fn is_bounded(&self) -> bool {
        matches!(self.insertion, Insertion::Bounded(_))
    }

    /// How many preemptions it costs that this task takes the step.
    fn cost(&self, node: &Node, task: u32) -> u32 {
        u32::from(node.preempts && self.candidates[node.candidates.start].task != task)
    }

    /// Returns the part of the search that is done, from where its last execution is in the tree of alternatives.
    fn progress(&self, choices: &[Choice]) -> f64 {
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
        self.settle_line(plan, trace);
        if self.cut.is_none() {
            if self.nodes.len() > 1 && self.nodes.len() <= trace.steps().len() {
                self.wake_unasked(self.nodes.len() - 1, trace);
            }
            if trace.ending() == Ending::GivenUp {
                self.bound.invalidate();
                (1..self.nodes.len()).for_each(|depth| self.try_all(depth));
            }
        }
        if !self.sequences.look_at(trace) {
            self.bound.invalidate();
        }
        self.follow_void_rounds(trace, plan.choices());
        match self.insertion {
            Insertion::Bounded(_) => self.try_conflicting(trace),
            _ => self.reverse_races(trace, plan.choices()),
        }
        if let Some(cut) = self.cut.take() {
            debug_assert_eq!(cut.steps, self.nodes.len(), "a cut execution has no nodes beyond");
            plan.truncate(cut.choices);
        }
        self.look_after_others(plan, trace);
        let more = self.backtrack(plan, trace);
        // Rounds that are no longer over are put back.
        self.refresh(trace);
        self.note_planned();
        self.executions += u64::from(more);
        self.is_over = !more && !self.part.is_shared();
        more
    }

    fn retry(&mut self) {
        while self.nodes.len() > self.planned.nodes {
            self.leave();
        }
        self.values.clone_from(&self.planned.values);
        if let Some(last) = self.nodes.last_mut() {
            last.sequences.clone_from(&self.planned.sequences);
        }
        for depth in self.planned.gone_on.drain(..) {
            if let Some(node) = self.nodes.get_mut(depth) {
                node.went_on = None;
            }
        }
        self.redundant = self.planned.redundant;
        self.blocked = self.planned.blocked;
        self.cut = None;
    }

    fn choose(&mut self, point: &ChoicePoint<'_>) -> Option<u32> {
        if self.cut.is_some() {
            return Some(0);
        }
        if point.kind != ChoiceKind::Task {
            if point.kind != ChoiceKind::Rescue {
                self.values.push(0);
            }
            return Some(0);
        }
        let steps = point.trace().steps().len();
        if steps < self.nodes.len() {
            // The step before a value that was changed: it is taken again as it was.
            let node = &self.nodes[steps];
            return (0..point.alternatives)
                .find(|&at| point.task(at).is_some_and(|task| task.0 == node.task));
        }
        if steps > self.nodes.len() {
            self.leave_unproved(point);
            return Some(0);
        }
        match point.candidates.only_enabled() {
            Some(task) if self.is_plain(point.trace()) => self.enter_only(task, point.fair),
            _ => return Some(self.enter(point)),
        }
        Some(0)
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
            reduction: match self.insertion {
                Insertion::SourceSets => "source-dpor",
                Insertion::WakeupTrees => "dpor",
                Insertion::Bounded(_) => "bpor",
            },
            redundant: self.redundant,
            blocked: self.blocked,
            progress: Some(self.progress(so_far.choices)),
            ..Status::named("dfs")
        }
    }

    fn needs(&self) -> Needs {
        Needs {
            every_step: true,
            analysis: match self.insertion {
                // Within a bound it matters who has to wait.
                Insertion::Bounded(_) => Analysis::Waits,
                _ => Analysis::Races,
            },
            scope: false,
            in_order: false,
            // Where a departed execution went is unknown, and so is what it makes needless.
            replays_exactly: true,
            // The others hold no sequences.
            fallback: self.insertion == Insertion::WakeupTrees && self.bound.needs_fallback(),
        }
    }

    fn parallel(&mut self) -> Option<&mut dyn Parallel> {
        Some(self)
    }

    fn resumable(&mut self) -> Option<&mut dyn Resumable> {
        Some(self)
    }
}

impl Parallel for Dpor {
    fn split(&mut self) -> Box<dyn Strategy> {
        Box::new(Dpor {
            begun: true,
            part: self.fork_part(),
            ..Dpor::within(self.insertion, self.bound.clone())
        })
    }

    fn wait(&mut self) -> bool {
        self.part.wait()
    }

    fn idle(&mut self) -> Idle {
        self.part.idle()
    }

    fn discard(&mut self) {
        self.is_over = true;
        self.part.busy = false;
        self.part.stop();
    }

    fn stop(&mut self) {
        self.part.stop();
    }

    /// Returns a single hand's executions are ordered as they are run. Of several, which runs what when is nothing to
    /// go by: they are ordered by the alternatives taken.
    fn position(&mut self, choices: &[Choice]) -> SearchPosition {
        if self.part.is_shared() {
            SearchPosition::of_choices(0, choices)
        } else {
            SearchPosition::of_number(self.executions)
        }
    }
}

impl Resumable for Dpor {
    fn prepares_before_save(&self) -> bool {
        true
    }

    fn save(&mut self, plan: &Plan) -> Option<String> {
        self.save_hand(plan.choices())
    }

    fn save_prepared(&mut self, plan: &Plan) -> Option<String> {
        self.save(plan)
    }

    fn save_shared(&mut self) -> Option<String> {
        self.save_all()
    }

    fn restore(&mut self, state: &SearchState) -> bool {
        match &state.hands[..] {
            [] if !state.shared.is_empty() => self.restored_all(&state.shared).is_some(),
            // Its hand left when there was nothing left to do.
            [] => {
                self.is_over = true;
                true
            }
            [hand] if state.shared.is_empty() => self.restored(hand).is_some(),
            _ => false,
        }
    }
}
