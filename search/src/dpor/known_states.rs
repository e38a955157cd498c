//! States from which a search within a bound has continued before. It does not continue from them again.
//!
//! A visit leads to nothing new if an earlier visit of the state had fewer preemptions. The same holds if the earlier
//! visit had as many, and the same task could continue there, or none in both: see [`Caching`](crate::caching). But
//! the steps that come after the state also decide what is to be tried before it, and the second visit has other steps
//! before it than the first. So the search keeps what comes after each state, and plans for the second visit as if it had
//! all come (Yang, Chen, Gopalakrishnan, Kirby, "Efficient stateful dynamic partial order reduction", SPIN 2008).
//!
//! Only steps that do not commute with a step before the state matter. They are kept with numbers of tasks and
//! variables that are the same in all executions of the trace that leads to the state.
//!
//! Differs: from the paper, which keeps a graph of operations: a state is the fingerprint of a trace, with a set of
//! accesses. Tasks are also tried wherever a switch is free in a block of steps, as the bound demands.
//! Misses: nothing that is known, unless two states have one fingerprint of 128 bits. If fairness holds a task back, the
//! state is more than its fingerprint, and the search gives way to `caching`.

use super::Dpor;
use super::bounded::{PossibleFootprints, UNBEGUN};
use intermezzo_engine::strategy::ChoicePoint;
use intermezzo_engine::trace::{ByFingerprint, Class, Key, StepAccess, Trace, hash64};
use std::collections::HashMap;
use std::mem::size_of;
use std::ops::Range;

/// An access of a task, in any of its steps that come after a state.
#[derive(Clone, Copy, PartialEq, Eq)]
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
    /// All accesses that were ever noted, and the indices of those to each key.
    places: Vec<Place>,
    by_key: Vec<Vec<u32>>,
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
        let index = self.index(access);
        let place = &mut self.places[index as usize];
        if place.after == NOWHERE || (place.after as usize) < at {
            (place.after, place.earliest) = (at as u32, earliest as u32);
            self.states[at].accesses.push(index);
        }
    }

    /// Returns the index of an access.
    fn index(&mut self, access: Access) -> u32 {
        let key = access.key.index();
        if key >= self.by_key.len() {
            self.by_key.resize_with(2 * key + 16, Vec::new);
        }
        let own = &mut self.by_key[key];
        let known = own
            .iter()
            .find(|&&index| self.places[index as usize].access == access);
        if let Some(&index) = known {
            return index;
        }
        let index = self.places.len() as u32;
        own.push(index);
        self.places.push(Place {
            access,
            after: NOWHERE,
            earliest: 0,
        });
        index
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

/// An access that comes after a known state: the task by lineage, `None` for one that has not begun before the state; and
/// the key by a number that holds in all executions of the trace that leads to the state.
type KnownAccess = (Option<u64>, u64, Class);

/// The accesses and steps that come after known states, one state after the other. Those of a visit that was replaced stay,
/// and count as memory that is used.
#[derive(Default)]
struct KnownContinuations {
    accesses: Vec<KnownAccess>,
    awaited: Vec<StepOfTask>,
}

/// The best visit of a state, and the parts of [`KnownContinuations`] that come after it.
#[derive(Clone)]
struct Visit {
    preemptions: u32,
    accesses: Range<u32>,
    awaited: Range<u32>,
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
    visits: HashMap<u128, Visit, ByFingerprint>,
    continuations: KnownContinuations,
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
            visits: HashMap::default(),
            continuations: KnownContinuations::default(),
            bytes_left: bytes,
            path: Continuations::default(),
            repeated: None,
        }
    }

    /// Forgets that the running execution ended at a known state, because it is about to be run again.
    pub(super) fn retry(&mut self) {
        self.repeated = None;
    }

    /// Returns the visit of this state if it is known, and another with this many preemptions leads to nothing new.
    /// `going_on` is the task that could continue without one.
    fn known(&self, trace: &Trace, preemptions: u32, going_on: Option<u32>) -> Option<&Visit> {
        let [by_anyone, by_this_one] = positions(trace.fingerprint(), identified(trace, going_on)?);
        let visit = |position, most| {
            let visit = self.visits.get(&position);
            visit.filter(|visit| visit.preemptions < most)
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
        if self.bytes_left == 0 || self.path.states.last().is_none_or(|last| last.is_partial) {
            return;
        }
        let Some(going_on) = identified(trace, going_on) else {
            return;
        };
        let positions = positions(trace.fingerprint_after(steps), going_on);
        let is_better = |position: u128| {
            let known = self.visits.get(&position);
            known.is_none_or(|known| preemptions < known.preemptions)
        };
        let better = positions.map(is_better);
        if better == [false, false] {
            return;
        }
        let added = self.continuations.add(&self.path, trace, footprints, steps);
        let Some([accesses, awaited]) = added else {
            return;
        };
        let visit = Visit {
            preemptions,
            accesses,
            awaited,
        };
        // Lists and the table have room for up to twice as many entries as there are.
        let bytes = 2
            * (visit.accesses.len() * size_of::<KnownAccess>()
                + visit.awaited.len() * size_of::<StepOfTask>()
                + 2 * size_of::<(u128, Visit)>());
        self.bytes_left = self.bytes_left.saturating_sub(bytes);
        for (position, _) in positions.into_iter().zip(better).filter(|(_, better)| *better) {
            self.visits.insert(position, visit.clone());
        }
    }
}

