//! The description of a test, and its run.

use crate::arguments::Arguments;
use crate::check::Same;
use crate::failure::Failure;
use crate::generate;
use crate::minimise;
use crate::model::{Meanings, Model};
use crate::observations::ObservationSet;
use crate::operation::Operation;
use crate::pin::Pin;
use crate::progress::Progress;
use crate::scenario::{Description, Scenario};
use crate::settings::{Granularity, Settings};
use crate::verify::{Checked, Subject};
use intermezzo_explorer::{Explorer, Verdict};
use std::fmt::{self, Debug};
use std::hash::Hash;
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;

/// Describes a test of the objects that `make` makes: see [`Refinement`].
pub fn refine<T: Sync + 'static>(make: impl Fn() -> T + Send + Sync + 'static) -> Refinement<T> {
    Refinement {
        subject: Subject {
            make: Box::new(make),
            operations: Vec::new(),
            names: Arc::default(),
            settings: Settings::default(),
            model: None,
            observed: None,
        },
        pinned: Vec::new(),
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
pub struct Refinement<T> {
    subject: Subject<T>,
    pinned: Vec<Scenario>,
}

impl<T: Sync + 'static> Refinement<T> {
    /// An operation: its name, where its arguments come from, and what it does. What it returns is compared as it is
    /// shown by `Debug`: so nothing in that may be an address, or depend on time.
    ///
    /// # Panics
    /// There is an operation of that name.
    pub fn op<A: Arguments, R: Debug>(
        mut self,
        name: &str,
        arguments: A,
        run: impl Fn(&T, A::Value) -> R + Send + Sync + 'static,
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

    /// Whether a failure comes with a report in which its execution is recorded event by event, beside the nearest one that
    /// does nothing wrong ([`Failure::report`]). `INTERMEZZO_RECORD` in the environment asks for that too, and
    /// [`Refinement::check`] then writes the report where `INTERMEZZO_REPORTS` says. Default: without.
    pub fn record(mut self, on: bool) -> Self {
        self.subject.settings.record = on;
        self
    }

    /// How each scenario is explored: with a bound, another reduction, another environment. Default: all of it, by
    /// `Reduction::Dpor`.
    pub fn explorer(mut self, configure: impl Fn(Explorer) -> Explorer + Send + Sync + 'static) -> Self {
        self.subject.settings.explorer = Some(Arc::new(configure));
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
        let Refinement { subject, pinned } = self;
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
        Modelled {
            refinement: self,
            meanings: Meanings::new(initial),
            some_wait: false,
        }
    }

    /// Runs the test.
    ///
    /// # Panics
    /// The object does what it may not, with a text that says what; or the test has no operations.
    pub fn check(self) {
        self.run().settle();
    }

    /// Runs the test; what it came to.
    ///
    /// # Panics
    /// The test has no operations.
    pub fn run(self) -> RefinementReport {
        let Refinement { mut subject, pinned } = self;
        subject.settings.record |= std::env::var_os("INTERMEZZO_RECORD").is_some();
        let mut report = RefinementReport::default();
        for scenario in scenarios(&subject, pinned) {
            let checked = subject.check(&scenario);
            report.take(checked, || scenario.describe(&subject.names));
            if let Some(failure) = report.failure.take() {
                let (scenario, failure, tried) = minimise::minimise(&subject, scenario, failure);
                report.minimising = tried;
                report.pin = Some(crate::pin::lines(&scenario, &subject.names));
                report.failure = Some(failure);
                return report;
            }
        }
        report
    }
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

/// A test against a model.
#[must_use = "a test does nothing until `check` or `run` is called"]
pub struct Modelled<T, M> {
    refinement: Refinement<T>,
    meanings: Meanings<M>,
    some_wait: bool,
}

impl<T: Sync + 'static, M: Clone + Eq + Hash + Send + Sync + 'static> Modelled<T, M> {
    /// The operation does this with the model, and returns that. The argument has the type that the operation's has.
    ///
    /// # Panics
    /// There is no operation of that name.
    pub fn means<V: 'static, R: Debug>(
        mut self,
        operation: &str,
        apply: impl Fn(&mut M, &V) -> R + Send + Sync + 'static,
    ) -> Self {
        let at = self.refinement.subject.find(operation);
        self.meanings.means(at, apply);
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
        let at = self.refinement.subject.find(operation);
        self.meanings.may(at, outcomes);
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
        let at = self.refinement.subject.find(operation);
        self.meanings.waits(at, when);
        self.some_wait = true;
        self
    }

    /// As [`Refinement::progress`].
    pub fn progress(mut self, progress: Progress) -> Self {
        self.refinement = self.refinement.progress(progress);
        self
    }

    /// As [`Refinement::check`].
    ///
    /// # Panics
    /// As there; and an operation has no meaning.
    pub fn check(self) {
        self.run().settle();
    }

    /// As [`Refinement::run`].
    ///
    /// # Panics
    /// As there; and an operation has no meaning.
    pub fn run(self) -> RefinementReport {
        let Modelled {
            mut refinement,
            meanings,
            some_wait,
        } = self;
        for (at, name) in refinement.subject.names.iter().enumerate() {
            assert!(
                meanings.has(at),
                "it is not said what `{name}` means for the model: say so with `means`"
            );
        }
        let model: Arc<dyn Model> = Arc::new(meanings);
        refinement.subject.model = Some((model, some_wait));
        refinement.run()
    }
}

impl<T> Subject<T> {
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

/// What a test came to.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct RefinementReport {
    /// Scenarios checked.
    pub scenarios: u64,
    /// Executions of all of them, those that observe included.
    pub executions: u64,
    /// Traces among those that were compared.
    pub traces: u64,
    /// Different histories that were compared.
    pub histories: u64,
    /// What was observed of the object, if it was compared with itself.
    pub observations: usize,
    /// Runs of one task alone, or of all but one, or in turns, if progress is demanded; each is one of the executions.
    pub solo_runs: u64,
    /// The scenarios of which not every execution was run, and why.
    pub short: Vec<String>,
    /// Scenarios tried to make the failing one small.
    pub minimising: u64,
    /// Where the object did what it may not.
    pub failure: Option<Failure>,
    /// The lines that pin the failing scenario in the test.
    pub pin: Option<String>,
}

impl RefinementReport {
    /// Takes in what a scenario came to.
    fn take(&mut self, checked: Checked, scenario: impl Fn() -> Description) {
        self.scenarios += 1;
        self.executions += checked.executions;
        self.traces += checked.traces;
        self.histories += checked.histories;
        self.observations += checked.observations;
        self.solo_runs += checked.solo_runs;
        let short = checked
            .short
            .map(|why| format!("{why}: {}", scenario().one_line()));
        self.short.extend(short);
        self.failure = checked.failure;
    }

    /// Writes the report of recorded executions where the environment wants it, and fails if the object did.
    fn settle(self) {
        if let Some(directory) = std::env::var_os("INTERMEZZO_REPORTS")
            && let Some(report) = self.failure.as_ref().and_then(|failure| failure.report.as_ref())
        {
            report.write_into(Path::new(&directory));
        }
        assert!(self.verdict().is_pass(), "{self}");
    }

    /// `Fail` if the object did what it may not; `Inconclusive` if no scenario was compared in full.
    pub fn verdict(&self) -> Verdict {
        match &self.failure {
            Some(_) => Verdict::Fail,
            None if self.scenarios == self.short.len() as u64 => Verdict::Inconclusive,
            None => Verdict::Pass,
        }
    }
}

impl fmt::Display for RefinementReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(failure) = &self.failure {
            write!(f, "{failure}")?;
            if let Some(pin) = &self.pin {
                writeln!(f, "\nto try this scenario first:\n{pin}")?;
            }
        }
        write!(
            f,
            "{} scenarios, {} executions, {} traces, {} histories",
            self.scenarios, self.executions, self.traces, self.histories
        )?;
        if self.solo_runs > 0 {
            write!(f, ", {} solo runs", self.solo_runs)?;
        }
        writeln!(f)?;
        for short in &self.short {
            writeln!(f, "not in full: {short}")?;
        }
        Ok(())
    }
}
