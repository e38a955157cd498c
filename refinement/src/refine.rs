//! The description of a test, and its run.

use crate::arguments::Arguments;
use crate::generate;
use crate::history::Same;
use crate::minimise;
use crate::model::{Meanings, Model};
use crate::observations::ObservationSet;
use crate::operation::Operation;
use crate::pin::Pin;
use crate::report::RefinementReport;
use crate::scenario::Scenario;
use crate::settings::{Granularity, Progress, Settings};
use crate::show::Show;
use crate::verify::{Subject, is_of_scenario};
use intermezzo_explorer::report::{TextStyle, write_beside};
use intermezzo_explorer::{Explorer, Schedule};
use std::fmt::Debug;
use std::hash::Hash;
use std::io::Write;
use std::ops::RangeInclusive;
use std::panic::Location;
use std::sync::Arc;

/// Describes a test of the objects that `make` creates: see [`Refinement`].
///
/// ```
/// # mod intermezzo { pub use intermezzo_explorer::*; pub use intermezzo_refinement as refinement; }
/// use intermezzo::refinement::refine;
/// use intermezzo::sync::atomic::{AtomicU8, Ordering::SeqCst};
///
/// refine(|| AtomicU8::new(0))
///     .op("next", (), |n, ()| n.fetch_add(1, SeqCst))
///     .scenarios(5)
///     .check();
/// ```
#[track_caller]
pub fn refine<T: Sync + 'static>(make: impl Fn() -> T + Send + Sync + 'static) -> Refinement<T> {
    let site = Location::caller();
    Refinement {
        name: format!("refine at {}:{}", site.file(), site.line()),
        subject: Subject {
            make: Box::new(make),
            operations: Vec::new(),
            names: Arc::default(),
            settings: Settings::default(),
            model: None,
            observed: None,
            show: None,
        },
        pinned: Vec::new(),
        replay: None,
        in_full: false,
        against: Itself(()),
    }
}

/// A test of a concurrent object: it checks that a sequential order of its operations explains their concurrent results.
///
/// Scenarios consist of its operations: some before the tasks, some in each task, and some after the tasks. All executions
/// of each scenario are explored, and each history is compared with the object itself, or with a model.
///
/// ```
/// # mod intermezzo { pub use intermezzo_explorer::*; pub use intermezzo_refinement as refinement; }
/// use intermezzo::refinement::{fresh, refine};
/// use intermezzo::sync::Mutex;
///
/// refine(|| Mutex::new(Vec::new()))
///     .op("push", fresh::<u8>(), |stack, value| stack.lock().unwrap().push(value))
///     .op("pop", (), |stack, ()| stack.lock().unwrap().pop())
///     .scenarios(10)
///     .check();
/// ```
#[must_use = "a test does nothing until `check` or `run` is called"]
pub struct Refinement<T, A = Itself> {
    name: String,
    subject: Subject<T>,
    pinned: Vec<Scenario>,
    replay: Option<Schedule>,
    in_full: bool,
    against: A,
}

/// Marks a test whose object is compared with itself, or with its observations.
pub struct Itself(());

/// Marks a test whose object is compared with a model whose states are of type `M`.
pub struct Spec<M> {
    meanings: Meanings<M>,
    some_wait: bool,
}

/// A test against a model, made by [`Refinement::spec`].
pub type Modelled<T, M> = Refinement<T, Spec<M>>;

mod against;

use against::{Against, SubjectOf};

