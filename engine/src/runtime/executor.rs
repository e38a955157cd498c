//! An executor: one runtime on one OS thread, which runs executions one after the other.

use super::arena;
use super::constraints::Constraints;
use super::cut_off::{CutOffTime, Looks};
use super::data_points::DataPoints;
use super::decisions::Decisions;
use super::ending::ExecutionEnd;
use super::execution_record::ExecutionRecord;
use super::journal::Journal;
use super::listen::{Listeners, Monitors, Reported, SourceNames};
use super::memory::Memory;
use super::naming::site_name;
use super::objects::Objects;
use super::ready::Ready;
use super::scope::Preemptible;
use super::spin::Spins;
use super::statics::restore_statics;
use super::tasks::Tasks;
use super::watchdog::Watched;
use super::world::World;
use super::{Emergency, Engine, ExecutionOutcome, Runtime, program};
use crate::environment::Environment;
use crate::memory_model::{MemoryModel, RaisedOrders};
use crate::record::Task;
use crate::schedule::{ChoiceKind, Premises};
use crate::scope::Scope;
use crate::sites::Sites;
use crate::strategy::{Coverage, Plan, SearchPosition, SoFar, Status, Strategy};
use crate::trace::{SoundReduction, Trace};
use intermezzo_breakpoint::Armings;
use intermezzo_sdk::SyncVarOp;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The limits and modes of an execution.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The maximum number of visible operations.
    pub steps: u64,
    /// The maximum number of tasks.
    pub tasks: u32,
    /// The size of each task's stack in bytes.
    pub stack_bytes: usize,
    /// The maximum total size in bytes of the stacks that the process may leak.
    pub forgotten_bytes: usize,
    /// The interval of the yields that count for fairness: every N-th yield of a task.
    pub fair_yields: u32,
    /// `true` if tasks whose loops wait are parked.
    pub awaits: bool,
    /// `true` if an execution may end with tasks that wait for ever.
    pub deadlocks_allowed: bool,
    /// `true` if an execution that reaches its limit on steps ends there, and has not failed.
    pub long_allowed: bool,
    /// `true` if a task that holds a reader-writer lock to read cannot take it to read once more: it waits for ever.
    pub reads_once: bool,
    /// `true` if an object from an earlier execution may be used, in its current state.
    pub keeps_objects: bool,
    /// `true` if the test was not written for intermezzo. Then an execution may end with tasks that wait for ever once
    /// the test's own function has returned, and loops that wait without yielding are made to yield.
    pub unmodified: bool,
    /// `true` if the test is a whole program: it ends when its own function returns, whatever the other tasks do.
    pub is_program: bool,
    /// `true` if every operation is a schedule point, even those that commute with all others.
    pub every_operation: bool,
    /// The longest time that a task may do nothing visible; `None` for no limit.
    pub hang: Option<Duration>,
    /// The longest time that an execution may take; `None` for no limit.
    pub execution: Option<Duration>,
}

/// The time that a worker has spent in executions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeSpent {
    /// The time for choosing the next execution, and for learning from the last one.
    pub search: Duration,
    /// The time for running executions.
    pub running: Duration,
}

/// A runtime at a fixed address for as long as it lives.
pub struct Executor {
    runtime: Box<Runtime>,
    /// Creates the search that restarts when an atomic proves to need schedule points.
    remake: Option<Remake>,
    /// The memory of the tests' own allocations, if this executor has it.
    arena: arena::Claim,
    /// The result of `next`, if the strategy was asked ahead of time in order to be saved.
    ahead: Option<bool>,
    /// The time spent so far, if it is measured.
    spent: Option<TimeSpent>,
    /// `true` if tasks that fairness holds back are alternatives, whatever the strategy needs.
    lists_all: bool,
}

/// A function that creates a search.
type Remake = Box<dyn Fn() -> Box<dyn Strategy>>;

