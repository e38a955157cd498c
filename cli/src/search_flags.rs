//! The flags that steer a search: one per setting, each understood by `Settings::set` alone.

use crate::problem::Problem;
use clap::Args;
use intermezzo::{Detail, Reduction, Settings, StrategyKind};

// Headings in the help.
const SEARCH: &str = "Search";
const LIMITS: &str = "Limits of an execution";
const ENVIRONMENT: &str = "Actions of the environment";
const OUTPUT: &str = "Output";

/// The settings that a schedule does not carry, and that a replay needs as well as the search that recorded it.
#[derive(Args, Debug, Default, Clone)]
pub(crate) struct LimitFlags {
    /// Most tasks of an execution; one that creates more is a finding
    #[arg(long, value_name = "N", value_parser = setting("tasks"), help_heading = LIMITS,
          allow_negative_numbers = true)]
    tasks: Option<String>,
    /// Bytes of stacks that may be lost to tasks left in the middle; beyond that they are unwound
    #[arg(long, value_name = "BYTES", value_parser = setting("forgotten_bytes"), help_heading = LIMITS,
          allow_negative_numbers = true)]
    forgotten_bytes: Option<String>,
    /// Bytes of each task's stack, at least 32768
    #[arg(long, value_name = "BYTES", value_parser = setting("stack"), help_heading = LIMITS,
          allow_negative_numbers = true)]
    stack: Option<String>,
    /// Executions before the search, for what a test sets up once and keeps; they are not judged
    #[arg(long, value_name = "N", value_parser = setting("warm_up"), help_heading = SEARCH,
          allow_negative_numbers = true)]
    warm_up: Option<String>,
    /// Most retries of an execution that departed from its prescribed choices
    #[arg(long, value_name = "N", value_parser = setting("retries"), help_heading = SEARCH,
          allow_negative_numbers = true)]
    retries: Option<String>,
    /// Adds a monitor to those on by default: of `monitor list`, or a plugin by name or path; `-NAME` removes one,
    /// `none` removes all; can be given several times
    #[arg(long = "monitor", value_name = "NAME[:ARGS]", value_parser = setting("monitors"), help_heading = SEARCH,
          allow_hyphen_values = true)]
    monitors: Vec<String>,
    /// Level of detail of a failure: `quiet`, `normal` or `verbose`
    #[arg(long, value_name = "NAME", value_parser = setting("detail"), help_heading = OUTPUT)]
    detail: Option<String>,
    /// Prints only the verdict and the first line of each finding: `--detail quiet`
    #[arg(long, conflicts_with_all = ["detail", "verbose"], help_heading = OUTPUT)]
    quiet: bool,
    /// Prints every event of a failing execution, and the settings of the search: `--detail verbose`
    #[arg(long, conflicts_with = "detail", help_heading = OUTPUT)]
    verbose: bool,
}

impl LimitFlags {
    /// Returns the level of detail, if one was given.
    fn detail(&self) -> Option<String> {
        let short = match (self.quiet, self.verbose) {
            (true, _) => Some("quiet"),
            (_, true) => Some("verbose"),
            _ => None,
        };
        short.map(str::to_owned).or_else(|| self.detail.clone())
    }
}