impl<T: Sync + 'static, A> Refinement<T, A> {
    /// Sets the test's name in reports. Default: the place of its description, as file and line.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Adds an operation: its name, the source of its arguments, and its code. Results are compared by their `Debug`
    /// text, so that must not contain an address or a time. The entries of sets and maps are sorted first: a
    /// `HashSet` may be returned.
    ///
    /// # Panics
    /// If there is an operation of that name.
    pub fn op<V: Arguments, R: Debug>(
        mut self,
        name: &str,
        arguments: V,
        run: impl Fn(&T, V::Value) -> R + Send + Sync + 'static,
    ) -> Self {
        assert!(
            !self.subject.operations.iter().any(|known| known.name == name),
            "there is an operation `{name}` already: give this one another name"
        );
        self.subject.operations.push(Operation::new(name, arguments, run));
        Arc::make_mut(&mut self.subject.names).push(name.to_owned());
        self
    }

    /// Restricts these operations to one task of each scenario, for example to the only consumer of a queue.
    /// Operations before and after the tasks are not affected.
    ///
    /// # Panics
    /// If there is no operation of one of those names.
    pub fn exclusive<'a>(mut self, group: &str, operations: impl IntoIterator<Item = &'a str>) -> Self {
        for name in operations {
            let at = self.subject.find(name);
            self.subject.operations[at].exclusive = Some(group.to_owned());
        }
        self
    }

    /// Allows the operation to take effect at any time after it has returned. It must take effect at some time. Only a
    /// model can judge that.
    ///
    /// # Panics
    /// If there is no operation of that name. When the test is run, if the object is not compared with a model.
    pub fn late(mut self, operation: &str) -> Self {
        let at = self.subject.find(operation);
        self.subject.operations[at].late = true;
        self
    }

    /// Sets the number of tasks in scenarios. Default: 2 or 3.
    pub fn threads(mut self, threads: RangeInclusive<usize>) -> Self {
        self.subject.settings.threads = at_least(1, threads);
        self
    }

    /// Sets the number of operations of each task. Default: 1 or 2.
    pub fn ops(mut self, ops: RangeInclusive<usize>) -> Self {
        self.subject.settings.ops = at_least(1, ops);
        self
    }

    /// Sets the number of operations before the tasks. Default: up to 2.
    pub fn init(mut self, init: RangeInclusive<usize>) -> Self {
        self.subject.settings.init = at_least(0, init);
        self
    }

    /// Sets the number of operations after the tasks have ended. Default: up to 1.
    pub fn post(mut self, post: RangeInclusive<usize>) -> Self {
        self.subject.settings.post = at_least(0, post);
        self
    }

    /// Sets the number of scenarios, without the pinned ones. Default: 60.
    pub fn scenarios(mut self, scenarios: usize) -> Self {
        self.subject.settings.scenarios = scenarios;
        self
    }

    /// Sets the maximum number of executions of a scenario. `INTERMEZZO_EXECUTIONS` in the environment overrides this.
    /// Default: 20,000. A report names the scenarios that reached it.
    pub fn executions(mut self, executions: u64) -> Self {
        self.subject.settings.executions = executions;
        self
    }

    /// Sets the seed of the scenarios: the same number gives the same scenarios. Default: 0.
    pub fn seed(mut self, seed: u64) -> Self {
        self.subject.settings.seed = seed;
        self
    }

    /// Sets the allowed orders of operations. Default: linearizability.
    pub fn same(mut self, same: Same) -> Self {
        self.subject.settings.same = same;
        self
    }

    /// Sets the way in which the object runs when it is compared with itself. Default: one operation at a time.
    pub fn granularity(mut self, granularity: Granularity) -> Self {
        self.subject.settings.granularity = granularity;
        self
    }

    /// Adds a report to each failure ([`Failure::report`](crate::Failure::report)). It has the failing execution
    /// recorded event by event, and the nearest execution without a failure. `INTERMEZZO_RECORD` in the environment
    /// requests that too, and [`Refinement::check`] then also writes that report to the directory in
    /// `INTERMEZZO_REPORTS`. Default: without.
    pub fn record(mut self, on: bool) -> Self {
        self.subject.settings.record = on;
        self
    }

    /// Sets a progress property: operations must return even if other tasks stop. It is checked from moments of executions
    /// with few preemptions. Default: none.
    pub fn progress(mut self, progress: Progress) -> Self {
        self.subject.settings.progress = Some(progress);
        self
    }

    /// Sets the number of steps within which an operation must return when no other task interferes, with
    /// [`Refinement::progress`]. Default: 1,000.
    pub fn solo_steps(mut self, steps: u64) -> Self {
        self.subject.settings.solo_steps = steps;
        self
    }

    /// Sets the maximum number of preemptions in executions from whose moments progress is checked. Default: 1.
    pub fn solo_preemptions(mut self, most: u32) -> Self {
        self.subject.settings.solo_preemptions = most;
        self
    }

    /// Configures the exploration of each scenario: with a bound, another reduction, another environment.
    /// The variable `INTERMEZZO_ENVIRONMENT` of the process changes the environment after that. Default: every execution,
    /// by `Reduction::Dpor`.
    ///
    /// If the environment allows `stale_reads`, happens-before replaces real time: an operation comes before another one if
    /// its return happens before the other's call. Sequential runs of the object and models stay sequentially consistent.
    ///
    /// ```
    /// # mod intermezzo { pub use intermezzo_explorer::*; pub use intermezzo_refinement as refinement; }
    /// use intermezzo::refinement::refine;
    /// use intermezzo::sync::atomic::{AtomicBool, AtomicU8, Ordering::*};
    ///
    /// // The store of the flag is too weak to publish the value.
    /// let report = refine(|| (AtomicU8::new(0), AtomicBool::new(false)))
    ///     .op("write", (), |(value, there), ()| {
    ///         value.store(1, Relaxed);
    ///         there.store(true, Relaxed);
    ///     })
    ///     .op("read", (), |(value, there), ()| there.load(Acquire).then(|| value.load(Relaxed)))
    ///     .explorer(|explorer| explorer.set("environment", "stale_reads=1"))
    ///     .run();
    /// assert!(report.verdict().is_fail());
    /// ```
    pub fn explorer(mut self, configure: impl Fn(Explorer) -> Explorer + Send + Sync + 'static) -> Self {
        self.subject.settings.explorer = Some(Arc::new(configure));
        self
    }

    /// Changes the monitors of each scenario, like the setting `monitors`: `"-leak"`, `"lock-order"`, `"none"`. Their
    /// findings are failures. `INTERMEZZO_MONITORS` in the environment overrides this. Default: the monitors that are on
    /// by default.
    ///
    /// # Panics
    /// When the test is run, if the list is invalid.
    pub fn monitors(mut self, list: impl Into<String>) -> Self {
        self.subject.settings.monitors = list.into();
        self
    }

    /// Tries this scenario first. A failure shows the lines that pin its scenario.
    ///
    /// # Panics
    /// If there is no operation of one of the names, or its arguments are of another type.
    pub fn pin(mut self, describe: impl FnOnce(Pin<'_, T>) -> Pin<'_, T>) -> Self {
        let scenario = describe(Pin::new(&self.subject.operations)).scenario();
        self.pinned.push(scenario);
        self
    }

    /// Shows the object's state in reports of failures, after each step of the failing execution. A string is shown
    /// unchanged, and other values by `Debug`.
    ///
    /// The object is read outside of the execution. The function may read look-alikes as usual. If a lock is held at that
    /// moment, the report says so instead of waiting for it.
    pub fn show<S: Debug + 'static>(mut self, look: impl Fn(&T) -> S + Send + Sync + 'static) -> Self {
        self.subject.show = Some(Show::new(look));
        self
    }

    /// Makes the test inconclusive if some scenario was not checked completely; [`Refinement::check`] panics then.
    /// Default: such scenarios are listed in the report, and the verdict covers the part that was checked.
    pub fn in_full(mut self) -> Self {
        self.in_full = true;
        self
    }

    /// Sets the maximum number of sequential orders of a scenario's operations that are all run before the comparison. If
    /// there are more, only those that a history needs are run, at most 50,000. Default: 10,000.
    pub fn orders(mut self, most: u64) -> Self {
        self.subject.settings.orders = most;
        self
    }

    /// Runs a single execution of the pinned scenario: that of this schedule, which is a token or the path of a file, as a
    /// report of a failure shows them.
    ///
    /// # Panics
    /// If it is no schedule. When the test is run: if there is not exactly one pinned scenario, or the schedule is of
    /// another.
    pub fn replay(mut self, schedule: &str) -> Self {
        let schedule = Schedule::parse(schedule);
        self.replay = Some(schedule.unwrap_or_else(|error| panic!("replay: {error}")));
        self
    }
}

