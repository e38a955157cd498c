//! Awaits: a task whose loop only waits is disabled until what it waits for changes. This is the spin-assume idea of
//! GenMC and VSync, without an analysis of the code.
//!
//! A *round* of a task is everything from one yield to the next; yields in a row are one. A round *failed* (a pure
//! iteration in the papers) if the task is in the same state as when the round began, and only read. Several rounds in
//! a row also count as one failed round if the task is again in the state that it had some yields ago. More precisely:
//!
//! - its registers and the used part of its stack are, byte by byte, as they were (`switch/snapshot.rs`), and so are
//!   the virtual clock and the remaining bounds of the environment;
//! - its operations wrote nothing, or only values that were already there, and made no choice.
//!
//! The other tasks' operations during a failed round could have been performed without that round in between. So an
//! execution with the round shows nothing that an execution without it does not. If the values that the round read are
//! unchanged at its end, the next round would be the same. The task is then *parked*, its round is elided, and the
//! yield at its end does not count. It continues, up to its next visible operation, as soon as a variable that the
//! round read is written with another value (a lock or a channel: is written at all). A bounded spin and a growing
//! back-off change the task's state in each round, so they are never parked.
//!
//! The first round of a loop is always executed. The task's dead stack slots and return addresses differ before and
//! after it, because compilers rotate and peel loops, so the two states cannot be recognised as equal. If the loop is
//! known, and assumed to only wait (`known_loops.rs`), its first round is elided, too.
//!
//! **Not observed**: memory outside the task's own stack. A loop that ends after some rounds because of a counter on
//! the heap, in a thread-local or in a frame of another task is mistaken for one that waits. When no other task can
//! continue, parked tasks are released one after the other, for a limited number of rounds each, so that such a loop
//! still ends. What it would have done earlier is missed. Futures that yield keep their state in the heap and are never
//! parked. A report says when tasks were parked.

use super::dispatch::Next;
use super::known_loops::KnownLoops;
use super::naming::{site_name, var_name};
use super::outcome::AwaitedVar;
use super::{Engine, LATE, Runtime, Stop};
use crate::record::{Access, Adversities, Event, Pending, TaskSet};
use crate::site::Site;
use crate::trace::SoundReduction;
use intermezzo_sdk::{SyncVar, SyncVarOp};
use std::collections::VecDeque;

/// The number of failed rounds after which a released task is abandoned: more than a loop with a counter is likely to
/// need, and few enough to cost little.
const LAST_ROUNDS: u32 = 32;

/// The state that decides a task's next operations, apart from its registers, its stack, and the values of variables.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct LoopContext {
    pub(super) clock: u64,
    pub(super) late_timeouts_left: u32,
    pub(super) adversities: Adversities,
    pub(super) random_sources: u32,
    /// The number of the task's visits to armed breakpoints.
    pub(super) visits: u64,
}

/// A variable that a round read.
struct Awaited {
    var: u32,
    /// The value that was read, and must change, if the variable has a value.
    value: Option<u64>,
    /// `true` if it has been written since.
    changed: bool,
    site: Site,
}

impl Awaited {
    /// Returns whether this event makes a difference to a task that read the variable before; `None` if the event does
    /// not concern it.
    fn changed_by(&self, event: &Event) -> Option<bool> {
        // A wait on a condition variable releases the mutex, and its event has the mutex's number.
        if event.op == SyncVarOp::CondvarWait && event.written == u64::from(self.var) {
            return Some(true);
        }
        let concerns = event.var == self.var && event.may_change();
        concerns.then(|| match event.op {
            // A wake-up of those that wait at a word, which keeps its value.
            SyncVarOp::NotifyOne | SyncVarOp::NotifyAll if self.value.is_some() => false,
            _ => !has_value(event.op) || self.value != Some(event.written),
        })
    }
}

/// The number of states of a task that are kept: those at its last yields. A loop may yield several times per
/// iteration, and is then back in the state that it had several yields ago.
const STATES_MAX: usize = 8;

/// The state of a task at a yield.
struct YieldState {
    /// Registers and stack.
    words: Vec<u64>,
    surroundings: LoopContext,
    /// The number of the first event after the yield.
    first_event: usize,
}

/// The rounds of a task.
#[derive(Default)]
struct Rounds {
    /// The states at its last yields, the last one first. No two are the same.
    states: VecDeque<YieldState>,
    /// States that are not needed, for their memory.
    spare: Vec<YieldState>,
    /// `true` if the current yield ends a round.
    ends: bool,
    /// The first event after the last yield with the same state as the current one, if that is known.
    same_since: Option<usize>,
    /// `true` if the current round read a store that was not the newest: the next round may read another one.
    read_stale: bool,
    /// The number of the first event of the current round.
    first_event: usize,
    /// The variables that the last round read.
    awaited: Vec<Awaited>,
    /// The number of failed rounds since the task was released.
    failed: u32,
}

