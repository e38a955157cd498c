//! Known states: those from which a search within a bound has continued. It does not continue from them again.
//!
//! A visit leads to nothing new if an earlier visit of the state had fewer preemptions. The same holds if the earlier
//! visit had the same number, and the same task could continue there, or none: see [`Caching`](crate::caching). But the
//! steps that come after the state also decide which tasks must be tried before it, and the second visit has other
//! steps before it than the first. So the search remembers the accesses that come after each state, and plans for the
//! second visit as if they had all come (Yang, Chen, Gopalakrishnan, Kirby, "Efficient stateful dynamic partial order
//! reduction", SPIN 2008).
//!
//! Only steps that do not commute with a step before the state matter. They are kept with numbers of tasks and
//! variables that are the same in all executions of the trace that leads to the state.
//!
//! Differs: the paper keeps a graph of operations; here a state is the fingerprint of a trace, with a set of accesses.
//! Tasks are also tried wherever a switch is free in a block of steps, as the bound requires. Misses: nothing that is
//! known, unless two states have the same fingerprint of 128 bits. If fairness holds a task back, the fingerprint does
//! not determine the state, and `caching` takes over.

use super::Dpor;
use super::bounded::{PossibleFootprints, UNBEGUN};
use intermezzo_engine::strategy::ChoicePoint;
use intermezzo_engine::trace::{ByFingerprint, Class, Key, StepAccess, Trace, hash64};
use std::collections::HashMap;
use std::mem::size_of;
use std::ops::Range;

/// An access of a task, in some step that comes after a state.
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
    /// The last state of the path that it comes after, by the number of steps before that state; [`NOWHERE`] if there
    /// is none.
    after: u32,
    /// The earliest step of the path that it does not commute with.
    earliest: u32,
    /// The number of its [`KnownAccess`] when it was last kept.
    known: u32,
}

const NOWHERE: u32 = u32::MAX;

/// The accesses that come after the states of the path, as far as explored. Each is noted at the last state that it
/// comes after, and so comes after the earlier states, too.
#[derive(Default)]
struct Continuations {
    /// All accesses that were ever noted, and the indices of those to each key.
    places: Vec<Place>,
    by_key: Vec<Vec<u32>>,
    /// The continuation of each state.
    states: Vec<Continuation>,
    /// Empty continuations, kept to reuse their memory.
    spare: Vec<Continuation>,
}

/// The data noted at one state of the path.
#[derive(Default)]
struct Continuation {
    /// Accesses, by index. Those that are now noted at another state do not count.
    accesses: Vec<u32>,
    /// The steps before the state for which a task waits after it.
    awaited: Vec<usize>,
    /// `true` if the accesses after the state are not all known.
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
            known: 0,
        });
        index
    }

    /// Calls `keep` at least once with the place of each access that comes after the last state. Stops when `keep`
    /// returns `None`.
    fn for_each_last(&mut self, mut keep: impl FnMut(&mut Place) -> Option<()>) -> Option<()> {
        let last = self.states.last()?;
        let after = self.states.len() as u32 - 1;
        for &index in &last.accesses {
            let place = &mut self.places[index as usize];
            if place.after == after {
                keep(place)?;
            }
        }
        Some(())
    }

    /// Removes the last state. Its accesses that concern steps before the previous state are then noted at the previous
    /// state.
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

    /// Adds empty states, up to this number.
    fn extend(&mut self, states: usize) {
        while self.states.len() < states {
            self.states.push(self.spare.pop().unwrap_or_default());
        }
    }
}

/// A step of a task: the task's lineage, and the number of its steps before.
type StepOfTask = (u64, u32);

/// An access that comes after a known state: the lineage of the task, `None` for one that had not begun before the
/// state; a number for the key that is the same in all executions of the trace that leads to the state; and the class.
type KnownAccess = (Option<u64>, u64, Class);

/// The accesses and steps that come after known states, one visit after the other. Those of a replaced visit stay, and
/// count as used memory.
#[derive(Default)]
struct KnownContinuations {
    /// The distinct accesses, by number. There are few, and each comes after many states.
    distinct: Vec<KnownAccess>,
    numbers: HashMap<KnownAccess, u32>,
    accesses: Vec<u32>,
    awaited: Vec<StepOfTask>,
    /// The lengths of both lists after each visit.
    ends: Vec<[u32; 2]>,
}

