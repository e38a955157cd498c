//! The flags of `test` that are settings of the command and not of tests. `intermezzo.toml` can set their defaults.

use crate::cargo;
use crate::problem::Problem;
use crate::search_flags::{flag, with_or_without_value};
use clap::error::Error;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use intermezzo::settings::{CommandSetting, CommandSettings, Config};
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The flags that were given, by name and value.
#[derive(Debug, Default, Clone)]
pub(crate) struct Given<const OF_PROGRAM: bool>(Vec<(&'static str, String)>);

/// The flags of `test`.
pub(crate) type CommandFlags = Given<false>;

/// The flags of `run`.
pub(crate) type ProgramFlags = Given<true>;

fn arg(setting: &'static CommandSetting) -> Arg {
    let arg = Arg::new(setting.name)
        .long(flag(setting.name)[2..].to_owned())
        .value_name(setting.placeholder)
        .help(setting.help)
        .value_parser(|value: &str| {
            let set = setting.set(&mut CommandSettings::default(), value);
            set.map(|()| value.to_owned())
        });
    with_or_without_value(arg, setting.placeholder)
}

/// Returns the settings that have flags.
fn settings(of_program: bool) -> impl Iterator<Item = &'static CommandSetting> {
    let all = CommandSetting::all().iter();
    all.filter(move |setting| !of_program || setting.for_programs.is_none())
}

impl<const OF_PROGRAM: bool> Args for Given<OF_PROGRAM> {
    fn augment_args(command: Command) -> Command {
        command.args(settings(OF_PROGRAM).map(arg))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<const OF_PROGRAM: bool> FromArgMatches for Given<OF_PROGRAM> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let value = |setting: &CommandSetting| matches.get_one::<String>(setting.name).cloned();
        let given = settings(OF_PROGRAM).filter_map(|setting| Some((setting.name, value(setting)?)));
        Ok(Given(given.collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl ProgramFlags {
    /// Returns the equivalent flags of `test`.
    pub(crate) fn of_test(self) -> CommandFlags {
        let all = CommandSetting::all().iter();
        let fixed = all.filter_map(|setting| Some((setting.name, setting.for_programs?.to_owned())));
        Given(self.0.into_iter().chain(fixed).collect())
    }
}

impl CommandFlags {
    /// Returns the settings of a run with these arguments of cargo. Settings without a flag are from `intermezzo.toml`:
    /// that of the directory in which the command is run, or of the manifest that the arguments name.
    ///
    /// # Errors
    /// If the file is not valid, or the settings contradict each other.
    pub(crate) fn settings(&self, cargo: &[OsString]) -> Result<CommandSettings, Problem> {
        let config = Config::of_directory(&directory(cargo)?);
        let config = config.map_err(|error| Problem::usage(error.to_string()))?;
        self.over(config.as_ref())
    }

    fn over(&self, config: Option<&Config>) -> Result<CommandSettings, Problem> {
        let mut settings = CommandSettings::default();
        let set = |settings: &mut CommandSettings, name: &str, value: &str| {
            let set = CommandSetting::named(name).and_then(|setting| setting.set(settings, value));
            set.expect("it was checked when it was parsed");
        };
        if let Some(config) = config {
            for given in &config.of_command {
                set(&mut settings, &given.name, &given.value);
            }
            let directory = config.path.parent().unwrap_or(Path::new(""));
            for file in [&mut settings.baseline, &mut settings.junit, &mut settings.sarif] {
                *file = file.take().map(|file| directory.join(file));
            }
        }
        for (name, value) in &self.0 {
            set(&mut settings, name, value);
        }
        // In the file, `races` applies to runs of unmodified code, so it may be set without `unmodified`.
        if settings.races && !settings.unmodified && self.0.iter().any(|(name, _)| *name == "races") {
            return Err(Problem::usage(
                "`--races` watches the memory of unmodified code: give `--unmodified`, too",
            ));
        }
        settings.races &= settings.unmodified;
        Ok(settings)
    }
}

/// Returns the directory of the project that these arguments of cargo name.
fn directory(cargo: &[OsString]) -> Result<PathBuf, Problem> {
    let here = env::current_dir().map_err(|error| {
        Problem::usage(format!(
            "there is no current directory ({error}): go to the project's"
        ))
    })?;
    let manifest = cargo::manifest_path(cargo).pop();
    let manifest = manifest.map(|path| {
        let path = path.to_string_lossy();
        here.join(path.trim_start_matches("--manifest-path="))
    });
    Ok(manifest
        .and_then(|path| Some(path.parent()?.to_owned()))
        .unwrap_or(here))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(flags: &[(&'static str, &str)], file: &str) -> Result<CommandSettings, String> {
        let flags = flags.iter().map(|&(name, value)| (name, value.to_owned()));
        over(&Given(flags.collect()), file).map_err(|problem| problem.to_string())
    }

    fn over(flags: &CommandFlags, file: &str) -> Result<CommandSettings, Problem> {
        let config = Config::parse(Path::new("project/intermezzo.toml"), file).unwrap();
        flags.over(Some(&config))
    }

    /// A program ignores the settings in the file that apply only to runs of tests.
    #[test]
    fn a_program_ignores_settings_for_tests() {
        let file = "[command]\nraces = true\nnextest = true\njunit = \"a.xml\"\nannotations = true\nallow_none = true\n";
        let expected = CommandSettings {
            unmodified: true,
            races: true,
            ..CommandSettings::default()
        };
        assert_eq!(over(&ProgramFlags::default().of_test(), file).unwrap(), expected);
    }

    #[test]
    fn nextest_runs_the_tests_if_the_file_or_a_flag_says_so() {
        let nextest = |flags: &[_], file| settings(flags, file).unwrap().nextest;
        assert!(!nextest(&[], ""));
        assert!(nextest(&[("nextest", "true")], ""));
        assert!(nextest(&[], "[command]\nnextest = true\n"));
        assert!(!nextest(&[("nextest", "false")], "[command]\nnextest = true\n"));
    }

    #[test]
    fn flags_override_the_file() {
        let is = |unmodified, races, baseline: Option<&str>| {
            Ok(CommandSettings {
                unmodified,
                races,
                baseline: baseline.map(PathBuf::from),
                ..CommandSettings::default()
            })
        };
        let on = "[command]\nunmodified = true\nraces = true\nbaseline = \"known.toml\"\n";
        assert_eq!(settings(&[], ""), is(false, false, None));
        assert_eq!(settings(&[], on), is(true, true, Some("project/known.toml")));
        let off = [("unmodified", "false"), ("baseline", "none")];
        assert_eq!(settings(&off, on), is(false, false, None));
        assert_eq!(
            settings(&[("races", "false"), ("baseline", "a.toml")], on),
            is(true, false, Some("a.toml"))
        );
        assert_eq!(
            settings(&[("unmodified", "true")], "[command]\nraces = true"),
            is(true, true, None)
        );
        let file = "[command]\njunit = \"out/junit.xml\"\nsarif = \"a.sarif\"\nallow_none = true\n";
        let given = [("sarif", "none"), ("annotations", "true")];
        let expected = CommandSettings {
            junit: Some("project/out/junit.xml".into()),
            annotations: true,
            allow_none: true,
            ..CommandSettings::default()
        };
        assert_eq!(settings(&given, file), Ok(expected));
        let refused = settings(&[("races", "true")], "").unwrap_err();
        assert!(refused.contains("give `--unmodified`"), "{refused}");
    }
}