impl YieldState {
    fn new(surroundings: LoopContext) -> YieldState {
        YieldState {
            words: Vec::new(),
            surroundings,
            first_event: 0,
        }
    }
}

impl Rounds {
    /// Forgets all states but the last ones.
    fn forget_but(&mut self, last: usize) {
        let kept = last.min(self.states.len());
        self.spare.extend(self.states.drain(kept..));
    }

    /// Begins a round with this event. Returns the first event of the one that ends.
    fn begin_next(&mut self, first_event: usize) -> usize {
        if let Some(state) = self.states.front_mut() {
            state.first_event = first_event;
        }
        std::mem::replace(&mut self.first_event, first_event)
    }
}

/// The figures of an execution at the moment when every released task had first used up its last rounds.
#[derive(Clone, Copy)]
struct Figures {
    steps: u64,
    switches: u64,
    plain_accesses: u64,
    events: usize,
}

/// The loops of all tasks, in one execution.
pub(super) struct Spins {
    /// `true` if tasks are parked at all.
    on: bool,
    rounds: Vec<Rounds>,
    parked: TaskSet,
    /// The number of events that have been searched for changes.
    looked: usize,
    /// The tasks that were released because no other task could continue.
    released: TaskSet,
    /// `true` if they are in their last rounds.
    last_rounds: bool,
    /// The number of events when they were released.
    events_before: usize,
    /// The figures to report if the loops do not end; `None` until then.
    counted: Option<Figures>,
    /// `true` if the last yield does not count.
    void_yield: bool,
    parks: u32,
    failed_iterations: u32,
    unseen_change: bool,
    /// The loops that are assumed to only wait; `None` if there are none.
    known: Option<Box<KnownLoops>>,
    /// The rounds in the current step that will be elided: the task of each, and its first event.
    elided_rounds: Vec<(u32, usize)>,
}

impl Spins {
    /// Returns the initial state. With `known`, loops with these hashes are assumed to only wait.
    pub(super) fn new(on: bool, known: Option<Vec<u64>>) -> Spins {
        Spins {
            on,
            known: known.map(|known| Box::new(KnownLoops::new(known))),
            elided_rounds: Vec::new(),
            rounds: Vec::new(),
            parked: TaskSet::default(),
            looked: 0,
            released: TaskSet::default(),
            last_rounds: false,
            counted: None,
            events_before: 0,
            void_yield: false,
            parks: 0,
            failed_iterations: 0,
            unseen_change: false,
        }
    }

    /// Resets the state for a new execution.
    pub(super) fn reset(&mut self) {
        for rounds in &mut self.rounds {
            rounds.forget_but(0);
            rounds.ends = false;
            rounds.read_stale = false;
            rounds.first_event = 0;
        }
        self.elided_rounds.clear();
        if let Some(known) = &mut self.known {
            known.forget();
        }
        self.parked.clear();
        self.looked = 0;
        self.released.clear();
        self.last_rounds = false;
        self.counted = None;
        self.void_yield = false;
        self.parks = 0;
        self.failed_iterations = 0;
        self.unseen_change = false;
    }

    /// Returns `true` if changes must be searched for.
    #[inline(always)]
    pub(super) fn busy(&self) -> bool {
        self.any_parked() || self.last_rounds
    }

    pub(super) fn any_parked(&self) -> bool {
        !self.parked.is_empty()
    }

    /// Forgets that the task is parked, or released.
    pub(super) fn forget(&mut self, task: u32) {
        self.parked.remove(task);
        self.released.remove(task);
    }

    /// Returns `true` if only tasks that were parked can continue, and they are in their last rounds.
    pub(super) fn in_last_rounds(&self) -> bool {
        self.last_rounds
    }

    /// Returns the number of events that count, if every released task has made its last rounds and no loop has ended.
    pub(super) fn counted_events(&self) -> Option<usize> {
        let counted = self.counted.filter(|_| self.last_rounds);
        counted.map(|counted| counted.events)
    }

    /// Returns the loops that are assumed to only wait, if there are any.
    pub(super) fn known(&self) -> Option<&KnownLoops> {
        self.known.as_deref()
    }

    /// Assumes from now on that the loops with these hashes only wait, and no others, and learns no new ones.
    pub(super) fn assume_only(&mut self, known: &[u64]) {
        if let Some(loops) = &mut self.known {
            **loops = KnownLoops::fixed(known.to_vec());
        }
    }

