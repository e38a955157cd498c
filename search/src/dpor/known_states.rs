//! States from which a search within a bound has continued before. It does not continue from them again.
//!
//! A state that was reached before with fewer preemptions, or with as many while the same task could continue, leads to
//! nothing new: see [`Caching`](crate::caching). But the steps that come after it also decide what is to be tried
//! before it, and the second visit has other steps before it than the first. So the search keeps what comes after each
//! state, and plans for the second visit as if it had all come (Yang, Chen, Gopalakrishnan, Kirby, "Efficient stateful
//! dynamic partial order reduction", SPIN 2008).
//!
//! Only steps that do not commute with a step before the state matter. They are kept with numbers of tasks and
//! variables that are the same in all executions of the trace that leads to the state.
//!
//! Misses: nothing, as far as fingerprints of 128 bits are different. While fairness holds tasks back, a state is more
//! than its fingerprint, and none is kept or known.

use super::Dpor;
use super::bounded::{PossibleFootprints, UNBEGUN};
use super::sleep::Footprint;
use intermezzo_engine::strategy::ChoicePoint;
use intermezzo_engine::trace::{Class, StepAccess, Trace};
use smallvec::SmallVec;
use std::collections::HashMap;
use std::mem::size_of;
use std::sync::Arc;

/// A step that comes after a state, in some execution.
#[derive(Clone)]
struct Follower {
    task: u32,
    footprint: Footprint,
    /// The earliest step of the path that it does not commute with.
    earliest: usize,
}

/// What comes after a state of the path, as far as explored.
#[derive(Clone, Default)]
pub(super) struct Continuation {
    followers: Vec<Follower>,
    /// The steps before the state for which a task waits after it.
    awaited: Vec<usize>,
    /// `true` if not everything that comes after it is known.
    is_partial: bool,
}

impl Continuation {
    fn add(&mut self, follower: Follower) {
        let is_same = |known: &Follower| known.task == follower.task && known.footprint == follower.footprint;
        if !self.followers.iter().any(is_same) {
            self.followers.push(follower);
        }
    }

    fn add_awaited(&mut self, step: usize) {
        if !self.awaited.contains(&step) {
            self.awaited.push(step);
        }
    }

    /// Adds what comes after the next state, as far as it concerns the first `steps` steps of the path.
    fn add_all(&mut self, mut later: Continuation, steps: usize) {
        self.is_partial |= later.is_partial;
        later.followers.retain(|follower| follower.earliest < steps);
        later.awaited.retain(|&step| step < steps);
        if self.followers.is_empty() {
            self.followers = later.followers;
        } else {
            later.followers.into_iter().for_each(|follower| self.add(follower));
        }
        later.awaited.into_iter().for_each(|step| self.add_awaited(step));
    }
}

/// A step of a task: the task's lineage, and the number of its steps before.
type StepOfTask = (u64, u32);

/// What comes after a known state, with numbers that hold in all executions of the trace that leads to it.
struct KnownContinuation {
    /// The tasks by lineage, `None` for one that has not begun before the state; and what the steps access.
    followers: Box<[(Option<u64>, SmallVec<[(u64, Class); 2]>)]>,
    awaited: Box<[StepOfTask]>,
}

impl KnownContinuation {
    fn bytes(&self) -> usize {
        let beside = |accesses: &SmallVec<[(u64, Class); 2]>| match accesses.spilled() {
            true => accesses.capacity() * size_of::<(u64, Class)>(),
            false => 0,
        };
        let spilled: usize = self.followers.iter().map(|(_, accesses)| beside(accesses)).sum();
        size_of::<KnownContinuation>()
            + size_of_val(&*self.followers)
            + size_of_val(&*self.awaited)
            + spilled
    }
}

/// The best visit of a state.
struct Visit {
    preemptions: u32,
    continuation: Arc<KnownContinuation>,
}

/// What comes after the known state that ended the running execution, in terms of that execution.
pub(super) struct Repeated {
    /// The tasks and footprints of steps.
    followers: Vec<(u32, Footprint)>,
    awaited: Vec<usize>,
    /// `true` if the task of the last step may take the next one, too.
    goes_on: bool,
}

/// The known states, and what comes after those of the path.
pub(super) struct KnownStates {
    visits: HashMap<u128, Visit>,
    /// The bytes that may yet be used.
    bytes_left: usize,
    /// What comes after the state before each step of the path.
    path: Vec<Continuation>,
    /// Set if the running execution ended at a known state.
    repeated: Option<Repeated>,
}