/// The best visit of a state. The type is small, because there may be millions of visits.
#[derive(Clone, Copy)]
struct Visit {
    preemptions: u32,
    /// The number of its part of [`KnownContinuations`].
    continuation: u32,
    /// A number of the task that could continue without a preemption, or [`NO_TASK`].
    going_on: u64,
}

/// The number of no task.
const NO_TASK: u64 = 1;

impl Visit {
    /// Returns `true` if a visit with this many preemptions leads to nothing new after this one. If no task could
    /// continue without a preemption in this visit, each switch was free, so nothing is cheaper in the other visit.
    fn covers(&self, preemptions: u32, going_on: u64) -> bool {
        let is_as_free = self.going_on == going_on || self.going_on == NO_TASK;
        self.preemptions < preemptions || self.preemptions == preemptions && is_as_free
    }
}

/// The accesses that come after the known state that ended the running execution, in terms of that execution.
pub(super) struct Repeated {
    accesses: Vec<Access>,
    awaited: Vec<usize>,
    /// `true` if the task of the last step may take the next one, too.
    goes_on: bool,
}

/// The known states, and the accesses that come after those of the path.
pub(super) struct KnownStates {
    visits: HashMap<u128, Visit, ByFingerprint>,
    continuations: KnownContinuations,
    /// The number of bytes that may still be used.
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

    /// Returns the visit of the state with this fingerprint after which another, with this many preemptions, leads to
    /// nothing new. `going_on` is the number of the task that could continue without one.
    fn known(&self, state: u128, preemptions: u32, going_on: u64) -> Option<Visit> {
        let covers = |visit: &&Visit| visit.covers(preemptions, going_on);
        let first = self.visits.get(&state)?;
        if covers(&first) || first.preemptions > preemptions {
            return Some(*first).filter(|first| covers(&first));
        }
        let another = self.visits.get(&position_of_another(state, going_on));
        another.filter(covers).copied()
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
        let Some(going_on) = number_of(trace, going_on) else {
            return;
        };
        let state = trace.fingerprint_after(steps);
        if self.known(state, preemptions, going_on).is_some() {
            return;
        }
        let distinct = self.continuations.distinct.len();
        let Some(continuation) = self.continuations.add(&mut self.path, trace, footprints, steps) else {
            return;
        };
        let new = self.continuations.distinct.len() - distinct;
        let visit = Visit {
            preemptions,
            continuation,
            going_on,
        };
        let [accesses, awaited] = self.continuations.part(continuation);
        // Lists and tables have room for up to twice as many entries as they contain.
        let bytes = 2
            * (new * (size_of::<KnownAccess>() + size_of::<(KnownAccess, u32)>())
                + accesses.len() * size_of::<u32>()
                + awaited.len() * size_of::<StepOfTask>()
                + size_of::<[u32; 2]>()
                + size_of::<(u128, Visit)>());
        self.bytes_left = self.bytes_left.saturating_sub(bytes);
        // A visit that the new one covers is not needed any more.
        let first = self.visits.get(&state);
        let is_another = first.is_some_and(|first| !visit.covers(first.preemptions, first.going_on));
        let position = match is_another {
            true => position_of_another(state, going_on),
            false => state,
        };
        self.visits.insert(position, visit);
    }
}

/// Returns the position in the table of a second visit of a state: one with as many preemptions as the first, in which
/// another task could continue without one.
fn position_of_another(state: u128, going_on: u64) -> u128 {
    state.wrapping_add(u128::from(going_on) << 32 | 1)
}

/// Returns a number for the task that could continue, which is the same in all executions of a trace. Returns `None` if
/// the task has no entries yet, so that it cannot be identified.
fn number_of(trace: &Trace, going_on: Option<u32>) -> Option<u64> {
    let Some(task) = going_on else {
        return Some(NO_TASK);
    };
    let lineage = trace.lineage(task)?;
    Some(hash64(lineage, 2))
}

impl KnownContinuations {
    /// Adds the accesses and steps that come after the last state of the path, and returns their number. Returns `None`
    /// if they cannot be expressed in terms of other executions, or if there are too many.
    fn add(
        &mut self,
        path: &mut Continuations,
        trace: &Trace,
        footprints: &PossibleFootprints,
        steps: usize,
    ) -> Option<u32> {
        let (accesses, awaited) = (self.accesses.len(), self.awaited.len());
        let own = self.extend(path, trace, footprints, steps);
        if own.is_none() {
            self.accesses.truncate(accesses);
            self.awaited.truncate(awaited);
        }
        own
    }

