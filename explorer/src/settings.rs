//! What an exploration is to do, by name and value: one parser for attributes, environment variables
//! and command lines.

mod monitors;
mod together;

pub use monitors::Wanted;

use crate::environment::Environment;
use crate::schedule::{Choice, Premises, Schedule};
use crate::scope::Scope;
use crate::search::PrioritySpec;
use crate::sites::Sites;
use std::fmt;
use std::num::NonZero;
use std::path::PathBuf;
use std::time::Duration;

/// Which search to run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StrategyKind {
    /// Depth first: every schedule; with a preemption bound, in order of preemptions.
    #[default]
    DepthFirst,
    /// Random walk.
    Random,
    /// Depth first, in order of delays.
    Delays,
    /// The unexplored prefix that ranks first, by priority functions.
    BestFirst,
}

impl StrategyKind {
    /// Every strategy, with its name in settings.
    pub const ALL: [(&'static str, StrategyKind); 4] = [
        ("dfs", StrategyKind::DepthFirst),
        ("random", StrategyKind::Random),
        ("delays", StrategyKind::Delays),
        ("best-first", StrategyKind::BestFirst),
    ];
}

/// How executions that show nothing new are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reduction {
    /// Every schedule is run.
    #[default]
    None,
    /// Prefixes that lead to a state already reached are not continued (happens-before caching). Sound with and
    /// without a preemption bound.
    Caching,
    /// Partial-order reduction with source sets and sleep sets: every trace at least once. Not with a bound.
    SourceDpor,
    /// Optimal partial-order reduction, with wakeup trees: every trace exactly once. Not with a bound.
    Dpor,
    /// Bounded partial-order reduction: every trace within a preemption bound.
    Bpor,
}

impl Reduction {
    /// Every reduction, with its name in settings and reports.
    pub const ALL: [(&'static str, Reduction); 5] = [
        ("none", Reduction::None),
        ("caching", Reduction::Caching),
        ("source-dpor", Reduction::SourceDpor),
        ("dpor", Reduction::Dpor),
        ("bpor", Reduction::Bpor),
    ];
}

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
    /// Whether the accesses of data races become schedule points.
    pub preempt_at_races: bool,
    /// What a best-first search runs next; `None` for its default.
    pub priority: Option<PrioritySpec>,
    /// Most unexplored prefixes that a best-first search keeps.
    pub prefixes: usize,
    /// Most executions; `None` for no limit.
    pub executions: Option<u64>,
    /// Most time for the whole exploration; `None` for no limit. The execution that runs is finished.
    pub time: Option<Duration>,
    /// Most visible operations in an execution; one that takes more is a finding.
    pub steps: u64,
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
    /// Whether a loop that was once seen to only wait is assumed to from its first round on.
    pub assume_awaits: bool,
    /// Whether an execution may end with tasks that wait for ever: it is then no finding.
    pub deadlocks_allowed: bool,
    /// Whether to go on after a finding.
    pub keep_going: bool,
    /// Seed of the search's own randomness.
    pub seed: u64,
    /// Bytes that the search may use to remember states and traces.
    pub cache_bytes: usize,
    /// How many workers explore, each on a thread of its own.
    pub jobs: usize,
    /// The file in which the search is kept now and then, and from which it goes on; `None` for none.
    pub checkpoint: Option<PathBuf>,
    /// Time between two checkpoints.
    pub checkpoint_every: Duration,
    /// Bytes of each task's stack.
    pub stack_bytes: usize,
    /// Monitors to attach, beside those attached by hand.
    pub monitors: Vec<Wanted>,
    /// What the environment may do unasked.
    pub environment: Environment,
}

/// Steps after which an execution is given up, unless set otherwise: CHESS's own limit.
const STEPS: u64 = 20_000;

/// How often an execution is tried again unless set otherwise: CHESS's own number.
const RETRIES: u32 = 2;

/// Executions for the minimisation of findings unless set otherwise: a moment for a short test.
const MINIMISE: u64 = 1_000;

/// What a search may remember unless set otherwise: some ten million states.
const CACHE_BYTES: usize = 1 << 30;

/// Stack of a task unless set otherwise. Untouched pages cost nothing.
const STACK_BYTES: usize = 256 << 10;