impl KnownStates {
    pub(super) fn within(bytes: usize) -> KnownStates {
        KnownStates {
            visits: HashMap::new(),
            bytes_left: bytes,
            path: Vec::new(),
            repeated: None,
        }
    }

    /// Forgets that the running execution ended at a known state, because it is about to be run again.
    pub(super) fn retry(&mut self) {
        self.repeated = None;
    }

    /// Returns the continuation of this state if it is known, and a visit with this many preemptions leads to nothing
    /// new. `going_on` is the task that could continue without one.
    fn known(&self, trace: &Trace, preemptions: u32, going_on: Option<u32>) -> Option<&KnownContinuation> {
        let [by_anyone, by_this_one] = trace.state_after(trace.steps().len(), going_on);
        let visit = |state, most| {
            let visit = self.visits.get(&state)?;
            (visit.preemptions < most).then_some(&*visit.continuation)
        };
        visit(by_this_one, preemptions.saturating_add(1)).or_else(|| visit(by_anyone, preemptions))
    }

    /// Keeps the state after the first `steps` steps of an execution, if there is room.
    fn keep(
        &mut self,
        trace: &Trace,
        steps: usize,
        preemptions: u32,
        going_on: Option<u32>,
        continuation: &Continuation,
    ) {
        if self.bytes_left == 0 {
            return;
        }
        let states = trace.state_after(steps, going_on);
        let is_better =
            |state| (self.visits.get(&state)).is_none_or(|visit| preemptions < visit.preemptions);
        if !states.into_iter().any(is_better) {
            return;
        }
        let begun = &trace.steps()[..steps];
        let lineages: Vec<_> = trace.lineages().collect();
        let lineage = |task: u32| {
            let known = lineages.iter().find(|(number, _)| *number == task as usize);
            known
                .filter(|_| begun.iter().any(|step| step.task == task))
                .map(|(_, lineage)| *lineage)
        };
        let stable = |access: &StepAccess| Some((trace.stable_key(access.key, steps)?, access.class));
        let follower = |follower: &Follower| {
            let accesses = follower.footprint.iter().filter_map(stable).collect();
            (lineage(follower.task), accesses)
        };
        let awaited = |&step: &usize| {
            let task = begun[step].task;
            let before = begun[..step].iter().filter(|before| before.task == task).count();
            Some((lineage(task)?, before as u32))
        };
        let Some(awaited) = continuation.awaited.iter().map(awaited).collect() else {
            return;
        };
        let known = KnownContinuation {
            followers: continuation.followers.iter().map(follower).collect(),
            awaited,
        };
        let bytes = known.bytes() + 2 * size_of::<(u128, Visit)>();
        self.bytes_left = self.bytes_left.saturating_sub(bytes);
        let continuation = Arc::new(known);
        for state in states {
            if (self.visits.get(&state)).is_none_or(|visit| preemptions < visit.preemptions) {
                let continuation = continuation.clone();
                self.visits.insert(state, Visit { preemptions, continuation });
            }
        }
    }
}

impl KnownContinuation {
    /// Returns what comes after the state in terms of an execution that has just reached it; `None` if that cannot be
    /// said.
    fn in_terms_of(&self, trace: &Trace, goes_on: bool) -> Option<Repeated> {
        let lineages: Vec<_> = trace.lineages().collect();
        let number = |lineage: u64| {
            let known = lineages.iter().find(|(_, own)| *own == lineage);
            known.map(|(number, _)| *number as u32)
        };
        let mut keys: Vec<_> = match self.followers.is_empty() {
            true => Vec::new(),
            false => trace
                .stable_keys(trace.steps().len())
                .map(|(key, stable)| (stable, key))
                .collect(),
        };
        keys.sort_unstable();
        let mut followers = Vec::with_capacity(self.followers.len());
        for (lineage, accesses) in &self.followers {
            let task = match lineage {
                Some(lineage) => number(*lineage)?,
                None => UNBEGUN,
            };
            let mut footprint = Footprint::new();
            for &(stable, class) in accesses {
                let from = keys.partition_point(|(own, _)| *own < stable);
                let own = keys[from..].iter().take_while(|(own, _)| *own == stable);
                let before = footprint.len();
                footprint.extend(own.map(|&(_, key)| StepAccess { key, class }));
                if footprint.len() == before {
                    return None;
                }
            }
            followers.push((task, footprint));
        }
        let awaited = |&(lineage, before): &StepOfTask| {
            let task = number(lineage)?;
            let mut own = trace.steps().iter().enumerate().filter(|(_, step)| step.task == task);
            own.nth(before as usize).map(|(step, _)| step)
        };
        Some(Repeated {
            followers,
            awaited: self.awaited.iter().map(awaited).collect::<Option<_>>()?,
            goes_on,
        })
    }
}