impl<T: Sync + 'static> Refinement<T> {
    /// Compares the object with itself, one operation at a time. This is the default without a model.
    pub fn against_itself(self) -> Self {
        self
    }

    /// Compares the object with these observations of an earlier run, in their scenarios. Other scenarios are not tried,
    /// and a report says so.
    pub fn against(mut self, observed: ObservationSet) -> Self {
        self.subject.observed = Some(observed);
        self
    }

    /// Returns the object's sequential behaviour in each scenario, so that it can be saved.
    ///
    /// # Errors
    /// If the object fails sequentially, is not deterministic, or could not be observed completely; the report says which.
    ///
    /// # Panics
    /// If the test has no operations.
    pub fn observe(self) -> Result<ObservationSet, Box<RefinementReport>> {
        let Refinement { subject, pinned, .. } = self;
        let mut set = ObservationSet::default();
        for scenario in scenarios(&subject, pinned) {
            match subject.observe_apart(&scenario) {
                Ok(observed) if set.find(&observed.scenario).is_some() => {}
                Ok(observed) => set.scenarios.push(observed),
                Err(checked) => {
                    let mut report = RefinementReport::default();
                    report.take(*checked, || scenario.describe(&subject.names));
                    return Err(Box::new(report));
                }
            }
        }
        Ok(set)
    }

    /// Compares the object with a model. The meaning of each operation follows.
    ///
    /// ```
    /// # mod intermezzo { pub use intermezzo_explorer::*; pub use intermezzo_refinement as refinement; }
    /// use intermezzo::refinement::refine;
    /// use intermezzo::sync::atomic::{AtomicU8, Ordering::SeqCst};
    ///
    /// refine(|| AtomicU8::new(0))
    ///     .op("next", (), |n, ()| n.fetch_add(1, SeqCst))
    ///     .spec(|| 0)
    ///     .means("next", |n: &mut u8, ()| std::mem::replace(n, *n + 1))
    ///     .scenarios(5)
    ///     .check();
    /// ```
    pub fn spec<M: Clone + Eq + Hash + Send + Sync + 'static>(
        self,
        initial: impl Fn() -> M + Send + Sync + 'static,
    ) -> Modelled<T, M> {
        Refinement {
            name: self.name,
            subject: self.subject,
            pinned: self.pinned,
            replay: self.replay,
            in_full: self.in_full,
            against: Spec {
                meanings: Meanings::new(initial),
                some_wait: false,
            },
        }
    }
}