impl Executor {
    /// Creates an executor. With `known_loops`, loops that only wait are assumed to do so from their first round on:
    /// those with these hashes, and those that executions show.
    pub fn new(
        strategy: Box<dyn Strategy>,
        environment: Environment,
        limits: Limits,
        known_loops: Option<Vec<u64>>,
        listeners: Listeners,
    ) -> Executor {
        let analysis = strategy.needs().analysis;
        let trace = if known_loops.is_some() {
            Trace::with_elided(analysis)
        } else {
            Trace::new(analysis)
        };
        let hang = limits.hang.into_iter().chain(limits.execution).min();
        Executor {
            remake: None,
            spent: None,
            arena: arena::Claim::take(),
            ahead: None,
            lists_all: false,
            runtime: Box::new(Runtime {
                tasks: Tasks::default(),
                objects: Objects::new(),
                memory: Memory::of(&environment),
                ready: Ready::new(limits.fair_yields),
                decisions: Decisions::new(strategy),
                record: ExecutionRecord::new(trace),
                world: World::new(environment, hang),
                constraints: Constraints::new(Spins::new(limits.awaits, known_loops)),
                monitors: Monitors::new(listeners),
                end: ExecutionEnd::default(),
                limits,
                looks: Looks::new(limits.execution),
                watched: Watched::new(hang),
                #[cfg(feature = "unmodified")]
                in_operation: false,
            }),
        }
    }

    /// Sets the memory model that determines what operations on atomics read in all further executions, in place of the
    /// environment's. Each operation that has alternatives is a choice of the search. Each place of a task reads the
    /// same store at most `stale_reads` times after a newer one was there.
    pub fn read_by(&mut self, model: Box<dyn MemoryModel>, stale_reads: u32) {
        self.runtime.memory.read_by(model, stale_reads);
    }

    /// Raises these orderings of operations on atomics, and no others, in all further executions under a memory model.
    pub fn raise(&mut self, orders: RaisedOrders) {
        self.runtime.memory.raise(orders);
    }

    /// Limits the stale operations of each further execution to `most`; `None` for no limit. An execution ends directly
    /// after an operation that exceeds the limit.
    pub fn limit_stale_operations(&mut self, most: Option<u32>) {
        self.runtime.memory.limit_stale_operations(most);
    }

    /// Reports crashes to `emergency` before they are handled in any other way.
    pub fn tell_crashes_to(&mut self, emergency: Arc<Emergency>) {
        self.runtime.end.emergency = Some(emergency);
    }

    /// Sets the time at which running executions are cut off, from the next one on; `None` if they are not.
    pub fn cut_off(&mut self, cut_off_at: Option<CutOffTime>) {
        self.runtime.looks.cut_off(cut_off_at);
        self.heed_time();
    }

    /// Gives the strategy a way to check if its time is over.
    fn heed_time(&mut self) {
        if let Some(is_over) = self.runtime.looks.for_search() {
            self.runtime.decisions.strategy.heed_time(&is_over);
        }
    }

    /// Allows preemptions only in the scope `only_in`, if it is not empty, and not in `not_in`. Variables have the
    /// names that `names` reads.
    pub fn scope(&mut self, only_in: Scope, not_in: Scope, names: Box<dyn SourceNames + Send>) {
        if !only_in.is_empty() || !not_in.is_empty() {
            self.runtime.constraints.preemptible = Some(Box::new(Preemptible::new(only_in, not_in, names)));
        }
    }

    /// Omits schedule points at atomics whose accesses are ordered by other synchronisation. If an atomic turns out to
    /// need them, the search restarts with a strategy that `remake` creates.
    pub fn quiet_atomics(&mut self, remake: impl Fn() -> Box<dyn Strategy> + 'static) {
        self.runtime.constraints.ordered_atomics = Some(Box::default());
        self.remake = Some(Box::new(remake));
    }

    /// Makes accesses to plain memory schedule points at the given places and, if it `learns`, at those of the data
    /// races that monitors report.
    pub fn data_points(&mut self, given: Sites, learns: bool) {
        let any = learns || !given.is_empty();
        self.runtime.constraints.data_points = any.then(|| Box::new(DataPoints::new(given, learns)));
    }

