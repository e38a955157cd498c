//! The check of one scenario: its operations one at a time, and then the comparison of all concurrent executions with
//! that.

use crate::checked::Checked;
use crate::failure::{Failure, Why, Words};
use crate::judge::{Against, HistoryMonitor, Judge, Refused, in_words};
use crate::locks::held;
use crate::model::Model;
use crate::observations::{ObservationSet, Observations, ObservedScenario};
use crate::operation::Operation;
use crate::progress;
use crate::run::body::Body;
use crate::run::record::{Record, Texts};
use crate::scenario::{Description, Scenario};
use crate::serial::oracle::Oracle;
use crate::settings::{Granularity, Settings};
use crate::show::{self, Show};
use intermezzo_explorer::{Coverage, Environment, Explorer, Limit, Reduction, Report, Schedule};
use intermezzo_sdk as sdk;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use sdk::{Context, Execution, FindingKind, Interests, Monitor};
use std::sync::{Arc, Mutex};
use std::thread;

/// Orders that are run before any comparison, of a scenario that has too many to run all.
const PROBES: u64 = 200;

/// The subject of a test: an object, its operations, and the settings.
pub(crate) struct Subject<T> {
    pub(crate) make: Box<dyn Fn() -> T + Send + Sync>,
    pub(crate) operations: Vec<Operation<T>>,
    pub(crate) names: Arc<Vec<String>>,
    pub(crate) settings: Settings,
    /// The model with which it is compared, if any; and `true` if any of its operations may wait.
    pub(crate) model: Option<(Arc<dyn Model>, bool)>,
    /// The earlier observations, if it is compared with those.
    pub(crate) observed: Option<ObservationSet>,
    /// The way in which it is shown, if it is.
    pub(crate) show: Option<Show<T>>,
}

/// The purpose of checking a scenario.
#[derive(Clone, Copy)]
enum How<'a> {
    /// Finding out if there is a failure: its schedule is as it was found, without its steps.
    Search,
    /// The failure, with a schedule that was made small, and its steps.
    Tell,
    /// The execution of this schedule.
    Replay(&'a Schedule),
}

impl How<'_> {
    /// Configures the explorer for this.
    fn configure(self, explorer: Explorer) -> Explorer {
        match self {
            How::Search => explorer.minimise(0),
            How::Tell => explorer,
            How::Replay(schedule) => explorer.minimise(0).replay(schedule.clone()),
        }
    }

    /// `true` if an exploration of this program is wanted.
    fn wants(self, program: &str) -> bool {
        match self {
            How::Replay(schedule) => schedule.program == program,
            How::Search | How::Tell => true,
        }
    }
}

/// The purpose of a scenario's executions: part of the name of a schedule's program.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The operations one at a time.
    Observations,
    /// Their progress.
    Progress,
    /// All tasks at once.
    All,
    /// The same, where each task performs any number of its operations.
    Beginnings,
}

impl Phase {
    const EACH: [Phase; 4] = [
        Phase::Observations,
        Phase::Progress,
        Phase::All,
        Phase::Beginnings,
    ];

    fn name(self) -> &'static str {
        match self {
            Phase::Observations => "observations",
            Phase::Progress => "progress",
            Phase::All => "refinement",
            Phase::Beginnings => "refinement-of-beginnings",
        }
    }

    /// Returns the program's name: of this scenario, and no other.
    pub(crate) fn program(self, scenario: &Description) -> String {
        format!(
            "{}-{:08x}",
            self.name(),
            crc32fast::hash(scenario.one_line().as_bytes())
        )
    }
}

/// `true` if the program of this name, as a schedule has it, is some scenario of a test of an object. That test
/// replays its schedule; the name does not say which test it is.
pub fn is_of_scenario(program: &str) -> bool {
    program.rsplit_once('-').is_some_and(|(name, number)| {
        let is_hash = number.len() == 8 && number.bytes().all(|digit| digit.is_ascii_hexdigit());
        is_hash && Phase::EACH.iter().any(|phase| phase.name() == name)
    })
}

