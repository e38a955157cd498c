//! A worker: one runtime on one OS thread, which runs one execution after the other.

use super::abandon::serve;
use super::blocks::Blocks;
use super::clock::TICK;
use super::data_points::DataPoints;
use super::event::Events;
use super::fair::Fairness;
use super::fiber::Fiber;
use super::listen::{Listeners, Reported};
use super::object::{Epochs, Statics};
use super::scope::{Preemptible, Scoping};
use super::spin::Spins;
use super::switch::Home;
use super::task::{Access, Site, Task};
use super::task_set::TaskSet;
use super::var::{VarKind, Vars};
use super::{CURRENT, Engine, Executed, Runtime, Stop, Trouble};
use crate::environment::Environment;
use crate::report::Coverage;
use crate::scope::Scope;
use crate::search::{Past, Plan, Rank, Strategy};
use crate::sites::Sites;
use crate::trace::{Detail, Ending, Suits, Trace};
use intermezzo_sdk::{Interests, SyncVarOp};
use std::panic::Location;
use std::sync::Arc;

/// Limits of one execution.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Most visible operations.
    pub(crate) steps: u64,
    /// Bytes of each task's stack.
    pub(crate) stack_bytes: usize,
    /// Which yields of a task count for fairness: every so manieth.
    pub(crate) fair_yields: u32,
    /// Whether tasks are parked whose loops wait.
    pub(crate) awaits: bool,
    /// Whether an execution may end with tasks that wait for ever.
    pub(crate) deadlocks_allowed: bool,
}

/// One runtime, in one place for as long as it lives.
pub(crate) struct Worker {
    runtime: Box<Runtime>,
    /// Makes the search that starts anew when an atomic proves not to be quiet.
    remake: Option<Remake>,
}

/// Makes a search.
type Remake = Box<dyn Fn() -> Box<dyn Strategy>>;

impl Worker {
    /// With `known_loops`, loops that were seen to only wait are assumed to from their first round on: those of these
    /// hashes, and those that executions show.
    pub(crate) fn new(
        strategy: Box<dyn Strategy>,
        environment: Environment,
        limits: Limits,
        known_loops: Option<Vec<u64>>,
        listeners: Listeners,
    ) -> Worker {
        let listening = listeners.interests();
        let asks_always = strategy.asks_always();
        Worker {
            remake: None,
            runtime: Box::new(Runtime {
                epoch: 0,
                epochs: Epochs::new(),
                number: 0,
                tasks: Vec::new(),
                created: 0,
                live: 0,
                fibers: Vec::new(),
                vars: Vars::default(),
                statics: Statics::default(),
                blocks: Blocks::default(),
                data_points: None,
                watches_memory: false,
                current: 0,
                running: 0,
                home: Home::default(),
                carried: None,
                sweeping: false,
                last: 0,
                yielded: false,
                elaborate: false,
                enabled: TaskSet::default(),
                eager: TaskSet::default(),
                timed: TaskSet::default(),
                drowsy: TaskSet::default(),
                fair: Fairness::new(limits.fair_yields),
                spins: Spins::new(limits.awaits, known_loops.clone()),
                candidates: Vec::new(),
                scoped: false,
                heeds_scope: strategy.heeds_scope(),
                preemptible: None,
                quiet: None,
                closed: Vec::new(),
                scoping: Scoping::default(),
                environment,
                left: environment,
                clock: 0,
                tick: TICK,
                looked_after: 0,
                plan: Plan::default(),
                prescribed: 0,
                decided: 0,
                departed: None,
                asks_always,
                strategy,
                trace: if known_loops.is_some() {
                    Trace::with_voids(detail(asks_always))
                } else {
                    Trace::new(detail(asks_always))
                },
                observe_from: 0,
                ask_from: 0,
                also: Vec::new(),
                waited: None,
                after_all: false,
                events: Events::default(),
                steps: 0,
                switches: 0,
                limits,
                panics: Vec::new(),
                anybody_panicking: false,
                crash_cleared: None,
                unfair_left_out: false,
                overdue: TaskSet::default(),
                stop: None,
                damaged: false,
                teardown: false,
                listening,
                listeners,
            }),
        }
    }

