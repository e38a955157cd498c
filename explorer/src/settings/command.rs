//! Settings of `cargo intermezzo test` itself, and not of tests: in `intermezzo.toml` the table `[command]`.

#[cfg(feature = "config-files")]
use super::did_you_mean;

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
}

/// All of them, in the order of help.
#[rustfmt::skip]
const ALL: [CommandSetting; 8] = [
    CommandSetting::new("unmodified", "BOOL", "Explores every `#[test]`, in code that was not written for intermezzo (see the guide)", Some("true")),
    CommandSetting::new("races", "BOOL", "Watches the plain memory of such code for data races, which takes some time", None),
    CommandSetting::new("nextest", "BOOL", "Runs the tests by `cargo nextest run`, each in a process of its own", Some("false")),
    CommandSetting::new("baseline", "FILE", "Lets tests pass whose findings are listed in this file (see the guide); `none` for no file", None),
    CommandSetting::new("junit", "FILE", "Writes every test of the run to this file as JUnit XML, those that are not explored too", Some("none")),
    CommandSetting::new("sarif", "FILE", "Writes the findings of the run to this file as SARIF 2.1.0", None),
    CommandSetting::new("annotations", "BOOL", "Prints each finding on stderr as an annotation of GitHub", Some("false")),
    CommandSetting::new("allow_none", "BOOL", "Ends with 0 instead of 3 if no test was explored", Some("false")),
];

impl CommandSetting {
    const fn new(
        name: &'static str,
        placeholder: &'static str,
        help: &'static str,
        for_programs: Option<&'static str>,
    ) -> CommandSetting {
        CommandSetting {
            name,
            placeholder,
            help,
            for_programs,
        }
    }

    /// Returns all of them, in the order of help.
    pub fn all() -> &'static [CommandSetting] {
        &ALL
    }

    /// Returns the name of its flag, without the dashes.
    pub fn flag(&self) -> String {
        self.name.replace('_', "-")
    }

    /// `true` if it is on or off.
    pub fn is_switch(&self) -> bool {
        self.placeholder == "BOOL"
    }

    /// Checks a value.
    ///
    /// # Errors
    /// The setting has no such value; the text says what to give instead.
    pub fn check(&self, value: &str) -> Result<(), String> {
        match (self.is_switch(), value.trim()) {
            (true, "true" | "false") => Ok(()),
            (true, _) => Err(format!("{value:?} is neither `true` nor `false`")),
            (false, "") => Err("no file is given; `none` for no file".into()),
            (false, _) => Ok(()),
        }
    }
}

/// Returns the setting of the command with this name.
///
/// # Errors
/// There is no setting of that name; the text names all.
#[cfg(feature = "config-files")]
pub(super) fn find(name: &str) -> Result<&'static CommandSetting, String> {
    if let Some(setting) = ALL.iter().find(|setting| setting.name == name) {
        return Ok(setting);
    }
    let known = ALL.map(|setting| setting.name);
    let hint = did_you_mean(name, known.into_iter());
    Err(format!(
        "the command has no such setting; {hint}there are: {}",
        known.join(", ")
    ))
}
