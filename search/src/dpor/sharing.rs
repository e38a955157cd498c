//! A search with several workers: the work that a worker donates, and the work that it acquires.
//!
//! If a worker waits and there is no work for it, another one turns its path into [shared nodes](super::shared_node),
//! down to the first step with untried branches. It continues below them, alone and without a lock, and returns to them
//! like the other workers. With wakeup trees, the further steps of a sequence that is taken at a shared node are shared
//! nodes, too.
//!
//! The footprint of a step with all the values that it can choose is known only when all were tried, and so are the
//! tasks that stay asleep after it. So nothing below a choice with an untried value is donated. With wakeup trees, no
//! values may be chosen at all: the exploration falls back to source sets instead.

use super::crew::{Crew, Open, Remaining, Taken};
use super::node::Node;
use super::saved::SavedHand;
use super::shared_node::{Branch, Edge, PlannedNodes, Prefix, SharedNode, SharedPath};
use super::sleep::Footprint;
use super::{Dpor, Sequence, Tree};
use intermezzo_engine::schedule::{Choice, ChoiceKind};
use intermezzo_engine::strategy::{Idle, Parallel, Plan, SearchPosition, Strategy};
use intermezzo_engine::trace::Trace;
use std::sync::Arc;

/// A worker's share of a parallel search.
#[derive(Default)]
pub(super) struct Sharing {
    /// The state shared with the other workers; `None` if there never were any.
    crew: Option<Arc<Crew>>,
    /// The worker's number.
    number: usize,
    /// The shared nodes along the path, by step; `None` where only one task could continue. The last one is a node.
    places: SharedPath,
    /// The next steps of the sequence that the running execution follows from the last shared node: their tasks and
    /// nodes.
    line: PlannedNodes,
    /// The number of choices up to and including the one at the last shared node. The worker must not change these
    /// alone.
    pub(super) fixed: usize,
    /// `true` if the footprint of the step from there has been published.
    told: bool,
    /// `true` if the worker has work.
    pub(super) busy: bool,
    /// `true` if it counts as waiting, although it does other work or has not begun.
    idle: bool,
    /// `true` if it donates nothing.
    pub(super) keeps: bool,
    /// `true` if the path comes from a file or from another worker, and no execution along it has ended yet.
    pub(super) unproved: bool,
}

impl Sharing {
    /// Returns the share of a worker without work.
    fn of(crew: Arc<Crew>, number: usize) -> Sharing {
        Sharing {
            crew: Some(crew),
            number,
            places: Vec::new(),
            line: Vec::new(),
            fixed: 0,
            told: false,
            busy: false,
            idle: false,
            keeps: false,
            unproved: false,
        }
    }

    /// Returns the share of the first worker of a continued parallel search.
    pub(super) fn going_on(crew: Crew) -> Sharing {
        Sharing::of(Arc::new(crew), 0)
    }

    /// Returns the share of another worker, which begins without work. If this worker was alone, it keeps the work that
    /// `first` returns.
    pub(super) fn fork(&mut self, first: impl FnOnce() -> Option<SavedHand>) -> Sharing {
        let crew = self.crew.get_or_insert_with(|| {
            let first = first().map(|hand| Remaining {
                hand,
                places: Vec::new(),
                line: Vec::new(),
                told: false,
            });
            self.busy = first.is_some();
            Arc::new(Crew::beginning(first))
        });
        let mut part = Sharing::of(crew.clone(), crew.add_hand());
        part.idle = true;
        part
    }

    /// Notes that the worker pauses. If it has work, `hand` returns the work; the shared nodes are saved with it.
    pub(super) fn rest(&self, hand: impl FnOnce() -> SavedHand) {
        let Some(crew) = &self.crew else {
            return;
        };
        let left = self.busy.then(|| Remaining {
            hand: hand(),
            places: self.places.clone(),
            line: self.line.clone(),
            told: self.told,
        });
        crew.rest(self.number, left);
    }

    /// Returns the state shared with other workers, if there are any.
    pub(super) fn crew(&self) -> Option<&Crew> {
        self.crew.as_deref()
    }

    /// Returns `true` if the search is shared.
    pub(super) fn is_shared(&self) -> bool {
        self.crew.is_some()
    }

    /// Returns the edge that the path takes at a step, if the step is a shared node.
    #[inline]
    pub(super) fn at(&self, depth: usize) -> Option<&Edge> {
        self.places.get(depth)?.as_ref()
    }