impl<T: Sync + 'static, M: Clone + Eq + Hash + Send + Sync + 'static> Refinement<T, Spec<M>> {
    /// Sets the operation's effect on the model, and its result. The argument has the type of the operation's argument.
    ///
    /// # Panics
    /// If there is no operation of that name.
    pub fn means<V: 'static, R: Debug>(
        mut self,
        operation: &str,
        apply: impl Fn(&mut M, &V) -> R + Send + Sync + 'static,
    ) -> Self {
        let at = self.subject.find(operation);
        self.against.meanings.means(at, apply);
        self
    }

    /// Sets the operation's possible effects on the model: new states, each with its result.
    ///
    /// # Panics
    /// If there is no operation of that name.
    pub fn may<V: 'static, R: Debug>(
        mut self,
        operation: &str,
        outcomes: impl Fn(&M, &V) -> Vec<(M, R)> + Send + Sync + 'static,
    ) -> Self {
        let at = self.subject.find(operation);
        self.against.meanings.may(at, outcomes);
        self
    }

    /// Makes the operation wait as long as this holds.
    ///
    /// # Panics
    /// If there is no operation of that name.
    pub fn waits<V: 'static>(
        mut self,
        operation: &str,
        when: impl Fn(&M, &V) -> bool + Send + Sync + 'static,
    ) -> Self {
        let at = self.subject.find(operation);
        self.against.meanings.waits(at, when);
        self.against.some_wait = true;
        self
    }
}

