//! The flags that control a search: one for each setting, made from its declaration and parsed by `Settings::set` alone.

use crate::problem::Problem;
use clap::error::Error;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use intermezzo::settings::{Group, Setting};
use intermezzo::{Reduction, Settings, StrategyKind, Verbosity};
use std::time::Duration;

/// Flags for the level of detail, in addition to `--detail`.
const SHORT_DETAIL: [(&str, &str); 2] = [
    (
        "quiet",
        "Prints only the verdict and the first line of each finding: `--detail quiet`",
    ),
    (
        "verbose",
        "Prints every event of a failing execution, and the settings of the search: `--detail verbose`",
    ),
];

/// The given settings of a search, or of a replay, by name and value. A flag that is not given leaves the setting to the
/// test, or to the program.
#[derive(Debug, Default, Clone)]
pub(crate) struct Flags<const OF_REPLAYS: bool>(Vec<(&'static str, String)>);

/// The settings of a search.
pub(crate) type SearchFlags = Flags<false>;

/// The settings of a replay: those that a schedule does not carry.
pub(crate) type LimitFlags = Flags<true>;

/// Returns the settings of which these are flags, those that most tests need first.
fn settings(of_replays: bool) -> impl Iterator<Item = &'static Setting> {
    let all = Settings::all().iter();
    all.filter(move |setting| setting.in_replays || !of_replays)
}

/// Returns the flag of a setting. Those that few tests need are shown by `--help` only, and not by `-h`.
fn arg(setting: &'static Setting) -> Arg {
    let name = setting.name;
    let arg = Arg::new(name)
        .long(flag(name)[2..].to_owned())
        .value_name(setting.placeholder)
        .help(help(setting))
        .long_help(long_help(setting))
        .help_heading(setting.group.heading())
        .hide_short_help(setting.advanced)
        .value_parser(move |value: &str| match Settings::default().set(name, value) {
            Ok(()) => Ok(value.to_owned()),
            Err(error) => Err(error.problem),
        });
    let arg = with_or_without_value(arg, setting.placeholder);
    match name {
        "monitors" => arg.action(ArgAction::Append).allow_hyphen_values(true),
        "detail" => arg.conflicts_with_all(SHORT_DETAIL.map(|(short, _)| short)),
        _ => arg,
    }
}

/// Makes the value of an on/off flag optional. Lets a negative number through, so that the setting's own parser refuses it
/// with its message.
pub(crate) fn with_or_without_value(arg: Arg, placeholder: &str) -> Arg {
    match placeholder {
        "BOOL" | "BOOL|LIST" => arg
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true"),
        "N" | "SECONDS" | "BYTES" => arg.allow_negative_numbers(true),
        _ => arg,
    }
}

/// Returns the help for a setting: its meaning, and its values if they are few and not evident from the placeholder.
fn help(setting: &Setting) -> String {
    let Setting { help, accepts, .. } = setting;
    // Members and examples are only in the long help.
    let values = accepts.split("; ").next().unwrap_or_default();
    if SELF_EVIDENT.contains(&values) || values.len() > SHORT {
        return help.to_string();
    }
    format!("{help} ({values})")
}

/// Returns the help for a setting, with all its values.
fn long_help(setting: &Setting) -> String {
    match setting.accepts.len() > SHORT {
        true => format!("{}.\n\nValues: {}.", setting.help, setting.accepts),
        false => help(setting),
    }
}

/// Descriptions of values that are evident from the placeholder.
const SELF_EVIDENT: [&str; 4] = ["a number", "seconds", "bytes", "`true` or `false`"];

/// The greatest length of a list of values that is shown in a line of help.
const SHORT: usize = 70;

/// Returns a hidden flag for the former name of a setting. Its parser refuses it, and names the replacement.
fn former((name, instead): (&'static str, String)) -> Arg {
    Arg::new(name)
        .long(flag(name)[2..].to_owned())
        .hide(true)
        .value_name("VALUE")
        .num_args(0..=1)
        .default_missing_value("")
        .value_parser(move |_: &str| {
            Err::<String, _>(format!(
                "there is no such flag: {instead} (a flag of cargo's with this name goes between two `--`)"
            ))
        })
}

impl<const OF_REPLAYS: bool> Args for Flags<OF_REPLAYS> {
    fn augment_args(command: Command) -> Command {
        let [quiet, verbose] = SHORT_DETAIL.map(|(name, help)| {
            let arg = Arg::new(name).long(name).help(help).action(ArgAction::SetTrue);
            arg.help_heading(Group::Output.heading())
        });
        command
            .args(settings(OF_REPLAYS).map(arg))
            .args([quiet.conflicts_with(SHORT_DETAIL[1].0), verbose])
            .args(settings(OF_REPLAYS).flat_map(Setting::formerly).map(former))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<const OF_REPLAYS: bool> FromArgMatches for Flags<OF_REPLAYS> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let given = settings(OF_REPLAYS).filter_map(|setting| {
            let values: Vec<&str> = matches
                .get_many::<String>(setting.name)?
                .map(String::as_str)
                .collect();
            Some((setting.name, values.join(";")))
        });
        let short = SHORT_DETAIL.iter().find(|(name, _)| matches.get_flag(name));
        let short = short.map(|&(name, _)| ("detail", name.to_owned()));
        Ok(Flags(given.chain(short).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl<const OF_REPLAYS: bool> Flags<OF_REPLAYS> {
    /// Returns the given settings.
    pub(crate) fn given(&self) -> &[(&'static str, String)] {
        &self.0
    }

    /// Overrides settings with the given ones.
    pub(crate) fn apply(&self, settings: &mut Settings) {
        for (name, value) in &self.0 {
            settings
                .set(name, value)
                .expect("clap accepted what `Settings::set` accepts");
        }
    }

    /// Returns the level of detail, for which only these flags and the environment count.
    pub(crate) fn detail(&self) -> Result<Verbosity, Problem> {
        let mut settings = Settings::default();
        settings
            .override_from_environment()
            .map_err(|error| Problem::usage(error.to_string()))?;
        self.apply(&mut settings);
        Ok(settings.detail)
    }
}

impl SearchFlags {
    /// Returns the same flags with absolute paths, for a process that may run in another directory.
    pub(crate) fn wherever_run(mut self) -> SearchFlags {
        let mut settings = Settings::default();
        for (name, value) in &mut self.0 {
            settings.set(name, value).expect("clap accepted it");
            if let Some(memo) = settings.memo().filter(|memo| memo.is_relative()) {
                let absolute = std::path::absolute(&memo).unwrap_or(memo);
                settings.set_memo(absolute);
                *value = settings.value(name).expect("it is a setting");
            }
        }
        self
    }

    /// Returns the default settings overridden by these flags alone.
    pub(crate) fn alone(&self) -> Settings {
        let mut settings = Settings::default();
        self.apply(&mut settings);
        settings
    }

    /// Checks that some test could be explored with these flags. They override the test's settings, and may contradict each
    /// other whatever its other settings are.
    pub(crate) fn check(&self) -> Result<(), Problem> {
        let given: Vec<&str> = self.0.iter().map(|(name, _)| *name).collect();
        let mut settings = Settings::default();
        let mut first = None;
        // These settings decide which others can be combined, so every value is tried if no flag has set them.
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

/// Parses a time that is not a setting: seconds, with or without a fraction.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| *seconds >= 0.0);
    let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    time.ok_or_else(|| format!("`{text}` is not a time: give a number of seconds, as in 2.5"))
}

/// Returns the flag of a setting: `--keep-going` of `keep_going`.
pub(crate) fn flag(setting: &str) -> String {
    match setting {
        // The flag adds one monitor at a time.
        "monitors" => "--monitor".into(),
        _ => format!("--{}", setting.replace('_', "-")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

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
        for setting in Settings::all() {
            let value = [
                "random",
                "dpor",
                "calm",
                "assume",
                "!ring.rs",
                "ring.rs:12",
                "verbose",
                "false",
                "2",
                "70000",
                "a",
                "2/3",
            ]
            .into_iter()
            .find(|value| Settings::default().set(setting.name, value).is_ok())
            .unwrap();
            let given = parse(&[&format!("{}={value}", flag(setting.name))]).unwrap();
            assert_eq!(given.given(), [(setting.name, value.to_owned())]);
        }
    }

    #[test]
    fn flags_override() {
        let flags = parse(&[
            "--preemptions",
            "none",
            "--time=2.5s",
            "--keep-going",
            "--environment",
            "seed=7",
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
    fn the_level_of_detail_has_short_flags() {
        for (flags, given) in [
            (&["--quiet"][..], Some("quiet")),
            (&["--verbose"], Some("verbose")),
            (&["--detail=normal"], Some("normal")),
            (&[], None),
        ] {
            let detail = parse(flags).unwrap();
            let expected: Vec<_> = given.iter().map(|&value| ("detail", value.to_owned())).collect();
            assert_eq!(detail.given(), expected);
        }
        for flags in [&["--quiet", "--verbose"], &["--quiet", "--detail=verbose"]] {
            assert!(parse(flags).unwrap_err().contains("cannot be used with"));
        }
    }

    /// Flags that a test's settings may complete are not refused.
    #[test]
    fn flags_that_contradict_each_other_are_refused() {
        for (flags, says) in [
            (&["--spin-loops=assume"][..], None),
            (&["--preempt=ring.rs"], None),
            (&["--reduction=source-dpor"], None),
            (
                &["--strategy=dfs(delays=2)", "--preemptions=2"],
                Some("--preemptions: delays and"),
            ),
            (
                &["--strategy=dfs(delays=2)", "--reduction=dpor"],
                Some("--reduction: a reduction leaves"),
            ),
            (&["--seed=1/7", "--strategy=dfs"], Some("--seed: only executions")),
            (
                &["--reduction=source-dpor", "--preemptions=3"],
                Some("--reduction: sleep sets"),
            ),
            (
                &["--reduction=ordered-atomics", "--strategy=dfs(step=2)"],
                Some("--reduction: beyond the depth"),
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
    fn errors_name_the_flag() {
        for (flags, says) in [
            (
                ["--preemptions", "-1"],
                "'-1' for '--preemptions <N>': `-1` is not a number in range",
            ),
            (
                ["--time", "soon"],
                "'soon' for '--time <SECONDS>': `soon` is not a time",
            ),
            (
                ["--stack", "5"],
                "'5' for '--stack <BYTES>': `5` is out of range: give 32768 to",
            ),
            (["--strategy", "bfs"], "`bfs` is not a strategy"),
            (
                ["--jobs", "0"],
                "'0' for '--jobs <N>': `0` is out of range: give 1 to 1024",
            ),
            (
                ["--keep-going=maybe", "--steps=1"],
                "`maybe` is neither `true` nor `false`",
            ),
            (["--delays", "2"], "no such flag: give `strategy` `dfs(delays=N)`"),
            (
                ["--quiet-atomics", "--steps=2"],
                "give `reduction` `ordered-atomics` instead of `true`",
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