impl Dpor {
    /// Has the search within a bound not continue from states that it has explored, which it remembers in this many
    /// bytes.
    pub fn remembering(self, bytes: usize) -> Dpor {
        Dpor {
            known: self.is_bounded().then(|| Box::new(KnownStates::within(bytes))),
            ..self
        }
    }

    /// Returns `true` if the execution has reached a state from which the search has continued before, and notes what
    /// came after it.
    pub(super) fn is_known(&mut self, point: &ChoicePoint<'_>, preemptions: u32) -> bool {
        let Some(known) = &mut self.known else {
            return false;
        };
        if point.fair || point.alternatives < 2 {
            return false;
        }
        let going_on = if point.preempts { point.task(0) } else { None };
        let trace = point.trace();
        let continuation = known.known(trace, preemptions, going_on.map(|task| task.0));
        let last = trace.steps().last().map(|last| last.task);
        let mut goes_on = false;
        point.for_each_task(|task| goes_on |= Some(task.0) == last);
        let repeated = continuation.and_then(|continuation| continuation.in_terms_of(trace, goes_on));
        known.repeated = repeated;
        known.repeated.is_some()
    }

    /// Begins the analysis of an execution: nothing is known to come after its new states yet.
    pub(super) fn begin_continuations(&mut self) {
        if let Some(known) = &mut self.known {
            known.path.resize_with(self.nodes.len(), Continuation::default);
        }
    }

    /// Notes a step that comes after the state before step `at`.
    pub(super) fn note_follower(&mut self, at: usize, task: u32, footprint: &[StepAccess], earliest: Option<usize>) {
        if let Some(known) = &mut self.known
            && let Some(earliest) = earliest.filter(|&earliest| earliest < at)
        {
            known.path[at].add(Follower {
                task,
                footprint: Footprint::from_slice(footprint),
                earliest,
            });
        }
    }

    /// Notes that a task waits for the step `awaited`, after the state before step `at`.
    pub(super) fn note_awaited(&mut self, at: usize, awaited: usize) {
        if let Some(known) = &mut self.known
            && awaited < at
        {
            known.path[at].add_awaited(awaited);
        }
    }

    /// Notes that not everything is known that comes after the last state of the path.
    pub(super) fn note_partial(&mut self) {
        if let Some(known) = &mut self.known
            && let Some(last) = known.path.last_mut()
        {
            last.is_partial = true;
        }
    }

    /// Plans what the steps after a known state call for, if the execution ended at one. Returns `false` otherwise.
    pub(super) fn plan_as_before(&mut self, footprints: &PossibleFootprints) -> bool {
        let Some(repeated) = self.known.as_mut().and_then(|known| known.repeated.take()) else {
            return false;
        };
        let steps = self.nodes.len();
        for (task, footprint) in &repeated.followers {
            let earliest = self.try_before(footprints, *task, footprint, steps);
            self.note_follower(steps - 1, *task, footprint, earliest);
        }
        for &step in &repeated.awaited {
            self.try_all_around(footprints, step);
            self.note_awaited(steps - 1, step);
        }
        if repeated.goes_on {
            // Its block of steps may contain more that do not commute with later ones.
            self.try_all(footprints.block(steps - 1));
        }
        true
    }

    /// Removes the last node of the path, after which everything has been explored.
    pub(super) fn close(&mut self, trace: &Trace) {
        if let Some(known) = &mut self.known
            && let Some(continuation) = known.path.pop()
        {
            let depth = known.path.len();
            let node = &self.nodes[depth];
            if node.choice.is_some() && !node.fair && !continuation.is_partial {
                let going_on = node
                    .preempts
                    .then(|| self.candidates[node.candidates.start].task);
                known.keep(trace, depth, node.preemptions, going_on, &continuation);
            }
            if let Some(before) = known.path.last_mut() {
                before.add_all(continuation, depth - 1);
            }
        }
        self.leave();
    }
}