    /// Makes the accesses at places with these hashes schedule points, and no others.
    pub fn data_points_only(&mut self, places: &[u64]) {
        let any = !places.is_empty();
        self.runtime.constraints.data_points = any.then(|| Box::new(DataPoints::only(places)));
    }

    /// Makes these assumptions and no others: these loops only wait, accesses at these places are schedule points,
    /// these breakpoints are armed, and tasks that fairness holds back are alternatives, or are not.
    pub fn assume(&mut self, premises: Premises) {
        self.assume_only(&premises.known_loops);
        self.data_points_only(&premises.data_points);
        self.lists_all = premises.all_listed;
        self.arm(premises.breakpoints);
    }

    /// Arms these breakpoints and no others.
    pub fn arm(&mut self, armings: Armings) {
        self.runtime.constraints.arm(armings);
    }

    /// Returns the number of places at which races have made accesses schedule points.
    pub fn learned_points(&self) -> usize {
        let points = self.runtime.constraints.data_points.iter();
        points.map(|points| points.learned()).sum()
    }

    /// Returns the percentage of the last execution's operations that were on reference counts.
    pub fn percent_of_counts(&self) -> usize {
        use intermezzo_sdk::SyncVarOp::{CountDown, CountRead, CountUp};
        let events = self.runtime.record.events.as_slice();
        let counts = events
            .iter()
            .filter(|event| matches!(event.op, CountUp | CountDown | CountRead));
        100 * counts.count() / events.len().max(1)
    }

    /// Returns the entries of the scopes that have matched nothing yet.
    pub fn unfitted(&self) -> Vec<String> {
        let preemptible = self.runtime.constraints.preemptible.iter();
        preemptible.flat_map(|preemptible| preemptible.notes()).collect()
    }

    /// Returns a note about ordered atomics for the reader of the report.
    pub fn quiet_note(&self) -> Option<String> {
        self.runtime
            .constraints
            .ordered_atomics
            .as_ref()
            .map(|ordered_atomics| ordered_atomics.note())
    }

    /// Returns the number of redundant executions: those that showed nothing that another did not show.
    pub fn redundant(&self) -> u64 {
        let given_up = self
            .runtime
            .constraints
            .ordered_atomics
            .as_ref()
            .map_or(0, |ordered_atomics| ordered_atomics.given_up);
        given_up + self.runtime.memory.inconsistent() + self.status(0).redundant
    }

    /// Prepares the next execution that the strategy asks for. Returns `false` if it asks for none.
    pub fn prepare(&mut self) -> bool {
        if let Some(more) = self.ahead.take() {
            return more;
        }
        let rt = &mut *self.runtime;
        rt.decisions.alike.next();
        if let (Some(ordered_atomics), Some(remake)) = (&mut rt.constraints.ordered_atomics, &self.remake)
            && ordered_atomics.broken
        {
            ordered_atomics.restart(rt.decisions.alike.number);
            // Nothing of the last execution is kept, because there are now decisions where it had none.
            rt.record.trace = rt.record.trace.cleared(rt.record.trace.detail());
            rt.decisions.plan = Plan::default();
            rt.decisions.strategy = remake();
        }
        let begin = self.spent.map(|_| Instant::now());
        let more = rt
            .decisions
            .strategy
            .next(&mut rt.decisions.plan, &rt.record.trace);
        // This may change: a search may consist of several that take turns.
        rt.ready
            .list_all(self.lists_all || rt.decisions.strategy.needs().all_listed);
        self.count_time(begin, |spent| &mut spent.search);
        more
    }

    /// Measures the time that is spent from now on.
    pub fn measure_time(&mut self) {
        self.spent = Some(TimeSpent::default());
    }

    /// Returns the time spent so far, if it is measured.
    pub fn time_spent(&self) -> Option<TimeSpent> {
        self.spent
    }

