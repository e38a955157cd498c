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
//! Differs: from the paper, which keeps a graph of operations: a state is the fingerprint of a trace, with a set of
//! accesses. Tasks are also tried before blocks of steps, as the bound demands.
//! Misses: nothing that is known, as far as fingerprints of 128 bits are different. While fairness holds tasks back, a state is more
//! than its fingerprint, and none is kept or known.

use super::Dpor;
use super::bounded::{PossibleFootprints, UNBEGUN};
use intermezzo_engine::strategy::ChoicePoint;
use intermezzo_engine::trace::{Class, Key, StepAccess, Trace};
use std::collections::HashMap;
use std::mem::size_of;
use std::sync::Arc;

/// An access of a task, in any of its steps that come after a state.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Access {
    task: u32,
    key: Key,
    class: Class,
}

/// The position of an access in the path.
#[derive(Clone, Copy)]
struct Place {
    access: Access,
    /// The last state of the path that it comes after, by the number of steps before; [`NOWHERE`] if it comes after
    /// none.
    after: u32,
    /// The earliest step of the path that it does not commute with.
    earliest: u32,
}

const NOWHERE: u32 = u32::MAX;

/// The accesses that come after the states of the path, as far as explored. Each is noted at the last state that it comes
/// after; it comes after those before, too.
#[derive(Default)]
struct Continuations {
    /// All accesses that were ever noted, and the index of each.
    places: Vec<Place>,
    indices: HashMap<Access, u32>,
    /// The continuation of each state.
    states: Vec<Continuation>,
    /// Continuations without content, to be used again.
    spare: Vec<Continuation>,
}

/// The part that is noted at one state of the path.
#[derive(Default)]
struct Continuation {
    /// Accesses, by index. Those that are noted elsewhere by now do not count.
    accesses: Vec<u32>,
    /// The steps before the state for which a task waits after it.
    awaited: Vec<usize>,
    /// `true` if not everything that comes after it is known.
    is_partial: bool,
}

impl Continuation {
    fn add_awaited(&mut self, step: usize) {
        if !self.awaited.contains(&step) {
            self.awaited.push(step);
        }
    }
}

impl Continuations {
    /// Notes that an access comes after the state before step `at`.
    fn note(&mut self, at: usize, access: Access, earliest: usize) {
        let next = self.places.len() as u32;
        let index = *self.indices.entry(access).or_insert(next);
        if index == next {
            self.places.push(Place {
                access,
                after: NOWHERE,
                earliest: 0,
            });
        }
        let place = &mut self.places[index as usize];
        if place.after == NOWHERE || (place.after as usize) < at {
            (place.after, place.earliest) = (at as u32, earliest as u32);
            self.states[at].accesses.push(index);
        }
    }

    /// Returns the accesses that come after the last state, each at least once.
    fn last(&self) -> impl Iterator<Item = Access> {
        let after = self.states.len() as u32 - 1;
        let noted = self.states.last().map_or(&[][..], |last| &last.accesses);
        let places = noted.iter().map(|&index| &self.places[index as usize]);
        places
            .filter(move |place| place.after == after)
            .map(|place| place.access)
    }

    /// Removes the last state. What came after it, and concerns steps before the one before it, comes after that one.
    fn pop(&mut self) {
        let Some(mut last) = self.states.pop() else {
            return;
        };
        let after = self.states.len() as u32;
        let places = &mut self.places;
        last.accesses.retain(|&index| {
            let place = &mut places[index as usize];
            if place.after != after {
                return false;
            }
            let concerns = place.earliest + 1 < after;
            place.after = if concerns { after - 1 } else { NOWHERE };
            concerns
        });
        if let Some(before) = self.states.last_mut() {
            before.is_partial |= last.is_partial;
            if before.accesses.is_empty() {
                std::mem::swap(&mut before.accesses, &mut last.accesses);
            } else {
                before.accesses.append(&mut last.accesses);
            }
            let concerns = last.awaited.drain(..).filter(|&step| step + 1 < after as usize);
            concerns.for_each(|step| before.add_awaited(step));
        }
        last.accesses.clear();
        last.awaited.clear();
        last.is_partial = false;
        self.spare.push(last);
    }

    /// Adds states without anything noted, up to this number.
    fn extend(&mut self, states: usize) {
        while self.states.len() < states {
            self.states.push(self.spare.pop().unwrap_or_default());
        }
    }
}

/// A step of a task: the task's lineage, and the number of its steps before.
type StepOfTask = (u64, u32);

/// The accesses that come after a known state, with numbers that hold in all executions of the trace that leads to it.
struct KnownContinuation {
    /// The tasks by lineage, `None` for one that has not begun before the state; and what they access.
    accesses: Box<[(Option<u64>, u64, Class)]>,
    awaited: Box<[StepOfTask]>,
}

impl KnownContinuation {
    fn bytes(&self) -> usize {
        size_of::<KnownContinuation>() + size_of_val(&*self.accesses) + size_of_val(&*self.awaited)
    }
}

/// The best visit of a state.
struct Visit {
    preemptions: u32,
    continuation: Arc<KnownContinuation>,
}

/// The accesses that come after the known state that ended the running execution, in terms of that execution.
pub(super) struct Repeated {
    accesses: Vec<Access>,
    awaited: Vec<usize>,
    /// `true` if the task of the last step may take the next one, too.
    goes_on: bool,
}