impl<T> Subject<T> {
    /// Refuses operations that may take effect late, where there is no model.
    ///
    /// # Panics
    /// If there is one.
    pub(crate) fn refuse_late(&self) {
        if let Some(late) = self.operations.iter().find(|operation| operation.late) {
            let name = &late.name;
            panic!(
                "`{name}` may take effect late, which only a model can judge: give one with `spec`, or leave out `late`"
            );
        }
    }
}

impl<T: Sync + 'static> Subject<T> {
    /// Checks a scenario. The schedule of a failure is as it was found: see [`Subject::told`].
    pub(crate) fn check(&self, scenario: &Scenario) -> Checked {
        self.check_for(scenario, How::Search)
    }

    /// Returns the scenario's failure with a schedule that was made small, and its steps.
    pub(crate) fn told(&self, scenario: &Scenario) -> Option<Failure> {
        self.check_for(scenario, How::Tell).failure
    }

    /// `true` if a schedule is of this scenario.
    pub(crate) fn is_of(&self, schedule: &Schedule, scenario: &Scenario) -> bool {
        let description = scenario.describe(&self.names);
        let mut known = Phase::EACH.iter().map(|phase| phase.program(&description));
        known.any(|program| program == schedule.program)
    }

    /// Runs one execution of a scenario.
    ///
    /// # Panics
    /// If the schedule is of another scenario.
    pub(crate) fn replay(&self, scenario: &Scenario, schedule: &Schedule) -> Checked {
        assert!(
            self.is_of(schedule, scenario),
            "replay: the schedule is of another scenario (`{}`) than the one that is pinned: pin that which was reported \
             with the schedule",
            schedule.program
        );
        self.check_for(scenario, How::Replay(schedule))
    }

    fn check_for(&self, scenario: &Scenario, how: How<'_>) -> Checked {
        let texts = Arc::new(Texts::default());
        let description = scenario.describe(&self.names);
        let calls: Vec<String> = description.calls().map(str::to_owned).collect();
        let task = Task {
            body: Body {
                make: &*self.make,
                operations: &self.operations,
                scenario,
                texts: &texts,
                told: self.records(how).then_some(&*calls),
            },
            calls: calls.clone(),
            description,
            texts: &texts,
            how,
        };
        let mut checked = self.check_task(&task);
        if let (How::Tell | How::Replay(_), Some(failure)) = (how, &mut checked.failure) {
            self.tell(&task, failure);
        }
        checked
    }

    /// `true` if executions of failures are recorded.
    fn records(&self, how: How<'_>) -> bool {
        self.settings.record && !matches!(how, How::Search)
    }

    fn check_task(&self, task: &Task<'_, T>) -> Checked {
        let mut checked = Checked::default();
        // First: an operation that loops for ever would make every history of it a long one.
        if let Some(demanded) = self.settings.progress
            && task.how.wants(&task.program(Phase::Progress))
        {
            let replay = match task.how {
                How::Replay(schedule) => Some(schedule),
                How::Search | How::Tell => None,
            };
            let program = task.program(Phase::Progress);
            let names = &self.names;
            progress::check(
                demanded,
                &task.body,
                names,
                &self.settings,
                (&program, replay),
                &mut checked,
            );
            if checked.failure.is_some() || replay.is_some() {
                return checked;
            }
        }
        let on_demand = self.model.is_none()
            && self.observed.is_none()
            && self.settings.granularity == Granularity::Serial
            && task.body.scenario.orders() > self.settings.orders;
        match &self.model {
            Some((model, some_wait)) => {
                let judge = self.judge(task, Against::Model(Arc::clone(model)));
                self.explore(task, &judge, *some_wait, &mut checked);
            }
            None if on_demand => self.check_on_demand(task, &mut checked),
            None => {
                if let Some(observations) = self.expected(task, &mut checked) {
                    checked.observations = observations.len();
                    let some_wait = observations.some_wait;
                    let judge = self.judge(task, Against::Itself(observations));
                    self.explore(task, &judge, some_wait, &mut checked);
                }
            }
        }
        checked
    }

    fn judge(&self, task: &Task<'_, T>, against: Against) -> Arc<Judge> {
        let steps = task.body.scenario.steps();
        Arc::new(Judge {
            scenario: task.body.scenario.clone(),
            calls: task.calls.clone(),
            texts: Arc::clone(task.texts),
            against,
            same: self.settings.same,
            late: steps.map(|step| self.operations[step.operation].late).collect(),
            histories: Mutex::default(),
            refused: Mutex::default(),
            undecided: Mutex::default(),
        })
    }

    /// Explores executions with all tasks at once, and has their histories judged.
    fn explore(&self, task: &Task<'_, T>, judge: &Arc<Judge>, some_wait: bool, checked: &mut Checked) {
        let phase = if some_wait { Phase::Beginnings } else { Phase::All };
        let program = task.program(phase);
        if !task.how.wants(&program) {
            return;
        }
        let explorer = Explorer::new()
            .program(program)
            .reduction(Reduction::Dpor)
            .executions(self.settings.executions);
        let listening = Arc::clone(judge);
        let explorer = task
            .how
            .configure(self.settings.configure(explorer))
            // Tests of objects are not divided: each process explores them whole.
            .set("partition", "none")
            .set("deadlocks_allowed", true)
            .record(self.records(task.how))
            .monitor_with(move || HistoryMonitor::new(Arc::clone(&listening)));
        let report = explorer.explore(|| task.body.concurrent(some_wait, false));
        checked.executions += report.executions();
        checked.traces += report.traces().unwrap_or(0);
        checked.histories = *held(&judge.histories);
        let (undecided, why) = &*held(&judge.undecided);
        let undecided = (*undecided > 0).then(|| format!("{undecided} histories are not decided, for {why}"));
        checked.short = checked.short.take().or(not_whole(&report)).or(undecided);
        checked.limits = report.limits().to_vec();
        checked.monitors = report.monitors().to_vec();
        checked.by_happens_before = report.environment().has_memory_model();
        // A warning does not change the verdict, here as well.
        let error = report.findings().iter().find(|finding| finding.is_error());
        checked.failure = error.map(|finding| {
            let refused = held(&judge.refused).get(&finding.message).cloned();
            let why = match (&refused, &task.how) {
                (None, _) | (_, How::Search) => Why::default(),
                (Some(refused), How::Tell | How::Replay(_)) => judge.why(&refused.history),
            };
            let mut failure = Failure::new(finding, task.description.clone(), why);
            if let Some(Refused { history, lines }) = refused {
                failure.lines = lines;
                let order = history.happens_before.as_ref();
                let pairs = order.map(|order| order.across_tasks(&judge.scenario));
                failure.happens_before =
                    pairs.map(|pairs| pairs.into_iter().map(|(a, b)| (a.0, b.0)).collect());
            }
            failure
        });
        if let Some(failure) = checked.failure.as_mut().filter(|_| self.records(task.how)) {
            failure.report = Some(report);
        }
    }

    /// Compares with the object itself, in the orders that histories ask for.
    fn check_on_demand(&self, task: &Task<'_, T>, checked: &mut Checked) {
        let (mut oracle, runs) = Oracle::new(self.settings.serial_executions());
        let program = task.program(Phase::Observations);
        let scenario = task.body.scenario;
        thread::scope(|scope| {
            let served = scope.spawn(|| runs.serve(&program, scenario, || task.body.serial()));
            // It must be known first if anything waits, as far as that is possible; and these may show that it is not
            // determined.
            let mut random = Xoshiro256PlusPlus::seed_from_u64(self.settings.seed);
            let probed = (0..PROBES).try_for_each(|_| oracle.run(&scenario.random_order(&mut random)));
            let mut some_wait = oracle.some_wait;
            let judge = self.judge(task, Against::OnDemand(Mutex::new(Some(oracle))));
            let Against::OnDemand(oracle) = &judge.against else {
                unreachable!("it was made of it")
            };
            while probed.is_ok() {
                self.explore(task, &judge, some_wait, checked);
                let seen = held(oracle).as_ref().is_some_and(|oracle| oracle.some_wait);
                if checked.failure.is_some() || some_wait || !seen {
                    break;
                }
                some_wait = true;
            }
            let oracle = held(oracle).take();
            checked.orders = oracle.as_ref().map_or(0, |oracle| oracle.orders);
            drop(oracle);
            let report = served
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            checked.executions += report.executions();
            // A failure one at a time comes before any other.
            if let Some(finding) = report.findings().first() {
                checked.failure = Some(Failure::new(finding, task.description.clone(), Why::default()));
            }
        });
    }

    /// Returns the object's behaviour one operation at a time, to be kept.
    ///
    /// # Errors
    /// If it could not be observed, with the result of the attempt.
    pub(crate) fn observe_apart(&self, scenario: &Scenario) -> Result<ObservedScenario, Box<Checked>> {
        let texts = Arc::new(Texts::default());
        let description = scenario.describe(&self.names);
        let task = Task {
            body: Body {
                make: &*self.make,
                operations: &self.operations,
                scenario,
                texts: &texts,
                told: None,
            },
            calls: description.calls().map(str::to_owned).collect(),
            description,
            texts: &texts,
            how: How::Search,
        };
        let mut checked = Checked::default();
        match self.observe(&task, &mut checked) {
            Some(observations) => Ok(ObservedScenario::of(task.description, &observations, &texts)),
            None => Err(Box::new(checked)),
        }
    }

    /// Returns the standard of the comparison without a model: known observations, or new ones.
    fn expected(&self, task: &Task<'_, T>, checked: &mut Checked) -> Option<Observations> {
        let Some(known) = &self.observed else {
            return self.observe(task, checked);
        };
        let found = known.find(&task.description);
        if found.is_none() {
            checked.short = Some("there are no observations of this scenario".into());
        }
        found.map(|found| found.observations(task.texts))
    }

    /// Observes the object's behaviour one operation at a time. `None` if that failed: then the failure is in
    /// `checked`.
    fn observe(&self, task: &Task<'_, T>, checked: &mut Checked) -> Option<Observations> {
        let watched = Arc::new(Mutex::new(Observations::new(task.body.scenario.len())));
        let serial = self.settings.granularity == Granularity::Serial;
        let program = task.program(Phase::Observations);
        let explorer = Explorer::new()
            .environment(Environment::calm())
            .executions(self.settings.serial_executions())
            .monitors("none")
            .minimise(0);
        let explorer = match task.how {
            How::Replay(schedule) if schedule.program == program => explorer.replay(schedule.clone()),
            _ => explorer,
        };
        let explorer =
            explorer
                .program(&program)
                .set("deadlocks_allowed", true)
                .monitor(ObservationMonitor {
                    observations: Arc::clone(&watched),
                    serial,
                    calls: task.calls.clone(),
                });
        let report = explorer.explore(|| self.one_at_a_time(&task.body));
        checked.executions += report.executions();
        let observations = std::mem::take(&mut *held(&watched));
        if let Some(finding) = report.findings().first() {
            checked.failure = Some(Failure::new(finding, task.description.clone(), Why::default()));
            return None;
        }
        // No preemption of an operation was the intention.
        let coarse = self.settings.granularity == Granularity::Coarse;
        let whole = coarse && report.executions() < self.settings.serial_executions();
        if let Some(why) = not_whole(&report).filter(|_| !whole) {
            checked.short = Some(format!(
                "what operations do one at a time was not all observed: {why}"
            ));
            // A behaviour that was not observed would count as wrong.
            return None;
        }
        Some(observations)
    }

    /// Runs an execution that is observed.
    fn one_at_a_time(&self, body: &Body<'_, T>) {
        match self.settings.granularity {
            Granularity::Serial => body.serial(),
            Granularity::Coarse => body.concurrent(false, true),
            Granularity::All => body.concurrent(false, false),
        }
    }

    /// Adds a failure's steps: its execution is run once more.
    fn tell(&self, task: &Task<'_, T>, failure: &mut Failure) {
        let program = &failure.schedule.program;
        let phase = Phase::EACH
            .into_iter()
            .find(|&phase| task.program(phase) == *program);
        let story = show::tell(
            &task.body,
            self.show.as_ref(),
            &failure.schedule,
            |body| match phase {
                Some(Phase::Observations) => self.one_at_a_time(body),
                Some(Phase::Beginnings) => body.concurrent(true, false),
                _ => body.concurrent(false, false),
            },
        );
        let words = Words {
            scenario: task.body.scenario,
            calls: &task.calls,
            texts: task.texts,
            pending: "waits",
        };
        failure.tell(words, &story);
    }
}