/// The settings of a search. A flag that is not given leaves the setting to the test, or to the program.
#[derive(Args, Debug, Default, Clone)]
pub(crate) struct SearchFlags {
    /// Search to run: `auto`, `dfs`, `delays`, `best-first`, `ranked`, `coverage`; or one that draws executions:
    /// `random`, `pct(3)`, `pctvb(3,1)`, `pct-all(3)`, `pos`, `places`, `surw`, `portfolio(surw,pos,2*pct(3))`
    #[arg(long, value_name = "NAME", value_parser = setting("strategy"), help_heading = SEARCH)]
    strategy: Option<String>,
    /// Method of leaving out executions that show nothing new: `none`, `caching`, `source-dpor`, `dpor` or `bpor`
    #[arg(long, value_name = "NAME", value_parser = setting("reduction"), help_heading = SEARCH)]
    reduction: Option<String>,
    /// Most preemptions in an execution, or `none` for no bound
    #[arg(long, value_name = "N", value_parser = setting("preemptions"), help_heading = SEARCH,
          allow_negative_numbers = true)]
    preemptions: Option<String>,
    /// Most delays in an execution (tasks skipped in round-robin order), or `none` for no bound
    #[arg(long, value_name = "N", value_parser = setting("delays"), help_heading = SEARCH,
          allow_negative_numbers = true)]
    delays: Option<String>,
    /// Most variables after accesses to which an execution is preempted, in a ranked search, or `none` for no bound
    #[arg(long, value_name = "N", value_parser = setting("variables"), help_heading = SEARCH,
          allow_negative_numbers = true)]
    variables: Option<String>,
    /// Order of a ranked search: sets of variables one after the other (`each`) or as they occur (`dynamic`)
    #[arg(long, value_name = "NAME", value_parser = setting("variable_sets"), help_heading = SEARCH)]
    variable_sets: Option<String>,
    /// Variables of a ranked search: each element of an array (`elements`), or an array as one variable (`whole`)
    #[arg(long, value_name = "NAME", value_parser = setting("arrays"), help_heading = SEARCH)]
    arrays: Option<String>,
    /// Number of tasks for which a ranked search tries every order, by random priorities, or `none` for no priorities
    #[arg(long, value_name = "N", value_parser = setting("threads"), help_heading = SEARCH,
          allow_negative_numbers = true)]
    threads: Option<String>,
    /// Maximum probability of missing one of these orders
    #[arg(long, value_name = "P", value_parser = setting("epsilon"), help_heading = SEARCH,
          allow_negative_numbers = true)]
    epsilon: Option<String>,
    /// Number of choices of an execution that are varied, from the first, or `none` for all
    #[arg(long, value_name = "N", value_parser = setting("depth"), help_heading = SEARCH,
          allow_negative_numbers = true)]
    depth: Option<String>,
    /// Growth of the depth from round to round, in choices, or `none` for one round
    #[arg(long, value_name = "N", value_parser = setting("depth_step"), help_heading = SEARCH,
          allow_negative_numbers = true)]
    depth_step: Option<String>,
    /// Preempts only in these module paths, source files and variables (`queue::ring,slots.rs,atomic 0.2`)
    #[arg(long, value_name = "LIST", value_parser = setting("preempt_in"), help_heading = SEARCH)]
    preempt_in: Option<String>,
    /// Does not preempt in these module paths, source files and variables
    #[arg(long, value_name = "LIST", value_parser = setting("preempt_not_in"), help_heading = SEARCH)]
    preempt_not_in: Option<String>,
    /// Leaves out schedule points at atomics whose accesses other synchronisation orders
    #[arg(long, value_name = "BOOL", value_parser = setting("quiet_atomics"), help_heading = SEARCH,
          num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    quiet_atomics: Option<String>,
    /// Makes accesses to plain memory at these places schedule points: `ring.rs:12`, separated by commas
    #[arg(long, value_name = "LIST", value_parser = setting("schedule_points_at"), help_heading = SEARCH)]
    schedule_points_at: Option<String>,
    /// Makes the accesses of data races that are found schedule points; takes --keep-going
    #[arg(long, value_name = "BOOL", value_parser = setting("preempt_at_races"), help_heading = SEARCH,
          num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    preempt_at_races: Option<String>,
    /// Arms breakpoints, by name or by places: `lost-update skip=3`, `a.rs:10:5 before b.rs:20:9`, separated by commas
    #[arg(long, value_name = "LIST", value_parser = setting("breakpoints"), help_heading = SEARCH)]
    breakpoints: Option<String>,
    /// Order of a best-first search, as in `preemptions,2*rare+deepest`; a wrong name lists all
    #[arg(long, value_name = "LIST", value_parser = setting("priority"), help_heading = SEARCH)]
    priority: Option<String>,
    /// Most unexplored prefixes that a best-first search keeps
    #[arg(long, value_name = "N", value_parser = setting("prefixes"), help_heading = SEARCH,
          allow_negative_numbers = true)]
    prefixes: Option<String>,
    /// Measures which iRoots are exposed (patterns of dependencies between places of two tasks), whatever the search
    #[arg(long, value_name = "BOOL", value_parser = setting("iroots"), help_heading = SEARCH,
          num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    iroots: Option<String>,
    /// Most events of a task between two accesses of an iRoot
    #[arg(long, value_name = "N", value_parser = setting("iroot_window"), help_heading = SEARCH,
          allow_negative_numbers = true)]
    iroot_window: Option<String>,
    /// Most attempts of the search `coverage` to expose an iRoot, in all explorations that share a memo
    #[arg(long, value_name = "N", value_parser = setting("iroot_attempts"), help_heading = SEARCH,
          allow_negative_numbers = true)]
    iroot_attempts: Option<String>,
    /// Remembers in this file which iRoots were exposed, for the search `coverage` of any test and process
    #[arg(long, value_name = "FILE", value_parser = setting("memo"), help_heading = SEARCH)]
    memo: Option<String>,
    /// Most executions, or `none` for no limit
    #[arg(long, value_name = "N", value_parser = setting("executions"), help_heading = SEARCH,
          allow_negative_numbers = true)]
    executions: Option<String>,
    /// Most steps in an execution; one that takes more is a finding
    #[arg(long, value_name = "N", value_parser = setting("steps"), help_heading = LIMITS,
          allow_negative_numbers = true)]
    steps: Option<String>,
    /// Counts only every N-th yield of a task for fairness
    #[arg(long, value_name = "N", value_parser = setting("fair_yields"), help_heading = LIMITS,
          allow_negative_numbers = true)]
    fair_yields: Option<String>,
    /// Disables a task whose loop only waits, until the value that it waits for changes
    #[arg(long, value_name = "BOOL", value_parser = setting("awaits"), help_heading = LIMITS,
          num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    awaits: Option<String>,
    /// Assumes that a loop which was once seen to only wait does so from its first round on
    #[arg(long, value_name = "BOOL", value_parser = setting("assume_awaits"), help_heading = LIMITS,
          num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    assume_awaits: Option<String>,
    /// Most seconds for each exploration, or `none` for no limit
    #[arg(long, value_name = "SECONDS", value_parser = setting("time"), help_heading = SEARCH,
          allow_negative_numbers = true)]
    time: Option<String>,
    /// Seed of the search's own randomness
    #[arg(long, value_name = "N", value_parser = setting("seed"), help_heading = SEARCH,
          allow_negative_numbers = true)]
    seed: Option<String>,
    /// First execution of a search that draws at random, by its number
    #[arg(long, value_name = "N", value_parser = setting("first_execution"), help_heading = SEARCH)]
    first_execution: Option<String>,
    /// Bytes that a search may use to remember states and traces
    #[arg(long, value_name = "BYTES", value_parser = setting("cache_bytes"), help_heading = SEARCH,
          allow_negative_numbers = true)]
    cache_bytes: Option<String>,
    /// Most executions to make a finding smaller; 0 leaves it as it was found
    #[arg(long, value_name = "N", value_parser = setting("minimise"), help_heading = SEARCH,
          allow_negative_numbers = true)]
    minimise: Option<String>,
    /// Most seconds to replay a finding and make it smaller, or `none` for no limit; after the time limit of
    /// `--time`, at most a quarter of that
    #[arg(long, value_name = "SECONDS", value_parser = setting("minimise_time"), help_heading = SEARCH,
          allow_negative_numbers = true)]
    minimise_time: Option<String>,
    /// Most seconds that a task may run or be blocked without a visible operation, or `none` for no limit
    #[arg(long, value_name = "SECONDS", value_parser = setting("hang"), help_heading = LIMITS,
          allow_negative_numbers = true)]
    hang: Option<String>,
    /// Directory that keeps the choices of the running execution in case the process dies; or `usual` or `none`
    #[arg(long, value_name = "DIR", value_parser = setting("journal"), help_heading = LIMITS)]
    journal: Option<String>,
    /// Lets an execution end with tasks that wait for ever
    #[arg(long, value_name = "BOOL", value_parser = setting("deadlocks_allowed"), help_heading = LIMITS,
          num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    deadlocks_allowed: Option<String>,
    /// Continues after a finding
    #[arg(long, value_name = "BOOL", value_parser = setting("keep_going"), help_heading = SEARCH,
          num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    keep_going: Option<String>,
    /// Workers that explore, each on a thread of its own
    #[arg(long, value_name = "N", value_parser = setting("jobs"), help_heading = SEARCH,
          allow_negative_numbers = true)]
    jobs: Option<String>,
    /// Keeps the search in this file, and continues from it if it exists; for `test` a directory, with a file for
    /// each test
    #[arg(long, value_name = "FILE", value_parser = setting("checkpoint"), help_heading = SEARCH)]
    checkpoint: Option<String>,
    /// Seconds between two checkpoints
    #[arg(long, value_name = "SECONDS", value_parser = setting("checkpoint_every"), help_heading = SEARCH,
          allow_negative_numbers = true)]
    checkpoint_every: Option<String>,

    #[command(flatten)]
    limits: LimitFlags,

    /// Most spurious wake-ups in an execution
    #[arg(long, value_name = "N", value_parser = setting("spurious_wakeups"), help_heading = ENVIRONMENT,
          allow_negative_numbers = true)]
    spurious_wakeups: Option<String>,
    /// Most timed waits in an execution that time out early
    #[arg(long, value_name = "N", value_parser = setting("timeouts"), help_heading = ENVIRONMENT,
          allow_negative_numbers = true)]
    timeouts: Option<String>,
    /// Most weak compare-exchanges in an execution that fail for no reason
    #[arg(long, value_name = "N", value_parser = setting("weak_failures"), help_heading = ENVIRONMENT,
          allow_negative_numbers = true)]
    weak_failures: Option<String>,
    /// Most `try_lock`s in an execution that fail though the lock is free
    #[arg(long, value_name = "N", value_parser = setting("try_lock_failures"), help_heading = ENVIRONMENT,
          allow_negative_numbers = true)]
    try_lock_failures: Option<String>,
    /// Lets `notify_one` wake any waiter instead of only the first
    #[arg(long, value_name = "BOOL", value_parser = setting("notify_any"), help_heading = ENVIRONMENT,
          num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    notify_any: Option<String>,
    /// Makes reference counts of `Arc` schedule points
    #[arg(long, value_name = "BOOL", value_parser = setting("arc_counts"), help_heading = ENVIRONMENT,
          num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    arc_counts: Option<String>,
    /// Seed of the random numbers that the test itself draws
    #[arg(long, value_name = "N", value_parser = setting("test_seed"), help_heading = ENVIRONMENT,
          allow_negative_numbers = true)]
    test_seed: Option<String>,
}

