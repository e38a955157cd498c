//! What an exploration is to do, by name and value: one parser for attributes, environment variables
//! and command lines.

mod compatibility;
mod config;
pub(crate) mod detail;
mod journal;
mod layers;
mod ranks;
mod refusal;
pub(crate) mod search;
mod strategy;
mod table;

pub use config::{Config, ConfigError, Given, Section};
#[doc(hidden)]
pub use intermezzo_engine::suggest::did_you_mean;
pub use journal::JournalAt;
pub use layers::{Layer, Layers, LayersError, Origin};
pub use refusal::tell_refusal;

pub use intermezzo_engine::monitors::Wanted;
pub use intermezzo_engine::strategy::{Arrays, Epsilon};
pub use intermezzo_search::kinds::{Reduction, StrategyKind, VariableSets};

use detail::Detail;
use intermezzo_breakpoint::Armings;
use intermezzo_engine::environment::Environment;
use intermezzo_engine::schedule::{Choice, Premises, Schedule, TestBinary};
use intermezzo_engine::scope::Scope;
use intermezzo_engine::sites::Sites;
use intermezzo_engine::strategy::{SoFar, Strategy};
use intermezzo_search::PrioritySpec;
use std::fmt;
use std::num::NonZero;
use std::path::PathBuf;
use std::time::Duration;
use table::SETTINGS;

/// What an exploration is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Which search to run.
    pub strategy: StrategyKind,
    /// How executions that show nothing new are left out.
    pub reduction: Reduction,
    /// Most preemptions in an execution; `None` for no bound.
    pub preemptions: Option<u32>,
    /// Most delays in an execution; `None` for no bound. A bound makes depth first search count delays.
    pub delays: Option<u32>,
    /// Most variables against which the preemptions of an execution count, in a ranked search; `None` for no bound.
    pub variables: Option<u32>,
    /// How a ranked search takes sets of variables.
    pub variable_sets: VariableSets,
    /// How a ranked search counts the elements of an array.
    pub arrays: Arrays,
    /// For how many tasks a ranked search tries every order; `None` if any goes wherever another cannot.
    pub threads: Option<u32>,
    /// The most probable it may be that some order of so many tasks is missed.
    pub epsilon: Epsilon,
    /// How many choices of an execution are varied, from the first; `None` for all.
    pub depth: Option<u32>,
    /// By how many choices the depth grows from round to round; `None` if there is one round.
    pub depth_step: Option<NonZero<u32>>,
    /// Where alone tasks are preempted; empty for everywhere.
    pub preempt_in: Scope,
    /// Where tasks are not preempted.
    pub preempt_not_in: Scope,
    /// Whether atomics whose accesses other synchronisation orders have no schedule points.
    pub quiet_atomics: bool,
    /// Places in the source at which accesses to plain memory are schedule points.
    pub schedule_points_at: Sites,
    /// Whether the accesses of data races become schedule points, in a search that goes on after findings.
    pub preempt_at_races: bool,
    /// The breakpoints that are armed.
    pub breakpoints: Armings,
    /// What a best-first search runs next; `None` for its default.
    pub priority: Option<PrioritySpec>,
    /// Most unexplored prefixes that a best-first search keeps.
    pub prefixes: usize,
    /// Whether iRoots are measured whatever the search: `coverage`, and any with a memo, does so anyway.
    pub iroots: bool,
    /// How many events of a task two accesses of an iRoot are at most apart.
    pub iroot_window: u32,
    /// How often the search `coverage` tries to expose an iRoot, in all explorations that share a memo.
    pub iroot_attempts: u32,
    /// The file that remembers which iRoots were exposed, for other explorations; `None` for none.
    pub memo: Option<PathBuf>,
    /// Most executions; `None` for no limit, or with `auto`, and no limit of time, for 50,000.
    pub executions: Option<u64>,
    /// Most time for the whole exploration; `Duration::MAX` for no limit. `None`: two minutes where executions are not limited
    /// either, else no limit. The execution that runs is finished.
    pub time: Option<Duration>,
    /// Most visible operations in an execution; one that takes more is a finding.
    pub steps: u64,
    /// Most time that a task may run, or be blocked by what is not controlled, without a visible operation; one that takes more
    /// is a finding. `None` for no limit.
    pub hang: Option<Duration>,
    /// Where the execution that runs is kept, for when the process ends in the middle of it.
    pub journal: JournalAt,
    /// Which yields of a task count for fairness: every so manieth, from 1.
    pub fair_yields: u32,
    /// Whether a task whose loop only waits is disabled until what it waits for changes.
    pub awaits: bool,
    /// Executions before the search, for what the test sets up once and keeps; they are not judged.
    pub warm_up: u32,
    /// How often an execution is tried again that departed from what was prescribed.
    pub retries: u32,
    /// Most executions to make findings' executions smaller, for all findings together: fewest preemptions, then fewest context switches, then
    /// fewest steps. 0 leaves it as it was found.
    pub minimise: u64,
    /// Most time to replay findings and make their executions smaller, for all findings together; `None` for no limit. With a
    /// limit of `time`, it is what is left of that, or a quarter of it, if that is less.
    pub minimise_time: Option<Duration>,
    /// Whether a loop that was once seen to only wait is assumed to from its first round on.
    pub assume_awaits: bool,
    /// Whether an execution may end with tasks that wait for ever: it is then no finding.
    pub deadlocks_allowed: bool,
    /// Whether to go on after a finding.
    pub keep_going: bool,
    /// Seed of the search's own randomness.
    pub seed: u64,
    /// Of executions that are drawn at random, the number, from 1, of the one to begin with, after those that have to be
    /// learned from; `None` for the first.
    pub first_execution: Option<u64>,
    /// Bytes that the search may use to remember states and traces.
    pub cache_bytes: usize,
    /// How many workers explore, each on a thread of its own.
    pub jobs: usize,
    /// The file in which the search is kept now and then, and from which it goes on; `None` for none.
    pub checkpoint: Option<PathBuf>,
    /// Time between two checkpoints.
    pub checkpoint_every: Duration,
    /// Most tasks of an execution; one that creates more is a finding.
    pub tasks: u32,
    /// Bytes of each task's stack.
    pub stack_bytes: usize,
    /// Bytes of stacks that the process may lose to tasks left in the middle; beyond that they are unwound.
    pub forgotten_bytes: usize,
    /// Changes to the monitors that are on by default. Those attached to the explorer by hand come before.
    pub monitors: Vec<Wanted>,
    /// How much a failing test tells.
    pub detail: Detail,
    /// What the environment may do by itself.
    pub environment: Environment,
    /// Whether every operation is a schedule point: a reference for tests of the engine itself, with no name of its own.
    #[doc(hidden)]
    pub every_operation: bool,
}