    /// Plans the step of a task at a shared node of the path, unless it is planned or was tried.
    #[cold]
    pub(super) fn add_leaf(&self, depth: usize, task: u32, footprint: Footprint) {
        if let Some(at) = self.at(depth) {
            at.place.add_leaf(task, footprint);
            self.list(depth, &[], &at.place);
        }
    }

    /// Plans a sequence at a shared node of the path, unless a branch taken later covers it. Returns `true` if that is
    /// not reliable, as [`Tree::insert`] does.
    #[cold]
    pub(super) fn insert(
        &self,
        depth: usize,
        trace: &Trace,
        choices: &[Choice],
        sequence: &mut Sequence,
    ) -> bool {
        let Some(at) = self.at(depth) else {
            return false;
        };
        let (added, unsure) = at.insert(trace, choices, sequence);
        if let Some((above, place)) = added {
            self.list(depth, &above, &place);
        }
        unsure
    }

    /// Lists a node with untried branches, below these edges and those of the path.
    fn list(&self, depth: usize, above: &[Edge], place: &Arc<SharedNode>) {
        if place.is_unlisted()
            && let Some(crew) = &self.crew
        {
            let mut all = self.places[..depth].to_vec();
            all.extend(above.iter().cloned().map(Some));
            crew.list([Open {
                place: place.clone(),
                above: all,
            }]);
        }
    }

    /// Lists the shared nodes of the path that have untried branches, from this step on.
    fn list_from(&self, depth: usize) {
        let Some(crew) = &self.crew else {
            return;
        };
        let open = (depth..self.places.len()).filter_map(|depth| {
            let at = self.at(depth).filter(|at| at.place.is_unlisted())?;
            Some(Open {
                place: at.place.clone(),
                above: self.places[..depth].to_vec(),
            })
        });
        crew.list(open.collect::<Vec<_>>());
    }

    /// Returns `true` if the search is shared, and this worker has no work.
    pub(super) fn is_idle(&self) -> bool {
        self.crew.is_some() && !self.busy
    }

    /// Returns `true` if another worker waits and there is no work for it.
    #[inline]
    pub(super) fn has_idle_workers(&self) -> bool {
        self.crew.as_ref().is_some_and(|crew| crew.has_idle_workers())
    }

    /// Waits for work. Returns `false` if there will be none.
    pub(super) fn wait(&mut self) -> bool {
        let idle = &mut self.idle;
        self.crew.as_ref().is_some_and(|crew| crew.wait(idle))
    }

    /// Ends the state of waiting.
    pub(super) fn begin(&mut self) {
        if let (Some(crew), true) = (&self.crew, self.idle) {
            crew.lock().begin(&mut self.idle);
        }
    }

    /// Returns the prospect of work, without waiting for it.
    pub(super) fn idle(&mut self) -> Idle {
        match &self.crew {
            Some(crew) => crew.idle(&mut self.idle),
            None => Idle::Over,
        }
    }

    /// Stops handing out work.
    pub(super) fn stop(&self) {
        if let Some(crew) = &self.crew {
            crew.stop();
        }
    }

    /// Removes the deepest shared nodes, so that `depth` steps are left.
    fn truncate(&mut self, depth: usize) {
        while self.places.len() > depth {
            self.places.pop();
        }
    }
}

impl Drop for Sharing {
    fn drop(&mut self) {
        if let Some(crew) = &self.crew {
            crew.remove_worker(self.busy, self.idle);
        }
    }
}

/// Returns the number of choices before the first one with an untried value.
fn settled(choices: &[Choice]) -> usize {
    let open = |choice: &Choice| choice.kind != ChoiceKind::Task && choice.taken + 1 < choice.alternatives;
    choices.iter().position(open).unwrap_or(choices.len())
}

impl Dpor {
    /// Returns the share of another worker on the search, which begins without work.
    pub(super) fn fork_part(&mut self) -> Sharing {
        if !self.begun && !self.is_over {
            self.begin();
        }
        let mut part = std::mem::take(&mut self.part);
        let other = part.fork(|| {
            let first = || self.saved(self.prepared.as_deref().unwrap_or_default());
            (!self.is_over).then(first)
        });
        self.part = part;
        other
    }

    /// Publishes the footprint of the step from the last shared node, once it is known, and donates work if some worker
    /// has none. The results of the last execution must have been added before.
    #[inline]
    pub(super) fn look_after_others(&mut self, plan: &Plan, trace: &Trace) {
        if !self.part.told && !self.part.places.is_empty() {
            let step = &trace.steps()[self.part.places.len() - 1];
            if step.choices_end <= settled(plan.choices()) {
                self.tell(trace);
            }
        }
        if self.part.has_idle_workers() && !self.part.keeps {
            self.donate(plan, trace);
        }
    }

