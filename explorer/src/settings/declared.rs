//! Every setting, declared once: its name, the meaning and form of its value, and how text becomes it.
//!
//! Attributes, `intermezzo.toml`, environment variables, the flags of the command line, its help, what a checkpoint
//! must agree on and the table in the guide all follow from these declarations.

use super::environment;
use super::journal::JournalAt;
use super::scope;
use super::strategy;
use super::value::{duration, file, given, name_of, number, one_of, optional, path, time, truth};
use super::{MonitorRequest, Reduction, Settings, SpinLoops, Verbosity};
use intermezzo_breakpoint::ArmError;
use intermezzo_engine::monitors;
use intermezzo_engine::suggest::did_you_mean;
use std::time::Duration;

/// The most workers: more than any machine has cores.
const JOBS_MAX: usize = 1024;

/// The smallest stack: running a panic hook takes some 20 KiB in a debug build.
const STACK_BYTES_MIN: usize = 32 << 10;

/// The largest stack.
const STACK_BYTES_MAX: usize = 1 << 30;

/// Sets a field from text; the error says what would be right.
type Set = fn(&mut Settings, &str) -> Result<(), String>;

/// Returns a field as text that `Set` takes.
type Show = fn(&Settings) -> String;

/// A setting.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Its name, in attributes and in `intermezzo.toml`.
    pub name: &'static str,
    /// Its meaning, in a sentence.
    pub help: &'static str,
    /// The values that it takes, in words.
    pub accepts: &'static str,
    /// The value in a usage line: `N`, `NAME`, `BOOL`.
    pub placeholder: &'static str,
    /// The part of the help that it belongs to.
    pub group: Group,
    /// `true` if few tests need it.
    pub advanced: bool,
    /// `true` if a replay needs it too, because a schedule does not carry it.
    pub in_replays: bool,
    /// `true` if a search can only be continued from a checkpoint with the same value.
    pub(crate) in_checkpoints: bool,
    pub(super) set: Set,
    pub(super) show: Show,
}

/// A part of the help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// The search itself.
    Search,
    /// Limits of an execution, and its treatment.
    Execution,
    /// The output.
    Output,
}

impl Group {
    /// Returns the heading.
    pub fn heading(self) -> &'static str {
        match self {
            Group::Search => "Search",
            Group::Execution => "Executions",
            Group::Output => "Output",
        }
    }
}

impl Setting {
    const fn new(
        name: &'static str,
        (placeholder, accepts): (&'static str, &'static str),
        help: &'static str,
        set: Set,
        show: Show,
    ) -> Setting {
        Setting {
            name,
            help,
            accepts,
            placeholder,
            group: Group::Search,
            advanced: false,
            in_replays: false,
            in_checkpoints: false,
            set,
            show,
        }
    }

    const fn of(mut self, group: Group) -> Setting {
        self.group = group;
        self
    }

    const fn advanced(mut self) -> Setting {
        self.advanced = true;
        self
    }

    const fn in_replays(mut self) -> Setting {
        self.in_replays = true;
        self
    }

    const fn in_checkpoints(mut self) -> Setting {
        self.in_checkpoints = true;
        self
    }
}

// Values: the placeholder, and the form in words.
const BOOL: (&str, &str) = ("BOOL", "`true` or `false`");
const NUMBER: (&str, &str) = ("N", "a number");
const NUMBER_OR_NONE: (&str, &str) = ("N", "a number, or `none`");
const SECONDS_OR_NONE: (&str, &str) = ("SECONDS", "seconds, or `none`");