    /// Allows preemptions only in a scope, if it is not empty, and not in another.
    pub(crate) fn scope(&mut self, only_in: Scope, not_in: Scope) {
        if !only_in.is_empty() || !not_in.is_empty() {
            self.runtime.preemptible = Some(Box::new(Preemptible::new(only_in, not_in)));
        }
    }

    /// Leaves out schedule points at atomics whose accesses other synchronisation orders. Where one proves to need
    /// them, the search that `remake` makes starts anew.
    pub(crate) fn quiet_atomics(&mut self, remake: impl Fn() -> Box<dyn Strategy> + 'static) {
        self.runtime.quiet = Some(Box::default());
        self.remake = Some(Box::new(remake));
    }

    /// Makes accesses to plain memory schedule points at the places given; and, if it `learns`, at those of the data races
    /// that monitors report.
    pub(crate) fn data_points(&mut self, given: Sites, learns: bool) {
        let any = learns || !given.is_empty();
        self.runtime.data_points = any.then(|| Box::new(DataPoints::new(given, learns)));
    }

    /// From now on just accesses at places of these hashes are schedule points.
    pub(crate) fn data_points_only(&mut self, places: &[u64]) {
        let any = !places.is_empty();
        self.runtime.data_points = any.then(|| Box::new(DataPoints::only(places)));
    }

    /// At how many places races have made accesses schedule points.
    pub(crate) fn learned_points(&self) -> usize {
        let points = self.runtime.data_points.iter();
        points.map(|points| points.learned()).sum()
    }

    /// Which entries of the scopes fitted nothing yet.
    pub(crate) fn unfitted(&self) -> Vec<String> {
        let preemptible = self.runtime.preemptible.iter();
        preemptible.flat_map(|preemptible| preemptible.notes()).collect()
    }

    /// What a reader of the report should know of quiet atomics.
    pub(crate) fn quiet_note(&self) -> Option<String> {
        self.runtime.quiet.as_ref().map(|quiet| quiet.note())
    }

    /// How many executions showed nothing that another did not show as well.
    pub(crate) fn redundant(&self) -> u64 {
        let given_up = self.runtime.quiet.as_ref().map_or(0, |quiet| quiet.given_up);
        given_up + self.runtime.strategy.redundant()
    }

    /// Prepares the next execution that the strategy asks for; false when it asks for none.
    pub(crate) fn prepare(&mut self) -> bool {
        let rt = &mut *self.runtime;
        if let (Some(quiet), Some(remake)) = (&mut rt.quiet, &self.remake)
            && quiet.broken
        {
            quiet.restart(rt.number);
            rt.plan.truncate(0);
            rt.strategy = remake();
        }
        rt.strategy.next(&mut rt.plan, &rt.trace)
    }

    /// Runs the execution that was prepared.
    ///
    /// # Panics
    /// The calling thread is inside an execution already.
    pub(crate) fn execute(&mut self, test: &dyn Fn()) -> Executed {
        self.runtime.begin();
        assert!(
            CURRENT.get().is_null(),
            "an exploration runs inside another one on the same thread"
        );
        CURRENT.set(&raw mut *self.runtime);
        let reset = ResetCurrent;
        let executed = Engine(CURRENT.get()).run(test);
        drop(reset);
        self.runtime.plan.settle();
        self.runtime.tell_over();
        executed
    }

    /// Prepares the last execution once more, which departed from what was prescribed: nothing of it is taken for known.
    ///
    /// # Panics
    /// It did not depart.
    pub(crate) fn prepare_again(&mut self) {
        self.give_up();
        self.runtime.strategy.again();
    }

    /// The last execution, which departed from what was prescribed, is let be: the search goes on as if it had come to
    /// just that.
    ///
    /// # Panics
    /// It did not depart.
    pub(crate) fn give_up(&mut self) {
        let rt = &mut *self.runtime;
        let prescribed = rt.departed.take().expect("an execution that departed");
        rt.plan.truncate(0);
        rt.plan.replace(&prescribed);
    }