/// Steps after which an execution is given up, unless set otherwise: CHESS's own limit.
const STEPS: u64 = 20_000;

/// How often an execution is tried again unless set otherwise: CHESS's own number.
const RETRIES: u32 = 2;

/// Executions for the minimisation of findings unless set otherwise: a moment for a short test.
const MINIMISE: u64 = 1_000;

/// The longest that a task may do nothing visible unless set otherwise: far more than tests of concurrent code compute between
/// two operations, and less than the patience of a person.
const HANG: Duration = Duration::from_secs(10);

/// Time for it unless set otherwise: more than the executions above take, unless single steps of the test are slow.
const MINIMISE_TIME: Duration = Duration::from_secs(10);

/// What a search may remember unless set otherwise: some ten million states.
const CACHE_BYTES: usize = 1 << 30;

/// Tasks of an execution unless set otherwise: far more than a test of schedules needs. Clocks of so many tasks
/// take some hundred megabytes, and their stacks as much.
const TASKS: u32 = 4_096;

/// Stack of a task unless set otherwise: that of std's threads, where there are addresses enough. Untouched pages cost
/// nothing.
const STACK_BYTES: usize = if size_of::<usize>() < 8 {
    256 << 10
} else {
    2 << 20
};

/// Stacks that the process may lose unless set otherwise: those of some 8,000 tasks.
const FORGOTTEN_BYTES: usize = 256 << 20;

