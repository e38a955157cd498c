//! The exploration: set up, run, reported.

mod notes;
mod results;

use crate::environment::Environment;
use crate::judge;
use crate::report::{Coverage, Report};
use crate::runtime::{Limits, Listeners, Scoping, Worker, crash, panics};
use crate::schedule::{Schedule, ScheduleError};
use crate::scope::Scope;
use crate::search::{self, PrioritySpec, Replay, configured};
use crate::settings::{Reduction, SettingError, Settings, StrategyKind};
use crate::trace::Fingerprints;
use intermezzo_sdk::Monitor;
use notes::{NO_WAKEUP_TREES, PARKED, UNFAIR_LEFT_OUT, UNSEEN_CHANGE, assumed_note};
use results::write_report;
use std::fmt;
use std::num::NonZero;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Executions between two looks at the clock, where executions are short.
const EXECUTIONS_PER_LOOK: u64 = 64;

/// Steps between two looks at the clock, where executions are long.
const STEPS_PER_LOOK: u64 = 4096;

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

    /// Depth first in order of delays, up to the bound of [`Explorer::delays`] if there is one.
    pub fn delays() -> Strategy {
        Strategy(Chosen::Kind(StrategyKind::Delays))
    }

    /// Best-first, in the order of [`Explorer::priority`].
    ///
    /// For priority functions of your own: `Strategy::custom(BestFirst::new(Priorities::by(mine), None, 1_000_000))`.
    pub fn best_first() -> Strategy {
        Strategy(Chosen::Kind(StrategyKind::BestFirst))
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
}

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

    /// Explores all executions with no delay, then all with one, and so on up to this many: each task skipped in
    /// round-robin order is one delay. Default: no bound.
    pub fn delays(mut self, most: u32) -> Explorer {
        self.settings.delays = Some(most);
        self
    }

    /// Varies only this many choices of an execution, from the first. Default: all.
    pub fn depth(mut self, choices: u32) -> Explorer {
        self.settings.depth = Some(choices);
        self
    }

    /// Varies this many choices of an execution, then twice as many, and so on: up to the bound of
    /// [`Explorer::depth`] if there is one. Default: one round.
    pub fn depth_step(mut self, choices: NonZero<u32>) -> Explorer {
        self.settings.depth_step = Some(choices);
        self
    }

    /// Preempts tasks only there: before operations in a source file or on a variable of the scope.
    /// Default: everywhere.
    pub fn preempt_in(mut self, scope: Scope) -> Explorer {
        self.settings.preempt_in = scope;
        self
    }

    /// Does not preempt tasks there, even where [`Explorer::preempt_in`] allows it. Default: everywhere.
    pub fn preempt_not_in(mut self, scope: Scope) -> Explorer {
        self.settings.preempt_not_in = scope;
        self
    }

    /// Leaves out schedule points at atomics whose accesses other synchronisation orders, which is verified as the search
    /// goes (Bruening & Chapin's reduction). Default: off.
    pub fn quiet_atomics(mut self, quiet: bool) -> Explorer {
        self.settings.quiet_atomics = quiet;
        self
    }

    /// What a best-first search runs next. Default: fewest preemptions, then the rarest operation.
    pub fn priority(mut self, priority: PrioritySpec) -> Explorer {
        self.settings.priority = Some(priority);
        self
    }

    /// Most unexplored prefixes that a best-first search keeps; it drops others, and says so. Default: 1,000,000.
    pub fn prefixes(mut self, most: usize) -> Explorer {
        self.settings.prefixes = most;
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

    /// Which yields of a task count for fairness: every so manieth; 0 is taken for 1. Default: 1.
    pub fn fair_yields(mut self, every: u32) -> Explorer {
        self.settings.fair_yields = every.max(1);
        self
    }

    /// Whether a task whose loop only waits is disabled until what it waits for changes. Default: it is. Memory
    /// outside variables and the task's own stack is not compared: switch it off for a loop that ends
    /// because of a count in the heap.
    pub fn awaits(mut self, on: bool) -> Explorer {
        self.settings.awaits = on;
        self
    }

    /// Whether a loop that was once *seen* to only wait (a round of it came back to where it began, with nothing written)
    /// is *assumed* to from its first round on, wherever a task does the same operations at the same places. Its failed
    /// rounds then count as not having happened: there are fewer traces, and fewer executions. Default: off.
    ///
    /// A loop is seen to wait in an execution, and the search then starts anew with that known; executions until then are
    /// mentioned in a note, and counted nowhere else.
    ///
    /// What may be missed: what depends on how often such a loop went round *before* its state repeats (a back-off that
    /// grows up to a limit, a count that no variable holds); and, if a loop's rounds differ and one ends like another,
    /// changes of what only the longer one reads.
    pub fn assume_awaits(mut self, on: bool) -> Explorer {
        self.settings.assume_awaits = on;
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

    /// Runs just the execution of this schedule, in the environment, with the limit of steps and the treatment
    /// of loops that wait in which it was found.
    pub fn replay(mut self, schedule: Schedule) -> Explorer {
        self.settings.steps = schedule.steps;
        self.settings.environment = schedule.environment;
        self.settings.fair_yields = schedule.fair_yields;
        self.settings.awaits = schedule.awaits;
        self.settings.assume_awaits = !schedule.known_loops.is_empty();
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
        match &self.custom {
            None => self.settings.check(),
            Some(_) => self.settings.check_custom(),
        }
        .map_err(ExploreError::Setting)?;
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
        let known_loops = match &replay {
            Some(schedule) => Some(schedule.known_loops.clone()).filter(|known| !known.is_empty()),
            None => settings.assume_awaits.then(Vec::new),
        };
        let strategy: Box<dyn search::Strategy> = match (replay, custom) {
            (Some(schedule), _) => Box::new(Replay::new(schedule.choices)),
            (None, Some(custom)) => custom,
            (None, None) => configured::strategy(&settings),
        };
        let heeds_scope = strategy.heeds_scope();
        let mut traces: Fingerprints<()> = Fingerprints::new(configured::table_bytes(&settings));
        let mut report = Report::new(
            program.clone(),
            settings.environment,
            strategy.name(),
            settings.seed,
        );
        let limits = Limits {
            steps: settings.steps,
            stack_bytes: settings.stack_bytes,
            fair_yields: settings.fair_yields,
            awaits: settings.awaits,
        };
        let all_compatible = monitors.iter().all(|monitor| monitor.reduction_compatible());
        let listeners = Listeners::new(monitors);
        let mut worker = Worker::new(strategy, settings.environment, limits, known_loops, listeners);
        if heeds_scope {
            worker.scope(settings.preempt_in.clone(), settings.preempt_not_in.clone());
        }
        let quiet = settings.quiet_atomics && !replaying;
        if quiet && all_compatible {
            let settings = settings.clone();
            worker.quiet_atomics(move || configured::strategy(&settings));
        } else if quiet {
            report.note("quiet atomics: off, for a monitor tells apart what they would take together");
        }
        let mut scoping = Scoping::default();
        let _panics = panics::Guard::new();
        let _signals = crash::Guard::new();

        let schedule = |choices, known_loops| Schedule {
            program: program.clone(),
            environment: settings.environment,
            steps: settings.steps,
            fair_yields: settings.fair_yields,
            awaits: settings.awaits,
            known_loops,
            choices,
        };
        let began = Instant::now();
        let mut looked_at = (0, 0);
        let mut complete = 0;
        let mut failed_iterations = 0u64;
        let (mut learned, mut times_anew, mut given_up) = (false, 0, 0);
        let mut gave_way = false;
        let mut restarts = settings.reduction == Reduction::Dpor && !unreduced;
        let ended = loop {
            if settings
                .executions
                .is_some_and(|most| given_up + report.executions >= most)
            {
                break Some(format!(
                    "the limit of {} executions was reached",
                    given_up + report.executions
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
                    });
                }
                if settings.time.is_some_and(|most| elapsed >= most) {
                    break Some(format!(
                        "the limit of {} seconds was reached",
                        settings.time.unwrap_or_default().as_secs_f64()
                    ));
                }
            }
            if learned {
                times_anew += 1;
                given_up += report.executions;
                report.forget_counts();
                traces = Fingerprints::new(configured::table_bytes(&settings));
                looked_at = (0, 0);
                (complete, failed_iterations) = (0, 0);
                if restarts {
                    (restarts, gave_way) = (false, true);
                    report.note(NO_WAKEUP_TREES);
                }
                worker.restart(if gave_way {
                    Box::new(search::Dpor::new(search::Insertion::First))
                } else {
                    configured::strategy(&settings)
                });
            }
            let Some(executed) = worker.execute(&|| test()) else {
                break None;
            };
            learned = executed.learned && !replaying;
            report.executions += 1;
            report.steps += executed.steps;
            report.max_steps = report.max_steps.max(executed.steps);
            report.max_tasks = report.max_tasks.max(executed.tasks);
            report.context_switches += executed.switches;
            scoping.join(executed.scoping);
            if executed.unfair_left_out {
                report.note(UNFAIR_LEFT_OUT);
            }
            if executed.parked > 0 {
                report.note(PARKED);
                if restarts {
                    // What is parked depends on more than the trace, which wakeup trees rely on.
                    (restarts, gave_way) = (false, true);
                    report.note(NO_WAKEUP_TREES);
                    worker.restart(Box::new(search::Dpor::new(search::Insertion::First)));
                }
            }
            if executed.unseen_change {
                report.note(UNSEEN_CHANGE);
            }
            failed_iterations += u64::from(executed.failed_iterations > 0);
            let Some(trouble) = executed.trouble else {
                traces.visit(executed.fingerprint, || (), |()| ());
                complete += 1;
                continue;
            };
            complete += u64::from(judge::complete(&trouble.stop));
            let (diverged, damaged) = (judge::diverged(&trouble.stop), trouble.damaged);
            let found = judge::findings(*trouble, schedule);
            let failed = !found.is_empty();
            report.take_findings(found);
            if damaged {
                report.note("the exploration ended with a crash: the process may be damaged");
                break Some("a crash ended the search".into());
            }
            if diverged && !replaying {
                break Some("the test did not do the same thing twice under the same schedule".into());
            }
            if failed && !settings.keep_going {
                break Some("stopped at the first finding".into());
            }
        };
        if failed_iterations > 0 {
            report.note(&format!(
                "awaits: in {failed_iterations} executions a loop came round in vain while what it read was written: each \
                 shows what a shorter one shows"
            ));
        }
        if worker.known_loops() > 0 {
            report.note(&assumed_note(worker.known_loops(), times_anew, given_up));
        }
        let last_words = worker.shut_down();
        if !last_words.is_empty() {
            report.take_findings(judge::reported(
                last_words,
                &[],
                &schedule(Vec::new(), Vec::new()),
            ));
        }
        report.redundant = worker.redundant();
        report.blocked = worker.strategy().blocked();
        report.reduction = worker.strategy().reduction();
        if traces.overflowed() {
            report.note("traces were too many to be told apart in `cache_bytes`: they are not counted");
        } else {
            report.traces = Some(traces.count() as u64);
        }
        let notes = worker.strategy().notes().into_iter().chain(worker.scope_notes());
        for note in scoping.notes(&settings).into_iter().chain(notes) {
            report.note(&note);
        }
        let mut coverage = scoping.limit(worker.coverage(ended.is_none()));
        if let (Some(ended), Coverage::Bounded { reason, .. }) = (ended, &mut coverage) {
            *reason = Some(ended);
        }
        report.settle(coverage, complete, began.elapsed());
        report
    }
}
