//! The settings of an exploration, by name and value: one parser for attributes, `intermezzo.toml`, environment variables
//! and command lines.
//!
//! Each setting is declared once, in `declared`. Tests: in the modules below, explorer/tests and cli/tests/cli.

mod command;
mod compatibility;
mod config;
mod declared;
mod environment;
mod journal;
mod layers;
mod refusal;
mod scope;
pub(crate) mod search;
mod spin_loops;
mod strategy;
mod value;
mod verbosity;

pub use command::CommandSetting;
pub use config::{Config, ConfigError, Given, Section};
pub(crate) use config::{Reader, in_order};
pub use declared::{Group, Setting};
#[doc(hidden)]
pub use intermezzo_engine::suggest::did_you_mean;
pub use journal::JournalAt;
pub use layers::{Layer, Layers, LayersError, Origin};
pub use refusal::tell_refusal;
pub use spin_loops::SpinLoops;
pub use verbosity::Verbosity;

pub use intermezzo_engine::monitors::MonitorRequest;
pub use intermezzo_engine::strategy::{Arrays, Epsilon};
pub use intermezzo_search::kinds::{
    BestFirstOptions, DepthFirstBounds, IRootOptions, RankedOptions, Reduction, StrategyKind, VariableSets,
};

use declared::SETTINGS;
use intermezzo_breakpoint::Armings;
use intermezzo_engine::environment::Environment;
use intermezzo_engine::schedule::{Choice, Premises, Schedule, TestBinary};
use intermezzo_engine::scope::Scope;
use intermezzo_engine::sites::Sites;
use intermezzo_engine::strategy::{SoFar, Strategy};
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// The settings of an exploration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The search to run.
    pub strategy: StrategyKind,
    /// The method of leaving out executions that show nothing new.
    pub reduction: Reduction,
    /// The most preemptions in an execution; `None` for no bound.
    pub preemptions: Option<u32>,
    /// The most executions. `None` for no limit; or, with `auto` and no limit on time, for 50,000.
    pub executions: Option<u64>,
    /// The most time for the whole exploration; `Duration::MAX` for no limit. `None`: two minutes where executions are not
    /// limited either, else no limit. The execution that runs is finished.
    pub time: Option<Duration>,
    /// The most visible operations in an execution; one that takes more is a finding.
    pub steps: u64,
    /// The seed of the search's own randomness.
    pub seed: u64,
    /// The number, from 1, of the execution that a search which draws at random begins with, after those it learns from;
    /// `None` for the first.
    pub first_execution: Option<u64>,
    /// `true` to continue after a finding.
    pub keep_going: bool,
    /// The number of workers that explore, each on a thread of its own.
    pub jobs: usize,
    /// The file that keeps the search, from which it is continued; `None` for none.
    pub checkpoint: Option<PathBuf>,
    /// Changes to the monitors that are on by default. Those attached to the explorer by hand come before.
    pub monitors: Vec<MonitorRequest>,
    /// The level of detail of a failure.
    pub detail: Verbosity,
    /// The possible actions of the environment.
    pub environment: Environment,
    /// The treatment of loops that only wait.
    pub spin_loops: SpinLoops,
    /// The only places where tasks are preempted; empty for everywhere.
    pub preempt_in: Scope,
    /// The places where tasks are not preempted.
    pub preempt_not_in: Scope,
    /// The places in the source at which accesses to plain memory are schedule points.
    pub schedule_points_at: Sites,
    /// `true` if the accesses of data races become schedule points, in a search that continues after findings: it then starts
    /// again, to explore the consequences of their order. With several workers, a checkpoint or `ordered-atomics` this is
    /// off, and a note says so where there are races.
    pub preempt_at_races: bool,
    /// The armed breakpoints.
    pub breakpoints: Armings,
    /// The way in which iRoots are measured, whatever the search; `None` if they are not. The search `maple` measures them
    /// anyway, with options of its own.
    pub iroots: Option<IRootOptions>,
    /// `true` if an execution may end with tasks that wait for ever: it is then no finding.
    pub deadlocks_allowed: bool,
    /// The most executions to make the executions of findings smaller, for all findings together: fewest preemptions, then
    /// fewest context switches, then fewest steps. With 0 they stay as they were found.
    pub minimise: u64,
    /// The most time to replay findings and make their executions smaller, for all findings together; `None` for no limit.
    /// With a limit of `time`, at most the rest of that, or a quarter of it, if that is less.
    pub minimise_time: Option<Duration>,
    /// The number of executions before the search, for what the test sets up once and keeps; they are not judged.
    pub warm_up: u32,
    /// The most retries of an execution that departed from its prescribed choices.
    pub retries: u32,
    /// The most time that a task may run, or be blocked by what is not controlled, without a visible operation; one that
    /// takes more is a finding. `None` for no limit.
    pub hang: Option<Duration>,
    /// The place that keeps the running execution, in case the process ends in the middle of it.
    pub journal: JournalAt,
    /// Every how many yields of a task one counts for fairness; at least 1.
    pub fair_yields: u32,
    /// The most tasks of an execution; one that creates more is a finding.
    pub tasks: u32,
    /// The bytes of each task's stack.
    pub stack_bytes: usize,
    /// The bytes of stacks that the process may lose to tasks which executions leave unfinished, after a deadlock for example.
    ///
    /// Such a task is *forgotten*, as a thread is when its process ends: none of its destructors runs, and everything it owns
    /// is lost. Beyond the limit it is *unwound* by a panic at the operation before which it stands, so that everything is
    /// dropped; a note says so. Code that was not written to unwind there may then misbehave. With 0 tasks are always unwound:
    /// for a test whose destructors have to run, because they free what outlives an execution.
    pub forgotten_bytes: usize,
    /// The bytes that the search may use to remember states and traces.
    pub cache_bytes: usize,
    /// The time between two checkpoints.
    pub checkpoint_every: Duration,
    /// `true` if every operation is a schedule point: a reference for tests of the engine itself, with no name of its own.
    #[doc(hidden)]
    pub every_operation: bool,
    /// `true` if an execution that reaches the limit of steps is given up, and is no finding. For drop-ins of tools that do
    /// so; it has no name of its own.
    #[doc(hidden)]
    pub long_allowed: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            strategy: StrategyKind::DFS,
            reduction: Reduction::Auto,
            preemptions: None,
            executions: None,
            time: None,
            // CHESS's own limit.
            steps: 20_000,
            seed: 0,
            first_execution: None,
            keep_going: false,
            jobs: 1,
            checkpoint: None,
            monitors: Vec::new(),
            detail: Verbosity::default(),
            environment: Environment::default(),
            spin_loops: SpinLoops::default(),
            preempt_in: Scope::default(),
            preempt_not_in: Scope::default(),
            schedule_points_at: Sites::default(),
            preempt_at_races: true,
            breakpoints: Armings::default(),
            iroots: None,
            deadlocks_allowed: false,
            // A moment for a short test.
            minimise: 1_000,
            // More than the executions above take, unless single steps of the test are slow.
            minimise_time: Some(Duration::from_secs(10)),
            warm_up: 0,
            // CHESS's own number.
            retries: 2,
            // Far more than tests of concurrent code compute between two operations, and less than people wait.
            hang: Some(Duration::from_secs(10)),
            journal: JournalAt::Usual,
            fair_yields: 1,
            // Far more than a test of schedules needs. Clocks of so many tasks take some hundred megabytes, and their
            // stacks as much.
            tasks: 4_096,
            // That of std's threads, where there are enough addresses. Untouched pages cost nothing.
            stack_bytes: if size_of::<usize>() < 8 {
                256 << 10
            } else {
                2 << 20
            },
            // Those of some 8,000 tasks.
            forgotten_bytes: 256 << 20,
            // Some ten million states.
            cache_bytes: 1 << 30,
            // The most that is lost.
            checkpoint_every: Duration::from_secs(10),
            every_operation: false,
            long_allowed: false,
        }
    }
}

