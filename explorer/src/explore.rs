//! The exploration: set up, run, reported.

use crate::attempts::{self, After, Attempts};
use crate::environment::Environment;
use crate::estimate::Estimate;
use crate::judge;
use crate::minimise;
use crate::report::{Coverage, Finding, Report};
use crate::runtime::{Limits, Listeners, Worker, crash, panics};
use crate::schedule::{Schedule, ScheduleError};
use crate::search::{self, DepthFirst, IterativePreemptionBounding, RandomWalk, Replay};
use crate::settings::{Reduction, SettingError, Settings, StrategyKind};
use crate::trace::Fingerprints;
use intermezzo_sdk::{FindingKind, Monitor};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Executions between two looks at the clock, where executions are short.
const EXECUTIONS_PER_LOOK: u64 = 64;

/// Steps between two looks at the clock, where executions are long.
const STEPS_PER_LOOK: u64 = 4096;

/// Most different findings that a report lists; more are counted in a note.
const FINDINGS_MAX: usize = 100;

/// A search, by value: what [`Explorer::strategy`] takes.
pub struct Strategy(Chosen);

enum Chosen {
    Kind(StrategyKind),
    Custom(Box<dyn search::Strategy>),
}

impl Strategy {
    /// Depth first: every schedule; with a preemption bound, in order of preemptions.
    pub fn dfs() -> Strategy {
        Strategy(Chosen::Kind(StrategyKind::DepthFirst))
    }

    /// Random walk; takes the explorer's seed.
    pub fn random() -> Strategy {
        Strategy(Chosen::Kind(StrategyKind::Random))
    }

    /// A search of your own. Bounds of the explorer are its own business then.
    pub fn custom(strategy: impl search::Strategy + 'static) -> Strategy {
        Strategy(Chosen::Custom(Box::new(strategy)))
    }
}

/// Why an exploration was not begun.
#[derive(Debug)]
pub enum ExploreError {
    /// The schedule to replay is of another test.
    Schedule(ScheduleError),
    /// Settings do not go together.
    Setting(SettingError),
}

impl fmt::Display for ExploreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExploreError::Schedule(error) => error.fmt(f),
            ExploreError::Setting(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ExploreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ExploreError::Schedule(error) => Some(error),
            ExploreError::Setting(error) => Some(error),
        }
    }
}

/// How far an exploration is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Executions so far.
    pub executions: u64,
    /// Different findings so far.
    pub findings: usize,
    /// Time so far.
    pub elapsed: Duration,
    /// How far the search is, as far as can be told.
    pub estimate: Option<Estimate>,
}

/// What a report notes where fairness kept schedules out.
const UNFAIR_LEFT_OUT: &str = "fair scheduling: schedules are left out in which a task that yields again and again \
                               keeps others from running for ever";

/// What a report notes where the process may be damaged.
const AFTER_A_CRASH: &str = "the exploration ended with a crash: the process may be damaged";

/// What is called now and then while an exploration runs.
type OnProgress = Box<dyn FnMut(&Progress) + Send>;

/// Explores the executions of a test.
///
/// ```
/// use intermezzo_explorer::{Explorer, sync::atomic::{AtomicUsize, Ordering::SeqCst}, thread};
///
/// let report = Explorer::new().explore(|| {
///     let n = AtomicUsize::new(0);
///     thread::scope(|s| {
///         s.spawn(|| n.store(n.load(SeqCst) + 1, SeqCst));
///         s.spawn(|| n.store(n.load(SeqCst) + 1, SeqCst));
///     });
///     assert_eq!(n.load(SeqCst), 2);
/// });
/// assert!(report.verdict().is_fail(), "{report}");
/// assert_eq!(report.findings()[0].kind.as_str(), "assertion");
/// ```
#[must_use = "an explorer does nothing until `explore` is called"]
pub struct Explorer {
    settings: Settings,
    program: Option<String>,
    custom: Option<Box<dyn search::Strategy>>,
    replay: Option<Schedule>,
    monitors: Vec<Box<dyn Monitor>>,
    progress: Option<OnProgress>,
    reports: Option<PathBuf>,
}

impl Default for Explorer {
    fn default() -> Self {
        Explorer::new()
    }
}