/// Every setting: those that most tests need first.
pub(super) const SETTINGS: &[Setting] = &[
    Setting::new(
        "strategy",
        ("NAME", strategy::VALUES),
        "Search to run: `auto`, `dfs`, `random`, `pct(3)`, `pos`, `surw`, or another",
        |s, v| strategy::parse(v).map(|strategy| s.strategy = strategy),
        |s| s.strategy.to_string(),
    )
    .in_checkpoints(),
    Setting::new(
        "reduction",
        ("NAME", "`auto`, `none`, `caching`, `source-dpor`, `dpor` or `ordered-atomics`"),
        "Method of leaving out executions that show nothing new",
        |s, v| match v {
            "bpor" => Err("there is no reduction `bpor` any more: give `dpor` with a bound on `preemptions`".into()),
            _ => one_of(&Reduction::ALL, "reduction", v).map(|reduction| s.reduction = reduction),
        },
        |s| name_of(&Reduction::ALL, s.reduction),
    )
    .in_checkpoints(),
    Setting::new(
        "preemptions",
        NUMBER_OR_NONE,
        "Most preemptions in an execution",
        |s, v| optional(v, number).map(|n| s.preemptions = n),
        |s| given(s.preemptions),
    )
    .in_checkpoints(),
    Setting::new(
        "executions",
        NUMBER_OR_NONE,
        "Most executions",
        |s, v| optional(v, number).map(|n| s.executions = n),
        |s| given(s.executions),
    ),
    Setting::new(
        "time",
        ("SECONDS", "seconds, `none`, or `auto`: two minutes where `executions` are not limited either"),
        "Most seconds for each exploration",
        |s, v| time(v).map(|n| s.time = n),
        |s| match s.time {
            None => "auto".into(),
            Some(Duration::MAX) => "none".into(),
            Some(time) => time.as_secs_f64().to_string(),
        },
    ),
    Setting::new(
        "steps",
        NUMBER,
        "Most steps in an execution; one that takes more is a finding",
        |s, v| number(v).map(|n| s.steps = n),
        |s| s.steps.to_string(),
    )
    .of(Group::Execution)
    .in_checkpoints(),
    Setting::new(
        "seed",
        ("N", "a number; `7/123` begins with the 123rd execution of a search that draws them at random"),
        "Seed of the search's own randomness",
        |s, v| strategy::seed(v).map(|(seed, first)| (s.seed, s.first_execution) = (seed, first)),
        |s| match s.first_execution {
            None => s.seed.to_string(),
            Some(first) => format!("{}/{first}", s.seed),
        },
    )
    .in_checkpoints(),
    Setting::new(
        "keep_going",
        BOOL,
        "Continues after a finding",
        |s, v| truth(v).map(|b| s.keep_going = b),
        |s| s.keep_going.to_string(),
    )
    .in_checkpoints(),
    Setting::new(
        "jobs",
        ("N", "a number, at least 1"),
        "Workers that explore, each on a thread of its own",
        |s, v| match number(v)? {
            jobs @ 1..=JOBS_MAX => {
                s.jobs = jobs;
                Ok(())
            }
            jobs => Err(format!("{jobs} workers: give 1 to {JOBS_MAX}")),
        },
        |s| s.jobs.to_string(),
    ),
    Setting::new(
        "checkpoint",
        ("FILE", "a file, or `none`"),
        "Keeps the search in this file, and continues from it if it exists; for `test` a directory, with a file for each test",
        |s, v| path(v).map(|file| s.checkpoint = file),
        |s| file(s.checkpoint.as_deref()),
    ),
    Setting::new(
        "monitors",
        ("NAME[:ARGS]", MONITORS),
        "Adds a monitor to those on by default, by the name in `monitor list` or the path of a plugin",
        |s, v| MonitorRequest::parse(v).map(|monitors| s.monitors = monitors),
        |s| match MonitorRequest::list(&s.monitors) {
            list if list.is_empty() => monitors::DEFAULT.into(),
            list => list,
        },
    )
    .in_replays(),
    Setting::new(
        "detail",
        ("NAME", "`quiet`, `normal` or `verbose`"),
        "Level of detail of a failure",
        |s, v| one_of(&Verbosity::ALL, "detail", v).map(|detail| s.detail = detail),
        |s| name_of(&Verbosity::ALL, s.detail),
    )
    .of(Group::Output)
    .in_replays(),
    Setting::new(
        "environment",
        ("LIST", environment::VALUES),
        "Actions of the environment: how often in each task waits end early, weak operations fail, and so on",
        |s, v| environment::apply(v, &mut s.environment),
        |s| environment::show(&s.environment),
    )
    .of(Group::Execution)
    .advanced()
    .in_checkpoints(),
    Setting::new(
        "spin_loops",
        ("NAME", "`park`, `assume` or `run`"),
        "Treatment of loops that only wait: a task is disabled after a failed round; or a loop that was once seen to wait is assumed to wait from its first round on; or every round is run",
        |s, v| match v {
            // For commands that take the assumption away, and nothing else.
            "-assume" => {
                if s.spin_loops == SpinLoops::Assume {
                    s.spin_loops = SpinLoops::Park;
                }
                Ok(())
            }
            _ => one_of(&SpinLoops::ALL, "treatment of loops that wait", v).map(|loops| s.spin_loops = loops),
        },
        |s| name_of(&SpinLoops::ALL, s.spin_loops),
    )
    .of(Group::Execution)
    .advanced()
    .in_checkpoints(),
    Setting::new(
        "preempt",
        ("LIST", "module paths, source files and variables, with `!` before those to leave out; or `everywhere`"),
        "Places where tasks are preempted: `queue::ring,!slots.rs,tail`",
        |s, v| scope::parse(v).map(|(only_in, not_in)| (s.preempt_in, s.preempt_not_in) = (only_in, not_in)),
        |s| scope::show(&s.preempt_in, &s.preempt_not_in),
    )
    .advanced()
    .in_checkpoints(),
    Setting::new(
        "data_points",
        ("LIST", "source files with lines (`ring.rs:12`), `races` for the accesses of data races, or `none`; `-races` keeps only the places"),
        "Accesses to plain memory that are schedule points: at these places, and of data races that are found (with `keep_going`)",
        |s, v| match v {
            "-races" => {
                s.preempt_at_races = false;
                Ok(())
            }
            _ => scope::parse_data_points(v)
                .map(|(sites, races)| (s.schedule_points_at, s.preempt_at_races) = (sites, races)),
        },
        |s| scope::show_data_points(&s.schedule_points_at, s.preempt_at_races),
    )
    .advanced()
    .in_checkpoints(),
    Setting::new(
        "breakpoints",
        ("LIST", "names or pairs of places, separated by commas, each with its refinements; or `none`"),
        "Arms breakpoints: `lost-update skip=3`, `a.rs:10:5 before b.rs:20:9`",
        |s, v| match v.parse() {
            Ok(armings) => {
                s.breakpoints = armings;
                Ok(())
            }
            Err(error) => Err(ArmError::to_string(&error)),
        },
        |s| or_none(s.breakpoints.to_string()),
    )
    .advanced()
    .in_checkpoints(),
    Setting::new(
        "iroots",
        ("BOOL|LIST", "`true`, `false`, or `window=20,memo=FILE`"),
        "Measures which iRoots are exposed (patterns of dependencies between places of two tasks), whatever the search",
        |s, v| strategy::iroots(v).map(|iroots| s.iroots = iroots),
        |s| strategy::show_iroots(s.iroots.as_ref()),
    )
    .advanced(),
    Setting::new(
        "deadlocks_allowed",
        BOOL,
        "Lets an execution end with tasks that wait for ever",
        |s, v| truth(v).map(|b| s.deadlocks_allowed = b),
        |s| s.deadlocks_allowed.to_string(),
    )
    .of(Group::Execution)
    .advanced()
    .in_checkpoints(),
    Setting::new(
        "minimise",
        NUMBER,
        "Most executions to make a finding smaller; 0 leaves it as it was found",
        |s, v| number(v).map(|n| s.minimise = n),
        |s| s.minimise.to_string(),
    )
    .advanced(),
    Setting::new(
        "minimise_time",
        SECONDS_OR_NONE,
        "Most seconds to replay a finding and make it smaller; after the limit of `time`, at most a quarter of that",
        |s, v| optional(v, duration).map(|n| s.minimise_time = n),
        |s| given(s.minimise_time.map(|n| n.as_secs_f64())),
    )
    .advanced(),
    Setting::new(
        "warm_up",
        NUMBER,
        "Executions before the search, for what a test sets up once and keeps; they are not judged",
        |s, v| number(v).map(|n| s.warm_up = n),
        |s| s.warm_up.to_string(),
    )
    .advanced()
    .in_replays()
    .in_checkpoints(),
    Setting::new(
        "retries",
        NUMBER,
        "Most retries of an execution that departed from its prescribed choices",
        |s, v| number(v).map(|n| s.retries = n),
        |s| s.retries.to_string(),
    )
    .advanced()
    .in_replays()
    .in_checkpoints(),
    Setting::new(
        "hang",
        SECONDS_OR_NONE,
        "Most seconds that a task may run or be blocked without a visible operation",
        |s, v| optional(v, duration).map(|n| s.hang = n),
        |s| given(s.hang.map(|n| n.as_secs_f64())),
    )
    .of(Group::Execution)
    .advanced(),
    Setting::new(
        "journal",
        ("DIR", "a directory, `usual` or `none`"),
        "Directory that keeps the choices of the running execution in case the process dies",
        |s, v| JournalAt::parse(v).map(|journal| s.journal = journal),
        |s| s.journal.to_string(),
    )
    .of(Group::Execution)
    .advanced(),
    Setting::new(
        "fair_yields",
        ("N", "a number, at least 1"),
        "Counts only every N-th yield of a task for fairness",
        |s, v| match number(v)? {
            0 => Err("every 0th yield is none: give 1 or more".into()),
            every => {
                s.fair_yields = every;
                Ok(())
            }
        },
        |s| s.fair_yields.to_string(),
    )
    .of(Group::Execution)
    .advanced()
    .in_checkpoints(),
    Setting::new(
        "tasks",
        ("N", "a number, at least 1"),
        "Most tasks of an execution; one that creates more is a finding",
        |s, v| match number(v)? {
            0 => Err("a test is a task itself: give 1 or more".into()),
            most => {
                s.tasks = most;
                Ok(())
            }
        },
        |s| s.tasks.to_string(),
    )
    .of(Group::Execution)
    .advanced()
    .in_replays()
    .in_checkpoints(),
    Setting::new(
        "stack",
        ("BYTES", "bytes, at least 32768"),
        "Bytes of each task's stack",
        |s, v| match number(v)? {
            bytes @ STACK_BYTES_MIN..=STACK_BYTES_MAX => {
                s.stack_bytes = bytes;
                Ok(())
            }
            bytes => Err(format!(
                "a stack of {bytes} bytes: give {STACK_BYTES_MIN} to {STACK_BYTES_MAX}"
            )),
        },
        |s| s.stack_bytes.to_string(),
    )
    .of(Group::Execution)
    .advanced()
    .in_replays()
    .in_checkpoints(),
    Setting::new(
        "forgotten_bytes",
        ("BYTES", "bytes; 0 to unwind tasks always"),
        "Bytes of stacks that may be lost to unfinished tasks; beyond that they are unwound",
        |s, v| number(v).map(|n| s.forgotten_bytes = n),
        |s| s.forgotten_bytes.to_string(),
    )
    .of(Group::Execution)
    .advanced()
    .in_replays(),
    Setting::new(
        "cache_bytes",
        ("BYTES", "bytes"),
        "Bytes that a search may use to remember states and traces",
        |s, v| number(v).map(|n| s.cache_bytes = n),
        |s| s.cache_bytes.to_string(),
    )
    .advanced()
    .in_checkpoints(),
    Setting::new(
        "checkpoint_every",
        ("SECONDS", "seconds"),
        "Seconds between two checkpoints",
        |s, v| duration(v).map(|n| s.checkpoint_every = n),
        |s| s.checkpoint_every.as_secs_f64().to_string(),
    )
    .advanced(),
];