/// A setting that does not exist, or that has a wrong value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingError {
    /// The setting's name, as given.
    pub name: String,
    /// The problem with it, and a valid alternative.
    pub problem: String,
}

impl fmt::Display for SettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "setting `{}`: {}", self.name, self.problem)
    }
}

impl std::error::Error for SettingError {}

/// The prefix of environment variables: `INTERMEZZO_PREEMPTIONS` sets `preemptions`.
const PREFIX: &str = "INTERMEZZO_";

/// The environment variable with the directories in which plugins are looked for first.
pub(crate) const PLUGIN_PATH_VARIABLE: &str = "INTERMEZZO_PLUGIN_PATH";

/// The environment variable with the seed of a test's own random numbers, which counts outside explorations, too.
const TEST_SEED_VARIABLE: &str = "INTERMEZZO_TEST_SEED";

/// Variables of that prefix that are not named after settings.
const OTHER_VARIABLES: [&str; 17] = [
    TEST_SEED_VARIABLE,
    "INTERMEZZO_CONFIG",
    "INTERMEZZO_SETTINGS",
    intermezzo_breakpoint::LOG_VARIABLE,
    "INTERMEZZO_BASELINE",
    "INTERMEZZO_BASELINE_UPDATE",
    "INTERMEZZO_REPLAY",
    "INTERMEZZO_REPORTS",
    "INTERMEZZO_CHECKPOINTS",
    "INTERMEZZO_RECORD",
    "INTERMEZZO_IN_RELEASE",
    "INTERMEZZO_CACHE",
    "INTERMEZZO_OVERLAYS",
    // Of the engine, in tests of our own.
    "INTERMEZZO_ARENA_CHECK",
    "INTERMEZZO_NEXT_WRAPPER",
    "INTERMEZZO_RACES",
    PLUGIN_PATH_VARIABLE,
];

