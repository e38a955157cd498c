//! A worker: one runtime on one OS thread, which runs one execution after the other.

use super::alike::Alike;
use super::blocks::Blocks;
use super::clock::Looks;
use super::data_points::DataPoints;
use super::execution::ResetCurrent;
use super::fair::Fairness;
use super::journal::Journal;
use super::listen::{Listeners, Pointers, Reported};
use super::naming::site_name;
use super::object::{Epochs, Statics};
use super::scope::{Preemptible, Scoping};
use super::spin::Spins;
use super::switch::WorkerContext;
use super::watchdog::Watched;
use super::{CURRENT, Capped, Emergency, Engine, ExecutionOutcome, Runtime};
use crate::environment::Environment;
use crate::record::{Events, Task, TaskSet, Vars};
use crate::schedule::{ChoiceKind, Premises};
use crate::scope::Scope;
use crate::sites::Sites;
use crate::strategy::{Coverage, Plan, SearchPosition, SoFar, Status, Strategy};
use crate::trace::{SoundReduction, Trace};
use intermezzo_breakpoint::Armings;
use intermezzo_sdk::SyncVarOp;
use std::sync::Arc;
use std::time::Duration;

/// Limits of one execution.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Most visible operations.
    pub steps: u64,
    /// Most tasks.
    pub tasks: u32,
    /// Bytes of each task's stack.
    pub stack_bytes: usize,
    /// Bytes of stacks that the process may forget.
    pub forgotten_bytes: usize,
    /// Which yields of a task count for fairness: every so manieth.
    pub fair_yields: u32,
    /// Whether tasks are parked whose loops wait.
    pub awaits: bool,
    /// Whether an execution may end with tasks that wait for ever.
    pub deadlocks_allowed: bool,
    /// Whether every operation is a schedule point, those that commute with all others too.
    pub every_operation: bool,
    /// For how long a task may do nothing visible; `None` for ever.
    pub hang: Option<Duration>,
}

/// One runtime, in one place for as long as it lives.
pub struct Executor {
    runtime: Box<Runtime>,
    /// Makes the search that starts anew when an atomic proves not to be quiet.
    remake: Option<Remake>,
    /// What the strategy said when it was asked for the next execution ahead of time, to be saved.
    ahead: Option<bool>,
}

/// Makes a search.
type Remake = Box<dyn Fn() -> Box<dyn Strategy>>;

impl Executor {
    /// With `known_loops`, loops that were seen to only wait are assumed to from their first round on: those of these
    /// hashes, and those that executions show.
    pub fn new(
        strategy: Box<dyn Strategy>,
        environment: Environment,
        limits: Limits,
        known_loops: Option<Vec<u64>>,
        listeners: Listeners,
    ) -> Executor {
        let listening = listeners.interests();
        let needs = strategy.needs();
        Executor {
            remake: None,
            ahead: None,
            runtime: Box::new(Runtime {
                epoch: 0,
                epochs: Epochs::new(),
                number: 0,
                alike: Alike::default(),
                tasks: Vec::new(),
                created: 0,
                live: 0,
                fibers: Vec::new(),
                vars: Vars::default(),
                statics: Statics::default(),
                blocks: Blocks::default(),
                data_points: None,
                breakpoints: None,
                watches_memory: false,
                current: 0,
                running: 0,
                worker_context: WorkerContext::default(),
                carried: None,
                sweeping: false,
                last: 0,
                yielded: false,
                slow_path: false,
                enabled: TaskSet::default(),
                must_run: TaskSet::default(),
                timed_waiters: TaskSet::default(),
                spurious_waiters: TaskSet::default(),
                fair: Fairness::new(limits.fair_yields),
                spins: Spins::new(limits.awaits, known_loops.clone()),
                candidates: Vec::new(),
                scoped: false,
                heeds_scope: needs.scope,
                preemptible: None,
                ordered_atomics: None,
                closed: Vec::new(),
                scoping: Scoping::default(),
                environment,
                left: environment,
                clock: 0,
                looks: Looks::default(),
                time_passes: None,
                plan: Plan::default(),
                prescribed: 0,
                decided: 0,
                departed: None,
                asks_always: needs.every_step,
                unsound: None,
                strategy,
                trace: if known_loops.is_some() {
                    Trace::with_elided(needs.analysis)
                } else {
                    Trace::new(needs.analysis)
                },
                observe_from: 0,
                ask_from: 0,
                extra_footprint: Vec::new(),
                waited: None,
                forced_by_idle: false,
                events: Events::default(),
                steps: 0,
                switches: 0,
                limits,
                panics: Vec::new(),
                crash_cleared: None,
                unfair_left_out: false,
                capped: Capped::default(),
                expired: TaskSet::default(),
                stop: None,
                emergency: None,
                damaged: false,
                forgot: false,
                unwound: false,
                teardown: false,
                pointers_out: false,
                pointers: Pointers::default(),
                plain_accesses: 0,
                watched: Watched::new(limits.hang),
                journal: Journal::none(),
                listening,
                listeners,
            }),
        }
    }

