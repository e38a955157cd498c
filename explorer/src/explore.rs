//! The explorer: what to explore and how, set up call by call.

mod iroots;
mod limits;
mod ranks;

use crate::driver::{Exploration, ExploreError, OnProgress, Progress};
use crate::files::checkpoint_in;
use crate::listening::Listening;
use crate::plugin::{self, ByName};
use crate::recording;
use crate::report::Report;
use crate::settings::{Reduction, SettingError, Settings, StrategyKind};
use intermezzo_breakpoint::Armings;
use intermezzo_engine::environment::Environment;
use intermezzo_engine::runtime::{Glance, Glancing};
use intermezzo_engine::schedule::{Schedule, TestBinary};
use intermezzo_engine::scope::Scope;
use intermezzo_engine::sites::Sites;
use intermezzo_sdk::{EventId, Monitor};
use intermezzo_search::{self as search, Interesting, PrioritySpec};
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

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

    /// Exhaustive search and samples, by turns: every trace with the strongest sound reduction, executions in order of
    /// preemptions, and executions drawn by several strategies. Ends when one of the exhaustive searches does. What
    /// `#[intermezzo::test]` runs.
    pub fn auto() -> Strategy {
        Strategy(Chosen::Kind(StrategyKind::Auto))
    }

    /// Random walk; takes the explorer's seed.
    pub fn random() -> Strategy {
        Strategy(Chosen::Kind(StrategyKind::Random))
    }

    /// Random priorities of tasks that change `depth - 1` times, for bugs of this depth: 1 is taken for less.
    pub fn pct(depth: u32) -> Strategy {
        Strategy(Chosen::Kind(StrategyKind::Pct(depth.max(1))))
    }

    /// All that priorities of tasks and `depth - 1` changes of them can do: 1 is taken for less.
    pub fn pct_all(depth: u32) -> Strategy {
        Strategy(Chosen::Kind(StrategyKind::PctAll(depth.max(1))))
    }

    /// Random priorities of tasks that change `depth - 1` times, only where so many variables are accessed, drawn anew each
    /// time: 1 is taken for less.
    pub fn pct_variables(depth: u32, variables: u32) -> Strategy {
        Strategy(Chosen::Kind(StrategyKind::PctVars {
            depth: depth.max(1),
            variables: variables.max(1),
        }))
    }

    /// Random priorities of operations, drawn anew for those that race with a step.
    pub fn pos() -> Strategy {
        Strategy(Chosen::Kind(StrategyKind::Pos))
    }

    /// Random priorities of places in the source: tasks that run the same code are treated alike.
    pub fn places() -> Strategy {
        Strategy(Chosen::Kind(StrategyKind::Places))
    }

    /// Random walks that are uniform over the orders of what is interesting.
    pub fn surw(interesting: Interesting) -> Strategy {
        Strategy(Chosen::Kind(StrategyKind::Surw(interesting)))
    }

    /// The search that the setting `strategy` has by this name: `Strategy::named("portfolio(pct(3),pos,surw)")`.
    ///
    /// # Errors
    /// There is none.
    pub fn named(name: &str) -> Result<Strategy, SettingError> {
        let mut settings = Settings::default();
        settings.set("strategy", name)?;
        Ok(Strategy(Chosen::Kind(settings.strategy)))
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

    /// In order of preemptions, of variables against which they count, and of tasks whose order matters: up to the bounds of
    /// [`Explorer::preemptions`], [`Explorer::variables`] and [`Explorer::threads`], as far as they are given.
    pub fn ranked() -> Strategy {
        Strategy(Chosen::Kind(StrategyKind::Ranked))
    }

    /// Exposes iRoots, one after the other: patterns of one or two dependencies between static places of two tasks. The
    /// search is over when each that it predicted has been exposed, or tried in vain as often as
    /// [`Explorer::iroot_attempts`] says.
    pub fn coverage() -> Strategy {
        Strategy(Chosen::Kind(StrategyKind::Coverage))
    }

    /// A search of your own. Bounds of the explorer are its own business then.
    pub fn custom(strategy: impl search::Strategy + 'static) -> Strategy {
        Strategy(Chosen::Custom(Box::new(strategy)))
    }
}

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
    binary: TestBinary,
    custom: Option<Box<dyn search::Strategy>>,
    replay: Option<Schedule>,
    monitors: Vec<Listening>,
    known: plugin::Known,
    progress: Option<OnProgress>,
    glancing: Option<Glancing>,
    reports: Option<PathBuf>,
    checkpoints: Option<PathBuf>,
    record: bool,
    should_panic: Option<String>,
}