impl SearchFlags {
    /// Returns the same flags, for a process that may run in another directory.
    pub(crate) fn wherever_run(mut self) -> SearchFlags {
        if let Some(memo) = self.memo.take() {
            let absolute = std::path::absolute(&memo).ok().filter(|_| memo != "none");
            let absolute = absolute.and_then(|path| path.into_os_string().into_string().ok());
            self.memo = Some(absolute.unwrap_or(memo));
        }
        self
    }

    /// Returns the file or directory that keeps searches.
    pub(crate) fn checkpoint(&self) -> Option<&str> {
        self.checkpoint.as_deref()
    }
}

/// Settings that were given, by name and value.
pub(crate) trait Given {
    /// Returns every setting that this can give, with its value if it was given.
    fn all(&self) -> Vec<(&'static str, Option<String>)>;

    /// Returns the given settings.
    fn given(&self) -> Vec<(&'static str, String)> {
        self.all()
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)))
            .collect()
    }

    /// Overrides settings with the given ones.
    fn apply(&self, settings: &mut Settings) {
        for (name, value) in self.given() {
            settings
                .set(name, &value)
                .expect("clap accepted what `Settings::set` accepts");
        }
    }
}

/// Returns the detail of tests under these settings, where only the command line and the environment count.
pub(crate) fn detail(given: &impl Given) -> Result<Detail, Problem> {
    let mut settings = Settings::default();
    settings
        .override_from_environment()
        .map_err(|error| Problem::usage(error.to_string()))?;
    given.apply(&mut settings);
    Ok(settings.detail)
}