/// The form of the setting `monitors`.
const MONITORS: &str = "names or paths separated by `;`, each with its arguments after a `:`, added to those on by default; \
                        `-NAME` removes one, `none` removes all; or `default`";

fn or_none(list: String) -> String {
    if list.is_empty() { "none".into() } else { list }
}

/// Names that settings once had, and what to write instead.
pub(super) const FORMER: &[(&str, &str)] = &[
    ("delays", "give `strategy` `dfs(delays=K)`"),
    ("depth", "give `strategy` `dfs(depth=N)`"),
    ("depth_step", "give `strategy` `dfs(step=N)`"),
    ("variables", "give `strategy` `ranked(variables=N)`"),
    ("variable_sets", "give `strategy` `ranked(sets=dynamic)`"),
    ("arrays", "give `strategy` `ranked(arrays=whole)`"),
    ("threads", "give `strategy` `ranked(threads=N)`"),
    ("epsilon", "give `strategy` `ranked(epsilon=P)`"),
    ("priority", "give `strategy` `best-first(preemptions,rare)`"),
    ("prefixes", "give `strategy` `best-first(prefixes=N)`"),
    (
        "iroot_window",
        "give `iroots` `window=N`, or `strategy` `maple(window=N)`",
    ),
    ("iroot_attempts", "give `strategy` `maple(attempts=N)`"),
    (
        "memo",
        "give `iroots` `memo=FILE`, or `strategy` `maple(memo=FILE)`",
    ),
    ("first_execution", "give `seed` `SEED/FIRST`, as in `7/123`"),
    ("awaits", "give `spin_loops` `run` instead of `false`"),
    ("assume_awaits", "give `spin_loops` `assume` instead of `true`"),
    ("preempt_in", "give `preempt` the same list"),
    (
        "preempt_not_in",
        "give `preempt` the same list, with `!` before each entry",
    ),
    (
        "schedule_points_at",
        "give `data_points` the same list, with `races` added",
    ),
    (
        "preempt_at_races",
        "give `data_points` `none` instead of `false`, or the places without `races`",
    ),
    (
        "quiet_atomics",
        "give `reduction` `ordered-atomics` instead of `true`",
    ),
    ("spurious_wakeups", "give `environment` `spurious_wakeups=N`"),
    ("timeouts", "give `environment` `timeouts=N`"),
    ("weak_failures", "give `environment` `weak_failures=N`"),
    ("try_lock_failures", "give `environment` `try_lock_failures=N`"),
    ("notify_any", "give `environment` `notify_any=BOOL`"),
    ("arc_counts", "give `environment` `arc_counts=BOOL`"),
    ("address_reuse", "give `environment` `address_reuse=N`"),
    ("test_seed", "give `environment` `seed=N`"),
];

/// Returns the setting of this name.
///
/// # Errors
/// There is none; the text says what to give instead, as far as it is known.
pub(super) fn find(name: &str) -> Result<&'static Setting, String> {
    find_or(name, &[])
}

/// Returns the setting of this name, where these words could be meant, too.
pub(super) fn find_or(name: &str, others: &[&str]) -> Result<&'static Setting, String> {
    if let Some(setting) = SETTINGS.iter().find(|setting| setting.name == name) {
        return Ok(setting);
    }
    if let Some(problem) = instead_of(name) {
        return Err(problem);
    }
    let known: Vec<&str> = SETTINGS.iter().map(|setting| setting.name).collect();
    let hint = did_you_mean(name, known.iter().chain(others).copied());
    Err(format!(
        "there is no such setting; {hint}there are: {}",
        known.join(", ")
    ))
}

/// Returns the text that says what to give instead of a setting that there once was; `None` if there was none of this name.
pub(super) fn instead_of(name: &str) -> Option<String> {
    let former = FORMER.iter().find(|(former, _)| *former == name);
    former.map(|(_, instead)| format!("there is no such setting any more: {instead}"))
}