impl Explorer {
    /// Depth first, without bounds or limits but 20,000 steps per execution, up to the first finding.
    pub fn new() -> Explorer {
        Explorer::with_settings(Settings::default())
    }

    /// With these settings.
    pub fn with_settings(settings: Settings) -> Explorer {
        Explorer {
            settings,
            program: None,
            custom: None,
            replay: None,
            monitors: Vec::new(),
            progress: None,
            reports: None,
        }
    }

    /// Takes over what environment variables set: `INTERMEZZO_` and a setting's name in capitals; the schedule
    /// to replay, as a token or a file, in `INTERMEZZO_REPLAY`; and in `INTERMEZZO_REPORTS` the directory that
    /// is to get a file with the report, in its JSON form.
    ///
    /// # Errors
    /// A value does not fit its setting, or is no schedule.
    pub fn with_variables(mut self) -> Result<Explorer, Box<dyn std::error::Error + Send + Sync>> {
        self.settings.override_from_environment()?;
        if let Some(directory) = std::env::var_os("INTERMEZZO_REPORTS") {
            self.reports = Some(directory.into());
        }
        match std::env::var("INTERMEZZO_REPLAY") {
            Ok(schedule) => match Schedule::parse(&schedule) {
                Ok(schedule) => Ok(self.replay(schedule)),
                Err(error) => Err(format!("INTERMEZZO_REPLAY: {error}").into()),
            },
            Err(_) => Ok(self),
        }
    }

    /// The test's name in reports and schedules. By default the path of the closure explored.
    pub fn program(mut self, name: impl Into<String>) -> Explorer {
        self.program = Some(name.into());
        self
    }

    /// Which search to run. Default: depth first.
    pub fn strategy(mut self, strategy: Strategy) -> Explorer {
        self.custom = None;
        match strategy.0 {
            Chosen::Kind(kind) => self.settings.strategy = kind,
            Chosen::Custom(custom) => self.custom = Some(custom),
        }
        self
    }

    /// How to leave out executions that show nothing new. Default: every schedule is run.
    pub fn reduction(mut self, reduction: Reduction) -> Explorer {
        self.settings.reduction = reduction;
        self
    }

    /// Explores all executions with no preemption, then all with one, and so on up to this many.
    /// Default: no bound.
    pub fn preemptions(mut self, most: u32) -> Explorer {
        self.settings.preemptions = Some(most);
        self
    }

    /// Stops after this many executions. Default: no limit.
    pub fn executions(mut self, most: u64) -> Explorer {
        self.settings.executions = Some(most);
        self
    }

    /// Stops after this much time; the execution that runs is finished first. Default: no limit.
    pub fn time(mut self, most: Duration) -> Explorer {
        self.settings.time = Some(most);
        self
    }

    /// Most visible operations in an execution; one that takes more is a finding. Default: 20,000.
    pub fn steps_per_execution(mut self, most: u64) -> Explorer {
        self.settings.steps = most;
        self
    }

    /// Runs the test so many times before the search, unjudged, for what it sets up once and keeps: a static of
    /// `std`'s `OnceLock`, say, whose first use does more than the later ones. What could go wrong in that first use is
    /// not seen then. Default: 0.
    pub fn warm_up(mut self, executions: u32) -> Explorer {
        self.settings.warm_up = executions;
        self
    }

    /// How often an execution is tried again that departed from what was prescribed, because the test does something
    /// that the schedule does not determine. If none of the retries is as it should be, that is a finding, and the
    /// search ends; with [`Explorer::keep_going`] it goes on without what would have begun like that execution,
    /// and the coverage says so. Default: 2.
    pub fn retries(mut self, most: u32) -> Explorer {
        self.settings.retries = most;
        self
    }

    /// How many more executions may be run, for all findings together, to find the smallest ones that show the same: with the
    /// fewest preemptions, then the fewest context switches, then the fewest steps. A note says what came of it.
    /// They count neither as executions of the search nor against its limits; long ones count as several. 0 leaves
    /// the execution as it was found. Default: 1,000.
    pub fn minimise(mut self, executions: u64) -> Explorer {
        self.settings.minimise = executions;
        self
    }