    /// Publishes the footprint of the step from the last shared node.
    fn tell(&mut self, trace: &Trace) {
        let Some(depth) = self.part.places.len().checked_sub(1) else {
            return;
        };
        if !std::mem::replace(&mut self.part.told, true)
            && let (Some(crew), Some(at)) = (&self.part.crew, self.part.at(depth))
            && at
                .place
                .publish_footprint(at.branch, self.footprint(depth, trace))
        {
            crew.wake();
        }
    }

    /// Returns the footprint of the step of the path so far.
    fn footprint(&self, depth: usize, trace: &Trace) -> Footprint {
        let node = &self.nodes[depth];
        let mut footprint = node.footprint.clone();
        // Values that sleep here are not explored, and stay asleep.
        let asleep = self.sleepers[node.sleepers..self.sleepers_end(depth).max(node.sleepers)].iter();
        let own = asleep.filter(|sleeper| sleeper.task == node.task);
        let others = own
            .map(|sleeper| &sleeper.footprint)
            .chain(node.explored_footprints());
        let now = trace.footprint_with_elided(depth);
        for access in others.flatten().chain(&*now) {
            if !footprint.contains(access) {
                footprint.push(*access);
            }
        }
        footprint
    }

    /// Turns the path into shared nodes, down to the first step with untried branches.
    #[cold]
    fn donate(&mut self, plan: &Plan, trace: &Trace) {
        let settled = settled(plan.choices());
        let from = self.part.places.len();
        let steps = self.nodes.len().min(trace.steps().len());
        let found = (from..steps)
            .take_while(|&depth| trace.steps()[depth].choices_end <= settled)
            .find(|&depth| self.nodes[depth].choice.is_some() && !self.nodes[depth].pending.is_empty());
        let Some(last) = found else {
            return;
        };
        self.tell(trace);
        let way = self.way_to(last, plan);
        for depth in from..=last {
            if self.nodes[depth].choice.is_none() {
                self.part.places.push(None);
                continue;
            }
            let footprint = self.footprint(depth, trace);
            let pending = std::mem::take(&mut self.nodes[depth].pending);
            let place = Arc::new(SharedNode::new(way.clone(), depth, footprint, pending));
            self.part.places.push(Some(Edge { place, branch: 0 }));
        }
        (self.part.fixed, self.part.told) = (way.choices.len(), true);
        self.part.list_from(from);
    }

    /// Returns the prefix down to a step, for other workers.
    fn way_to(&self, last: usize, plan: &Plan) -> Arc<Prefix> {
        let decided = self.nodes[..=last].iter().rev().find_map(|node| node.choice);
        let choices = decided.map_or(0, |choice| choice + 1);
        let candidates = self.nodes[last].candidates.end;
        Arc::new(Prefix {
            choices: plan.choices()[..choices].to_vec(),
            nodes: self.nodes[..=last].iter().map(Node::passed).collect(),
            candidates: self.candidates[..candidates].to_vec(),
            sleepers: self.sleepers[..self.sleepers_end(last)].to_vec(),
        })
    }

    /// Turns the further steps of a planned sequence into shared nodes of the path, after the first execution that
    /// followed it.
    #[inline]
    pub(super) fn settle_line(&mut self, plan: &Plan, trace: &Trace) {
        if !self.part.line.is_empty() {
            self.come_along(plan, trace);
        }
    }

    #[cold]
    fn come_along(&mut self, plan: &Plan, trace: &Trace) {
        let line = std::mem::take(&mut self.part.line);
        self.tell(trace);
        let from = self.part.places.len();
        let end = (from + line.len()).min(self.nodes.len()).min(trace.steps().len());
        let Some(last) = end.checked_sub(1).filter(|&last| last >= from) else {
            return;
        };
        let way = self.way_to(last, plan);
        for (depth, (task, place)) in (from..end).zip(line) {
            place.come_to(way.clone(), depth, self.footprint(depth, trace));
            self.part.places.push(Some(Edge { place, branch: 0 }));
            if task != self.nodes[depth].task {
                break;
            }
        }
        self.part.fixed = self.fixed();
        self.part.list_from(from);
    }

    /// Returns the number of choices up to and including the one at the last shared node.
    fn fixed(&self) -> usize {
        let passed = &self.nodes[..self.part.places.len()];
        let decided = passed.iter().rev().find_map(|node| node.choice);
        decided.map_or(0, |choice| choice + 1)
    }

