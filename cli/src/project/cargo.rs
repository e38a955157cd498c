//! `cargo test`, run for its reports.

use super::refusal::{self, Refusal};
use super::reports::{self, ProjectReport};
use crate::cargo;
use crate::output;
use crate::problem::Problem;
use intermezzo::Settings;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::{env, fs, io};
use tempfile::TempDir;

/// What is said where tests were run and none of them wrote a report.
pub(crate) const NOTHING_EXPLORED: &str = "nothing was explored: no test has the name that was given, or none that was run has #[intermezzo::test] above it; or the \
     feature `explore` of intermezzo is not switched on in [dev-dependencies]";

/// A run of `cargo test` that is to write reports.
pub(crate) struct CargoTest {
    arguments: Vec<OsString>,
    variables: Vec<(String, OsString)>,
    directory: TempDir,
    shown: Shown,
}

/// What is shown of what cargo and the tests say.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    /// All, where it belongs.
    All,
    /// All on stderr: stdout is taken.
    OnStderr,
    /// Nothing, unless no test could be run: then what cargo says.
    Trouble,
}

/// What a run of `cargo test` came to.
pub(crate) struct Ran {
    /// Whether cargo says that every test passed.
    pub(crate) passed: bool,
    /// What the explored tests wrote, in order of their names.
    pub(crate) reports: Vec<ProjectReport>,
    /// Tests that were not explored, for their settings cannot be.
    pub(super) refusals: Vec<Refusal>,
}

impl Ran {
    /// Tells which tests could not be run as they were set.
    ///
    /// # Errors
    /// There are some.
    pub(crate) fn refused_none(&self) -> Result<(), Problem> {
        refusal::none_of(&self.refusals)
    }
}

impl CargoTest {
    /// With these arguments of `cargo test`. Where `stdout_is_taken`, what cargo says goes to stderr.
    pub(crate) fn new(arguments: Vec<OsString>, stdout_is_taken: bool) -> Result<CargoTest, Problem> {
        let help = "set TMPDIR to a directory that can be written";
        let trouble = |error: io::Error| Problem::file("make a directory in", &env::temp_dir(), &error, help);
        // Absolute: tests are run in the directories of their packages.
        let parent = fs::canonicalize(env::temp_dir()).map_err(trouble)?;
        let directory = tempfile::Builder::new()
            .prefix("intermezzo-")
            .tempdir_in(parent)
            .map_err(trouble)?;
        fs::create_dir(directory.path().join("reports")).map_err(trouble)?;
        Ok(CargoTest {
            arguments,
            variables: Vec::new(),
            directory,
            shown: if stdout_is_taken {
                Shown::OnStderr
            } else {
                Shown::All
            },
        })
    }

    /// A directory that lives as long as the run.
    pub(super) fn directory(&self) -> &std::path::Path {
        self.directory.path()
    }

    /// Lets cargo and the tests say nothing, unless no test can be run: that tests fail is what is looked for, and cargo's words of it
    /// are none of the user's.
    pub(crate) fn silent(mut self) -> CargoTest {
        self.shown = Shown::Trouble;
        self
    }

    /// Sets these settings for the tests.
    pub(crate) fn settings(mut self, given: &[(&str, String)]) -> CargoTest {
        for (name, value) in given {
            let value = if *name == "monitors" {
                with_full_paths(value)
            } else {
                value.clone()
            };
            self.variables.push((variable(name), value.into()));
        }
        self
    }

    /// Keeps each test's search in a file of its own in this directory, instead of all in one file.
    pub(super) fn checkpoints(mut self, directory: impl Into<OsString>) -> CargoTest {
        self.variables.retain(|(name, _)| *name != variable("checkpoint"));
        self.variables.push((variable("checkpoints"), directory.into()));
        self
    }

    /// Has executions of findings recorded, or not.
    pub(super) fn record(mut self, on: bool) -> CargoTest {
        if on {
            self.variables.push((variable("record"), "1".into()));
        }
        self
    }

    /// Replays this schedule in the tests.
    pub(super) fn replay(mut self, schedule: impl Into<OsString>) -> CargoTest {
        self.variables.push((variable("replay"), schedule.into()));
        self
    }

    /// Has explored tests write their settings there, and where each came from, instead of exploring.
    pub(super) fn asking_for_settings(mut self, directory: &Path) -> CargoTest {
        self.variables
            .push((variable("settings"), directory.as_os_str().to_owned()));
        self
    }

    /// Runs the tests and reads their reports.
    ///
    /// # Errors
    /// Cargo cannot be run; the project does not build, so that no test was run; a report cannot be read.
    pub(crate) fn run(&self) -> Result<Ran, Problem> {
        let reports = self.directory.path().join("reports");
        let mut command = cargo::command();
        // A schedule in the user's own environment is for other runs than this one.
        command
            .arg("test")
            .args(&self.arguments)
            .env_remove(variable("replay"));
        command
            .env(variable("reports"), &reports)
            .envs(self.variables.iter().map(|(name, value)| (name, value)));
        match self.shown {
            Shown::All => &mut command,
            Shown::OnStderr => command.stdout(io::stderr()),
            Shown::Trouble => command.stdout(Stdio::null()).stderr(Stdio::piped()),
        };
        let output = command.spawn().and_then(Child::wait_with_output);
        let Output { status, stderr, .. } = output.map_err(|error| cargo::no_cargo(&error))?;
        let (reports, refusals) = reports::read_all(&reports)?;
        let told = !reports.is_empty() || !refusals.is_empty();
        if !status.success() && !told && !stderr.is_empty() {
            output::complain(String::from_utf8_lossy(&stderr).trim_end());
        }
        if !status.success() && !told && !self.builds()? {
            let line = self
                .arguments
                .iter()
                .fold("cargo test".to_owned(), |mut line, argument| {
                    let _ = write!(line, " {}", argument.to_string_lossy());
                    line
                });
            return Err(Problem::usage(format!(
                "no test was run: the project does not build, or cargo does not know these arguments; \
                 see above what cargo says of `{line}`"
            )));
        }
        Ok(Ran {
            passed: status.success(),
            reports,
            refusals,
        })
    }

    /// Whether cargo can build the tests: it does not tell that from a test that fails.
    fn builds(&self) -> Result<bool, Problem> {
        let of_cargo = self.arguments.iter().take_while(|argument| *argument != "--");
        let mut command = cargo::command();
        command
            .args(["test", "--no-run", "--quiet"])
            .args(of_cargo.filter(|argument| *argument != "--no-run"));
        command.stdout(Stdio::null()).stderr(Stdio::null());
        Ok(status(&mut command)?.success())
    }
}

fn status(command: &mut Command) -> Result<ExitStatus, Problem> {
    command.status().map_err(|error| cargo::no_cargo(&error))
}

/// The environment variable that sets this in tests.
fn variable(name: &str) -> String {
    format!("INTERMEZZO_{}", name.to_uppercase())
}

/// The list of monitors, with paths that lead from anywhere: tests are run in the directories of their packages.
fn with_full_paths(monitors: &str) -> String {
    let mut settings = Settings::default();
    settings.set("monitors", monitors).expect("clap accepted it");
    for monitor in &mut settings.monitors {
        let is_file = Path::new(&monitor.name).is_file();
        if is_file && let Ok(full) = std::path::absolute(&monitor.name) {
            monitor.name = full.to_string_lossy().into_owned();
        }
    }
    let all: Vec<String> = settings.monitors.iter().map(ToString::to_string).collect();
    if all.is_empty() {
        "default".into()
    } else {
        all.join(";")
    }
}