impl<T: Sync + 'static, A: Against> Refinement<T, A> {
    /// Runs the test, and returns what was covered. If the environment variable `INTERMEZZO_REPORTS` names a
    /// directory, the report is written there, pass or failure, in its JSON form, under the test's
    /// [name](Refinement::name).
    ///
    /// If `INTERMEZZO_REPLAY` has the schedule of a scenario of this test, a token or the path of a file, that
    /// execution alone is run. For a scenario that is pinned or drawn, this happens at once. For the result of
    /// minimising another scenario, it happens when that scenario has been minimised again. If there is no such
    /// scenario, or nothing fails any more, all scenarios are tried. A schedule of no scenario at all belongs to
    /// another test: then this one is not run, says so on stderr, and its report is empty.
    ///
    /// # Panics
    /// If the object fails, with a text that describes the failure. If no scenario was compared in full, or one was
    /// not and [`Refinement::in_full`] demands it. If the test has no operations, or an operation has no meaning for
    /// the model. If the text to be replayed is no schedule.
    #[track_caller]
    pub fn check(self) -> RefinementReport {
        let wanted = std::env::var("INTERMEZZO_REPLAY").ok().map(|schedule| {
            Schedule::parse(&schedule).unwrap_or_else(|error| panic!("INTERMEZZO_REPLAY: {error}"))
        });
        if let Some(other) = wanted
            .as_ref()
            .filter(|schedule| !is_of_scenario(&schedule.program))
        {
            tell_not_run(&self.name, &other.program);
            return RefinementReport {
                program: self.name,
                ..RefinementReport::default()
            };
        }
        let mut report = self.run_for(wanted.as_ref());
        report.test = test_of_thread();
        if let Some(directory) = std::env::var_os("INTERMEZZO_REPORTS") {
            write_beside(directory.as_ref(), &report.program, &report.to_json());
            let recorded = report
                .failure
                .as_ref()
                .and_then(|failure| failure.report.as_ref());
            if let Some(recorded) = recorded {
                recorded.write_into(directory.as_ref());
            }
        }
        if !report.verdict().is_pass() {
            // Explorations refuse an invalid variable.
            let mut settings = intermezzo_explorer::Settings::default();
            let _ = settings.override_from_environment();
            let style = TextStyle::of_process().detail(settings.detail);
            panic!("{}", report.text(&style));
        }
        report
    }

    /// Runs the test, and returns its report.
    ///
    /// ```
    /// # mod intermezzo { pub use intermezzo_explorer::*; pub use intermezzo_refinement as refinement; }
    /// use intermezzo::refinement::refine;
    /// use intermezzo::sync::atomic::{AtomicU8, Ordering::SeqCst};
    ///
    /// let add = |n: &AtomicU8, ()| {
    ///     let before = n.load(SeqCst);
    ///     n.store(before + 1, SeqCst);
    ///     before
    /// };
    /// let report = refine(|| AtomicU8::new(0)).op("next", (), add).run();
    /// assert!(report.verdict().is_fail());
    /// ```
    ///
    /// # Panics
    /// If the test has no operations, or an operation has no meaning for the model. If there is a schedule to replay,
    /// and not exactly one scenario is pinned, or it is of another. If `INTERMEZZO_EXECUTIONS` is no number.
    #[track_caller]
    pub fn run(self) -> RefinementReport {
        self.run_for(None)
    }

    /// Runs the test, or only the execution to be replayed if the test reaches its scenario.
    #[track_caller]
    fn run_for(self, wanted: Option<&Schedule>) -> RefinementReport {
        let Refinement {
            name,
            mut subject,
            pinned,
            replay,
            in_full,
            against,
        } = self;
        against.settle(&mut SubjectOf(&mut subject));
        subject.settings.record |= std::env::var_os("INTERMEZZO_RECORD").is_some();
        subject.settings.override_executions();
        let mut report = RefinementReport {
            program: name,
            in_full,
            ..RefinementReport::default()
        };
        if let Some(schedule) = replay {
            let [scenario] = &pinned[..] else {
                panic!(
                    "replay: {} scenarios are pinned: pin the one that the schedule is of, and no other",
                    pinned.len()
                )
            };
            subject.replay_into(&mut report, scenario, &schedule);
            return report;
        }
        let is_wanted = |scenario: &Scenario| wanted.filter(|schedule| subject.is_of(schedule, scenario));
        for scenario in scenarios(&subject, pinned.clone()) {
            if let Some(schedule) = is_wanted(&scenario) {
                subject.replay_into(&mut report, &scenario, schedule);
                return report;
            }
        }
        for scenario in scenarios(&subject, pinned) {
            let checked = subject.check(&scenario);
            report.take(checked, || scenario.describe(&subject.names));
            if let Some(failure) = report.failure.take() {
                let (scenario, failure, tried) = minimise::minimise(&subject, scenario, failure);
                if let Some(schedule) = is_wanted(&scenario) {
                    let mut alone = RefinementReport {
                        program: report.program,
                        in_full,
                        ..RefinementReport::default()
                    };
                    subject.replay_into(&mut alone, &scenario, schedule);
                    return alone;
                }
                report.minimising = tried;
                report.pin = Some(crate::pin::lines(&scenario, &subject.names));
                report.failure = Some(failure);
                return report;
            }
        }
        report
    }
}