impl Given for LimitFlags {
    fn all(&self) -> Vec<(&'static str, Option<String>)> {
        vec![
            ("tasks", self.tasks.clone()),
            ("stack", self.stack.clone()),
            ("forgotten_bytes", self.forgotten_bytes.clone()),
            ("warm_up", self.warm_up.clone()),
            ("retries", self.retries.clone()),
            (
                "monitors",
                (!self.monitors.is_empty()).then(|| self.monitors.join(";")),
            ),
            ("detail", self.detail()),
        ]
    }
}

impl Given for SearchFlags {
    fn all(&self) -> Vec<(&'static str, Option<String>)> {
        let mut all = vec![
            ("strategy", self.strategy.clone()),
            ("reduction", self.reduction.clone()),
            ("preemptions", self.preemptions.clone()),
            ("delays", self.delays.clone()),
            ("variables", self.variables.clone()),
            ("variable_sets", self.variable_sets.clone()),
            ("arrays", self.arrays.clone()),
            ("threads", self.threads.clone()),
            ("epsilon", self.epsilon.clone()),
            ("depth", self.depth.clone()),
            ("depth_step", self.depth_step.clone()),
            ("preempt_in", self.preempt_in.clone()),
            ("preempt_not_in", self.preempt_not_in.clone()),
            ("quiet_atomics", self.quiet_atomics.clone()),
            ("schedule_points_at", self.schedule_points_at.clone()),
            ("preempt_at_races", self.preempt_at_races.clone()),
            ("breakpoints", self.breakpoints.clone()),
            ("priority", self.priority.clone()),
            ("prefixes", self.prefixes.clone()),
            ("cache_bytes", self.cache_bytes.clone()),
            ("iroots", self.iroots.clone()),
            ("iroot_window", self.iroot_window.clone()),
            ("iroot_attempts", self.iroot_attempts.clone()),
            ("memo", self.memo.clone()),
            ("executions", self.executions.clone()),
            ("time", self.time.clone()),
            ("steps", self.steps.clone()),
            ("fair_yields", self.fair_yields.clone()),
            ("awaits", self.awaits.clone()),
            ("assume_awaits", self.assume_awaits.clone()),
            ("seed", self.seed.clone()),
            ("first_execution", self.first_execution.clone()),
            ("minimise", self.minimise.clone()),
            ("minimise_time", self.minimise_time.clone()),
            ("hang", self.hang.clone()),
            ("journal", self.journal.clone()),
            ("deadlocks_allowed", self.deadlocks_allowed.clone()),
            ("keep_going", self.keep_going.clone()),
            ("jobs", self.jobs.clone()),
            ("checkpoint", self.checkpoint.clone()),
            ("checkpoint_every", self.checkpoint_every.clone()),
            ("spurious_wakeups", self.spurious_wakeups.clone()),
            ("timeouts", self.timeouts.clone()),
            ("weak_failures", self.weak_failures.clone()),
            ("try_lock_failures", self.try_lock_failures.clone()),
            ("notify_any", self.notify_any.clone()),
            ("arc_counts", self.arc_counts.clone()),
            ("test_seed", self.test_seed.clone()),
        ];
        all.extend(self.limits.all());
        all
    }
}