    /// Tells of crashes there, before anything else is done about them.
    pub fn tell_crashes_to(&mut self, emergency: Arc<Emergency>) {
        self.runtime.emergency = Some(emergency);
    }

    /// Allows preemptions only in a scope, if it is not empty, and not in another.
    pub fn scope(&mut self, only_in: Scope, not_in: Scope) {
        if !only_in.is_empty() || !not_in.is_empty() {
            self.runtime.preemptible = Some(Box::new(Preemptible::new(only_in, not_in)));
        }
    }

    /// Leaves out schedule points at atomics whose accesses other synchronisation orders. Where one proves to need
    /// them, the search that `remake` makes starts anew.
    pub fn quiet_atomics(&mut self, remake: impl Fn() -> Box<dyn Strategy> + 'static) {
        self.runtime.ordered_atomics = Some(Box::default());
        self.remake = Some(Box::new(remake));
    }

    /// Makes accesses to plain memory schedule points at the places given; and, if it `learns`, at those of the data races
    /// that monitors report.
    pub fn data_points(&mut self, given: Sites, learns: bool) {
        let any = learns || !given.is_empty();
        self.runtime.data_points = any.then(|| Box::new(DataPoints::new(given, learns)));
    }

    /// From now on just accesses at places of these hashes are schedule points.
    pub fn data_points_only(&mut self, places: &[u64]) {
        let any = !places.is_empty();
        self.runtime.data_points = any.then(|| Box::new(DataPoints::only(places)));
    }

    /// Makes these assumptions and no others: these loops only wait, accesses at these places are schedule points, and these
    /// breakpoints are armed.
    pub fn assume(&mut self, premises: Premises) {
        self.assume_only(&premises.known_loops);
        self.data_points_only(&premises.data_points);
        self.arm(premises.breakpoints);
    }

    /// Arms these breakpoints and no others.
    pub fn arm(&mut self, armings: Armings) {
        self.runtime.arm(armings);
    }

    /// At how many places races have made accesses schedule points.
    pub fn learned_points(&self) -> usize {
        let points = self.runtime.data_points.iter();
        points.map(|points| points.learned()).sum()
    }

    /// Which entries of the scopes fitted nothing yet.
    pub fn unfitted(&self) -> Vec<String> {
        let preemptible = self.runtime.preemptible.iter();
        preemptible.flat_map(|preemptible| preemptible.notes()).collect()
    }

    /// What a reader of the report should know of quiet atomics.
    pub fn quiet_note(&self) -> Option<String> {
        self.runtime
            .ordered_atomics
            .as_ref()
            .map(|ordered_atomics| ordered_atomics.note())
    }

    /// How many executions showed nothing that another did not show as well.
    pub fn redundant(&self) -> u64 {
        let given_up = self
            .runtime
            .ordered_atomics
            .as_ref()
            .map_or(0, |ordered_atomics| ordered_atomics.given_up);
        given_up + self.status(0).redundant
    }

    /// Prepares the next execution that the strategy asks for; false when it asks for none.
    pub fn prepare(&mut self) -> bool {
        if let Some(more) = self.ahead.take() {
            return more;
        }
        let rt = &mut *self.runtime;
        rt.alike.next();
        if let (Some(ordered_atomics), Some(remake)) = (&mut rt.ordered_atomics, &self.remake)
            && ordered_atomics.broken
        {
            ordered_atomics.restart(rt.number);
            // Nothing of the last execution stays: there are decisions now where it had none.
            rt.trace = rt.trace.anew(rt.trace.detail());
            rt.plan = Plan::default();
            rt.strategy = remake();
        }
        rt.strategy.next(&mut rt.plan, &rt.trace)
    }

