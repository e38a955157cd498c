//! Every setting by name: what its value is, and how text becomes it.

use super::detail::Detail;
use super::journal::JournalAt;
use super::{Arrays, Reduction, Settings, VariableSets, Wanted};
use super::{ranks, strategy};
use intermezzo_breakpoint::ArmError;
use intermezzo_engine::monitors;
use intermezzo_engine::scope::Scope;
use intermezzo_engine::sites::Sites;
use intermezzo_engine::suggest::give_instead;
use intermezzo_search::PrioritySpec;
use std::num::NonZero;
use std::path::Path;
use std::time::Duration;

/// Most workers: more than any machine has cores.
const JOBS_MAX: usize = 1024;

/// Least stack: running a panic hook takes some 20 KiB in a debug build.
const STACK_BYTES_MIN: usize = 32 << 10;

/// The value of a setting that is not given.
const NONE: &str = "none";

/// Sets one field from text; the error says what would be right.
pub(super) type Set = fn(&mut Settings, &str) -> Result<(), String>;

/// One field as text that `Set` takes.
pub(super) type Show = fn(&Settings) -> String;

/// A setting as it is known by name.
pub(super) struct Setting {
    pub(super) name: &'static str,
    /// What its value is, in words.
    pub(super) value: &'static str,
    pub(super) set: Set,
    pub(super) show: Show,
}

impl Setting {
    const fn new(name: &'static str, value: &'static str, set: Set, show: Show) -> Setting {
        Setting {
            name,
            value,
            set,
            show,
        }
    }
}