impl SearchFlags {
    /// Checks that some test could be explored with these flags. They override its settings, and may contradict each
    /// other whatever the others are.
    pub(crate) fn check(&self) -> Result<(), Problem> {
        let given: Vec<&str> = self.given().into_iter().map(|(name, _)| name).collect();
        let mut settings = Settings::default();
        let mut first = None;
        // The settings that decide whether others go together, if no flag has set them.
        for (_, strategy) in &StrategyKind::ALL {
            for (_, reduction) in Reduction::ALL {
                for preemptions in [None, Some(0)] {
                    let free = |name| !given.contains(&name);
                    if free("strategy") {
                        settings.strategy = strategy.clone();
                    }
                    if free("reduction") {
                        settings.reduction = reduction;
                    }
                    if free("preemptions") {
                        settings.preemptions = preemptions;
                    }
                    self.apply(&mut settings);
                    match settings.check() {
                        Ok(()) => return Ok(()),
                        Err(error) => first = first.or(Some(error)),
                    }
                }
            }
        }
        let error = first.expect("there are strategies");
        Err(Problem::usage(format!(
            "{}: {}",
            flag(&error.name),
            error.problem
        )))
    }
}

/// Returns the flag of a setting: `--keep-going` of `keep_going`.
pub(crate) fn flag(setting: &str) -> String {
    match setting {
        // One at a time.
        "monitors" => "--monitor".into(),
        _ => format!("--{}", setting.replace('_', "-")),
    }
}