    /// Turns to untried branches at the shared nodes of the path, or else to other work, because everything below the
    /// last shared node is done.
    #[cold]
    pub(super) fn turn(&mut self, plan: &mut Plan, trace: &Trace) -> bool {
        self.tell(trace);
        for depth in (0..self.part.places.len()).rev() {
            let taken = self.part.at(depth).and_then(|at| at.place.take(&self.bound));
            if let Some(branch) = taken {
                self.leave_to(depth + 1);
                self.follow(depth, branch, plan);
                return true;
            }
        }
        self.leave_to(0);
        self.examined.clear();
        self.footprints.truncate(0);
        (self.part.fixed, self.part.busy) = (0, false);
        self.acquire(plan)
    }

    /// Removes all of the path but its first `depth` steps.
    fn leave_to(&mut self, depth: usize) {
        self.part.truncate(depth);
        while self.nodes.len() > depth {
            self.leave();
        }
    }

    /// Acquires work that another worker has donated, or left. Returns `false` if there is none at the moment.
    pub(super) fn acquire(&mut self, plan: &mut Plan) -> bool {
        self.part.begin();
        let crew = self.part.crew.as_ref();
        match crew.and_then(|crew| crew.take(self.part.number, &self.bound)) {
            None => false,
            Some(Taken::Remaining(left)) => self.take_over(*left, plan),
            Some(Taken::Branch(open, branch)) => self.take_branch(open, branch, plan),
        }
    }

    /// Continues with the remaining work of another worker.
    fn take_over(&mut self, left: Remaining, plan: &mut Plan) -> bool {
        let path = self
            .resume(&left.hand)
            .expect("remaining work was checked when it was loaded");
        (self.part.busy, self.part.unproved) = (true, true);
        (self.part.places, self.part.line, self.part.told) = (left.places, left.line, left.told);
        self.part.fixed = self.fixed();
        plan.replace(&path);
        true
    }

    /// Continues with a branch that was taken at a shared node.
    fn take_branch(&mut self, open: Open, branch: Branch, plan: &mut Plan) -> bool {
        let Open { place, above } = open;
        let Some((way, depth)) = place.way().cloned() else {
            return false;
        };
        (self.part.busy, self.part.unproved) = (true, true);
        self.part.places = above;
        for node in &way.nodes[..=depth] {
            self.nodes.push_passed(node);
        }
        self.candidates
            .extend_from_slice(&way.candidates[..way.nodes[depth].candidates.end]);
        self.sleepers
            .extend_from_slice(&way.sleepers[..way.nodes[depth].sleepers]);
        let choices = way.nodes[depth].choice.map_or(0, |choice| choice + 1);
        plan.replace(&way.choices[..choices]);
        self.part.places.push(Some(Edge {
            place,
            branch: branch.number,
        }));
        self.follow(depth, branch, plan);
        true
    }

    /// Follows a branch that was taken at the last step of the path.
    fn follow(&mut self, depth: usize, branch: Branch, plan: &mut Plan) {
        let Some(at) = &mut self.part.places[depth] else {
            return;
        };
        at.branch = branch.number;
        self.part.told = false;
        let node = &mut self.nodes[depth];
        self.sleepers.truncate(node.sleepers);
        if let Some((way, depth)) = at.place.way() {
            self.sleepers.extend_from_slice(way.asleep(*depth));
        }
        self.sleepers.extend(branch.sleepers);
        if branch.overslept {
            let asleep = self.sleepers[node.sleepers..].iter_mut();
            asleep.for_each(|sleeper| sleeper.overslept = true);
        }
        node.task = branch.task;
        node.tried = branch.number as u32;
        let tasks: Vec<u32> = branch.line.iter().map(|(task, _)| *task).collect();
        node.sequences = Tree::line(&[&[branch.task], &tasks[..]].concat());
        self.part.line = branch.line;
        node.forget_explored();
        self.values.clear();
        self.fresh = depth;
        if let Some(choice) = node.choice {
            plan.truncate(choice + 1);
            plan.take(choice, branch.alternative);
            self.part.fixed = choice + 1;
        }
    }
}

impl Parallel for Dpor {
    fn split(&mut self) -> Box<dyn Strategy> {
        // A state that one worker has left may not be completely explored yet, because other workers may continue below
        // it.
        self.known = None;
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

    /// Returns the number of an execution; with several workers, whose order is accidental, its alternatives.
    fn position(&mut self, choices: &[Choice]) -> SearchPosition {
        if self.part.is_shared() {
            SearchPosition::of_choices(0, choices)
        } else {
            SearchPosition::of_number(self.executions)
        }
    }
}