    /// Returns `true` if the execution showed that an unknown loop only waits.
    pub(super) fn has_learned(&self) -> bool {
        self.known.as_deref().is_some_and(KnownLoops::has_learned)
    }

    /// Makes the loops that the last execution showed known from now on.
    pub(super) fn adopt_learned(&mut self) {
        if let Some(known) = &mut self.known {
            known.adopt();
        }
    }

    /// Returns the next round that the current step elides, if there is another one: its task and its first event.
    pub(super) fn next_void_round(&mut self) -> Option<(u32, usize)> {
        self.elided_rounds.pop()
    }

    /// Returns `true` if the yield of the last step does not count, and resets the mark.
    pub(super) fn take_void_yield(&mut self) -> bool {
        std::mem::take(&mut self.void_yield)
    }

    /// Returns the number of times a task was parked.
    pub(super) fn parks(&self) -> u32 {
        self.parks
    }

    /// Returns the number of failed rounds whose task could not be parked, because something that it read had been
    /// written in the meantime.
    pub(super) fn failed_iterations(&self) -> u32 {
        self.failed_iterations
    }

    /// Notes that a memory model gave this task a store that is not the newest.
    pub(super) fn read_stale(&mut self, task: u32) {
        if let Some(rounds) = self.rounds.get_mut(task as usize) {
            rounds.read_stale = true;
        }
    }

    /// Returns `true` if a task that was parked continued although no variable had changed.
    pub(super) fn unseen_change(&self) -> bool {
        self.unseen_change
    }

    /// Notes the state, of this many words, of a task that is about to yield and whose last operation was not a yield.
    /// `is_same` compares the new state with an earlier one of this length. `copy` writes it into the given room.
    #[allow(dead_code, reason = "the state is not known on all targets")]
    pub(super) fn note_state(
        &mut self,
        task: u32,
        words: usize,
        surroundings: LoopContext,
        is_same: impl Fn(&[u64]) -> bool,
        copy: impl FnOnce(&mut [u64]),
    ) {
        if !self.on {
            return;
        }
        if self.rounds.len() <= task as usize {
            self.rounds.resize_with(task as usize + 1, Rounds::default);
        }
        let rounds = &mut self.rounds[task as usize];
        rounds.ends = true;
        let same = rounds.states.iter().position(|state| {
            state.words.len() == words && state.surroundings == surroundings && is_same(&state.words)
        });
        if let Some(same) = same
            && let Some(state) = rounds.states.remove(same)
        {
            rounds.same_since = Some(state.first_event);
            return rounds.states.push_front(state);
        }
        rounds.same_since = None;
        // With known loops, one round is enough to recognise a loop that waits.
        rounds.forget_but(if self.known.is_some() { 0 } else { STATES_MAX - 1 });
        let mut state = rounds
            .spare
            .pop()
            .unwrap_or_else(|| YieldState::new(surroundings));
        (state.surroundings, state.first_event) = (surroundings, 0);
        state.words.resize(words, 0);
        copy(&mut state.words);
        rounds.states.push_front(state);
    }
}

/// Returns `true` if the operation is on a variable with a value that it reads or writes.
fn has_value(op: SyncVarOp) -> bool {
    matches!(
        op,
        SyncVarOp::AtomicLoad | SyncVarOp::AtomicStore | SyncVarOp::AtomicRmw | SyncVarOp::AtomicRmwFailed
    )
}

/// Returns `true` if the event changed nothing, and had only one possible outcome.
fn only_looks(event: &Event) -> bool {
    match event.op {
        SyncVarOp::AtomicRmw => event.read == event.written,
        // Other operations write plain memory without an event.
        SyncVarOp::TaskCheck => event.written != LATE,
        SyncVarOp::Choice | SyncVarOp::TimeOut | SyncVarOp::DataRead => false,
        _ => !event.may_change(),
    }
}

impl Engine {
    /// Handles a yield of the current task, which may end a round.
    #[inline]
    pub(super) fn end_iteration(self, access: Access) {
        let ends = self.with(|rt| {
            let current = rt.tasks.current() as usize;
            let rounds = rt.constraints.spins.rounds.get_mut(current);
            rounds.is_some_and(|rounds| std::mem::take(&mut rounds.ends))
        });
        if ends {
            self.end_round(access);
        }
    }