/// Accepts what `Settings::set` accepts for this setting, with its error message.
fn setting(name: &'static str) -> impl Fn(&str) -> Result<String, String> + Clone + Send + Sync + 'static {
    move |value| match Settings::default().set(name, value) {
        Ok(()) => Ok(value.to_owned()),
        Err(error) => Err(error.problem),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use std::collections::BTreeSet;

    #[derive(Parser)]
    struct Flags {
        #[command(flatten)]
        search: SearchFlags,
    }

    fn parse(flags: &[&str]) -> Result<SearchFlags, String> {
        let flags = Flags::try_parse_from(["test"].iter().chain(flags));
        flags.map(|flags| flags.search).map_err(|error| error.to_string())
    }

    /// A setting without a flag could be set from the environment only.
    #[test]
    fn every_setting_has_a_flag() {
        let flags: BTreeSet<&str> = SearchFlags::default()
            .all()
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        assert_eq!(flags, Settings::known().map(|(name, _)| name).collect());
    }

    /// Each flag gives the setting of its own name, and no other.
    #[test]
    fn a_flag_gives_its_setting() {
        for (name, _) in Settings::known() {
            let value = match name {
                "strategy" => "random",
                "reduction" => "dpor",
                "priority" => "rare",
                "schedule_points_at" => "queue/ring.rs:12,ring.rs:3:7",
                "preempt_in" | "preempt_not_in" => "queue::ring,ring.rs",
                "awaits" | "assume_awaits" | "deadlocks_allowed" | "preempt_at_races" | "keep_going"
                | "iroots" | "quiet_atomics" | "notify_any" | "arc_counts" => "false",
                "jobs" => "2",
                "variable_sets" => "dynamic",
                "arrays" => "whole",
                "epsilon" => "0.25",
                "detail" => "verbose",
                _ => "70000",
            };
            let given = parse(&[&format!("{}={value}", flag(name))]).unwrap();
            assert_eq!(given.given(), [(name, value.to_owned())]);
        }
    }

    #[test]
    fn flags_override() {
        let flags = parse(&[
            "--preemptions",
            "none",
            "--time=2.5s",
            "--keep-going",
            "--test-seed",
            "7",
        ])
        .unwrap();
        let mut settings = Settings {
            preemptions: Some(2),
            executions: Some(5),
            ..Settings::default()
        };
        flags.apply(&mut settings);
        assert_eq!((settings.preemptions, settings.executions), (None, Some(5)));
        assert_eq!((settings.keep_going, settings.environment.seed), (true, 7));
        assert_eq!(settings.time.map(|time| time.as_millis()), Some(2500));
    }

    #[test]
    fn how_much_is_told_has_short_flags() {
        for (flags, given) in [
            (&["--quiet"][..], Some("quiet")),
            (&["--verbose"], Some("verbose")),
            (&["--detail=normal"], Some("normal")),
            (&[], None),
        ] {
            let detail = parse(flags).unwrap().given();
            let expected: Vec<_> = given.iter().map(|&value| ("detail", value.to_owned())).collect();
            assert_eq!(detail, expected);
        }
        for flags in [&["--quiet", "--verbose"], &["--quiet", "--detail=verbose"]] {
            assert!(parse(flags).unwrap_err().contains("cannot be used with"));
        }
    }

    /// Flags that a test's settings may complete are not refused.
    #[test]
    fn flags_that_contradict_each_other_are_refused() {
        for (flags, says) in [
            (&["--delays=2"][..], None),
            (&["--priority=rare"], None),
            (&["--reduction=bpor"], None),
            (
                &["--delays=2", "--preemptions=2"],
                Some("--preemptions: delays and"),
            ),
            (
                &["--delays=2", "--reduction=dpor"],
                Some("--reduction: a reduction leaves"),
            ),
            (
                &["--priority=rare", "--strategy=dfs"],
                Some("--priority: only the"),
            ),
            (
                &["--reduction=bpor", "--preemptions=none"],
                Some("--reduction: `bpor` is for"),
            ),
            (
                &["--quiet-atomics", "--depth-step=2"],
                Some("--quiet-atomics: an execution"),
            ),
        ] {
            let checked = parse(flags)
                .unwrap()
                .check()
                .map_err(|problem| problem.to_string());
            match says {
                None => assert_eq!(checked, Ok(()), "{flags:?}"),
                Some(says) => assert!(
                    checked.as_ref().is_err_and(|error| error.contains(says)),
                    "{checked:?}"
                ),
            }
        }
    }

    #[test]
    fn what_cannot_be_names_the_flag() {
        for (flags, says) in [
            (
                ["--preemptions", "-1"],
                "'-1' for '--preemptions <N>': `-1` is no number in range",
            ),
            (
                ["--time", "soon"],
                "'soon' for '--time <SECONDS>': `soon` is no time",
            ),
            (
                ["--stack", "5"],
                "'5' for '--stack <BYTES>': a stack of 5 bytes: give 32768 to",
            ),
            (["--strategy", "bfs"], "`bfs` is no strategy"),
            (["--jobs", "0"], "'0' for '--jobs <N>': 0 workers: give 1 to 1024"),
            (
                ["--notify-any=maybe", "--steps=1"],
                "`maybe` is neither `true` nor `false`",
            ),
            (
                ["--premptions", "2"],
                "a similar argument exists: '--preemptions'",
            ),
        ] {
            let error = parse(&flags).unwrap_err();
            assert!(error.contains(says), "{error}");
        }
    }
}