/// A scenario that is checked.
struct Task<'a, T> {
    body: Body<'a, T>,
    description: Description,
    /// Each operation as text, by place.
    calls: Vec<String>,
    texts: &'a Arc<Texts>,
    how: How<'a>,
}

impl<T> Task<'_, T> {
    fn program(&self, phase: Phase) -> String {
        phase.program(&self.description)
    }
}

/// Returns the reason why not every execution was run, if so.
fn not_whole(report: &Report) -> Option<String> {
    // Executions that fair scheduling leaves out of an endless search are no reason to doubt the rest.
    let is_fairness = |reason: &String| {
        let mut limits = report.limits().iter();
        limits.any(|limit| matches!(limit, Limit::Fairness { .. }) && limit.to_string() == *reason)
    };
    match report.coverage() {
        Coverage::Exhaustive | Coverage::Replayed { .. } => None,
        _ if !report.findings().is_empty() => None,
        Coverage::Bounded {
            preemptions: None,
            reason: Some(reason),
            ..
        } if is_fairness(reason) => None,
        Coverage::Bounded {
            reason: Some(reason), ..
        } => Some(reason.clone()),
        Coverage::Bounded {
            preemptions: Some(most),
            ..
        } => Some(format!("every execution with at most {most} preemptions")),
        Coverage::Bounded { .. } => Some("a bound of the search".into()),
        Coverage::Sampled { executions } => Some(format!("{executions} executions drawn")),
    }
}

/// A monitor that keeps the observations of each execution at its end.
struct ObservationMonitor {
    observations: Arc<Mutex<Observations>>,
    serial: bool,
    /// Each operation as text, by place.
    calls: Vec<String>,
}

impl Monitor for ObservationMonitor {
    fn name(&self) -> &str {
        "refinement"
    }
    fn interests(&self) -> Interests {
        Interests::NONE
    }
    fn reduction_compatible(&self) -> bool {
        false
    }
    fn on_execution_end(&mut self, execution: &Execution<'_>, cx: &mut Context<'_>) {
        let stuck = !execution.complete && cx.enabled().is_empty();
        let Some(marks) = Record::with(|record| (!record.panicked).then(|| record.marks.clone())) else {
            return;
        };
        if !execution.complete && !stuck {
            return;
        }
        let mut observations = held(&self.observations);
        if !self.serial {
            observations.add(&marks);
        } else if let Err(undetermined) = observations.add_serial(&marks) {
            let words = in_words(&undetermined, &self.calls);
            cx.report(sdk::MonitorFinding::new(FindingKind::NondeterministicSpec, words));
        }
    }
}