    /// Runs the execution that was prepared.
    ///
    /// # Panics
    /// The calling thread is inside an execution already.
    pub fn execute(&mut self, test: &dyn Fn()) -> ExecutionOutcome {
        self.runtime.begin();
        assert!(
            CURRENT.get().is_null(),
            "an exploration runs inside another one on the same thread"
        );
        self.runtime.watched.pulse().begin(self.runtime.epoch);
        let plan = &self.runtime.plan;
        self.runtime.journal.begin(plan.choices(), plan.kept());
        CURRENT.set(&raw mut *self.runtime);
        let reset = ResetCurrent;
        let executed = Engine(CURRENT.get()).run(test);
        drop(reset);
        self.runtime.watched.pulse().end();
        self.runtime.journal.end();
        self.runtime.plan.settle();
        self.runtime.tell_over();
        executed
    }

    /// Prepares the last execution once more, which departed from what was prescribed: nothing of it is taken for known.
    ///
    /// # Panics
    /// It did not depart.
    pub fn prepare_again(&mut self) {
        self.give_up();
        self.runtime.alike.again();
        self.runtime.strategy.retry();
    }

    /// The last execution, which departed from what was prescribed, is let be: the search goes on as if it had come to
    /// just that.
    ///
    /// # Panics
    /// It did not depart.
    pub fn give_up(&mut self) {
        let rt = &mut *self.runtime;
        let prescribed = rt.departed.take().expect("an execution that departed");
        rt.plan.truncate(0);
        rt.plan.replace(&prescribed);
    }

    /// Keeps the choices of executions in this journal, but for those that are run apart.
    pub fn keep_journal(&mut self, journal: Journal) {
        self.runtime.journal = journal;
    }

    /// The journal.
    pub fn journal(&mut self) -> &mut Journal {
        &mut self.runtime.journal
    }

    /// What executions take for granted at the moment.
    pub fn premises(&self) -> Premises {
        self.runtime.premises()
    }

    /// Runs executions of another strategy, of which monitors hear only if they are to; then all is as it was, but that
    /// the last execution is forgotten.
    pub fn apart<R>(
        &mut self,
        strategy: Box<dyn Strategy>,
        heard: bool,
        run: impl FnOnce(&mut Executor) -> R,
    ) -> R {
        let number = self.runtime.number;
        let heeds_scope = self.runtime.heeds_scope;
        let ordered_atomics = self.runtime.ordered_atomics.take();
        let journal = std::mem::replace(&mut self.runtime.journal, Journal::none());
        // Where atomics are quiet, no region is heeded.
        self.runtime.heeds_scope &= strategy.needs().scope && ordered_atomics.is_none();
        let silent = (!heard).then(|| self.replace_listeners(Listeners::default()));
        let before = self.replace_strategy(strategy);
        let result = run(self);
        self.replace_strategy(before);
        self.runtime.heeds_scope = heeds_scope;
        self.runtime.ordered_atomics = ordered_atomics;
        self.runtime.journal = journal;
        if let Some(listeners) = silent {
            self.replace_listeners(listeners);
            self.runtime.number = number;
        }
        result
    }

    fn replace_listeners(&mut self, listeners: Listeners) -> Listeners {
        self.runtime.listening = listeners.interests();
        std::mem::replace(&mut self.runtime.listeners, listeners)
    }

    fn replace_strategy(&mut self, strategy: Box<dyn Strategy>) -> Box<dyn Strategy> {
        self.ahead = None;
        let rt = &mut *self.runtime;
        let needs = strategy.needs();
        rt.asks_always = needs.every_step;
        rt.trace = rt.trace.anew(needs.analysis);
        rt.plan.truncate(0);
        std::mem::replace(&mut rt.strategy, strategy)
    }

    /// How far the search is after the last execution, of `executions` by all workers.
    pub fn status(&self, executions: u64) -> Status {
        self.runtime.strategy.status(&SoFar {
            executions,
            choices: self.runtime.plan.choices(),
        })
    }