    /// Goes on after a finding. Default: stop at the first.
    pub fn keep_going(mut self, keep_going: bool) -> Explorer {
        self.settings.keep_going = keep_going;
        self
    }

    /// Seed of the search's own randomness. Default: 0.
    pub fn seed(mut self, seed: u64) -> Explorer {
        self.settings.seed = seed;
        self
    }

    /// Bytes of each task's stack, at least 32 KiB. Default: 256 KiB, of which untouched pages cost nothing.
    ///
    /// # Panics
    /// Fewer than 32 KiB, or more than 1 GiB.
    pub fn stack_bytes(mut self, bytes: usize) -> Explorer {
        self.settings
            .set("stack", &bytes.to_string())
            .unwrap_or_else(|error| panic!("{error}"));
        self
    }

    /// What the environment may do unasked.
    pub fn environment(mut self, environment: Environment) -> Explorer {
        self.settings.environment = environment;
        self
    }

    /// Attaches a monitor. Monitors are called in the order in which they were attached.
    pub fn monitor(mut self, monitor: impl Monitor + 'static) -> Explorer {
        self.monitors.push(Box::new(monitor));
        self
    }

    /// Calls this now and then while the exploration runs, on its thread.
    pub fn on_progress(mut self, call: impl FnMut(&Progress) + Send + 'static) -> Explorer {
        self.progress = Some(Box::new(call));
        self
    }

    /// Runs just the execution of this schedule, in the environment and with the limit of steps in which it
    /// was found.
    pub fn replay(mut self, schedule: Schedule) -> Explorer {
        self.settings.steps = schedule.steps;
        self.settings.environment = schedule.environment;
        self.replay = Some(schedule);
        self
    }