/// Prefixes that a best-first search keeps unless set otherwise: some hundred megabytes.
const PREFIXES: usize = 1_000_000;

/// Most workers: more than any machine has cores.
const JOBS_MAX: usize = 1024;

/// Time between two checkpoints unless set otherwise: what is lost at most.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(10);

/// Least stack: running a panic hook takes some 20 KiB in a debug build.
const STACK_BYTES_MIN: usize = 32 << 10;

impl Default for Settings {
    fn default() -> Self {
        Settings {
            strategy: StrategyKind::DepthFirst,
            reduction: Reduction::None,
            preemptions: None,
            delays: None,
            depth: None,
            depth_step: None,
            preempt_in: Scope::default(),
            preempt_not_in: Scope::default(),
            quiet_atomics: false,
            schedule_points_at: Sites::default(),
            preempt_at_races: false,
            priority: None,
            prefixes: PREFIXES,
            executions: None,
            time: None,
            steps: STEPS,
            fair_yields: 1,
            awaits: true,
            warm_up: 0,
            retries: RETRIES,
            minimise: MINIMISE,
            assume_awaits: false,
            deadlocks_allowed: false,
            keep_going: false,
            seed: 0,
            cache_bytes: CACHE_BYTES,
            jobs: 1,
            checkpoint: None,
            checkpoint_every: CHECKPOINT_EVERY,
            stack_bytes: STACK_BYTES,
            monitors: Vec::new(),
            environment: Environment::default(),
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

/// Sets one field from text; the error says what would be right.
type Set = fn(&mut Settings, &str) -> Result<(), String>;

/// Every setting: its name, what its value is, and how to set it.
const SETTINGS: &[(&str, &str, Set)] = &[
    ("strategy", "`dfs`, `random`, `delays` or `best-first`", |s, v| {
        one_of(&StrategyKind::ALL, "strategy", v).map(|strategy| s.strategy = strategy)
    }),
    (
        "reduction",
        "`none`, `caching`, `source-dpor`, `dpor` or `bpor`",
        |s, v| one_of(&Reduction::ALL, "reduction", v).map(|reduction| s.reduction = reduction),
    ),
    ("preemptions", "a number, or `none`", |s, v| {
        optional(v, number).map(|n| s.preemptions = n)
    }),
    ("delays", "a number, or `none`", |s, v| {
        optional(v, number).map(|n| s.delays = n)
    }),
    ("depth", "a number, or `none`", |s, v| {
        optional(v, number).map(|n| s.depth = n)
    }),
    ("depth_step", "a number above 0, or `none`", |s, v| {
        optional(v, number).map(|n| s.depth_step = n)
    }),
    ("preempt_in", "module paths, source files or variables", |s, v| {
        Scope::parse(v).map(|scope| s.preempt_in = scope)
    }),
    (
        "preempt_not_in",
        "module paths, source files or variables",
        |s, v| Scope::parse(v).map(|scope| s.preempt_not_in = scope),
    ),
    ("quiet_atomics", "`true` or `false`", |s, v| {
        truth(v).map(|b| s.quiet_atomics = b)
    }),
    (
        "schedule_points_at",
        "source files with lines, separated by commas (`ring.rs:12`)",
        |s, v| Sites::parse(v).map(|sites| s.schedule_points_at = sites),
    ),
    ("preempt_at_races", "`true` or `false`", |s, v| {
        truth(v).map(|b| s.preempt_at_races = b)
    }),
    ("priority", "priority functions, or `none`", |s, v| {
        optional(v, PrioritySpec::parse).map(|priority| s.priority = priority)
    }),
    ("prefixes", "a number", |s, v| number(v).map(|n| s.prefixes = n)),
    ("executions", "a number, or `none`", |s, v| {
        optional(v, number).map(|n| s.executions = n)
    }),
    ("time", "seconds, or `none`", |s, v| {
        optional(v, duration).map(|n| s.time = n)
    }),
    ("steps", "a number", |s, v| number(v).map(|n| s.steps = n)),
    ("fair_yields", "a number, at least 1", |s, v| match number(v)? {
        0 => Err("every 0th yield is none: give 1 or more".into()),
        every => {
            s.fair_yields = every;
            Ok(())
        }
    }),
    ("awaits", "`true` or `false`", |s, v| {
        truth(v).map(|b| s.awaits = b)
    }),
    ("warm_up", "a number", |s, v| number(v).map(|n| s.warm_up = n)),
    ("retries", "a number", |s, v| number(v).map(|n| s.retries = n)),
    ("minimise", "a number", |s, v| number(v).map(|n| s.minimise = n)),
    ("assume_awaits", "`true` or `false`", |s, v| {
        truth(v).map(|b| s.assume_awaits = b)
    }),
    ("deadlocks_allowed", "`true` or `false`", |s, v| {
        truth(v).map(|b| s.deadlocks_allowed = b)
    }),
    ("keep_going", "`true` or `false`", |s, v| {
        truth(v).map(|b| s.keep_going = b)
    }),
    ("seed", "a number", |s, v| number(v).map(|n| s.seed = n)),
    ("cache_bytes", "bytes", |s, v| {
        number(v).map(|n| s.cache_bytes = n)
    }),
    ("jobs", "a number, at least 1", |s, v| {
        let jobs = number(v)?;
        if !(1..=JOBS_MAX).contains(&jobs) {
            return Err(format!("{jobs} workers: give 1 to {JOBS_MAX}"));
        }
        s.jobs = jobs;
        Ok(())
    }),
    ("checkpoint", "a file, or `none`", |s, v| {
        if v.is_empty() {
            return Err("no file is given: give a path, or `none`".into());
        }
        s.checkpoint = (v != "none").then(|| v.into());
        Ok(())
    }),
    ("checkpoint_every", "seconds", |s, v| {
        duration(v).map(|n| s.checkpoint_every = n)
    }),
    ("stack", "bytes, at least 32768", |s, v| {
        let bytes = number(v)?;
        if !(STACK_BYTES_MIN..=1 << 30).contains(&bytes) {
            return Err(format!(
                "a stack of {bytes} bytes: give {STACK_BYTES_MIN} to {}",
                1 << 30
            ));
        }
        s.stack_bytes = bytes;
        Ok(())
    }),
    (
        "monitors",
        "names or paths with `;` between, each with its arguments after a `:`; or `none`",
        |s, v| Wanted::parse(v).map(|monitors| s.monitors = monitors),
    ),
    ("spurious_wakeups", "a number", |s, v| {
        number(v).map(|n| s.environment.spurious_wakeups = n)
    }),
    ("timeouts", "a number", |s, v| {
        number(v).map(|n| s.environment.timeouts = n)
    }),
    ("weak_failures", "a number", |s, v| {
        number(v).map(|n| s.environment.weak_failures = n)
    }),
    ("try_lock_failures", "a number", |s, v| {
        number(v).map(|n| s.environment.try_lock_failures = n)
    }),
    ("notify_any", "`true` or `false`", |s, v| {
        truth(v).map(|b| s.environment.notify_any = b)
    }),
    ("arc_counts", "`true` or `false`", |s, v| {
        truth(v).map(|b| s.environment.arc_counts = b)
    }),
    ("test_seed", "a number", |s, v| {
        number(v).map(|n| s.environment.seed = n)
    }),
];

/// The prefix of environment variables: `INTERMEZZO_PREEMPTIONS` sets `preemptions`.
const PREFIX: &str = "INTERMEZZO_";

/// Variables of that prefix that are no settings.
const OTHER_VARIABLES: [&str; 5] = [
    "INTERMEZZO_REPLAY",
    "INTERMEZZO_REPORTS",
    "INTERMEZZO_CHECKPOINTS",
    "INTERMEZZO_RECORD",
    crate::plugin::PATH_VARIABLE,
];

impl Settings {
    /// Sets the setting of that name.
    ///
    /// # Errors
    /// There is none of that name, or the value does not fit.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), SettingError> {
        let problem = match SETTINGS.iter().find(|(known, ..)| *known == name) {
            Some((.., set)) => match set(self, value.trim()) {
                Ok(()) => return Ok(()),
                Err(problem) => problem,
            },
            None => {
                let known: Vec<&str> = SETTINGS.iter().map(|(known, ..)| *known).collect();
                format!("there is no such setting; there are: {}", known.join(", "))
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
        let refuse = |name: &str, problem: &str| {
            Err(SettingError {
                name: name.into(),
                problem: problem.into(),
            })
        };
        if let Some((name, problem)) = together::refused(self) {
            return refuse(name, problem);
        }
        match (self.strategy, self.reduction, self.preemptions) {
            (StrategyKind::Random, Reduction::None, _) => Ok(()),
            (StrategyKind::Random, ..) => refuse(
                "reduction",
                "a random walk has no reduction: it would no longer be uniform over choices; give `none`",
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

    /// Whether these settings go together with a search of the user's own.
    pub(crate) fn check_custom(&self) -> Result<(), SettingError> {
        match together::refused_to_custom(self) {
            None => Ok(()),
            Some((name, problem)) => Err(SettingError {
                name: name.into(),
                problem: problem.into(),
            }),
        }
    }

    /// The schedule of an execution of this program with these choices, which took this for granted.
    pub(crate) fn schedule(&self, program: &str, choices: Vec<Choice>, premises: Premises) -> Schedule {
        let Premises {
            known_loops,
            data_points,
        } = premises;
        Schedule {
            program: program.to_owned(),
            environment: self.environment,
            steps: self.steps,
            fair_yields: self.fair_yields,
            awaits: self.awaits,
            known_loops,
            data_points,
            choices,
        }
    }

    /// Every setting's name, and what its value is.
    pub fn known() -> impl Iterator<Item = (&'static str, &'static str)> {
        SETTINGS.iter().map(|&(name, value, _)| (name, value))
    }

    /// Takes over what environment variables set: `INTERMEZZO_` and a setting's name in capitals.
    ///
    /// # Errors
    /// A value does not fit its setting, or a variable of that prefix sets nothing: it is misspelled.
    pub fn override_from_environment(&mut self) -> Result<(), SettingError> {
        let mut names: Vec<String> = std::env::vars_os()
            .filter_map(|(name, _)| name.into_string().ok())
            .collect();
        names.sort();
        for variable in names
            .iter()
            .filter(|name| !OTHER_VARIABLES.contains(&name.as_str()))
        {
            let name = variable.strip_prefix(PREFIX).map(str::to_lowercase);
            if name.is_some_and(|name| SETTINGS.iter().all(|(known, ..)| *known != name)) {
                let known: Vec<String> = SETTINGS
                    .iter()
                    .map(|(known, ..)| format!("{PREFIX}{}", known.to_uppercase()))
                    .collect();
                let problem = format!("no setting is called so; there are: {}", known.join(", "));
                return Err(SettingError {
                    name: variable.clone(),
                    problem,
                });
            }
        }
        for (name, ..) in SETTINGS {
            let variable = format!("{PREFIX}{}", name.to_uppercase());
            if let Ok(value) = std::env::var(&variable) {
                self.set(name, &value).map_err(|error| SettingError {
                    name: variable,
                    ..error
                })?;
            }
        }
        Ok(())
    }
}

/// The one of these that is called so.
fn one_of<T: Copy, const N: usize>(all: &[(&str, T); N], what: &str, name: &str) -> Result<T, String> {
    let named = all.iter().find(|(known, _)| *known == name);
    named.map(|&(_, one)| one).ok_or_else(|| {
        let names = all.each_ref().map(|(name, _)| format!("`{name}`")).join(", ");
        format!("`{name}` is no {what}: give one of {names}")
    })
}

fn number<N: std::str::FromStr>(value: &str) -> Result<N, String> {
    value
        .replace('_', "")
        .parse()
        .map_err(|_| format!("`{value}` is no number in range: give digits, as in 10_000"))
}

fn duration(value: &str) -> Result<Duration, String> {
    let seconds = value.strip_suffix('s').unwrap_or(value);
    let problem = || format!("`{value}` is no time: give seconds, as in 2.5");
    Duration::try_from_secs_f64(seconds.replace('_', "").parse().map_err(|_| problem())?)
        .map_err(|_| problem())
}

fn truth(value: &str) -> Result<bool, String> {
    match value {
        "true" | "1" | "on" | "yes" => Ok(true),
        "false" | "0" | "off" | "no" => Ok(false),
        _ => Err(format!("`{value}` is neither `true` nor `false`")),
    }
}

fn optional<T>(value: &str, parse: fn(&str) -> Result<T, String>) -> Result<Option<T>, String> {
    if value == "none" {
        Ok(None)
    } else {
        parse(value).map(Some)
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
