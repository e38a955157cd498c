//! The description of a test, and its run.

use crate::arguments::Arguments;
use crate::check::Same;
use crate::generate;
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

/// Describes a test of the objects that `make` makes: see [`Refinement`].
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

/// A test of a concurrent object: is what its operations do at once something that they do one at a time?
///
/// Scenarios are made of its operations: some before there are tasks, some in each task, some after. Of each, all
/// executions are explored, and each history is compared with the object itself, or with a model.
///
/// ```
/// use intermezzo_explorer::sync::Mutex;
/// use intermezzo_refinement::{fresh, refine};
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

/// Says that the object is compared with itself, or with what was observed of it.
pub struct Itself(());

/// Says that the object is compared with a model whose states are of type `M`.
pub struct Spec<M> {
    meanings: Meanings<M>,
    some_wait: bool,
}

/// A test against a model: [`Refinement::spec`] makes one.
pub type Modelled<T, M> = Refinement<T, Spec<M>>;

mod against {
    //! What an object is compared with, as far as it is the description's type.

    use super::{Itself, Spec};
    use crate::verify::Subject;
    use std::hash::Hash;

    /// Nobody else says what an object is compared with.
    pub trait Against {
        /// Says so to the subject.
        fn settle<T>(self, subject: &mut SubjectOf<'_, T>);
    }

    /// The subject, which is nobody else's business.
    pub struct SubjectOf<'a, T>(pub(super) &'a mut Subject<T>);

    impl Against for Itself {
        fn settle<T>(self, _: &mut SubjectOf<'_, T>) {}
    }

    impl<M: Clone + Eq + Hash + Send + Sync + 'static> Against for Spec<M> {
        fn settle<T>(self, subject: &mut SubjectOf<'_, T>) {
            subject.0.compare_with(self.meanings, self.some_wait);
        }
    }
}

use against::{Against, SubjectOf};