    /// Adds the time since `begin`, if it is measured.
    fn count_time(&mut self, begin: Option<Instant>, part: fn(&mut TimeSpent) -> &mut Duration) {
        if let (Some(spent), Some(begin)) = (&mut self.spent, begin) {
            *part(spent) += begin.elapsed();
        }
    }

    /// Runs the prepared execution.
    ///
    /// # Panics
    /// The calling thread is inside an execution already.
    pub fn execute(&mut self, test: &dyn Fn()) -> ExecutionOutcome {
        let mut executed = self.execute_once(test);
        if self.was_unclear() {
            executed = self.execute_again(test);
        }
        if self.runtime.end.runs_again {
            executed = self.execute_again(test);
        }
        executed
    }

    /// Returns `true` if the last execution has to run once more with more of the stacks cleared. That happens a few
    /// times in an exploration.
    fn was_unclear(&self) -> bool {
        self.runtime.end.is_unclear && !self.runtime.end.damaged
    }

    /// Runs the last execution once more, and again as long as more of the stacks has to be cleared.
    #[cold]
    #[inline(never)]
    fn execute_again(&mut self, test: &dyn Fn()) -> ExecutionOutcome {
        loop {
            self.prepare_again();
            let executed = self.execute_once(test);
            if !self.was_unclear() {
                return executed;
            }
        }
    }

    // Inlined, because the outcome is large: each function that passes it on copies it.
    #[inline(always)]
    fn execute_once(&mut self, test: &dyn Fn()) -> ExecutionOutcome {
        program::before_execution();
        restore_statics();
        self.runtime.begin();
        assert!(
            Engine::current().is_none(),
            "an exploration runs inside another one on the same thread"
        );
        self.runtime.watched.pulse().begin(self.runtime.objects.epoch());
        let plan = &self.runtime.decisions.plan;
        self.runtime.decisions.journal.begin(plan.choices(), plan.kept());
        let begin = self.spent.map(|_| Instant::now());
        // SAFETY: the runtime is boxed, and until the guard is dropped it is only used through the handle.
        let (engine, current) = unsafe { Engine::make_current(&raw mut *self.runtime) };
        let executed = {
            let _arena = self.arena.execution();
            let executed = engine.run(test);
            // The handlers would use memory that is reclaimed now.
            #[cfg(unix)]
            super::signal_handlers::restore_signal_handlers();
            executed
        };
        drop(current);
        self.count_time(begin, |spent| &mut spent.running);
        self.runtime.watched.pulse().end();
        self.runtime.decisions.journal.end();
        self.runtime.decisions.plan.settle();
        let begin = self.spent.map(|_| Instant::now());
        self.runtime.tell_over();
        self.count_time(begin, |spent| &mut spent.search);
        program::after_execution();
        executed
    }

    /// Prepares the last execution, which departed from its prescribed choices, once more. Nothing of it is assumed to
    /// be known.
    ///
    /// # Panics
    /// It did not depart.
    pub fn prepare_again(&mut self) {
        self.give_up();
        self.runtime.decisions.alike.again();
        self.runtime.decisions.strategy.retry();
    }

    /// Prepares the last execution, which was cut off, once more. It is the next one, here or in a search that
    /// continues from a checkpoint.
    ///
    /// # Panics
    /// It was not cut off.
    pub fn put_back(&mut self) {
        self.prepare_again();
        self.ahead = Some(true);
    }

    /// Gives up on an execution that diverged on every attempt: restores its prescribed prefix, and the search
    /// continues as if the execution had ended there.
    ///
    /// # Panics
    /// It did not depart.
    pub fn give_up(&mut self) {
        self.runtime.decisions.prescribe_again();
    }

    /// Writes the choices of executions to this journal, except for those of [`apart`](Self::apart).
    pub fn keep_journal(&mut self, journal: Journal) {
        self.runtime.decisions.journal = journal;
    }

    /// Returns the journal.
    pub fn journal(&mut self) -> &mut Journal {
        &mut self.runtime.decisions.journal
    }