    #[inline(never)]
    fn end_round(self, access: Access) {
        let next = self.with(|rt| {
            let task = rt.tasks.current();
            let first = rt.end_failed_round(task)?;
            rt.iteration_failed(task, first);
            if rt.constraints.spins.released.is_empty() {
                rt.park(task, access);
                Some(rt.dispatch())
            } else if rt.last_round(task) && !rt.goes_round_again() {
                rt.end.stop = Some(Stop::Livelock);
                Some(Next::Stop)
            } else {
                None
            }
        });
        if let Some(next) = next {
            self.follow(next);
        }
    }
}

impl Runtime {
    /// Ends a round of the task. Returns the round's first event, if it failed and the next one would fail too.
    fn end_failed_round(&mut self, task: u32) -> Option<usize> {
        self.observe_by_model();
        let events = self.record.events.as_slice();
        let rounds = &mut self.constraints.spins.rounds[task as usize];
        let begin = rounds.begin_next(events.len());
        if std::mem::take(&mut rounds.read_stale) {
            rounds.failed = 0;
            rounds.forget_but(1);
            return None;
        }
        let own = |event: &&Event| event.task == task;
        let assumed = match self.constraints.spins.known.as_deref() {
            // If the yield advanced time, it has had an effect.
            Some(known)
                if rounds
                    .states
                    .front()
                    .is_some_and(|state| state.surroundings.clock == self.world.clock()) =>
            {
                let backwards = events[begin..].iter().rev().filter(own);
                known.round(backwards.take_while(|event| only_looks(event)))
            }
            _ => None,
        };
        // The other tasks' events before the round's own first event do not concern it. A round that wrote something
        // may still end with a round of an inner loop that is known to only wait.
        let only_looked = |since: usize| events[since..].iter().filter(own).all(only_looks);
        let whole = rounds.same_since.filter(|&since| only_looked(since));
        if whole.is_none() && !only_looked(begin) {
            rounds.forget_but(1);
        }
        let first = if let Some(since) = whole {
            since + events[since..].iter().position(|event| event.task == task)?
        } else if let Some(length) = assumed {
            let mut numbered = events.iter().enumerate().rev();
            numbered
                .by_ref()
                .filter(|(_, event)| own(event))
                .nth(length - 1)?
                .0
        } else {
            rounds.failed = 0;
            return None;
        };
        let awaited = &mut rounds.awaited;
        awaited.clear();
        for (at, event) in events.iter().enumerate().skip(first) {
            if event.task != task {
                let is_behind = self.memory.is_behind(at);
                for awaited in awaited.iter_mut().filter(|_| !is_behind) {
                    if let Some(changed) = awaited.changed_by(event) {
                        awaited.changed = changed;
                    }
                }
            } else if !only_looks(event) {
                return None;
            } else if event.var != SyncVar::NONE.0 {
                let value = has_value(event.op).then_some(event.read);
                match awaited.iter_mut().find(|awaited| awaited.var == event.var) {
                    Some(again) => (again.value, again.site) = (value, event.site),
                    None => awaited.push(Awaited {
                        var: event.var,
                        value,
                        changed: false,
                        site: event.site,
                    }),
                }
            }
        }
        if awaited.is_empty() {
            return None;
        }
        if whole.is_some()
            && let Some(known) = self.constraints.spins.known.as_deref_mut()
        {
            known.learn(events[first..].iter().rev().filter(own));
        }
        if awaited.iter().any(|awaited| awaited.changed) {
            self.constraints.spins.void_yield = self.ready.last() == task;
            if assumed.is_some() {
                self.iteration_failed(task, first);
            } else {
                self.constraints.spins.failed_iterations += 1;
            }
            return None;
        }
        Some(first)
    }

    /// Elides a round of this task, whose events begin with number `first_event` of the execution. Monitors have
    /// already been notified of them.
    fn iteration_failed(&mut self, task: u32, first_event: usize) {
        if self.constraints.spins.known.is_some()
            && self.record.is_observed()
            && !self.constraints.spins.last_rounds
        {
            // Earlier steps may belong to the round. So it is first added to the trace, and then elided.
            self.constraints.spins.elided_rounds.push((task, first_event));
        } else {
            self.record.events.elide(task, first_event);
        }
    }

    /// Disables a task until something that its last round read changes.
    fn park(&mut self, task: u32, access: Access) {
        if !self.constraints.spins.any_parked() {
            self.constraints.spins.looked = self.record.events.as_slice().len();
        }
        self.constraints.spins.parks += 1;
        // The task's states from before it was parked say nothing about what it reads afterwards.
        self.constraints.spins.rounds[task as usize].forget_but(1);
        self.record
            .note_unsound(SoundReduction::SourceSets, access.op, access.site);
        self.constraints.spins.parked.insert(task);
        self.tasks[task].pending = Pending {
            access,
            gate_var: 0,
            gates: 0,
            visible: false,
            may_time_out: false,
        };
        self.ready.disable(task);
        self.ready.undo_yield(task);
        self.ready.take_slow_path();
    }