impl<T: Sync + 'static, A> Refinement<T, A> {
    /// The test's name in reports. Default: where it is described, as file and line.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Adds an operation: its name, where its arguments come from, and what it does. Results are compared by their `Debug`
    /// text, so that must not contain an address or a time. The entries of sets and maps are sorted first: a `HashSet` may
    /// be returned.
    ///
    /// # Panics
    /// There is an operation of that name.
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

    /// In each scenario, one task alone performs these operations: the only consumer of a queue, say. What is done before
    /// and after is not concerned.
    ///
    /// # Panics
    /// There is no operation of one of those names.
    pub fn exclusive<'a>(mut self, group: &str, operations: impl IntoIterator<Item = &'a str>) -> Self {
        for name in operations {
            let at = self.subject.find(name);
            self.subject.operations[at].exclusive = Some(group.to_owned());
        }
        self
    }

    /// The operation may take effect after it has returned: at any time, but it does. Only a model can tell.
    ///
    /// # Panics
    /// There is no operation of that name.
    pub fn late(mut self, operation: &str) -> Self {
        let at = self.subject.find(operation);
        self.subject.operations[at].late = true;
        self
    }

    /// How many tasks scenarios have. Default: 2 or 3.
    pub fn threads(mut self, threads: RangeInclusive<usize>) -> Self {
        self.subject.settings.threads = at_least(1, threads);
        self
    }

    /// How many operations each task performs. Default: 1 or 2.
    pub fn ops(mut self, ops: RangeInclusive<usize>) -> Self {
        self.subject.settings.ops = at_least(1, ops);
        self
    }

    /// How many operations come before there are tasks. Default: up to 2.
    pub fn init(mut self, init: RangeInclusive<usize>) -> Self {
        self.subject.settings.init = at_least(0, init);
        self
    }

    /// How many operations come when the tasks have ended. Default: up to 1.
    pub fn post(mut self, post: RangeInclusive<usize>) -> Self {
        self.subject.settings.post = at_least(0, post);
        self
    }

    /// How many scenarios are tried, beside those pinned. Default: 60.
    pub fn scenarios(mut self, scenarios: usize) -> Self {
        self.subject.settings.scenarios = scenarios;
        self
    }

    /// Most executions of a scenario. Default: 20,000. A report says where it was reached.
    pub fn executions(mut self, executions: u64) -> Self {
        self.subject.settings.executions = executions;
        self
    }

    /// Where scenarios come from: the same number, the same scenarios. Default: 0.
    pub fn seed(mut self, seed: u64) -> Self {
        self.subject.settings.seed = seed;
        self
    }

    /// Which orders of operations are allowed. Default: linearizability.
    pub fn same(mut self, same: Same) -> Self {
        self.subject.settings.same = same;
        self
    }

    /// What the object does when it is compared with itself. Default: one operation at a time.
    pub fn granularity(mut self, granularity: Granularity) -> Self {
        self.subject.settings.granularity = granularity;
        self
    }

    /// Whether a failure comes with a report in which its execution is recorded event by event, beside the nearest one that
    /// does nothing wrong ([`Failure::report`](crate::Failure::report)). `INTERMEZZO_RECORD` in the environment asks for that too, and
    /// [`Refinement::check`] then writes that report, too, where `INTERMEZZO_REPORTS` says. Default: without.
    pub fn record(mut self, on: bool) -> Self {
        self.subject.settings.record = on;
        self
    }

    /// Operations must come to their ends when others stop, too: checked from moments of executions with few preemptions.
    /// Default: nothing is demanded.
    pub fn progress(mut self, progress: Progress) -> Self {
        self.subject.settings.progress = Some(progress);
        self
    }

    /// Within how many steps an operation must return when nobody is in its way, where there is a demand of
    /// [`Refinement::progress`]. Default: 1,000.
    pub fn solo_steps(mut self, steps: u64) -> Self {
        self.subject.settings.solo_steps = steps;
        self
    }

    /// Most preemptions of the executions from whose moments progress is checked. Default: 1.
    pub fn solo_preemptions(mut self, most: u32) -> Self {
        self.subject.settings.solo_preemptions = most;
        self
    }

    /// How each scenario is explored: with a bound, another reduction, another environment. Default: all of it, by
    /// `Reduction::Dpor`.
    pub fn explorer(mut self, configure: impl Fn(Explorer) -> Explorer + Send + Sync + 'static) -> Self {
        self.subject.settings.explorer = Some(Arc::new(configure));
        self
    }

    /// Changes which monitors listen to each scenario, as the setting `monitors` does: `"-leak"`, `"lock-order"`, `"none"`. What
    /// they find is a failure. `INTERMEZZO_MONITORS` in the environment overrides this. Default: the monitors that are on
    /// where nothing is set.
    ///
    /// # Panics
    /// When the test is run: it is no such list.
    pub fn monitors(mut self, list: impl Into<String>) -> Self {
        self.subject.settings.monitors = list.into();
        self
    }

    /// This scenario is tried first. A failure shows the lines that pin its scenario.
    ///
    /// # Panics
    /// There is no operation of one of the names, or its arguments are of another type.
    pub fn pin(mut self, describe: impl FnOnce(Pin<'_, T>) -> Pin<'_, T>) -> Self {
        let scenario = describe(Pin::new(&self.subject.operations)).scenario();
        self.pinned.push(scenario);
        self
    }

    /// What the object holds, for reports of failures: shown after each step of the failing execution. A text is shown as
    /// it is, anything else by `Debug`.
    ///
    /// The object is looked at beside the execution: look-alikes may be used as ever, to read. What is locked at that
    /// moment is not waited for, and the report says that it was.
    pub fn show<S: Debug + 'static>(mut self, look: impl Fn(&T) -> S + Send + Sync + 'static) -> Self {
        self.subject.show = Some(Show::new(look));
        self
    }

    /// A scenario of which not everything was looked at makes the test inconclusive, and [`Refinement::check`] panics then.
    /// Default: such scenarios are listed in the report, and the verdict is of what was looked at.
    pub fn in_full(mut self) -> Self {
        self.in_full = true;
        self
    }

    /// Where a scenario's operations have no more than so many orders, one at a time, all are run before anything is compared
    /// with them; where they have more, those that a history asks for, 50,000 at most. Default: 10,000.
    pub fn orders(mut self, most: u64) -> Self {
        self.subject.settings.orders = most;
        self
    }

    /// Runs a single execution of the scenario that is pinned: that of this schedule, a token or the path of a file, which a
    /// report of a failure shows.
    ///
    /// # Panics
    /// It is no schedule. When the test is run: there is not exactly one pinned scenario, or the schedule is of another.
    pub fn replay(mut self, schedule: &str) -> Self {
        let schedule = Schedule::parse(schedule);
        self.replay = Some(schedule.unwrap_or_else(|error| panic!("replay: {error}")));
        self
    }
}