/// Prints on stderr, even if a test harness captures output, that the test of this name was not run because another one is
/// replayed.
fn tell_not_run(name: &str, other: &str) {
    // A closed stderr is no reason for a test to fail.
    let _ = writeln!(
        std::io::stderr().lock(),
        "intermezzo: {name} was not run: INTERMEZZO_REPLAY has a schedule of {other}"
    );
}

/// Returns all scenarios of a test: those pinned, and then those drawn.
#[track_caller]
fn scenarios<T>(subject: &Subject<T>, pinned: Vec<Scenario>) -> impl Iterator<Item = Scenario> + use<T> {
    assert!(
        !subject.operations.is_empty(),
        "the test has no operations: give some with `op`"
    );
    let drawn = generate::scenarios(&subject.operations, &subject.settings);
    pinned.into_iter().chain(drawn)
}

/// Returns the range, with at least this as its beginning.
fn at_least(least: usize, range: RangeInclusive<usize>) -> RangeInclusive<usize> {
    let start = (*range.start()).max(least);
    start..=(*range.end()).max(start)
}

impl<T: Sync + 'static> Subject<T> {
    /// Runs one execution of the scenario, and nothing else.
    fn replay_into(&self, report: &mut RefinementReport, scenario: &Scenario, schedule: &Schedule) {
        report.replayed = true;
        report.take(self.replay(scenario, schedule), || scenario.describe(&self.names));
        report.pin = report
            .failure
            .as_ref()
            .map(|_| crate::pin::lines(scenario, &self.names));
    }
}

/// Returns the test that this thread runs: the test harness gives each test a thread with its name.
fn test_of_thread() -> Option<String> {
    let thread = std::thread::current();
    let is_path =
        |name: &&str| *name != "main" && name.chars().all(|c| c.is_alphanumeric() || "_:".contains(c));
    thread.name().filter(is_path).map(str::to_owned)
}

impl<T> Subject<T> {
    /// Compares the object with a model.
    #[track_caller]
    fn compare_with<M: Clone + Eq + Hash + Send + Sync + 'static>(
        &mut self,
        meanings: Meanings<M>,
        some_wait: bool,
    ) {
        for (at, name) in self.names.iter().enumerate() {
            assert!(
                meanings.has(at),
                "it is not said what `{name}` means for the model: say so with `means`"
            );
        }
        let model: Arc<dyn Model> = Arc::new(meanings);
        self.model = Some((model, some_wait));
    }

    fn find(&self, name: &str) -> usize {
        let at = self
            .operations
            .iter()
            .position(|operation| operation.name == name);
        at.unwrap_or_else(|| {
            let known = self.names.join(", ");
            panic!("there is no operation `{name}`: it has to come first, and there are {known}")
        })
    }
}