impl Settings {
    /// Sets the setting of that name.
    ///
    /// # Errors
    /// There is none of that name, or the value does not fit.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), SettingError> {
        let set = declared::find(name).and_then(|setting| (setting.set)(self, value.trim()));
        set.map_err(|problem| SettingError {
            name: name.to_owned(),
            problem,
        })
    }

    /// Checks that these settings can be combined.
    ///
    /// # Errors
    /// Two of them do not: the search would miss what it claims to cover. The error says which, and why.
    pub fn check(&self) -> Result<(), SettingError> {
        match self.reduction {
            Reduction::Auto => self.with_reduction(self.reduction_at_work()).check_given(),
            _ => self.check_given(),
        }?;
        // A search for iRoots is made by the session that knows them, and is refused above.
        if matches!(self.strategy, StrategyKind::Maple(_)) {
            return Ok(());
        }
        self.check_search(&mut *search::strategy(self))
    }

    /// Checks that the search can be split, or kept in a checkpoint, if these settings ask for that.
    ///
    /// # Errors
    /// It cannot.
    pub(crate) fn check_search(&self, search: &mut dyn Strategy) -> Result<(), SettingError> {
        let name = search.status(&SoFar::default()).name;
        let refuse = |setting: &str, problem| {
            Err(SettingError {
                name: setting.into(),
                problem,
            })
        };
        if self.jobs > 1 && search.parallel().is_none() {
            return refuse(
                "jobs",
                format!("the search `{name}` is not split among workers: give 1, or another search"),
            );
        }
        if self.checkpoint.is_some() && search.resumable().is_none() {
            return refuse(
                "checkpoint",
                format!("the search `{name}` is not kept in a checkpoint: give `none`, or another search"),
            );
        }
        Ok(())
    }

    fn with_reduction(&self, reduction: Reduction) -> Settings {
        Settings {
            reduction,
            ..self.clone()
        }
    }

    /// Returns the reduction with which the search begins: where none is given, and the strategy is `auto`, the strongest
    /// that goes with the other settings.
    pub(crate) fn reduction_at_work(&self) -> Reduction {
        match (self.reduction, &self.strategy) {
            // Within a bound, caching runs fewer executions than partial-order reduction.
            (Reduction::Auto, StrategyKind::Auto) => [Reduction::Dpor, Reduction::Caching]
                .into_iter()
                .filter(|&reduction| reduction != Reduction::Dpor || self.preemptions.is_none())
                .find(|&reduction| self.with_reduction(reduction).check_given().is_ok())
                .unwrap_or(Reduction::None),
            (Reduction::Auto, _) => Reduction::None,
            (given, _) => given,
        }
    }

    /// `true` if the search chooses its reduction itself, and may do without one.
    pub(crate) fn chooses_reduction(&self) -> bool {
        self.reduction == Reduction::Auto && self.strategy == StrategyKind::Auto
    }

    fn check_given(&self) -> Result<(), SettingError> {
        match compatibility::refused(self) {
            None => Ok(()),
            Some((name, problem)) => Err(SettingError {
                name: name.into(),
                problem: problem.into(),
            }),
        }
    }

    /// Checks that races that are found can become schedule points in this search.
    ///
    /// # Errors
    /// They cannot; the text says why.
    pub(crate) fn may_preempt_at_races(&self) -> Result<(), &'static str> {
        match () {
            () if !self.preempt_at_races => Err("`data_points` has no `races`"),
            () if !self.keep_going => Err("the search ends at the first of them"),
            () if self.jobs > 1 => {
                Err("the search would begin again, which several workers do not do together")
            }
            () if self.checkpoint.is_some() => {
                Err("the search would begin again, and a checkpoint does not keep why")
            }
            () if self.reduction == Reduction::OrderedAtomics => {
                Err("the search would begin again, and `ordered-atomics` does so for its own reasons")
            }
            () => Ok(()),
        }
    }

    /// Checks that these settings go together with a search of the user's own.
    ///
    /// # Errors
    /// One of them does not.
    pub(crate) fn check_custom(&self, search: &mut dyn Strategy) -> Result<(), SettingError> {
        match compatibility::refused_to_custom(self) {
            None => self.check_search(search),
            Some((name, problem)) => Err(SettingError {
                name: name.into(),
                problem: problem.into(),
            }),
        }
    }

    /// Returns the schedule of an execution of this program with these choices, under these premises.
    pub(crate) fn schedule(
        &self,
        (program, binary): (&str, &TestBinary),
        choices: Vec<Choice>,
        premises: Premises,
    ) -> Schedule {
        let Premises {
            known_loops,
            data_points,
            breakpoints,
        } = premises;
        Schedule {
            program: program.to_owned(),
            binary: binary.clone(),
            monitors: self.monitors.clone(),
            warm_up: self.warm_up,
            environment: self.environment,
            steps: self.steps,
            fair_yields: self.fair_yields,
            awaits: self.spin_loops != SpinLoops::Run,
            known_loops,
            data_points,
            breakpoints,
            choices,
        }
    }

    /// Returns every setting, those that most tests need first.
    ///
    /// ```
    /// # use intermezzo_explorer as intermezzo;
    /// use intermezzo::Settings;
    ///
    /// let names: Vec<&str> = Settings::all().iter().map(|setting| setting.name).collect();
    /// assert!(names.starts_with(&["strategy", "reduction", "preemptions"]));
    /// ```
    pub fn all() -> &'static [Setting] {
        SETTINGS
    }

    /// Returns the names that settings once had, each with the setting to give instead.
    #[doc(hidden)]
    pub fn former() -> &'static [(&'static str, &'static str)] {
        declared::FORMER
    }

    /// Returns the file that keeps exposed iRoots, if there is one.
    #[doc(hidden)]
    pub fn memo(&self) -> Option<PathBuf> {
        match (&self.strategy, &self.iroots) {
            (StrategyKind::Maple(options), _) | (_, Some(options)) => options.memo.clone(),
            (_, None) => None,
        }
    }

    /// Changes the file that keeps exposed iRoots, if they are measured.
    #[doc(hidden)]
    pub fn set_memo(&mut self, file: PathBuf) {
        match (&mut self.strategy, &mut self.iroots) {
            (StrategyKind::Maple(options), _) | (_, Some(options)) => options.memo = Some(file),
            (_, None) => {}
        }
    }

    /// Returns every setting's name and its value here, as [`Settings::set`] takes it.
    pub fn values(&self) -> impl Iterator<Item = (&'static str, String)> {
        SETTINGS
            .iter()
            .map(|setting| (setting.name, (setting.show)(self)))
    }

    /// Returns the settings that must be the same to continue from a checkpoint, with their values.
    pub(crate) fn in_checkpoints(&self) -> impl Iterator<Item = (&'static str, String)> {
        let compared = SETTINGS.iter().filter(|setting| setting.in_checkpoints);
        compared.map(|setting| (setting.name, (setting.show)(self)))
    }

    /// Sets the settings for which there are environment variables: `INTERMEZZO_` and a setting's name in capitals.
    ///
    /// # Errors
    /// A value does not fit its setting, or a variable of that prefix sets nothing: it is misspelled.
    pub fn override_from_environment(&mut self) -> Result<(), SettingError> {
        for (name, variable, value) in Settings::variables()? {
            self.set(name, &value).map_err(|error| SettingError {
                name: variable,
                ..error
            })?;
        }
        Ok(())
    }

    /// Returns the settings for which there are environment variables: the setting, the variable, and its value.
    fn variables() -> Result<Vec<(&'static str, String, String)>, SettingError> {
        let variable = |name: &str| format!("{PREFIX}{}", name.to_uppercase());
        let mut names: Vec<String> = std::env::vars_os()
            .filter_map(|(name, _)| name.into_string().ok())
            .filter(|name| name.starts_with(PREFIX) && !OTHER_VARIABLES.contains(&name.as_str()))
            .collect();
        names.sort();
        let known: Vec<String> = SETTINGS.iter().map(|setting| variable(setting.name)).collect();
        if let Some(wrong) = names.iter().find(|name| !known.contains(name)) {
            let setting = wrong[PREFIX.len()..].to_lowercase();
            let problem = declared::instead_of(&setting).unwrap_or_else(|| {
                let hint = did_you_mean(wrong, known.iter().map(String::as_str));
                format!("no setting is called so; {hint}there are: {}", known.join(", "))
            });
            return Err(SettingError {
                name: wrong.clone(),
                problem,
            });
        }
        let seed = std::env::var(TEST_SEED_VARIABLE).ok();
        let seed = seed.map(|seed| value::number::<u64>(&seed)).transpose();
        let seed = seed.map_err(|problem| SettingError {
            name: TEST_SEED_VARIABLE.into(),
            problem,
        })?;
        let seed = seed.map(|seed| {
            (
                "environment",
                TEST_SEED_VARIABLE.to_owned(),
                format!("seed={seed}"),
            )
        });
        let set = SETTINGS.iter().filter_map(|setting| {
            let variable = variable(setting.name);
            let value = std::env::var(&variable).ok()?;
            Some((setting.name, variable, value))
        });
        Ok(seed.into_iter().chain(set).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_set_by_name() {
        let mut settings = Settings::default();
        for (name, value) in [
            ("preemptions", "2"),
            ("executions", "10_000"),
            ("time", "2.5s"),
            ("strategy", "random"),
        ] {
            settings.set(name, value).unwrap();
        }
        assert_eq!(settings.preemptions, Some(2));
        assert_eq!(settings.executions, Some(10_000));
        assert_eq!(settings.time, Some(Duration::from_millis(2500)));
        assert_eq!(settings.strategy, StrategyKind::Random);
        settings.set("preemptions", "none").unwrap();
        assert_eq!(settings.preemptions, None);
    }

    /// Defaults, and for each setting others.
    #[test]
    fn values_are_shown_as_they_are_read() {
        let again = |settings: &Settings| {
            let mut again = Settings::default();
            for (name, value) in settings.values() {
                again.set(name, &value).unwrap();
            }
            again
        };
        let default = Settings::default();
        assert_eq!(again(&default), default);
        for Setting { name, .. } in Settings::all() {
            let candidates = [
                "pct(4)",
                "ranked(variables=1,arrays=whole)",
                "caching",
                "timeouts=3,seed=5",
                "calm",
                "assume",
                "!ring.rs,queue::slots",
                "ring.rs:12",
                "ring.rs",
                "true",
                "false",
                "window=7,memo=x.file",
                "verbose",
                "a;b:c=d",
                "x.file",
                "7",
                "7/12",
                "40000",
            ];
            let mut others = 0;
            for value in candidates {
                let mut settings = default.clone();
                if settings.set(name, value).is_ok() && settings != default {
                    assert_eq!(again(&settings), settings, "{name} = {value}");
                    others += 1;
                }
            }
            assert!(others > 0, "{name} is never set");
        }
    }

    #[test]
    fn what_cannot_be_says_why() {
        let mut settings = Settings::default();
        for (name, value, says) in [
            ("premptions", "2", "there are: strategy, reduction"),
            ("steps", "-1", "no number in range"),
            ("time", "-1", "no time"),
            ("time", "1e300", "no time"),
            ("stack", "5", "give 32768 to"),
            (
                "delays",
                "2",
                "no such setting any more: give `strategy` `dfs(delays=K)`",
            ),
            ("iroots", "windows=3", "no parameter of `iroots`"),
            ("seed", "7/0", "give a number, or `SEED/FIRST`"),
            ("keep_going", "maybe", "neither"),
            ("jobs", "0", "0 workers: give 1 to"),
            ("checkpoint", " ", "no file is given"),
            ("strategy", "", "no strategy"),
        ] {
            let error = settings.set(name, value).unwrap_err();
            assert!(error.to_string().contains(says), "{error}");
        }
        assert_eq!(settings, Settings::default());
    }
}