impl<T: Sync + 'static> Refinement<T> {
    /// The object is compared with what it does itself, one operation at a time. It is unless a model is given.
    pub fn against_itself(self) -> Self {
        self
    }

    /// The object is compared with these observations of an earlier run, in the scenarios that they are of. Others are not
    /// tried, and a report says so.
    pub fn against(mut self, observed: ObservationSet) -> Self {
        self.subject.observed = Some(observed);
        self
    }

    /// What the object does one operation at a time, in each scenario, to be kept.
    ///
    /// # Errors
    /// It does what it may not even so, or is not determined, or not everything could be observed: the report says which.
    ///
    /// # Panics
    /// The test has no operations.
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

    /// The object is compared with a model: what each operation means for it comes next.
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
    /// The operation does this with the model, and returns that. The argument has the type that the operation's has.
    ///
    /// # Panics
    /// There is no operation of that name.
    pub fn means<V: 'static, R: Debug>(
        mut self,
        operation: &str,
        apply: impl Fn(&mut M, &V) -> R + Send + Sync + 'static,
    ) -> Self {
        let at = self.subject.find(operation);
        self.against.meanings.means(at, apply);
        self
    }

    /// The operation may do any of these with the model: new states, each with what it returns.
    ///
    /// # Panics
    /// There is no operation of that name.
    pub fn may<V: 'static, R: Debug>(
        mut self,
        operation: &str,
        outcomes: impl Fn(&M, &V) -> Vec<(M, R)> + Send + Sync + 'static,
    ) -> Self {
        let at = self.subject.find(operation);
        self.against.meanings.may(at, outcomes);
        self
    }

    /// The operation has to wait as long as this holds.
    ///
    /// # Panics
    /// There is no operation of that name.
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
    /// Runs the test, and returns what was covered. Where the environment variable `INTERMEZZO_REPORTS` names a directory, the
    /// report is written there, pass or failure, in its JSON form, under the test's [name](Refinement::name).
    ///
    /// Where `INTERMEZZO_REPLAY` has the schedule of a scenario of this test, a token or the path of a file, that execution alone is run:
    /// of a scenario that is pinned or drawn at once, of one that is the result of making another small when it has been made anew. Where
    /// there is none, or nothing fails any more: then all scenarios are tried. Where the schedule is of no scenario at all, it is of
    /// another test: this one is not run, says so on stderr, and its report is of nothing.
    ///
    /// # Panics
    /// The object does what it may not, with a text that says what; no scenario was compared in full, or one was not and
    /// [`Refinement::in_full`] demands it; the test has no operations, or an operation has no meaning for the model; what is
    /// to be replayed is no schedule.
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
            // A variable that cannot be is for explorations to refuse.
            let mut settings = intermezzo_explorer::Settings::default();
            let _ = settings.override_from_environment();
            let style = TextStyle::of_process().detail(settings.detail);
            panic!("{}", report.text(&style));
        }
        report
    }

    /// Runs the test; what it came to.
    ///
    /// # Panics
    /// The test has no operations, or an operation has no meaning for the model. There is a schedule to replay, and not
    /// exactly one scenario is pinned, or it is of another.
    pub fn run(self) -> RefinementReport {
        self.run_for(None)
    }

    /// Runs the test; or the one execution that is wanted, if it is of a scenario that the test comes to.
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

/// Says on stderr, even where a test harness keeps what a test prints, that the test of this name was not run: another one is
/// replayed.
fn tell_not_run(name: &str, other: &str) {
    // A closed stderr is no reason for a test to fail.
    let _ = writeln!(
        std::io::stderr().lock(),
        "intermezzo: {name} was not run: INTERMEZZO_REPLAY has a schedule of {other}"
    );
}

/// All scenarios of a test: those pinned, and then those drawn.
fn scenarios<T>(subject: &Subject<T>, pinned: Vec<Scenario>) -> impl Iterator<Item = Scenario> + use<T> {
    assert!(
        !subject.operations.is_empty(),
        "the test has no operations: give some with `op`"
    );
    let drawn = generate::scenarios(&subject.operations, &subject.settings);
    pinned.into_iter().chain(drawn)
}

/// The range, from at least this on.
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

/// The test that this thread runs: the test harness gives each a thread of its name.
fn test_of_thread() -> Option<String> {
    let thread = std::thread::current();
    let is_path =
        |name: &&str| *name != "main" && name.chars().all(|c| c.is_alphanumeric() || "_:".contains(c));
    thread.name().filter(is_path).map(str::to_owned)
}

impl<T> Subject<T> {
    /// The object is compared with a model.
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
        match self
            .operations
            .iter()
            .position(|operation| operation.name == name)
        {
            Some(at) => at,
            None => panic!(
                "there is no operation `{name}`: it has to come first, and there are {}",
                self.names.join(", ")
            ),
        }
    }
}
