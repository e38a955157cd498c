//! Settings of `cargo intermezzo test` itself, and not of tests: in `intermezzo.toml` the table `[command]`.

use intermezzo_engine::suggest::did_you_mean;
use intermezzo_search::value::Value;
use std::path::PathBuf;

/// The settings of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandSettings {
    /// `true` if code that was not written for intermezzo is explored.
    pub unmodified: bool,
    /// `true` if the plain memory of such code is watched.
    pub races: bool,
    /// `true` if cargo-nextest runs the tests.
    pub nextest: bool,
    /// The file of known findings.
    pub baseline: Option<PathBuf>,
    /// The file of results for CI servers.
    pub junit: Option<PathBuf>,
    /// The file of results for code hosts.
    pub sarif: Option<PathBuf>,
    /// `true` if findings are printed as annotations of GitHub.
    pub annotations: bool,
    /// `true` if a run without an explored test does not fail.
    pub allow_none: bool,
}

/// A setting of the command: its flag, and its key in the table.
#[derive(Debug)]
pub struct CommandSetting {
    /// The name: `unmodified`, which the flag `--unmodified` sets.
    pub name: &'static str,
    /// The placeholder of its value in help.
    pub placeholder: &'static str,
    /// The description in help.
    pub help: &'static str,
    /// The value in a run of a program, which has no such flag; `None` if it has the flag.
    pub for_programs: Option<&'static str>,
    field: fn(&mut CommandSettings) -> &mut dyn Value,
}

/// All of them, in the order of help.
#[rustfmt::skip]
const ALL: [CommandSetting; 8] = [
    CommandSetting::new("unmodified", |s| &mut s.unmodified, "BOOL", "Explores every `#[test]`, in code that was not written for intermezzo (see the guide)", Some("true")),
    CommandSetting::new("races", |s| &mut s.races, "BOOL", "Also watches the plain memory of such code for data races; executions then take longer", None),
    CommandSetting::new("nextest", |s| &mut s.nextest, "BOOL", "Runs the tests by `cargo nextest run`, each in a process of its own", Some("false")),
    CommandSetting::new("baseline", |s| &mut s.baseline, "FILE", "Lets a test pass if this file lists all its findings (see the guide); `none` for no file", None),
    CommandSetting::new("junit", |s| &mut s.junit, "FILE", "Writes every test of the run to this file as JUnit XML, including those that are not explored", Some("none")),
    CommandSetting::new("sarif", |s| &mut s.sarif, "FILE", "Writes the findings of the run to this file as SARIF 2.1.0", None),
    CommandSetting::new("annotations", |s| &mut s.annotations, "BOOL", "Prints each finding on stderr as an annotation of GitHub", Some("false")),
    CommandSetting::new("allow_none", |s| &mut s.allow_none, "BOOL", "Ends with 0 instead of 3 if no test was explored", Some("false")),
];

impl CommandSetting {
    const fn new(
        name: &'static str,
        field: fn(&mut CommandSettings) -> &mut dyn Value,
        placeholder: &'static str,
        help: &'static str,
        for_programs: Option<&'static str>,
    ) -> CommandSetting {
        CommandSetting {
            name,
            placeholder,
            help,
            for_programs,
            field,
        }
    }

    /// Returns all of them, in the order of help.
    pub fn all() -> &'static [CommandSetting] {
        &ALL
    }

    /// Returns the setting of the command with this name.
    ///
    /// # Errors
    /// If there is no setting with that name; the text names all settings.
    pub fn named(name: &str) -> Result<&'static CommandSetting, String> {
        ALL.iter().find(|setting| setting.name == name).ok_or_else(|| {
            let known = ALL.map(|setting| setting.name);
            let hint = did_you_mean(name, known.into_iter());
            format!(
                "the command has no such setting; {hint}there are: {}",
                known.join(", ")
            )
        })
    }

    /// Sets it from text.
    ///
    /// # Errors
    /// If the setting has no such value; the text says which values it has.
    pub fn set(&self, settings: &mut CommandSettings, value: &str) -> Result<(), String> {
        (self.field)(settings).read(value.trim())
    }
}