    /// Whether a crash may have damaged the process.
    pub fn is_damaged(&self) -> bool {
        self.runtime.damaged
    }

    /// Whether the last execution made choices other than of tasks.
    pub fn chose_values(&self) -> bool {
        let mut choices = self.runtime.plan.choices().iter();
        choices.any(|choice| choice.kind != ChoiceKind::Task)
    }

    /// What the last execution was.
    pub fn trace(&self) -> &Trace {
        &self.runtime.trace
    }

    /// The tasks of the last execution.
    pub fn tasks(&self) -> &[Task] {
        &self.runtime.tasks[..self.runtime.created as usize]
    }

    /// The choices of the last execution.
    pub fn plan(&self) -> &Plan {
        &self.runtime.plan
    }

    /// The whole exploration is over: tells the monitors, and returns what they reported at last.
    pub fn shut_down(&mut self) -> Vec<Reported> {
        if self.runtime.listeners.any() {
            self.runtime.listeners.reported.clear();
            self.runtime.tell_shutdown();
        }
        std::mem::take(&mut self.runtime.listeners.reported)
    }

    /// Begins another search, from its first execution.
    pub fn restart(&mut self, strategy: Box<dyn Strategy>) {
        self.ahead = None;
        let rt = &mut *self.runtime;
        let needs = strategy.needs();
        rt.asks_always = needs.every_step;
        rt.trace = rt.trace.anew(rt.trace.detail());
        rt.plan = Plan::default();
        rt.heeds_scope = needs.scope;
        rt.strategy = strategy;
    }

    /// How many loops are assumed to only wait.
    pub fn known_loops(&self) -> usize {
        self.runtime.spins.known().map_or(0, |known| known.known().len())
    }

    /// The loops that the last execution showed to only wait are assumed to from now on.
    pub fn adopt_learned(&mut self) {
        self.runtime.spins.adopt_learned();
    }

    /// From now on just the loops of these hashes are assumed to only wait, if any are.
    pub fn assume_only(&mut self, known_loops: &[u64]) {
        self.runtime.spins.assume_only(known_loops);
    }

    /// The place in the order of the search of the last execution, or of the one that was prepared.
    pub fn rank(&mut self) -> SearchPosition {
        let choices = self.runtime.plan.choices();
        match self.runtime.strategy.parallel() {
            Some(search) => search.position(choices),
            None => SearchPosition::of_choices(0, choices),
        }
    }

    /// The strategy.
    pub fn strategy(&mut self) -> &mut dyn Strategy {
        &mut *self.runtime.strategy
    }

    /// Says which operation at which place of the last execution is the reason that nothing stronger suits the program;
    /// `None` if it is none.
    pub fn unsound(&self, sound: SoundReduction) -> Option<String> {
        let rt = &self.runtime;
        let of_kind = rt
            .events
            .as_slice()
            .iter()
            .find(|event| SoundReduction::of(event.op) == sound);
        let (op, site) = match of_kind {
            Some(event) => (event.op, event.site),
            None => match rt.unsound {
                Some((own, op, site)) if own == sound => (op, site),
                _ => return None,
            },
        };
        Some(format!("{} at {}", in_words(op), site_name(site)))
    }

    /// What is left of the work of the strategy, in words of its own.
    pub fn save(&mut self) -> Option<String> {
        if self.runtime.strategy.resumable()?.prepares_before_save() && self.ahead.is_none() {
            self.ahead = Some(if self.runtime.departed.is_some() {
                self.prepare_again();
                true
            } else {
                self.prepare()
            });
        }
        self.runtime.strategy.resumable()?.save(&self.runtime.plan)
    }

    /// What the executions so far cover; `finished` says whether the search is over.
    pub fn coverage(&self, finished: bool) -> Coverage {
        // What the last execution showed takes back what the search relied on.
        if self
            .runtime
            .ordered_atomics
            .as_ref()
            .is_some_and(|ordered_atomics| ordered_atomics.broken)
        {
            return Coverage::stopped();
        }
        self.runtime.strategy.coverage(finished)
    }
}

/// An operation's name in words: `channel send`.
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