    /// Returns the current assumptions of executions.
    pub fn premises(&self) -> Premises {
        self.runtime.constraints.premises(self.lists_all)
    }

    /// Runs executions of another strategy, with or without monitors. Afterwards everything is as before, except that
    /// the last execution is forgotten.
    pub fn apart<R>(
        &mut self,
        strategy: Box<dyn Strategy>,
        heard: bool,
        run: impl FnOnce(&mut Executor) -> R,
    ) -> R {
        let number = self.runtime.decisions.alike.number;
        let heeds_scope = self.runtime.decisions.heeds_scope;
        let ordered_atomics = self.runtime.constraints.ordered_atomics.take();
        let journal = std::mem::replace(&mut self.runtime.decisions.journal, Journal::none());
        // With ordered atomics, regions are ignored.
        self.runtime.decisions.heeds_scope &= strategy.needs().scope && ordered_atomics.is_none();
        let silent = (!heard).then(|| self.replace_listeners(Listeners::default()));
        let before = self.replace_strategy(strategy);
        let result = run(self);
        self.replace_strategy(before);
        self.runtime.decisions.heeds_scope = heeds_scope;
        self.runtime.constraints.ordered_atomics = ordered_atomics;
        self.runtime.decisions.journal = journal;
        if let Some(listeners) = silent {
            self.replace_listeners(listeners);
            self.runtime.decisions.alike.number = number;
        }
        result
    }

    fn replace_listeners(&mut self, listeners: Listeners) -> Listeners {
        self.runtime.monitors.listening = listeners.interests();
        std::mem::replace(&mut self.runtime.monitors.listeners, listeners)
    }

    fn replace_strategy(&mut self, strategy: Box<dyn Strategy>) -> Box<dyn Strategy> {
        self.ahead = None;
        let rt = &mut *self.runtime;
        let needs = strategy.needs();
        rt.decisions.asks_always = needs.every_step;
        rt.record.trace = rt.record.trace.cleared(needs.analysis);
        rt.decisions.plan.truncate(0);
        std::mem::replace(&mut rt.decisions.strategy, strategy)
    }

    /// Returns the status of the search after the last execution, of `executions` by all workers.
    pub fn status(&self, executions: u64) -> Status {
        self.runtime.decisions.strategy.status(&SoFar {
            executions,
            choices: self.runtime.decisions.plan.choices(),
        })
    }

    /// Returns `true` if a crash may have damaged the process.
    pub fn is_damaged(&self) -> bool {
        self.runtime.end.damaged
    }

    /// Returns `true` if the last execution made choices other than those of tasks.
    pub fn chose_values(&self) -> bool {
        let mut choices = self.runtime.decisions.plan.choices().iter();
        choices.any(|choice| choice.kind != ChoiceKind::Task)
    }

    /// Returns the trace of the last execution.
    pub fn trace(&self) -> &Trace {
        &self.runtime.record.trace
    }

    /// Returns the tasks of the last execution.
    pub fn tasks(&self) -> &[Task] {
        self.runtime.tasks.as_slice()
    }

    /// Returns the choices of the last execution.
    pub fn plan(&self) -> &Plan {
        &self.runtime.decisions.plan
    }

    /// Ends the exploration: notifies the monitors, and returns their last reports.
    pub fn shut_down(&mut self) -> Vec<Reported> {
        if self.runtime.monitors.listeners.any() {
            self.runtime.monitors.listeners.reported.clear();
            self.runtime.tell_shutdown();
        }
        std::mem::take(&mut self.runtime.monitors.listeners.reported)
    }

    /// Begins another search, from its first execution.
    pub fn restart(&mut self, strategy: Box<dyn Strategy>) {
        self.runtime.memory.restart();
        self.ahead = None;
        let rt = &mut *self.runtime;
        let needs = strategy.needs();
        rt.decisions.asks_always = needs.every_step;
        let detail = rt.record.trace.detail().max(needs.analysis);
        rt.record.trace = rt.record.trace.cleared(detail);
        rt.decisions.plan = Plan::default();
        rt.decisions.heeds_scope = needs.scope;
        rt.decisions.strategy = strategy;
        self.heed_time();
    }