/// Prefixes that a best-first search keeps unless set otherwise: some hundred megabytes.
const PREFIXES: usize = 1_000_000;

/// Vulnerability window of iRoots unless set otherwise. The paper's 1000 instructions are some tens of shared accesses.
const IROOT_WINDOW: u32 = 20;

/// Attempts to expose an iRoot unless set otherwise: with either order of initial priorities, as in the paper.
const IROOT_ATTEMPTS: u32 = 2;

/// Time between two checkpoints unless set otherwise: what is lost at most.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(10);

impl Default for Settings {
    fn default() -> Self {
        Settings {
            strategy: StrategyKind::DepthFirst,
            reduction: Reduction::Auto,
            preemptions: None,
            delays: None,
            variables: None,
            variable_sets: VariableSets::Each,
            arrays: Arrays::Elements,
            threads: None,
            epsilon: Epsilon::default(),
            depth: None,
            depth_step: None,
            preempt_in: Scope::default(),
            preempt_not_in: Scope::default(),
            quiet_atomics: false,
            schedule_points_at: Sites::default(),
            preempt_at_races: true,
            breakpoints: Armings::default(),
            priority: None,
            prefixes: PREFIXES,
            iroots: false,
            iroot_window: IROOT_WINDOW,
            iroot_attempts: IROOT_ATTEMPTS,
            memo: None,
            executions: None,
            time: None,
            steps: STEPS,
            hang: Some(HANG),
            journal: JournalAt::Usual,
            fair_yields: 1,
            awaits: true,
            warm_up: 0,
            retries: RETRIES,
            minimise: MINIMISE,
            minimise_time: Some(MINIMISE_TIME),
            assume_awaits: false,
            deadlocks_allowed: false,
            keep_going: false,
            seed: 0,
            first_execution: None,
            cache_bytes: CACHE_BYTES,
            jobs: 1,
            checkpoint: None,
            checkpoint_every: CHECKPOINT_EVERY,
            tasks: TASKS,
            stack_bytes: STACK_BYTES,
            forgotten_bytes: FORGOTTEN_BYTES,
            monitors: Vec::new(),
            detail: Detail::default(),
            environment: Environment::default(),
            every_operation: false,
        }
    }
}

/// A setting that cannot be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingError {
    /// The setting's name, as given.
    pub name: String,
    /// What is wrong with it, and what would be right.
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

/// Variables of that prefix that are no settings.
const OTHER_VARIABLES: [&str; 9] = [
    "INTERMEZZO_CONFIG",
    "INTERMEZZO_SETTINGS",
    intermezzo_breakpoint::LOG_VARIABLE,
    "INTERMEZZO_REPLAY",
    "INTERMEZZO_REPORTS",
    "INTERMEZZO_CHECKPOINTS",
    "INTERMEZZO_RECORD",
    "INTERMEZZO_IN_RELEASE",
    PLUGIN_PATH_VARIABLE,
];