/// Returns the numbers of a state with this fingerprint in the table: by whichever task can continue without a preemption,
/// and by this one.
fn positions(state: u128, going_on: Option<u64>) -> [u128; 2] {
    let task = going_on.map_or(1, |lineage| hash64(lineage, 2));
    [state, state.wrapping_add(u128::from(task) << 32 | 1)]
}

/// Returns the lineage of a task, if one is given. It is `None` if no other task could notice the task, so that it cannot be
/// distinguished.
fn identified(trace: &Trace, task: Option<u32>) -> Option<Option<u64>> {
    task.map_or(Some(None), |task| trace.lineage(task).map(Some))
}

impl KnownContinuations {
    /// Adds what comes after the last state of the path, and returns the ranges of the accesses and of the steps that are
    /// awaited; `None` if it cannot be said in terms of other executions, or if there are too many.
    fn add(
        &mut self,
        path: &Continuations,
        trace: &Trace,
        footprints: &PossibleFootprints,
        steps: usize,
    ) -> Option<[Range<u32>; 2]> {
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
        let (accesses, steps_awaited) = (self.accesses.len(), self.awaited.len());
        let all_known = extend_by_all(&mut self.accesses, path.last().map(stable))
            && extend_by_all(&mut self.awaited, path.states.last()?.awaited.iter().map(awaited));
        let end = |length| u32::try_from(length).ok().filter(|_| all_known);
        let (Some(accesses_end), Some(awaited_end)) = (end(self.accesses.len()), end(self.awaited.len()))
        else {
            self.accesses.truncate(accesses);
            self.awaited.truncate(steps_awaited);
            return None;
        };
        Some([accesses as u32..accesses_end, steps_awaited as u32..awaited_end])
    }

    /// Returns what comes after the state of a visit in terms of an execution that has just reached it; `None` if that
    /// cannot be said.
    fn in_terms_of(&self, visit: &Visit, trace: &Trace, goes_on: bool) -> Option<Repeated> {
        let part = |range: &Range<u32>| range.start as usize..range.end as usize;
        let (known, steps_awaited) = (
            &self.accesses[part(&visit.accesses)],
            &self.awaited[part(&visit.awaited)],
        );
        let lineages: Vec<_> = trace.lineages().collect();
        let number = |lineage: u64| {
            let own = lineages.iter().find(|(_, own)| *own == lineage);
            own.map(|(number, _)| *number as u32)
        };
        let mut keys: Vec<_> = match known.is_empty() {
            true => Vec::new(),
            false => trace
                .stable_keys(trace.steps().len())
                .map(|(key, stable)| (stable, key))
                .collect(),
        };
        keys.sort_unstable();
        let mut accesses = Vec::with_capacity(known.len());
        for &(lineage, stable, class) in known {
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
            awaited: steps_awaited.iter().map(awaited).collect::<Option<_>>()?,
            goes_on,
        })
    }
}

/// Adds items, up to the first that is `None`. Returns `true` if there is none.
fn extend_by_all<T>(list: &mut Vec<T>, items: impl Iterator<Item = Option<T>>) -> bool {
    for item in items {
        let Some(item) = item else {
            return false;
        };
        list.push(item);
    }
    true
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
    #[inline(always)]
    pub(super) fn is_known(&mut self, point: &ChoicePoint<'_>, preemptions: u32) -> bool {
        self.known.is_some() && self.is_among_known(point, preemptions)
    }

    #[inline(never)]
    fn is_among_known(&mut self, point: &ChoicePoint<'_>, preemptions: u32) -> bool {
        let Some(known) = &mut self.known else {
            return false;
        };
        if point.alternatives < 2 {
            return false;
        }
        let going_on = if point.preempts { point.task(0) } else { None };
        let trace = point.trace();
        let visit = known.known(trace, preemptions, going_on.map(|task| task.0));
        let last = trace.steps().last().map(|last| last.task);
        let mut goes_on = false;
        point.for_each_task(|task| goes_on |= Some(task.0) == last);
        let repeated = visit.and_then(|visit| known.continuations.in_terms_of(visit, trace, goes_on));
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
            footprints
                .free_switches(steps - 1)
                .for_each(|depth| self.try_all(depth));
        }
        true
    }

    /// Removes the last node of the path, after which everything has been explored.
    #[inline(always)]
    pub(super) fn close(&mut self, trace: &Trace) {
        if self.known.is_some() {
            self.keep_known(trace);
        }
        self.leave();
    }

    /// Remembers the state before the last step of the path, after which everything has been explored.
    #[inline(never)]
    fn keep_known(&mut self, trace: &Trace) {
        if let Some(known) = &mut self.known {
            let depth = self.nodes.len() - 1;
            debug_assert_eq!(
                known.path.states.len(),
                self.nodes.len(),
                "one state for each node"
            );
            let node = &self.nodes[depth];
            if node.choice.is_some() {
                let going_on = node.preempts.then(|| self.candidates[node.candidates.start].task);
                known.keep(trace, &self.footprints, depth, node.preemptions, going_on);
            }
            known.path.pop();
        }
    }
}