impl Default for Explorer {
    fn default() -> Self {
        Explorer::new()
    }
}

impl Explorer {
    /// Depth first, without bounds, up to the first finding. Limits: 20,000 steps per execution, and two minutes unless
    /// [`executions`](Explorer::executions) or [`time`](Explorer::time) is set.
    pub fn new() -> Explorer {
        Explorer::with_settings(Settings::default())
    }

    /// With these settings.
    pub fn with_settings(settings: Settings) -> Explorer {
        Explorer {
            settings,
            program: None,
            binary: TestBinary::default(),
            custom: None,
            replay: None,
            monitors: Vec::new(),
            known: plugin::Known::brought(),
            progress: None,
            glancing: None,
            reports: None,
            checkpoints: None,
            record: false,
            should_panic: None,
        }
    }

    /// Takes over what environment variables set: `INTERMEZZO_` and a setting's name in capitals; the schedule
    /// to replay, as a token or a file, in `INTERMEZZO_REPLAY`; in `INTERMEZZO_REPORTS` the directory that
    /// is to get a file with the report, in its JSON form; in `INTERMEZZO_CHECKPOINTS` the directory where each
    /// test has a checkpoint of its own, if none is set for it; and whether to [`record`](Explorer::record), if
    /// `INTERMEZZO_RECORD` is there at all.
    ///
    /// # Errors
    /// A value does not fit its setting, or is no schedule.
    pub fn with_variables(mut self) -> Result<Explorer, Box<dyn std::error::Error + Send + Sync>> {
        self.settings.override_from_environment()?;
        if let Some(directory) = std::env::var_os("INTERMEZZO_REPORTS") {
            self.reports = Some(directory.into());
        }
        if let Some(directory) = std::env::var_os("INTERMEZZO_CHECKPOINTS") {
            self.checkpoints = Some(directory.into());
        }
        self.record |= std::env::var_os("INTERMEZZO_RECORD").is_some();
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

    /// The package and the target that the test is in: schedules carry them, since tests of one name may be in several.
    /// Default: unknown.
    pub fn binary(mut self, binary: TestBinary) -> Explorer {
        self.binary = binary;
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

    /// How to leave out executions that show nothing new. Default: with [`Strategy::auto`] the strongest sound reduction, with
    /// any other strategy none: every schedule is run.
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

    /// Makes accesses to plain memory at these places schedule points: to cells, and by `intermezzo::ptr`. Default: none is
    /// one, for two that may come in either order are a data race whatever comes of it.
    pub fn schedule_points_at(mut self, sites: Sites) -> Explorer {
        self.settings.schedule_points_at = sites;
        self
    }

    /// Makes the two accesses of each data race that a monitor reports schedule points, to explore what follows from their
    /// order. The search then begins again; a note says what was run before, which is counted nowhere else. A race is a
    /// finding, so this takes [`Explorer::keep_going`]; with several workers, a checkpoint or quiet atomics it is off, and a
    /// note says so where there are races. Default: on.
    pub fn preempt_at_races(mut self, on: bool) -> Explorer {
        self.settings.preempt_at_races = on;
        self
    }

    /// Arms breakpoints: `.breakpoints("lost-update".parse()?)`. A task that comes to one goes on when its partner has come,
    /// or nobody else can go on. Default: none is armed, whatever the environment arms outside explorations.
    pub fn breakpoints(mut self, armings: Armings) -> Explorer {
        self.settings.breakpoints = armings;
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

    /// Explores with so many workers, each on an OS thread of its own. The report says the same as with one, which is
    /// the default, but for how long it took; unless a limit of executions or time, a crash or a divergence ends the
    /// search, where it depends on the workers what was run until then. There is no estimate of what was left, and with the reduction `caching`, which executions are left out for others depends on who comes
    /// first. With the reductions `dpor`, `source-dpor` and `bpor` the traces and outcomes are the same, but which execution stands for
    /// a trace, and with `bpor` how many executions it takes, depends on the workers; the first finding ends the search, and what was run by then counts.
    ///
    /// What workers ran beyond the first finding, in the order of the search, counts for nothing, unless the search
    /// [keeps going](Explorer::keep_going). The test is run by several threads at once: what its executions share
    /// beside each other, against the rules, they now share at the same time.
    ///
    /// # Panics
    /// No worker, or more than 1024.
    pub fn jobs(mut self, jobs: usize) -> Explorer {
        self.settings
            .set("jobs", &jobs.to_string())
            .unwrap_or_else(|error| panic!("{error}"));
        self
    }

    /// Keeps the search in this file: written every 10 seconds, or as [`Explorer::checkpoint_every`] says, and at the end.
    /// If the file is there when the exploration begins, it goes on from there.
    ///
    /// Its report is that of an exploration that was never interrupted: time and executions add up. A limit of executions is
    /// that of the whole search, so that it takes a higher one to go on where it was reached; a limit of time is that of
    /// each process. A search that was over is not
    /// run again. The file must be of the same build of the program, and of the same settings but for limits, the
    /// number of workers, and the checkpoint's own.
    pub fn checkpoint(mut self, file: impl Into<PathBuf>) -> Explorer {
        self.settings.checkpoint = Some(file.into());
        self
    }

    /// Time between two checkpoints. It is longer where writing one takes more than a twentieth of it. Default: 10 seconds.
    pub fn checkpoint_every(mut self, time: Duration) -> Explorer {
        self.settings.checkpoint_every = time;
        self
    }

    /// Most visible operations in an execution; one that takes more is a finding. Default: 20,000.
    pub fn steps_per_execution(mut self, most: u64) -> Explorer {
        self.settings.steps = most;
        self
    }

    /// Seed of the search's own randomness. Default: 0.
    pub fn seed(mut self, seed: u64) -> Explorer {
        self.settings.seed = seed;
        self
    }

    /// Begins with the execution of this number, from 1, after those that have to be learned from: for strategies that
    /// draw executions at random. Each depends on the seed and its number, and on what the first ones showed. Default: with
    /// the first.
    pub fn first_execution(mut self, number: NonZero<u64>) -> Explorer {
        self.settings.first_execution = Some(number.get());
        self
    }

    /// What the environment may do by itself.
    pub fn environment(mut self, environment: Environment) -> Explorer {
        self.settings.environment = environment;
        self
    }

    /// Attaches a monitor. Monitors are called in the order in which they were attached.
    pub fn monitor(mut self, monitor: impl Monitor + 'static) -> Explorer {
        self.monitors.push(Listening::One(Box::new(monitor)));
        self
    }

    /// Attaches a monitor of which each worker gets one of its own: it must judge each execution by itself, for it hears
    /// of some only, and counts those from 1.
    pub fn monitor_with<M: Monitor + 'static>(
        mut self,
        make: impl Fn() -> M + Send + Sync + 'static,
    ) -> Explorer {
        self.monitors
            .push(Listening::Each(Arc::new(move || Box::new(make()))));
        self
    }

    /// The monitors that [`Settings::monitors`] may name, and what they are called; those of no such name are plugins, by
    /// name or path (see [`Plugin::find`](crate::Plugin::find)). Each worker gets monitors of its own, as with
    /// [`Explorer::monitor_with`]. Default: plugins only.
    pub fn monitors_by_name(
        mut self,
        by_name: ByName,
        names: impl IntoIterator<Item = &'static str>,
    ) -> Explorer {
        self.known.by_name = Some(by_name);
        self.known.names = names.into_iter().collect();
        self
    }

    /// Changes which monitors are on, as the setting `monitors` does: a list with `;` between, in which a name adds a
    /// monitor, `-NAME` takes one of the defaults away, and `none` takes all away. Default: those that were
    /// [brought](crate::bring_monitors), which are `data-race`, `leak` and `misuse` where the crate `intermezzo` is part of the program.
    ///
    /// # Panics
    /// It is no such list.
    pub fn monitors(mut self, list: &str) -> Explorer {
        self.settings
            .set("monitors", list)
            .unwrap_or_else(|error| panic!("{error}"));
        self
    }

    /// Calls this now and then while the exploration runs, on the thread of one of its workers.
    pub fn on_progress(mut self, call: impl FnMut(&Progress) + Send + 'static) -> Explorer {
        self.progress = Some(Box::new(call));
        self
    }

    /// Looks at the test's objects right after each visible operation, on the task that took it, and tells which event it
    /// was and what was seen. For replays, mostly: of several workers, the first one's executions are looked at.
    ///
    /// What `look` does is no part of the execution: operations on look-alikes happen at once, unrecorded, without
    /// schedule points and choices. It is only to look: what it changes is changed. What it would have to wait for,
    /// such as a lock that is held, ends it, and [`Glance::Locked`] is told.
    pub fn glance(
        mut self,
        look: impl FnMut() -> String + Send + 'static,
        tell: impl FnMut(EventId, Glance) + Send + 'static,
    ) -> Explorer {
        self.glancing = Some(Glancing {
            look: Box::new(look),
            tell: Box::new(tell),
        });
        self
    }

    /// Adds recordings to the report: of each finding its execution, event by event, and the nearest one found that passes
    /// (see [`Report::recordings`]). That takes more executions of the test when the search is over, up to some hundred for
    /// each finding, counted nowhere. Default: none.
    pub fn record(mut self, on: bool) -> Explorer {
        self.record = on;
        self
    }

    /// Runs just the execution of this schedule, in the environment, with the limit of steps and the treatment
    /// of loops that wait in which it was found. The monitors that it names are attached, and those of
    /// [`Settings::monitors`] that it does not name after them.
    pub fn replay(mut self, schedule: Schedule) -> Explorer {
        recording::settings_of_replay(&mut self.settings, &schedule);
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
    pub fn try_explore<F: Fn() + Send + Sync>(mut self, test: F) -> Result<Report, ExploreError> {
        let program = self
            .program
            .clone()
            .unwrap_or_else(|| std::any::type_name::<F>().replace("::{{closure}}", ""));
        if let Some(schedule) = &self.replay {
            schedule
                .for_test(&program, &self.binary)
                .map_err(ExploreError::Schedule)?;
        }
        self.settle_settings(&program);
        match &mut self.custom {
            None => self.settings.check(),
            Some(search) => self.settings.check_custom(&mut **search),
        }
        .map_err(ExploreError::Setting)?;
        let named = plugin::attach(
            &self.settings.monitors,
            &self.known,
            &self.monitors,
            self.settings.jobs,
        );
        self.monitors.extend(named.map_err(|problem| {
            ExploreError::Setting(SettingError {
                name: "monitors".into(),
                problem,
            })
        })?);
        let (reports, should_panic) = (self.reports.clone(), self.should_panic.clone());
        let body = call::<F> as *const () as usize;
        let apart = self.record.then(|| recording::Apart {
            settings: self.settings.clone(),
            program: program.clone(),
            body,
            makes: self.monitors.iter().filter_map(Listening::make).collect(),
        });
        let mut live = None;
        if self.replay.is_some() {
            self.custom = None;
            live = self.record.then(recording::Live::default);
            self.monitors.extend(live.as_ref().map(recording::Live::listener));
        }
        let test = || call(&test);
        let mut report = self.exploration(&program, body).run_apart(&test)?;
        if let Some(apart) = apart {
            recording::record(&mut report, &apart, live.as_ref(), &test);
        }
        if let Some(expected) = should_panic {
            report.settle_expected_panic(&expected);
        }
        if let Some(directory) = reports {
            report.write_into(&directory);
        }
        Ok(report)
    }

    /// Settles what the settings leave open for the test of this name.
    fn settle_settings(&mut self, program: &str) {
        if self.replay.is_some() {
            // One execution: there is nothing to share, and nothing to keep.
            (self.settings.jobs, self.settings.checkpoint) = (1, None);
        } else if let Some(directory) = &self.checkpoints
            && self.settings.checkpoint.is_none()
            && self.custom.is_none()
        {
            self.settings.checkpoint = Some(checkpoint_in(directory, program));
        }
    }

    /// What to explore: the test of this name, whose code is at this address.
    fn exploration(self, program: &str, body: usize) -> Exploration {
        let Explorer {
            settings,
            binary,
            custom,
            replay,
            monitors,
            progress,
            glancing,
            ..
        } = self;
        Exploration {
            settings,
            program: program.to_owned(),
            binary,
            body,
            custom,
            replay,
            monitors,
            progress,
            glancing,
        }
    }
}

/// Calls the test: its address tells tests apart that have the same name.
#[inline(never)]
fn call<F: Fn()>(test: &F) {
    test();
}