    /// Runs executions of another strategy, of which monitors hear only if they are to; then all is as it was, but that
    /// the last execution is forgotten.
    pub(crate) fn apart<R>(
        &mut self,
        strategy: Box<dyn Strategy>,
        heard: bool,
        run: impl FnOnce(&mut Worker) -> R,
    ) -> R {
        let number = self.runtime.number;
        let heeds_scope = self.runtime.heeds_scope;
        let quiet = self.runtime.quiet.take();
        // Where atomics are quiet, no region is heeded.
        self.runtime.heeds_scope &= strategy.heeds_scope() && quiet.is_none();
        let silent = (!heard).then(|| self.replace_listeners(Listeners::default()));
        let before = self.replace_strategy(strategy);
        let result = run(self);
        self.replace_strategy(before);
        self.runtime.heeds_scope = heeds_scope;
        self.runtime.quiet = quiet;
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
        let rt = &mut *self.runtime;
        rt.asks_always = strategy.asks_always();
        rt.trace = rt.trace.anew(detail(rt.asks_always));
        rt.plan.truncate(0);
        std::mem::replace(&mut rt.strategy, strategy)
    }

    /// How far the search is after the last execution, as far as that can be told.
    pub(crate) fn share(&self) -> Option<f64> {
        self.runtime.strategy.share(self.runtime.plan.choices())
    }

    /// Whether a crash may have damaged the process.
    pub(crate) fn is_damaged(&self) -> bool {
        self.runtime.damaged
    }

    /// What the last execution was.
    pub(crate) fn trace(&self) -> &Trace {
        &self.runtime.trace
    }

    /// The tasks of the last execution.
    pub(crate) fn tasks(&self) -> &[Task] {
        &self.runtime.tasks[..self.runtime.created as usize]
    }

    /// The choices of the last execution.
    pub(crate) fn plan(&self) -> &Plan {
        &self.runtime.plan
    }

    /// The whole exploration is over: tells the monitors, and returns what they reported at last.
    pub(crate) fn shut_down(&mut self) -> Vec<Reported> {
        if self.runtime.listeners.any() {
            self.runtime.listeners.reported.clear();
            self.runtime.tell_shutdown();
        }
        std::mem::take(&mut self.runtime.listeners.reported)
    }

    /// Begins another search, from its first execution.
    pub(crate) fn restart(&mut self, strategy: Box<dyn Strategy>) {
        let rt = &mut *self.runtime;
        rt.asks_always = strategy.asks_always();
        rt.trace = rt.trace.anew(rt.trace.detail());
        rt.plan = Plan::default();
        rt.strategy = strategy;
    }

    /// How many loops are assumed to only wait.
    pub(crate) fn known_loops(&self) -> usize {
        self.runtime.spins.known().map_or(0, |known| known.known().len())
    }

    /// The loops that the last execution showed to only wait are assumed to from now on.
    pub(crate) fn adopt_learned(&mut self) {
        self.runtime.spins.adopt_learned();
    }

    /// From now on just the loops of these hashes are assumed to only wait, if any are.
    pub(crate) fn assume_only(&mut self, known_loops: &[u64]) {
        self.runtime.spins.assume_only(known_loops);
    }

    /// The place in the order of the search of the last execution, or of the one that was prepared.
    pub(crate) fn rank(&self) -> Rank {
        self.runtime.strategy.rank(self.runtime.plan.choices())
    }

    /// The strategy.
    pub(crate) fn strategy(&mut self) -> &mut dyn Strategy {
        &mut *self.runtime.strategy
    }

    /// What is left of the work of the strategy, in words of its own.
    pub(crate) fn save(&self) -> Option<String> {
        self.runtime.strategy.save(&self.runtime.plan)
    }

    /// What the executions so far cover; `finished` says whether the search is over.
    pub(crate) fn coverage(&self, finished: bool) -> Coverage {
        // What the last execution showed takes back what the search relied on.
        if self.runtime.quiet.as_ref().is_some_and(|quiet| quiet.broken) {
            return Coverage::stopped();
        }
        self.runtime.strategy.coverage(finished)
    }
}

/// How much of executions is worked out for a strategy.
fn detail(asks_always: bool) -> Detail {
    if asks_always {
        Detail::Races
    } else {
        Detail::Fingerprints
    }
}

/// Clears `CURRENT`, however the execution ends.
struct ResetCurrent;