    /// Explores the test.
    ///
    /// The test is run once per execution, always from the same state: what it shares with other
    /// executions must not change. It runs on a thread of its own, with its tasks on small stacks.
    ///
    /// # Panics
    /// The schedule to replay is of another test, or settings do not go together: use [`Explorer::try_explore`]
    /// where that may be.
    pub fn explore<F: Fn() + Send + Sync>(self, test: F) -> Report {
        self.try_explore(test).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Explores the test, as [`Explorer::explore`] does.
    ///
    /// # Errors
    /// The schedule to replay is of another test, or settings do not go together.
    pub fn try_explore<F: Fn() + Send + Sync>(self, test: F) -> Result<Report, ExploreError> {
        let program = self
            .program
            .clone()
            .unwrap_or_else(|| std::any::type_name::<F>().replace("::{{closure}}", ""));
        if let Some(schedule) = &self.replay {
            schedule.for_program(&program).map_err(ExploreError::Schedule)?;
        }
        if self.custom.is_none() {
            self.settings.check().map_err(ExploreError::Setting)?;
        }
        let reports = self.reports.clone();
        // A thread of its own: the stack of a task that crashed stays marked on its thread, and the
        // caller's thread-locals are none of the test's business.
        let report = std::thread::scope(|scope| {
            let explorer = std::thread::Builder::new().name(program.clone());
            let run = explorer.spawn_scoped(scope, || self.run(program.clone(), &test));
            match run.expect("a thread for the exploration").join() {
                Ok(report) => report,
                // What the engine, a strategy or a monitor panicked with was not printed on its thread.
                Err(panic) => match panic.downcast::<String>() {
                    Ok(text) => panic!("the exploration itself panicked: {text}"),
                    Err(panic) => match panic.downcast::<&str>() {
                        Ok(text) => panic!("the exploration itself panicked: {text}"),
                        Err(panic) => std::panic::resume_unwind(panic),
                    },
                },
            }
        });
        if let Some(directory) = reports {
            write_report(&directory, &report);
        }
        Ok(report)
    }

    fn run(self, program: String, test: &(dyn Fn() + Sync)) -> Report {
        let Explorer {
            settings,
            custom,
            replay,
            monitors,
            mut progress,
            ..
        } = self;
        let replaying = replay.is_some();
        let unreduced = replaying || custom.is_some();
        let plain: Box<dyn search::Strategy> = match (replay, custom, settings.strategy, settings.preemptions)
        {
            (Some(schedule), ..) => Box::new(Replay::new(schedule.choices)),
            (None, Some(custom), ..) => custom,
            (None, None, StrategyKind::DepthFirst, None) => Box::new(DepthFirst::new()),
            (None, None, StrategyKind::DepthFirst, Some(most)) => {
                Box::new(IterativePreemptionBounding::new(most))
            }
            (None, None, StrategyKind::Random, most) => Box::new(RandomWalk::new(settings.seed, most)),
        };
        let bytes = settings.cache_bytes / 2;
        let traces: Fingerprints<()> = Fingerprints::new(bytes);
        let strategy: Box<dyn search::Strategy> = match settings.reduction {
            _ if unreduced => plain,
            Reduction::None => plain,
            Reduction::Caching => {
                let visits = Arc::new(Fingerprints::new(bytes));
                Box::new(search::Caching::new(
                    plain,
                    visits,
                    settings.preemptions.is_some(),
                ))
            }
            Reduction::SourceDpor => Box::new(search::Dpor::new(search::Insertion::First)),
            Reduction::Dpor => Box::new(search::Dpor::new(search::Insertion::Whole)),
            Reduction::Bpor => {
                let most = settings.preemptions.unwrap_or(u32::MAX);
                Box::new(search::Dpor::new(search::Insertion::Bounded(most)))
            }
        };
        let mut report = Report::new(
            program.clone(),
            settings.environment,
            strategy.name(),
            settings.seed,
        );
        let limits = Limits {
            steps: settings.steps,
            stack_bytes: settings.stack_bytes,
        };
        let mut worker = Worker::new(strategy, settings.environment, limits, Listeners::new(monitors));
        let _panics = panics::Guard::new();
        let _signals = crash::Guard::new();

        let schedule = |choices| Schedule {
            program: program.clone(),
            environment: settings.environment,
            steps: settings.steps,
            choices,
        };
        let began = Instant::now();
        let mut looked_at = (0, 0);
        let mut complete = 0;
        let mut attempts = Attempts::new(settings.retries);
        let mut crashed = attempts::warm_up(&mut worker, settings.warm_up, &|| test());
        let ended = loop {
            if let Some(trouble) = crashed.take().and_then(|crashed| crashed.trouble) {
                report.executions += 1;
                report.take_findings(judge::findings(*trouble, schedule));
                report.note(AFTER_A_CRASH);
                break Some("an execution before the search crashed".into());
            }
            if settings.executions.is_some_and(|most| report.executions >= most) {
                break Some(format!(
                    "the limit of {} executions was reached",
                    report.executions
                ));
            }
            let due = report.executions - looked_at.0 >= EXECUTIONS_PER_LOOK
                || report.steps - looked_at.1 >= STEPS_PER_LOOK;
            if due && (settings.time.is_some() || progress.is_some()) {
                looked_at = (report.executions, report.steps);
                let elapsed = began.elapsed();
                if let Some(call) = &mut progress {
                    call(&Progress {
                        executions: report.executions,
                        findings: report.findings.len(),
                        elapsed,
                        estimate: report.estimated(&worker, elapsed),
                    });
                }
                if settings.time.is_some_and(|most| elapsed >= most) {
                    break Some(format!(
                        "the limit of {} seconds was reached",
                        settings.time.unwrap_or_default().as_secs_f64()
                    ));
                }
            }
            let Some(executed) = attempts.execute(&mut worker, &|| test()) else {
                break None;
            };
            let after = attempts.after(executed.departed);
            report.executions += 1;
            report.steps += executed.steps;
            report.max_steps = report.max_steps.max(executed.steps);
            report.max_tasks = report.max_tasks.max(executed.tasks);
            report.context_switches += executed.switches;
            if executed.unfair_left_out {
                report.note(UNFAIR_LEFT_OUT);
            }
            let Some(trouble) = executed.trouble else {
                traces.visit(executed.fingerprint, || (), |()| ());
                complete += 1;
                continue;
            };
            complete += u64::from(judge::complete(&trouble.stop));
            let damaged = trouble.damaged;
            let mut found = judge::findings(*trouble, schedule);
            if after == After::Again {
                // The next attempt may be what it should be.
                found.retain(|finding| finding.kind != FindingKind::Divergence);
            }
            let failed = !found.is_empty();
            report.take_findings(found);
            if damaged {
                report.note(AFTER_A_CRASH);
                break Some("a crash ended the search".into());
            }
            if after == After::Lost && !replaying {
                let past = settings.keep_going && worker.strategy().goes_past_departures();
                if !past {
                    break Some("the test did not do the same thing twice under the same schedule".into());
                }
                worker.give_up();
            }
            if failed && !settings.keep_going {
                break Some("stopped at the first finding".into());
            }
        };
        report.estimate = ended
            .as_ref()
            .and_then(|_| report.estimated(&worker, began.elapsed()));
        if settings.warm_up > 0 {
            report.note(&format!(
                "the test was run {} {} before the search, not judged: what can go wrong only the first time was not seen",
                settings.warm_up,
                if settings.warm_up == 1 { "time" } else { "times" }
            ));
        }
        if let Some(note) = attempts.note() {
            report.note(&note);
        }
        if !replaying && !worker.is_damaged() {
            let in_order = worker.strategy().is_in_order() && attempts.none_departed();
            let minimiser = minimise::Minimiser::new(&mut worker, &settings, in_order);
            minimiser.settle(&mut report, &|| test(), &schedule);
        }
        let last_words = worker.shut_down();
        if !last_words.is_empty() {
            report.take_findings(judge::reported(last_words, &[], &schedule(Vec::new())));
        }
        report.redundant = worker.strategy().redundant();
        report.reduction = worker.strategy().reduction();
        if traces.overflowed() {
            report.note("traces were too many to be told apart in `cache_bytes`: they are not counted");
        } else {
            report.traces = Some(traces.count() as u64);
        }
        let mut coverage = worker.strategy().coverage(ended.is_none());
        if let (Some(ended), Coverage::Bounded { reason, .. }) = (ended, &mut coverage) {
            *reason = Some(ended);
        }
        let coverage = attempts.covered(coverage, report.reduction != "none");
        report.settle(coverage, complete, began.elapsed());
        report
    }
}

/// Writes a report into a directory, for the command line that asked for it, over no file that is there: tests
/// of different binaries may have the same name. A report that cannot be written is missing there, which the
/// reader of the directory notices; the test's own outcome stands.
fn write_report(directory: &Path, report: &Report) {
    use std::io::Write;
    let _ = std::fs::create_dir_all(directory);
    let plain = |c: char| if c.is_alphanumeric() || c == '_' { c } else { '-' };
    let name: String = report.program().chars().map(plain).collect();
    for number in 1..1000 {
        let file = if number == 1 {
            format!("{name}.json")
        } else {
            format!("{name}.{number}.json")
        };
        match std::fs::File::create_new(directory.join(file)) {
            Ok(mut file) => return drop(file.write_all(report.to_json().as_bytes())),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(_) => return,
        }
    }
}

impl Report {
    /// Adds what an execution showed; what is known already is counted.
    pub(crate) fn take_findings(&mut self, found: Vec<Finding>) {
        if !found.is_empty() {
            self.first_failure.get_or_insert(self.executions);
        }
        for finding in found {
            // How an execution departed is chance: the first says as much as all.
            let same = |known: &Finding| {
                known.kind == finding.kind
                    && (known.message == finding.message || known.kind == FindingKind::Divergence)
            };
            match self.findings.iter().position(same) {
                Some(known) => self.findings[known].count += 1,
                None if self.findings.len() < FINDINGS_MAX => self.findings.push(finding),
                None => {
                    self.note(&format!(
                        "more than {FINDINGS_MAX} different findings: the others are left out"
                    ));
                }
            }
        }
    }

    /// How far the worker's search is after all executions so far.
    fn estimated(&self, worker: &Worker, elapsed: Duration) -> Option<Estimate> {
        let share = worker.strategy().share(worker.plan().choices())?;
        Some(Estimate::new(share, self.executions, elapsed))
    }

    /// Adds a note, once.
    pub(crate) fn note(&mut self, note: &str) {
        if !self.notes.iter().any(|known| known == note) {
            self.notes.push(note.to_owned());
        }
    }
}