/// Every setting.
pub(super) const SETTINGS: &[Setting] = &[
    Setting::new(
        "strategy",
        strategy::VALUES,
        |s, v| strategy::parse(v).map(|strategy| s.strategy = strategy),
        |s| s.strategy.to_string(),
    ),
    Setting::new(
        "reduction",
        "`auto`, `none`, `caching`, `source-dpor`, `dpor` or `bpor`",
        |s, v| one_of(&Reduction::ALL, "reduction", v).map(|reduction| s.reduction = reduction),
        |s| name_of(&Reduction::ALL, s.reduction),
    ),
    Setting::new(
        "preemptions",
        "a number, or `none`",
        |s, v| optional(v, number).map(|n| s.preemptions = n),
        |s| given(s.preemptions),
    ),
    Setting::new(
        "delays",
        "a number, or `none`",
        |s, v| optional(v, number).map(|n| s.delays = n),
        |s| given(s.delays),
    ),
    Setting::new(
        "variables",
        "a number, or `none`",
        |s, v| optional(v, number).map(|n| s.variables = n),
        |s| given(s.variables),
    ),
    Setting::new(
        "variable_sets",
        "`each` or `dynamic`",
        |s, v| one_of(&VariableSets::ALL, "way to take sets", v).map(|sets| s.variable_sets = sets),
        |s| name_of(&VariableSets::ALL, s.variable_sets),
    ),
    Setting::new(
        "arrays",
        "`elements` or `whole`",
        |s, v| one_of(&Arrays::ALL, "way to count arrays", v).map(|arrays| s.arrays = arrays),
        |s| name_of(&Arrays::ALL, s.arrays),
    ),
    Setting::new(
        "threads",
        "a number, at least 2, or `none`",
        |s, v| optional(v, ranks::threads).map(|n| s.threads = n),
        |s| given(s.threads),
    ),
    Setting::new(
        "epsilon",
        "a probability",
        |s, v| ranks::epsilon(v).map(|n| s.epsilon = n),
        |s| s.epsilon.to_string(),
    ),
    Setting::new(
        "depth",
        "a number, or `none`",
        |s, v| optional(v, number).map(|n| s.depth = n),
        |s| given(s.depth),
    ),
    Setting::new(
        "depth_step",
        "a number above 0, or `none`",
        |s, v| optional(v, number).map(|n| s.depth_step = n),
        |s| given(s.depth_step),
    ),
    Setting::new(
        "preempt_in",
        "module paths, source files or variables",
        |s, v| Scope::parse(v).map(|scope| s.preempt_in = scope),
        |s| s.preempt_in.to_string(),
    ),
    Setting::new(
        "preempt_not_in",
        "module paths, source files or variables",
        |s, v| Scope::parse(v).map(|scope| s.preempt_not_in = scope),
        |s| s.preempt_not_in.to_string(),
    ),
    Setting::new(
        "quiet_atomics",
        "`true` or `false`",
        |s, v| truth(v).map(|b| s.quiet_atomics = b),
        |s| s.quiet_atomics.to_string(),
    ),
    Setting::new(
        "schedule_points_at",
        "source files with lines, separated by commas (`ring.rs:12`)",
        |s, v| Sites::parse(v).map(|sites| s.schedule_points_at = sites),
        |s| s.schedule_points_at.to_string(),
    ),
    Setting::new(
        "preempt_at_races",
        "`true` or `false`",
        |s, v| truth(v).map(|b| s.preempt_at_races = b),
        |s| s.preempt_at_races.to_string(),
    ),
    Setting::new(
        "breakpoints",
        "names or places with commas between, each with what refines it; or `none`",
        |s, v| match v.parse() {
            Ok(armings) => {
                s.breakpoints = armings;
                Ok(())
            }
            Err(error) => Err(ArmError::to_string(&error)),
        },
        |s| or_none(s.breakpoints.to_string()),
    ),
    Setting::new(
        "priority",
        "priority functions, or `none`",
        |s, v| optional(v, PrioritySpec::parse).map(|priority| s.priority = priority),
        |s| given(s.priority.as_ref()),
    ),
    Setting::new(
        "prefixes",
        "a number",
        |s, v| number(v).map(|n| s.prefixes = n),
        |s| s.prefixes.to_string(),
    ),
    Setting::new(
        "iroots",
        "`true` or `false`",
        |s, v| truth(v).map(|b| s.iroots = b),
        |s| s.iroots.to_string(),
    ),
    Setting::new(
        "iroot_window",
        "a number",
        |s, v| number(v).map(|n| s.iroot_window = n),
        |s| s.iroot_window.to_string(),
    ),
    Setting::new(
        "iroot_attempts",
        "a number",
        |s, v| number(v).map(|n| s.iroot_attempts = n),
        |s| s.iroot_attempts.to_string(),
    ),
    Setting::new(
        "memo",
        "a file, or `none`",
        |s, v| {
            if v.is_empty() {
                return Err("no file is given: give a path, or `none`".into());
            }
            s.memo = (v != NONE).then(|| v.into());
            Ok(())
        },
        |s| file(s.memo.as_deref()),
    ),
    Setting::new(
        "executions",
        "a number, or `none`",
        |s, v| optional(v, number).map(|n| s.executions = n),
        |s| given(s.executions),
    ),
    Setting::new(
        "time",
        "seconds, `none`, or `auto`: two minutes where `executions` are not limited either",
        |s, v| time(v).map(|n| s.time = n),
        |s| match s.time {
            None => "auto".into(),
            Some(Duration::MAX) => NONE.into(),
            Some(time) => time.as_secs_f64().to_string(),
        },
    ),
    Setting::new(
        "steps",
        "a number",
        |s, v| number(v).map(|n| s.steps = n),
        |s| s.steps.to_string(),
    ),
    Setting::new(
        "hang",
        "seconds, or `none`",
        |s, v| optional(v, duration).map(|n| s.hang = n),
        |s| given(s.hang.map(|n| n.as_secs_f64())),
    ),
    Setting::new(
        "journal",
        "a directory, `usual` or `none`",
        |s, v| JournalAt::parse(v).map(|journal| s.journal = journal),
        |s| s.journal.to_string(),
    ),
    Setting::new(
        "fair_yields",
        "a number, at least 1",
        |s, v| match number(v)? {
            0 => Err("every 0th yield is none: give 1 or more".into()),
            every => {
                s.fair_yields = every;
                Ok(())
            }
        },
        |s| s.fair_yields.to_string(),
    ),
    Setting::new(
        "awaits",
        "`true` or `false`",
        |s, v| truth(v).map(|b| s.awaits = b),
        |s| s.awaits.to_string(),
    ),
    Setting::new(
        "warm_up",
        "a number",
        |s, v| number(v).map(|n| s.warm_up = n),
        |s| s.warm_up.to_string(),
    ),
    Setting::new(
        "retries",
        "a number",
        |s, v| number(v).map(|n| s.retries = n),
        |s| s.retries.to_string(),
    ),
    Setting::new(
        "minimise",
        "a number",
        |s, v| number(v).map(|n| s.minimise = n),
        |s| s.minimise.to_string(),
    ),
    Setting::new(
        "minimise_time",
        "seconds, or `none`",
        |s, v| optional(v, duration).map(|n| s.minimise_time = n),
        |s| given(s.minimise_time.map(|n| n.as_secs_f64())),
    ),
    Setting::new(
        "assume_awaits",
        "`true` or `false`",
        |s, v| truth(v).map(|b| s.assume_awaits = b),
        |s| s.assume_awaits.to_string(),
    ),
    Setting::new(
        "deadlocks_allowed",
        "`true` or `false`",
        |s, v| truth(v).map(|b| s.deadlocks_allowed = b),
        |s| s.deadlocks_allowed.to_string(),
    ),
    Setting::new(
        "keep_going",
        "`true` or `false`",
        |s, v| truth(v).map(|b| s.keep_going = b),
        |s| s.keep_going.to_string(),
    ),
    Setting::new(
        "seed",
        "a number",
        |s, v| number(v).map(|n| s.seed = n),
        |s| s.seed.to_string(),
    ),
    Setting::new(
        "first_execution",
        "a number, from 1, or `none`",
        |s, v| optional(v, number::<NonZero<u64>>).map(|n| s.first_execution = n.map(NonZero::get)),
        |s| given(s.first_execution),
    ),
    Setting::new(
        "cache_bytes",
        "bytes",
        |s, v| number(v).map(|n| s.cache_bytes = n),
        |s| s.cache_bytes.to_string(),
    ),
    Setting::new(
        "jobs",
        "a number, at least 1",
        |s, v| {
            let jobs = number(v)?;
            if !(1..=JOBS_MAX).contains(&jobs) {
                return Err(format!("{jobs} workers: give 1 to {JOBS_MAX}"));
            }
            s.jobs = jobs;
            Ok(())
        },
        |s| s.jobs.to_string(),
    ),
    Setting::new(
        "checkpoint",
        "a file, or `none`",
        |s, v| {
            if v.is_empty() {
                return Err("no file is given: give a path, or `none`".into());
            }
            s.checkpoint = (v != NONE).then(|| v.into());
            Ok(())
        },
        |s| file(s.checkpoint.as_deref()),
    ),
    Setting::new(
        "checkpoint_every",
        "seconds",
        |s, v| duration(v).map(|n| s.checkpoint_every = n),
        |s| s.checkpoint_every.as_secs_f64().to_string(),
    ),
    Setting::new(
        "tasks",
        "a number, at least 1",
        |s, v| match number(v)? {
            0 => Err("a test is a task itself: give 1 or more".into()),
            most => {
                s.tasks = most;
                Ok(())
            }
        },
        |s| s.tasks.to_string(),
    ),
    Setting::new(
        "stack",
        "bytes, at least 32768",
        |s, v| {
            let bytes = number(v)?;
            if !(STACK_BYTES_MIN..=1 << 30).contains(&bytes) {
                return Err(format!(
                    "a stack of {bytes} bytes: give {STACK_BYTES_MIN} to {}",
                    1 << 30
                ));
            }
            s.stack_bytes = bytes;
            Ok(())
        },
        |s| s.stack_bytes.to_string(),
    ),
    Setting::new(
        "forgotten_bytes",
        "bytes; 0 to unwind tasks always",
        |s, v| number(v).map(|n| s.forgotten_bytes = n),
        |s| s.forgotten_bytes.to_string(),
    ),
    Setting::new(
        "monitors",
        "names or paths with `;` between, each with its arguments after a `:`, added to those on by default; `-NAME` takes one \
         away, `none` all; or `default`",
        |s, v| Wanted::parse(v).map(|monitors| s.monitors = monitors),
        |s| match Wanted::list(&s.monitors) {
            list if list.is_empty() => monitors::DEFAULT.into(),
            list => list,
        },
    ),
    Setting::new(
        "detail",
        "`quiet`, `normal` or `verbose`",
        |s, v| one_of(&Detail::ALL, "detail", v).map(|detail| s.detail = detail),
        |s| name_of(&Detail::ALL, s.detail),
    ),
    Setting::new(
        "spurious_wakeups",
        "a number",
        |s, v| number(v).map(|n| s.environment.spurious_wakeups = n),
        |s| s.environment.spurious_wakeups.to_string(),
    ),
    Setting::new(
        "timeouts",
        "a number",
        |s, v| number(v).map(|n| s.environment.timeouts = n),
        |s| s.environment.timeouts.to_string(),
    ),
    Setting::new(
        "weak_failures",
        "a number",
        |s, v| number(v).map(|n| s.environment.weak_failures = n),
        |s| s.environment.weak_failures.to_string(),
    ),
    Setting::new(
        "try_lock_failures",
        "a number",
        |s, v| number(v).map(|n| s.environment.try_lock_failures = n),
        |s| s.environment.try_lock_failures.to_string(),
    ),
    Setting::new(
        "notify_any",
        "`true` or `false`",
        |s, v| truth(v).map(|b| s.environment.notify_any = b),
        |s| s.environment.notify_any.to_string(),
    ),
    Setting::new(
        "arc_counts",
        "`true` or `false`",
        |s, v| truth(v).map(|b| s.environment.arc_counts = b),
        |s| s.environment.arc_counts.to_string(),
    ),
    Setting::new(
        "test_seed",
        "a number",
        |s, v| number(v).map(|n| s.environment.seed = n),
        |s| s.environment.seed.to_string(),
    ),
];