    /// Enables the parked tasks for which something has changed.
    pub(super) fn look_at_changes(&mut self) {
        self.observe_by_model();
        let events = self.record.events.as_slice();
        let looked = std::mem::replace(&mut self.constraints.spins.looked, events.len());
        let mut unseen = None;
        let writes = events.iter().enumerate().skip(looked);
        let writes = writes.filter(|(at, event)| event.may_change() && !self.memory.is_behind(*at));
        for (_, event) in writes {
            let mut next = self.constraints.spins.parked.first_from(0);
            while let Some(task) = next {
                let awaited = &self.constraints.spins.rounds[task as usize].awaited;
                if awaited
                    .iter()
                    .any(|awaited| awaited.changed_by(event) == Some(true))
                {
                    self.constraints.spins.parked.remove(task);
                    self.ready.run_first(task);
                }
                next = self.constraints.spins.parked.first_from(task + 1);
            }
            if self.constraints.spins.last_rounds && !only_looks(event) {
                self.constraints.spins.last_rounds = false;
                self.constraints.spins.unseen_change = true;
                unseen = Some((event.op, event.site));
            }
        }
        if let Some((op, site)) = unseen {
            // The search does not decide about the last rounds, and partial-order reductions cannot continue after
            // them.
            self.record.sound_only(SoundReduction::Caching, op, site);
        }
    }

    /// Releases the parked tasks for this execution, because no other task can continue. Returns the first of them.
    pub(super) fn release_parked(&mut self) -> u32 {
        self.constraints.spins.looked = self.record.events.as_slice().len();
        self.constraints.spins.events_before = self.constraints.spins.looked;
        self.constraints.spins.last_rounds = true;
        self.constraints.spins.counted = None;
        self.ready.take_slow_path();
        while let Some(task) = self.constraints.spins.parked.pop_first() {
            self.constraints.spins.rounds[task as usize].failed = 0;
            self.constraints.spins.released.insert(task);
            self.ready.run_first(task);
        }
        self.ready.pop_must_run().expect("a task was parked")
    }

    /// Counts a failed round of a released task. Returns `true` if it was the last round of the last task.
    fn last_round(&mut self, task: u32) -> bool {
        self.constraints.spins.rounds[task as usize].failed += 1;
        let tired = |task: u32| self.constraints.spins.rounds[task as usize].failed >= LAST_ROUNDS;
        self.constraints.spins.last_rounds && self.constraints.spins.released.iter().all(tired)
    }

    /// Lets the loops of the released tasks run further rounds, if a thread that is not controlled may end one of them.
    /// Returns `true` if so.
    ///
    /// The number of these rounds depends on real time and on other threads of the process. So they do not count if the
    /// loops do not end, and the limit on steps is counted afresh each time.
    fn goes_round_again(&mut self) -> bool {
        let again = self.loops_may_end();
        let figures = Figures {
            steps: self.record.steps,
            switches: self.record.switches,
            plain_accesses: self.monitors.plain_accesses,
            events: self.record.events.len(),
        };
        let counted = *self.constraints.spins.counted.get_or_insert(figures);
        if again {
            self.looks.count_from(figures.steps, self.limits.steps);
            for task in self.constraints.spins.released.iter() {
                self.constraints.spins.rounds[task as usize].failed = 0;
            }
        } else {
            (self.record.steps, self.record.switches) = (counted.steps, counted.switches);
            self.monitors.plain_accesses = counted.plain_accesses;
        }
        again
    }

    /// Returns the events to show: all but the last rounds of tasks that only wait.
    pub(super) fn telling_events(&self) -> &[Event] {
        let events = self.record.events.as_slice();
        if self.constraints.spins.last_rounds {
            &events[..self.constraints.spins.events_before]
        } else {
            events
        }
    }

    /// Returns the variables that a task is waiting for in a loop when the execution ends because of that.
    pub(super) fn awaited_in_words(&self, task: u32) -> Vec<AwaitedVar> {
        if !self.constraints.spins.released.contains(task) {
            return Vec::new();
        }
        let awaited = &self.constraints.spins.rounds[task as usize].awaited;
        let in_words = |awaited: &Awaited| AwaitedVar {
            var: var_name(self, awaited.var),
            // An address differs between processes.
            value: awaited
                .value
                .filter(|_| !self.objects.vars[awaited.var].holds_address),
            site: site_name(awaited.site),
        };
        awaited.iter().map(in_words).collect()
    }
}