impl Settings {
    /// Sets the setting of that name.
    ///
    /// # Errors
    /// There is none of that name, or the value does not fit.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), SettingError> {
        let problem = match SETTINGS.iter().find(|setting| setting.name == name) {
            Some(setting) => match (setting.set)(self, value.trim()) {
                Ok(()) => return Ok(()),
                Err(problem) => problem,
            },
            None => {
                let known: Vec<&str> = SETTINGS.iter().map(|setting| setting.name).collect();
                let hint = did_you_mean(name, known.iter().copied());
                format!("there is no such setting; {hint}there are: {}", known.join(", "))
            }
        };
        Err(SettingError {
            name: name.to_owned(),
            problem,
        })
    }

    /// Whether these settings go together.
    ///
    /// # Errors
    /// Two of them do not: the search would miss what it claims to cover. The error says which, and why.
    pub fn check(&self) -> Result<(), SettingError> {
        match self.reduction {
            Reduction::Auto => self.with_reduction(self.reduction_at_work()).check_given(),
            _ => self.check_given(),
        }?;
        // A search by iRoots is made by the session that knows them, and is refused above.
        if self.strategy == StrategyKind::Coverage {
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
            (Reduction::Auto, StrategyKind::Auto) => [Reduction::Dpor, Reduction::Caching]
                .into_iter()
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
        let refuse = |name: &str, problem: &str| {
            Err(SettingError {
                name: name.into(),
                problem: problem.into(),
            })
        };
        if let Some((name, problem)) = compatibility::refused(self) {
            return refuse(name, problem);
        }
        match (&self.strategy, self.reduction, self.preemptions) {
            (strategy, Reduction::None, _) if strategy.is_sampler() => Ok(()),
            (strategy, ..) if strategy.is_sampler() => refuse(
                "reduction",
                "executions drawn at random have no reduction: a random walk would no longer be uniform over choices, and no \
                 other find what it should as often as it should; give `none`",
            ),
            (_, Reduction::Dpor | Reduction::SourceDpor, Some(_)) => refuse(
                "reduction",
                "sleep sets cut at a preemption bound miss traces within the bound (238 of 750 random programs did): \
                 give `bpor` or `caching` with a bound, or take the bound away",
            ),
            (_, Reduction::Bpor, None) => refuse(
                "reduction",
                "`bpor` is for a preemption bound: set `preemptions`, or give `dpor`, which runs fewer executions",
            ),
            _ => Ok(()),
        }
    }

    /// Whether races that are found can become schedule points in this search, and else why not.
    pub(crate) fn may_preempt_at_races(&self) -> Result<(), &'static str> {
        match () {
            () if !self.preempt_at_races => Err("`preempt_at_races` is off"),
            () if !self.keep_going => Err("the search ends at the first of them"),
            () if self.jobs > 1 => {
                Err("the search would begin again, which several workers do not do together")
            }
            () if self.checkpoint.is_some() => {
                Err("the search would begin again, and a checkpoint does not keep why")
            }
            () if self.quiet_atomics => {
                Err("the search would begin again, and `quiet_atomics` does so for its own reasons")
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

    /// The schedule of an execution of this program with these choices, which took this for granted.
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
            awaits: self.awaits,
            known_loops,
            data_points,
            breakpoints,
            choices,
        }
    }

    /// Every setting's name, and what its value is.
    pub fn known() -> impl Iterator<Item = (&'static str, &'static str)> {
        SETTINGS.iter().map(|setting| (setting.name, setting.value))
    }

    /// Every setting's name, and the value that it has here, as [`Settings::set`] takes it.
    pub fn values(&self) -> impl Iterator<Item = (&'static str, String)> {
        SETTINGS
            .iter()
            .map(|setting| (setting.name, (setting.show)(self)))
    }

    /// Takes over what environment variables set: `INTERMEZZO_` and a setting's name in capitals.
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

    /// What environment variables set: the setting, the variable, and its value.
    fn variables() -> Result<Vec<(&'static str, String, String)>, SettingError> {
        let variable = |name: &str| format!("{PREFIX}{}", name.to_uppercase());
        let mut names: Vec<String> = std::env::vars_os()
            .filter_map(|(name, _)| name.into_string().ok())
            .filter(|name| name.starts_with(PREFIX) && !OTHER_VARIABLES.contains(&name.as_str()))
            .collect();
        names.sort();
        let known: Vec<String> = SETTINGS.iter().map(|setting| variable(setting.name)).collect();
        if let Some(wrong) = names.iter().find(|name| !known.contains(name)) {
            let hint = did_you_mean(wrong, known.iter().map(String::as_str));
            return Err(SettingError {
                name: wrong.clone(),
                problem: format!("no setting is called so; {hint}there are: {}", known.join(", ")),
            });
        }
        let set = SETTINGS.iter().filter_map(|setting| {
            let variable = variable(setting.name);
            let value = std::env::var(&variable).ok()?;
            Some((setting.name, variable, value))
        });
        Ok(set.collect())
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
        for (name, _) in Settings::known() {
            let candidates = [
                "pct(4)",
                "caching",
                "dynamic",
                "whole",
                "0.25",
                "ring.rs:12",
                "ring.rs",
                "true",
                "false",
                "rare",
                "verbose",
                "a;b:c=d",
                "x.file",
                "7",
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
