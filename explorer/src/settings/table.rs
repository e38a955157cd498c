//! Every setting by name: what its value is, and how text becomes it.

use super::{Arrays, Epsilon, Reduction, Settings, StrategyKind, VariableSets, Wanted};
use super::{ranks, strategy};
use crate::report::Detail;
use crate::scope::Scope;
use crate::search::PrioritySpec;
use crate::sites::Sites;
use intermezzo_breakpoint::ArmError;
use std::num::NonZero;
use std::time::Duration;

/// Most workers: more than any machine has cores.
const JOBS_MAX: usize = 1024;

/// Least stack: running a panic hook takes some 20 KiB in a debug build.
const STACK_BYTES_MIN: usize = 32 << 10;

/// Sets one field from text; the error says what would be right.
pub(super) type Set = fn(&mut Settings, &str) -> Result<(), String>;

/// Every setting: its name, what its value is, and how to set it.
pub(super) const SETTINGS: &[(&str, &str, Set)] = &[
    ("strategy", strategy::VALUES, |s, v| {
        StrategyKind::parse(v).map(|strategy| s.strategy = strategy)
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
    ("variables", "a number, or `none`", |s, v| {
        optional(v, number).map(|n| s.variables = n)
    }),
    ("variable_sets", "`each` or `dynamic`", |s, v| {
        one_of(&VariableSets::ALL, "way to take sets", v).map(|sets| s.variable_sets = sets)
    }),
    ("arrays", "`elements` or `whole`", |s, v| {
        one_of(&Arrays::ALL, "way to count arrays", v).map(|arrays| s.arrays = arrays)
    }),
    ("threads", "a number, at least 2, or `none`", |s, v| {
        optional(v, ranks::threads).map(|n| s.threads = n)
    }),
    ("epsilon", "a probability", |s, v| {
        Epsilon::parse(v).map(|n| s.epsilon = n)
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
    (
        "breakpoints",
        "names or places with commas between, each with what refines it; or `none`",
        |s, v| match v.parse() {
            Ok(armings) => {
                s.breakpoints = armings;
                Ok(())
            }
            Err(error) => Err(ArmError::to_string(&error)),
        },
    ),
    ("priority", "priority functions, or `none`", |s, v| {
        optional(v, PrioritySpec::parse).map(|priority| s.priority = priority)
    }),
    ("prefixes", "a number", |s, v| number(v).map(|n| s.prefixes = n)),
    ("iroots", "`true` or `false`", |s, v| {
        truth(v).map(|b| s.iroots = b)
    }),
    ("iroot_window", "a number", |s, v| {
        number(v).map(|n| s.iroot_window = n)
    }),
    ("iroot_attempts", "a number", |s, v| {
        number(v).map(|n| s.iroot_attempts = n)
    }),
    ("memo", "a file, or `none`", |s, v| {
        if v.is_empty() {
            return Err("no file is given: give a path, or `none`".into());
        }
        s.memo = (v != "none").then(|| v.into());
        Ok(())
    }),
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
    ("first_execution", "a number, from 1, or `none`", |s, v| {
        optional(v, number::<NonZero<u64>>).map(|n| s.first_execution = n.map(NonZero::get))
    }),
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
    ("detail", "`quiet`, `normal` or `verbose`", |s, v| {
        one_of(&Detail::ALL, "detail", v).map(|detail| s.detail = detail)
    }),
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

/// The one of these that is called so.
fn one_of<T: Copy, const N: usize>(all: &[(&str, T); N], what: &str, name: &str) -> Result<T, String> {
    let named = all.iter().find(|(known, _)| *known == name);
    named.map(|&(_, one)| one).ok_or_else(|| {
        let names = all.each_ref().map(|(name, _)| format!("`{name}`")).join(", ");
        format!("`{name}` is no {what}: give one of {names}")
    })
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
