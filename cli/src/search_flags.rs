//! The flags that steer a search: one per setting, each understood by `Settings::set` alone.

use clap::Args;
use intermezzo::Settings;

// Headings in the help.
const SEARCH: &str = "Search";
const LIMITS: &str = "Limits of an execution";
const ENVIRONMENT: &str = "What the environment may do unasked";

/// What a schedule does not carry, and a replay needs as well as the search that recorded it.
#[derive(Args, Debug, Default, Clone)]
pub(crate) struct LimitFlags {
    /// Bytes of each task's stack, at least 32768
    #[arg(long, value_name = "BYTES", value_parser = setting("stack"), help_heading = LIMITS,
          allow_negative_numbers = true)]
    stack: Option<String>,
    /// Executions before the search, for what a test sets up once and keeps; they are not judged
    #[arg(long, value_name = "N", value_parser = setting("warm_up"), help_heading = SEARCH,
          allow_negative_numbers = true)]
    warm_up: Option<String>,
    /// How often an execution is tried again that departed from what was prescribed
    #[arg(long, value_name = "N", value_parser = setting("retries"), help_heading = SEARCH,
          allow_negative_numbers = true)]
    retries: Option<String>,
}

/// What steers a search. A flag that is not given leaves the setting to the test, or to the program.
#[derive(Args, Debug, Default, Clone)]
pub(crate) struct SearchFlags {
    /// Which search to run: `dfs` or `random`
    #[arg(long, value_name = "NAME", value_parser = setting("strategy"), help_heading = SEARCH)]
    strategy: Option<String>,
    /// How to leave out executions that show nothing new: `none`, `caching`, `source-dpor`, `dpor` or `bpor`
    #[arg(long, value_name = "NAME", value_parser = setting("reduction"), help_heading = SEARCH)]
    reduction: Option<String>,
    /// Most preemptions in an execution, or `none` for no bound
    #[arg(long, value_name = "N", value_parser = setting("preemptions"), help_heading = SEARCH,
          allow_negative_numbers = true)]
    preemptions: Option<String>,
    /// Most executions, or `none` for no limit
    #[arg(long, value_name = "N", value_parser = setting("executions"), help_heading = SEARCH,
          allow_negative_numbers = true)]
    executions: Option<String>,
    /// Most steps in an execution; one that takes more is a finding
    #[arg(long, value_name = "N", value_parser = setting("steps"), help_heading = LIMITS,
          allow_negative_numbers = true)]
    steps: Option<String>,
    /// Most seconds for each exploration, or `none` for no limit
    #[arg(long, value_name = "SECONDS", value_parser = setting("time"), help_heading = SEARCH,
          allow_negative_numbers = true)]
    time: Option<String>,
    /// Seed of the search's own randomness
    #[arg(long, value_name = "N", value_parser = setting("seed"), help_heading = SEARCH,
          allow_negative_numbers = true)]
    seed: Option<String>,
    /// Bytes that a search may use to remember states and traces
    #[arg(long, value_name = "BYTES", value_parser = setting("cache_bytes"), help_heading = SEARCH,
          allow_negative_numbers = true)]
    cache_bytes: Option<String>,
    /// Most executions to make what was found smaller; 0 leaves it as it was found
    #[arg(long, value_name = "N", value_parser = setting("minimise"), help_heading = SEARCH,
          allow_negative_numbers = true)]
    minimise: Option<String>,
    /// Goes on after a finding
    #[arg(long, value_name = "BOOL", value_parser = setting("keep_going"), help_heading = SEARCH,
          num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    keep_going: Option<String>,

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
    /// Whether `notify_one` may wake any waiter, or only the first
    #[arg(long, value_name = "BOOL", value_parser = setting("notify_any"), help_heading = ENVIRONMENT,
          num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    notify_any: Option<String>,
    /// Whether reference counts of `Arc` are schedule points
    #[arg(long, value_name = "BOOL", value_parser = setting("arc_counts"), help_heading = ENVIRONMENT,
          num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    arc_counts: Option<String>,
    /// Seed of the random numbers that the test itself draws
    #[arg(long, value_name = "N", value_parser = setting("test_seed"), help_heading = ENVIRONMENT,
          allow_negative_numbers = true)]
    test_seed: Option<String>,
}

/// Settings that were given, by name and value.
pub(crate) trait Given {
    /// Every setting that this can give, and what was given.
    fn all(&self) -> Vec<(&'static str, &Option<String>)>;

    /// What was given.
    fn given(&self) -> Vec<(&'static str, &str)> {
        self.all()
            .into_iter()
            .filter_map(|(name, value)| Some((name, value.as_deref()?)))
            .collect()
    }

    /// Overrides settings with what was given.
    fn apply(&self, settings: &mut Settings) {
        for (name, value) in self.given() {
            settings
                .set(name, value)
                .expect("clap accepted what `Settings::set` accepts");
        }
    }
}

impl Given for LimitFlags {
    fn all(&self) -> Vec<(&'static str, &Option<String>)> {
        vec![
            ("stack", &self.stack),
            ("warm_up", &self.warm_up),
            ("retries", &self.retries),
        ]
    }
}

impl Given for SearchFlags {
    fn all(&self) -> Vec<(&'static str, &Option<String>)> {
        let mut all = vec![
            ("strategy", &self.strategy),
            ("reduction", &self.reduction),
            ("preemptions", &self.preemptions),
            ("cache_bytes", &self.cache_bytes),
            ("executions", &self.executions),
            ("time", &self.time),
            ("steps", &self.steps),
            ("seed", &self.seed),
            ("minimise", &self.minimise),
            ("keep_going", &self.keep_going),
            ("spurious_wakeups", &self.spurious_wakeups),
            ("timeouts", &self.timeouts),
            ("weak_failures", &self.weak_failures),
            ("try_lock_failures", &self.try_lock_failures),
            ("notify_any", &self.notify_any),
            ("arc_counts", &self.arc_counts),
            ("test_seed", &self.test_seed),
        ];
        all.extend(self.limits.all());
        all
    }
}

/// The flag of a setting: `--keep-going` of `keep_going`.
pub(crate) fn flag(setting: &str) -> String {
    format!("--{}", setting.replace('_', "-"))
}

/// Accepts what `Settings::set` accepts for this setting, and says what it says.
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
                "keep_going" | "notify_any" | "arc_counts" => "false",
                _ => "70000",
            };
            let given = parse(&[&format!("{}={value}", flag(name))]).unwrap();
            assert_eq!(given.given(), [(name, value)]);
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