    /// Does the same, but leaves a partial addition if it cannot add everything.
    fn extend(
        &mut self,
        path: &mut Continuations,
        trace: &Trace,
        footprints: &PossibleFootprints,
        steps: usize,
    ) -> Option<u32> {
        let lineage = |task| {
            let begun = footprints.has_begun(task, steps);
            begun.then(|| trace.lineage(task)).flatten()
        };
        path.for_each_last(|place| {
            let Access { task, key, class } = place.access;
            let access = (lineage(task), trace.stable_key(key, steps)?, class);
            if self.distinct.get(place.known as usize) != Some(&access) {
                place.known = self.number(access);
            }
            self.accesses.push(place.known);
            Some(())
        })?;
        let begun = &trace.steps()[..steps];
        for &step in &path.states.last()?.awaited {
            let task = begun[step].task;
            let before = begun[..step].iter().filter(|before| before.task == task).count();
            self.awaited.push((lineage(task)?, before as u32));
        }
        let own = u32::try_from(self.ends.len()).ok()?;
        let end = |length| u32::try_from(length).ok();
        self.ends
            .push([end(self.accesses.len())?, end(self.awaited.len())?]);
        Some(own)
    }

    /// Returns the number of this access.
    fn number(&mut self, access: KnownAccess) -> u32 {
        let next = self.distinct.len() as u32;
        *self.numbers.entry(access).or_insert_with(|| {
            self.distinct.push(access);
            next
        })
    }

    /// Returns the ranges of the accesses, and of the awaited steps, with this number.
    fn part(&self, number: u32) -> [Range<usize>; 2] {
        let [accesses_end, awaited_end] = self.ends[number as usize];
        let [accesses, awaited] = number
            .checked_sub(1)
            .map_or([0; 2], |before| self.ends[before as usize]);
        [
            accesses as usize..accesses_end as usize,
            awaited as usize..awaited_end as usize,
        ]
    }

    /// Returns the accesses and steps that come after the state of a visit, in terms of an execution that has just
    /// reached it; `None` if they cannot be expressed.
    fn in_terms_of(&self, visit: Visit, trace: &Trace, goes_on: bool) -> Option<Repeated> {
        let [accesses, awaited] = self.part(visit.continuation);
        let (known, steps_awaited) = (&self.accesses[accesses], &self.awaited[awaited]);
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
        for &access in known {
            let (lineage, stable, class) = self.distinct[access as usize];
            let task = match lineage {
                Some(lineage) => number(lineage)?,
                None => UNBEGUN,
            };
            // Several keys may have the same number, if nothing distinguishes them. Then all of them are meant.
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

impl Dpor {
    /// Makes a search within a bound remember the states that it has explored, in this many bytes, and not continue
    /// from them again.
    pub fn remembering(self, bytes: usize) -> Dpor {
        Dpor {
            known: self.is_bounded().then(|| Box::new(KnownStates::within(bytes))),
            ..self
        }
    }

    /// Returns `true` if the execution has reached a known state, and notes the accesses that come after it.
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
        let visit = number_of(trace, going_on.map(|task| task.0))
            .and_then(|going_on| known.known(trace.fingerprint(), preemptions, going_on));
        let last = trace.steps().last().map(|last| last.task);
        let mut goes_on = false;
        point.for_each_task(|task| goes_on |= Some(task.0) == last);
        let repeated = visit.and_then(|visit| known.continuations.in_terms_of(visit, trace, goes_on));
        known.repeated = repeated;
        known.repeated.is_some()
    }

    /// Begins the analysis of an execution: adds empty continuations for its new states.
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

    /// Notes that the accesses after the last state of the path are not all known.
    pub(super) fn note_partial(&mut self) {
        if let Some(known) = &mut self.known
            && let Some(last) = known.path.states.last_mut()
        {
            last.is_partial = true;
        }
    }

    /// Plans the tasks that the accesses after a known state require, if the execution ended at one. Returns `false`
    /// otherwise.
    pub(super) fn plan_as_before(&mut self, footprints: &mut PossibleFootprints) -> bool {
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
            // Its block of steps may continue with steps that do not commute with later ones.
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