    /// Returns the number of loops that are assumed to only wait.
    pub fn known_loops(&self) -> usize {
        self.runtime
            .constraints
            .spins
            .known()
            .map_or(0, |known| known.known().len())
    }

    /// Assumes from now on that the loops that the last execution showed to only wait do so.
    pub fn adopt_learned(&mut self) {
        self.runtime.constraints.spins.adopt_learned();
    }

    /// Assumes from now on that the loops with these hashes only wait, and no others.
    pub fn assume_only(&mut self, known_loops: &[u64]) {
        self.runtime.constraints.spins.assume_only(known_loops);
    }

    /// Returns the position in search order of the last execution, or of the prepared one.
    pub fn rank(&mut self) -> SearchPosition {
        let choices = self.runtime.decisions.plan.choices();
        match self.runtime.decisions.strategy.parallel() {
            Some(search) => search.position(choices),
            None => SearchPosition::of_choices(0, choices),
        }
    }

    /// Returns `true` if the last execution belongs to another share of the search than the one that is explored here.
    pub fn is_elsewhere(&mut self) -> bool {
        let decisions = &mut self.runtime.decisions;
        match decisions.strategy.partitioned() {
            Ok(search) => search.is_elsewhere(decisions.plan.choices()),
            Err(_) => false,
        }
    }

    /// Returns the strategy.
    pub fn strategy(&mut self) -> &mut dyn Strategy {
        &mut *self.runtime.decisions.strategy
    }

    /// Returns the events of the last execution in order: each as its task, and its index in that task from 1.
    pub fn event_order(&self) -> Vec<(u32, u32)> {
        let events = self.runtime.record.events.as_slice().iter();
        events.map(|event| (event.task, event.index)).collect()
    }

    /// Returns the operation of the last execution, with its place, because of which no reduction stronger than this
    /// one is sound; `None` if there is none.
    pub fn unsound(&self, sound: SoundReduction) -> Option<String> {
        if self.runtime.end.cut_others_off && sound == SoundReduction::Caching {
            return Some("the program ended while other threads could continue".into());
        }
        let (op, site) = self.runtime.record.unsound(sound)?;
        Some(match site_name(site).as_str() {
            "" if op == SyncVarOp::Quiesce => "a wait for what comes from outside the test".into(),
            "" => in_words(op),
            place => format!("{} at {place}", in_words(op)),
        })
    }

    /// Returns the remaining work of the strategy, in its own format.
    pub fn save(&mut self) -> Option<String> {
        if self
            .runtime
            .decisions
            .strategy
            .resumable()?
            .prepares_before_save()
            && self.ahead.is_none()
        {
            self.ahead = Some(if self.runtime.decisions.has_departed() {
                self.prepare_again();
                true
            } else {
                self.prepare()
            });
        }
        let is_prepared = self.ahead == Some(true);
        let Decisions { strategy, plan, .. } = &mut self.runtime.decisions;
        let search = strategy.resumable()?;
        match is_prepared {
            true => search.save_prepared(plan),
            false => search.save(plan),
        }
    }

    /// Returns the coverage of the executions so far; `finished` is `true` if the search is over.
    pub fn coverage(&self, finished: bool) -> Coverage {
        // The last execution may have invalidated an assumption of the search.
        if self
            .runtime
            .constraints
            .ordered_atomics
            .as_ref()
            .is_some_and(|ordered_atomics| ordered_atomics.broken)
        {
            return Coverage::stopped();
        }
        self.runtime.decisions.strategy.coverage(finished)
    }
}

/// Returns an operation's name in words: `channel send`.
fn in_words(op: SyncVarOp) -> String {
    let mut words = String::new();
    for letter in format!("{op:?}").chars() {
        if letter.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.push(letter.to_ascii_lowercase());
    }
    words
}