impl Drop for ResetCurrent {
    fn drop(&mut self) {
        CURRENT.set(std::ptr::null_mut());
    }
}

impl Engine {
    /// Runs one execution of the test, which has been begun.
    fn run(self, test: &dyn Fn()) -> Executed {
        if self.rt().listeners.any() {
            self.rt().tell_begin();
        }
        let body = move || test();
        match self.rt().new_task(None, Location::caller()) {
            Ok(main) => {
                let entry = &mut self.rt().tasks[main as usize];
                // Nobody created it: what was counted is of the execution before, and must not enter its identity.
                (entry.children, entry.ordinal) = (0, 0);
                // Nobody joins it: its result is dropped at its end.
                entry.detached = true;
                // SAFETY: the test outlives this call, and the room is emptied before it returns.
                unsafe { self.rt().fibers[main as usize].room.fill(body) };
            }
            Err(error) => {
                self.rt().stop = Some(Stop::Misuse(format!(
                    "no memory for the stack of a task: {error}"
                )))
            }
        }
        self.rt().eager.clear();
        let mut next = 0;
        while self.rt().stop.is_none() {
            self.resume(next);
            next = self.rt().current;
        }
        let rt = self.rt();
        let stop = rt.stop.take().expect("the loop ends with a reason");
        let stop = rt.check_prescribed(stop);
        rt.verify_quiet();
        let stop = rt.end_trace(stop);
        let complete = matches!(stop, Stop::Complete);
        if rt.listeners.any() {
            rt.tell_end(complete);
        }
        let learned_points = rt.data_points.is_some() && rt.learn_data_points();
        let wanted = match stop {
            Stop::Deadlock => rt.wanted(),
            _ => Vec::new(),
        };
        // An end like any other, to all but the monitors.
        let stop = match stop {
            Stop::Deadlock if rt.limits.deadlocks_allowed => Stop::Complete,
            other => other,
        };
        let quiet = matches!(stop, Stop::Complete)
            && rt.panics.iter().all(|note| note.joined || !note.escaped)
            && rt.listeners.reported.is_empty();
        let scene = if quiet { None } else { Some(rt.scene()) };
        rt.clear_away(!rt.damaged);
        let rt = self.rt();
        if rt.blocks.any() {
            rt.free_blocks(rt.damaged);
        }
        let trouble = if quiet && !rt.damaged {
            None
        } else {
            // A crash in the clearing away of an execution that ended well: its events are still there.
            let scene = scene.unwrap_or_else(|| rt.scene());
            Some(Box::new(Trouble {
                stop,
                wanted,
                scene,
                damaged: rt.damaged,
                crash_cleared: rt.crash_cleared,
            }))
        };
        Executed {
            steps: rt.steps,
            switches: rt.switches,
            tasks: rt.created,
            suits: if rt.spins.parks() > 0 {
                rt.trace.suits().max(Suits::SourceSets)
            } else {
                rt.trace.suits()
            },
            fingerprint: rt.trace.fingerprint(),
            unfair_left_out: rt.unfair_left_out,
            scoping: rt.scoping,
            parked: rt.spins.parks(),
            failed_iterations: rt.spins.failed_iterations(),
            unseen_change: rt.spins.unseen_change(),
            departed: rt.departed.is_some(),
            learned: rt.departed.is_none() && rt.spins.has_learned() || learned_points,
            trouble,
        }
    }
}