/// The known states, and what comes after those of the path.
pub(super) struct KnownStates {
    visits: HashMap<u128, Visit>,
    /// The bytes that may yet be used.
    bytes_left: usize,
    /// One state for each step of the path: the state before it.
    path: Continuations,
    /// Set if the running execution ended at a known state.
    repeated: Option<Repeated>,
}

impl KnownStates {
    pub(super) fn within(bytes: usize) -> KnownStates {
        KnownStates {
            visits: HashMap::new(),
            bytes_left: bytes,
            path: Continuations::default(),
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

    /// Keeps the last state of the path, which is after the first `steps` steps of the execution, if there is room.
    fn keep(
        &mut self,
        trace: &Trace,
        footprints: &PossibleFootprints,
        steps: usize,
        preemptions: u32,
        going_on: Option<u32>,
    ) {
        let Some(last) = self.path.states.last().filter(|last| !last.is_partial) else {
            return;
        };
        let states = trace.state_after(steps, going_on);
        let is_better =
            |state: &u128| (self.visits.get(state)).is_none_or(|visit| preemptions < visit.preemptions);
        let better = states.map(|state| is_better(&state));
        if self.bytes_left == 0 || better == [false, false] {
            return;
        }
        let lineage = |task| {
            let begun = footprints.has_begun(task, steps);
            begun.then(|| trace.lineage(task)).flatten()
        };
        let stable = |access: Access| {
            let key = trace.stable_key(access.key, steps)?;
            Some((lineage(access.task), key, access.class))
        };
        let begun = &trace.steps()[..steps];
        let awaited = |&step: &usize| {
            let task = begun[step].task;
            let before = begun[..step].iter().filter(|before| before.task == task).count();
            Some((lineage(task)?, before as u32))
        };
        let Some(awaited) = last.awaited.iter().map(awaited).collect() else {
            return;
        };
        let Some(accesses) = self.path.last().map(stable).collect() else {
            return;
        };
        let known = KnownContinuation { accesses, awaited };
        // A table has room for up to twice as many entries as there are, and each entry counts its references.
        let bytes = known.bytes() + 4 * size_of::<(u128, Visit)>() + 2 * size_of::<usize>();
        self.bytes_left = self.bytes_left.saturating_sub(bytes);
        let continuation = Arc::new(known);
        for (state, _) in states.into_iter().zip(better).filter(|(_, better)| *better) {
            let continuation = continuation.clone();
            self.visits.insert(
                state,
                Visit {
                    preemptions,
                    continuation,
                },
            );
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
        let mut keys: Vec<_> = match self.accesses.is_empty() {
            true => Vec::new(),
            false => trace
                .stable_keys(trace.steps().len())
                .map(|(key, stable)| (stable, key))
                .collect(),
        };
        keys.sort_unstable();
        let mut accesses = Vec::with_capacity(self.accesses.len());
        for &(lineage, stable, class) in &self.accesses {
            let task = match lineage {
                Some(lineage) => number(lineage)?,
                None => UNBEGUN,
            };
            // Several keys may have one number, if nothing tells them apart. Then all of them are meant.
            let from = keys.partition_point(|(own, _)| *own < stable);
            let own = keys[from..].iter().take_while(|(own, _)| *own == stable);
            let before = accesses.len();
            accesses.extend(own.map(|&(_, key)| Access { task, key, class }));
            if accesses.len() == before {
                return None;
            }
        }
        let awaited = |&(lineage, before): &StepOfTask| {
            let task = number(lineage)?;
            let mut own = trace
                .steps()
                .iter()
                .enumerate()
                .filter(|(_, step)| step.task == task);
            own.nth(before as usize).map(|(step, _)| step)
        };
        Some(Repeated {
            accesses,
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
            known.path.extend(self.nodes.len());
        }
    }

    /// Notes an access of a task that comes after the state before step `at`, and the earliest step that it does not
    /// commute with.
    pub(super) fn note_follower(&mut self, at: usize, task: u32, access: StepAccess, earliest: usize) {
        if let Some(known) = self.known.as_mut().filter(|_| earliest < at) {
            let StepAccess { key, class } = access;
            known.path.note(at, Access { task, key, class }, earliest);
        }
    }

    /// Notes that a task waits for the step `awaited`, after the state before step `at`.
    pub(super) fn note_awaited(&mut self, at: usize, awaited: usize) {
        if let Some(known) = self.known.as_mut().filter(|_| awaited < at) {
            known.path.states[at].add_awaited(awaited);
        }
    }

    /// Notes that not everything is known that comes after the last state of the path.
    pub(super) fn note_partial(&mut self) {
        if let Some(known) = &mut self.known
            && let Some(last) = known.path.states.last_mut()
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
        for &Access { task, key, class } in &repeated.accesses {
            self.try_before(footprints, task, StepAccess { key, class }, steps, steps - 1);
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
        if let Some(known) = &mut self.known {
            let depth = self.nodes.len() - 1;
            debug_assert_eq!(
                known.path.states.len(),
                self.nodes.len(),
                "one state for each node"
            );
            let node = &self.nodes[depth];
            if node.choice.is_some() && !node.fair {
                let going_on = node.preempts.then(|| self.candidates[node.candidates.start].task);
                known.keep(trace, &self.footprints, depth, node.preemptions, going_on);
            }
            known.path.pop();
        }
        self.leave();
    }
}