/// The one of these that is called so.
fn one_of<T: Copy, const N: usize>(all: &[(&str, T); N], what: &str, name: &str) -> Result<T, String> {
    let named = all.iter().find(|(known, _)| *known == name);
    named.map(|&(_, one)| one).ok_or_else(|| {
        let names = all.each_ref().map(|(name, _)| format!("`{name}`")).join(", ");
        let instead = give_instead(name, all.iter().map(|(known, _)| *known), &names);
        format!("`{name}` is no {what}: {instead}")
    })
}

/// What this one is called.
fn name_of<T: Copy + PartialEq, const N: usize>(all: &[(&str, T); N], one: T) -> String {
    let named = all.iter().find(|(_, known)| *known == one);
    named.expect("all of them have names").0.to_owned()
}

pub(super) fn number<N: std::str::FromStr>(value: &str) -> Result<N, String> {
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

/// A limit of time; `None` where it is chosen.
fn time(value: &str) -> Result<Option<Duration>, String> {
    match value {
        "auto" => Ok(None),
        NONE => Ok(Some(Duration::MAX)),
        _ => duration(value).map(Some),
    }
}

fn truth(value: &str) -> Result<bool, String> {
    match value {
        "true" | "1" | "on" | "yes" => Ok(true),
        "false" | "0" | "off" | "no" => Ok(false),
        _ => Err(format!("`{value}` is neither `true` nor `false`")),
    }
}

fn optional<T>(value: &str, parse: fn(&str) -> Result<T, String>) -> Result<Option<T>, String> {
    if value == NONE {
        Ok(None)
    } else {
        parse(value).map(Some)
    }
}

fn given(value: Option<impl ToString>) -> String {
    value.map_or_else(|| NONE.into(), |value| value.to_string())
}

fn file(path: Option<&Path>) -> String {
    given(path.map(Path::display))
}

fn or_none(list: String) -> String {
    if list.is_empty() { NONE.into() } else { list }
}