impl Runtime {
    /// Begins an execution whose first choices are in `plan`.
    fn begin(&mut self) {
        self.epoch = self.epochs.next();
        self.number += 1;
        self.created = 0;
        self.live = 0;
        self.vars.clear();
        self.watches_memory = self.watches_memory();
        if let Some(points) = &mut self.data_points {
            points.begin();
            self.listeners.forget();
        }
        self.current = 0;
        self.running = 0;
        self.last = 0;
        self.yielded = false;
        // Who hears of preemptions hears of them where decisions are made elaborately.
        let heard = self.listening.intersects(Interests::ATTRIBUTES);
        self.scoped = self.preemptible.is_some() || self.quiet.is_some() || heard;
        self.elaborate = self.scoped;
        self.closed.clear();
        self.scoping = Scoping::default();
        if let Some(preemptible) = &mut self.preemptible {
            preemptible.begin();
        }
        if let Some(quiet) = &mut self.quiet {
            quiet.begin();
        }
        self.enabled.clear();
        self.eager.clear();
        self.timed.clear();
        self.drowsy.clear();
        self.overdue.clear();
        self.fair.reset();
        self.spins.reset();
        self.left = self.environment;
        self.clock = 0;
        self.tick = TICK;
        self.looked_after = 0;
        self.prescribed = self.plan.choices().len();
        self.decided = 0;
        self.departed = None;
        self.trace.rewind(self.plan.kept(), &self.vars, &self.tasks);
        let known = self.trace.steps();
        self.events.clear(known.last().map_or(0, |step| step.events_end));
        let nothing = self.trace.detail() == Detail::Nothing;
        self.observe_from = if nothing { u64::MAX } else { known.len() as u64 };
        self.ask_from = if self.asks_always {
            self.observe_from.saturating_sub(1)
        } else {
            u64::MAX
        };
        self.also.clear();
        (self.waited, self.after_all) = (None, false);
        self.steps = 0;
        self.switches = 0;
        self.panics.clear();
        self.anybody_panicking = false;
        self.crash_cleared = None;
        self.unfair_left_out = false;
        self.stop = None;
    }

    /// The execution is over, and with it what the strategy may learn from.
    fn tell_over(&mut self) {
        if self.departed.is_none() {
            self.strategy.over(&Past {
                events: self.events.as_slice(),
                trace: &self.trace,
                tasks: &self.tasks[..self.created as usize],
                choices: self.plan.choices(),
            });
        }
    }

    /// The execution is over: so is the trace.
    fn end_trace(&mut self, stop: Stop) -> Stop {
        if self.trace.detail() == Detail::Nothing || self.departed.is_some() {
            return stop;
        }
        let known = self.trace.steps().len() as u64;
        if known > self.steps + 1 {
            self.differed();
        } else if known <= self.steps {
            self.observe();
        }
        if let Some(differed) = self.stop.take() {
            // If it showed something, that is what counts.
            return if matches!(stop, Stop::Complete) {
                differed
            } else {
                stop
            };
        }
        let ending = match &stop {
            Stop::Complete => Ending::Complete,
            Stop::Deadlock => Ending::Stuck,
            _ => Ending::GivenUp,
        };
        self.trace.end(ending, &self.tasks[..self.created as usize]);
        stop
    }

    /// An execution that is over before it came to all its prescribed choices has departed from them. If it
    /// showed something, that is what counts.
    fn check_prescribed(&mut self, stop: Stop) -> Stop {
        if self.departed.is_some() {
            return stop;
        }
        let expected = self.plan.choices()[..self.prescribed].get(self.decided).copied();
        if expected.is_none() {
            return stop;
        }
        let at = self.decided;
        if !matches!(stop, Stop::Complete) {
            self.depart();
            return stop;
        }
        if self.events.differs().is_some() {
            self.differed();
            return self.stop.take().expect("what differs ends the execution");
        }
        self.depart();
        Stop::Diverged {
            at,
            expected,
            found: None,
        }
    }

    /// Adds a task, created by the current one, which is to run before the next decision.
    pub(super) fn new_task(&mut self, name: Option<Arc<str>>, site: Site) -> std::io::Result<u32> {
        let task = self.created;
        if task as usize == self.fibers.len() {
            self.fibers.push(Fiber::new(self.limits.stack_bytes, serve)?);
        }
        let var = self.vars.add(VarKind::Task, 0, task, 0);
        if task as usize == self.tasks.len() {
            self.tasks.push(Task::new(site));
        }
        let parent = self.current;
        let creator = &mut self.tasks[parent as usize];
        creator.children += 1;
        let ordinal = creator.children;
        self.tasks[task as usize].renew(
            Access::new(SyncVarOp::TaskBegin, var, site),
            parent,
            ordinal,
            name,
        );
        self.created += 1;
        self.live += 1;
        self.eager.insert(task);
        if self.created > 64 {
            self.elaborate = true;
        }
        Ok(task)
    }
}
