//! Runs `cargo test` and reads the reports of the tests.

use super::harness::{self, HarnessTest};
use super::program::{Program, words_for_cargo};
use super::refusal::{self, Refusal};
use super::reports::{self, ProjectReport};
use crate::cargo;
use crate::output;
use crate::problem::Problem;
use crate::unmodified::Unmodified;
use intermezzo::settings::Setting;
use intermezzo::settings::variables::{COMMAND_LIMIT, REPLAY_WITH, SET_UP, TEAR_DOWN};
use intermezzo::{Settings, StopPoint, baseline};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::{env, fs, io};
use tempfile::TempDir;

/// The message for tests that were run without writing a report.
pub(crate) const NOTHING_EXPLORED: &str = "nothing was explored: no test has the name that was given, or none that was run has #[intermezzo::test] above it; or the \
     feature `explore` of intermezzo is not switched on in [dev-dependencies]";

/// A run of `cargo test` that writes reports.
pub(crate) struct CargoTest {
    arguments: Vec<OsString>,
    variables: Vec<(String, OsString)>,
    /// Environment variables of cargo that change the project.
    build: Vec<(&'static str, OsString)>,
    directory: TempDir,
    runner: &'static Runner,
    shown: Shown,
    /// `true` if the names of tests that are not explored are read from the output.
    listens: bool,
    /// `true` if stdout is shown. That of a program is not, because it runs many times.
    prints: bool,
    /// `true` if the process may read stdin.
    reads: bool,
}

/// A cargo command that builds the tests and runs them.
struct Runner {
    /// The arguments with which it builds and runs.
    runs: &'static [&'static str],
    /// The arguments with which it only builds.
    builds: &'static [&'static str],
}

/// cargo itself.
const CARGO: Runner = Runner {
    runs: &["test"],
    builds: &["test", "--no-run", "--quiet"],
};

/// cargo-nextest. It asks each test binary for its tests, and runs each test in a process of its own. As with cargo, having
/// no tests is not a failure.
const NEXTEST: Runner = Runner {
    runs: &["nextest", "run", "--no-tests=pass"],
    builds: &["nextest", "run", "--no-run", "--cargo-quiet"],
};

/// cargo, for a program. It has no command that only builds: if no program ran, cargo itself failed.
const PROGRAM: Runner = Runner {
    runs: &["run"],
    builds: &[],
};

/// The part of the output of cargo and the tests that is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    /// Everything, each stream as it is.
    All,
    /// Everything on stderr, because stdout has other output.
    OnStderr,
    /// Nothing, or cargo's output if no test could be run.
    Trouble,
}

/// The result of a run of `cargo test`.
pub(crate) struct Ran {
    /// `true` if cargo reports that every test passed.
    pub(crate) passed: bool,
    /// `true` if a program was explored instead of tests.
    pub(super) of_program: bool,
    /// The reports of the explored tests, in order of their names.
    pub(crate) reports: Vec<ProjectReport>,
    /// Tests that were not explored, because their settings are invalid.
    pub(super) refusals: Vec<Refusal>,
    /// The tests that the harness names, if its output was read.
    pub(super) of_harness: Vec<HarnessTest>,
}

/// Returns the variable by which a test or a program knows these arguments, which its replay needs besides the token.
fn replay_with(words: &[String]) -> (String, OsString) {
    let words = serde_json::to_string(words).expect("words are JSON");
    (REPLAY_WITH.to_owned(), words.into())
}

impl Ran {
    /// Reports the tests that could not be run with their settings.
    ///
    /// # Errors
    /// If there are any.
    pub(crate) fn refused_none(&self) -> Result<(), Problem> {
        match self.of_program {
            true => refusal::not_of_program(&self.refusals),
            false => refusal::none_of(&self.refusals),
        }
    }
}

impl CargoTest {
    /// Builds the project with the overlays, so that all of its tests are explored. Does nothing if this is `None`. With
    /// `Some(true)`, plain memory is watched.
    ///
    /// # Errors
    /// If the overlays cannot be built, or cannot be used with these arguments.
    pub(crate) fn unmodified(mut self, watched: Option<bool>) -> Result<CargoTest, Problem> {
        if let Some(watched) = watched {
            let prepared = Unmodified::prepare(&self.arguments, watched, self.is_of_program(), || {
                self.is_understood()
            })?;
            self.arguments = prepared.arguments(self.arguments)?;
            self.build = prepared.variables()?;
        }
        Ok(self)
    }

    /// Runs this program instead of the tests, if there is one.
    pub(super) fn program(mut self, program: Option<&Program>) -> CargoTest {
        let Some(program) = program else {
            return self;
        };
        (self.runner, self.prints, self.reads) = (&PROGRAM, false, false);
        for (name, value) in program.around.variables() {
            self.variables.push((name.into(), value.into()));
        }
        self.variables.push(replay_with(&program.replay_with));
        self
    }

    /// `true` if a program is run instead of tests.
    fn is_of_program(&self) -> bool {
        self.runner.runs == PROGRAM.runs
    }

    /// Runs the tests by cargo-nextest if `runs` is `true`.
    pub(crate) fn by_nextest(mut self, runs: bool) -> CargoTest {
        if runs {
            self.runner = &NEXTEST;
        }
        self
    }

    /// Creates a run with these arguments of `cargo test`. With `stdout_is_taken`, cargo's output goes to stderr.
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
        // A replay of a test needs the same build.
        let words = words_for_cargo(&cargo::of_build(&arguments));
        let variables = match &words[..] {
            [] => Vec::new(),
            words => vec![replay_with(words)],
        };
        Ok(CargoTest {
            arguments,
            variables,
            build: Vec::new(),
            directory,
            runner: &CARGO,
            listens: false,
            prints: true,
            reads: true,
            shown: if stdout_is_taken {
                Shown::OnStderr
            } else {
                Shown::All
            },
        })
    }

    /// Sets whether the names of tests that are not explored are read from the output. If so, the output goes to stderr,
    /// unless the run is silent.
    pub(super) fn listens(mut self, on: bool) -> CargoTest {
        self.listens = on;
        self
    }

    /// Returns a directory that lives as long as the run.
    pub(super) fn directory(&self) -> &std::path::Path {
        self.directory.path()
    }

    /// Silences cargo and the tests, unless no test can be run. Use it where failing tests are expected, and cargo's
    /// messages about them are of no use.
    pub(crate) fn silent(mut self) -> CargoTest {
        self.shown = Shown::Trouble;
        self
    }

    /// Sets these settings for the tests.
    pub(crate) fn settings(mut self, given: &[(&str, String)]) -> CargoTest {
        for (name_of, value) in given {
            let value = match *name_of {
                "monitors" => with_full_paths(value),
                "log" if value != "none" => std::path::absolute(value)
                    .map_or_else(|_| value.clone(), |path| path.to_string_lossy().into_owned()),
                _ => value.clone(),
            };
            let name = variable(name_of);
            // An earlier value, or the user's own variable, may set other members, which this value keeps.
            let before = self.variables.iter().rev().find(|(given, _)| *given == name);
            let before = before.map(|(_, before)| before.to_string_lossy().into_owned());
            let value = match (
                Setting::named(name_of),
                before.or_else(|| std::env::var(&name).ok()),
            ) {
                (Some(setting), Some(before)) => setting.over(&before, &value),
                _ => value,
            };
            self.variables.push((name, value.into()));
        }
        self
    }

    /// Saves each test's search in a file of its own in this directory, instead of all in one file. The other members of
    /// the setting `checkpoint` apply to each. `own` is the user's environment variable for that setting.
    pub(super) fn checkpoints(mut self, directory: impl Into<OsString>, own: Option<&str>) -> CargoTest {
        let name = variable("checkpoint");
        let divided = |text: &str| {
            let divided = Setting::named("checkpoint").map(|setting| setting.head_and_members(text));
            divided.map_or_else(Default::default, |(head, members)| (head.is_some(), members))
        };
        let given = self.variables.iter().find(|(given, _)| *given == name);
        let (_, members) =
            divided(&given.map_or_else(String::new, |(_, text)| text.to_string_lossy().into_owned()));
        self.variables.retain(|(given, _)| *given != name);
        // The file in the user's own variable would take precedence over the directory.
        let has_file = own.is_some_and(|own| divided(own).0);
        let parts: Vec<&str> = has_file
            .then_some("none")
            .into_iter()
            .chain(Some(&*members))
            .filter(|part| !part.is_empty())
            .collect();
        if !parts.is_empty() {
            self.variables.push((name, parts.join(",").into()));
        }
        self.variables.push((variable("checkpoints"), directory.into()));
        self
    }

    /// Sets whether executions of findings are recorded.
    pub(super) fn record(mut self, on: bool) -> CargoTest {
        if on {
            self.variables.push((variable("record"), "1".into()));
        }
        self
    }

    /// Sets a file of known findings: a test passes if all of its findings are in it.
    pub(super) fn baseline(mut self, file: Option<PathBuf>) -> CargoTest {
        if let Some(file) = file {
            self.variables
                .push((baseline::VARIABLE.to_owned(), file.into_os_string()));
        }
        self
    }

    /// Sets whether the baseline is updated. If so, tests that fail only because of findings pass.
    pub(super) fn updates_baseline(mut self, updates: bool) -> CargoTest {
        if updates {
            let variable = baseline::UPDATE_VARIABLE.to_owned();
            self.variables.push((variable, "1".into()));
        }
        self
    }

    /// Replays this schedule in the tests.
    pub(super) fn replay(mut self, schedule: impl Into<OsString>) -> CargoTest {
        self.variables.push((variable("replay"), schedule.into()));
        // There is one execution, so its output is shown.
        self.prints = true;
        self
    }

    /// Stops the replay before this step.
    pub(super) fn stop_before(mut self, at: &StopPoint) -> CargoTest {
        self.variables.push((variable("break"), at.to_string().into()));
        self
    }

    /// Runs the test binaries by this script.
    pub(super) fn run_by(mut self, script: &Path) -> CargoTest {
        let runner = format!("target.'cfg(all())'.runner=['sh',{:?}]", script.to_string_lossy());
        self.arguments
            .splice(0..0, ["--config".into(), OsString::from(runner)]);
        // The debugger needs stdin.
        (self.shown, self.reads) = (Shown::All, true);
        self
    }

    /// Returns the settings that are set for the tests, by name, and the arguments of cargo.
    #[cfg(feature = "pool")]
    pub(super) fn given(&self) -> (Vec<(String, OsString)>, &[OsString]) {
        let begin = variable("");
        let settings = self.variables.iter().filter_map(|(name, value)| {
            let name = name.strip_prefix(&begin)?;
            Some((name.to_lowercase(), value.clone()))
        });
        (settings.collect(), &self.arguments)
    }

    /// Runs the tests so that, instead of exploring, they write their settings, and the origin of each, into a directory.
    /// Returns that directory as well. cargo's output goes to stderr.
    ///
    /// # Errors
    /// As for [`CargoTest::run`], or if the directory cannot be created.
    pub(super) fn ask_for_settings(&self) -> Result<(PathBuf, Ran), Problem> {
        let directory = self.directory().join("settings");
        fs::create_dir(&directory).map_err(|error| {
            Problem::file(
                "make",
                &directory,
                &error,
                "set TMPDIR to a directory that can be written",
            )
        })?;
        let ran = self.run_with(&[(variable("settings"), directory.as_os_str().to_owned())])?;
        Ok((directory, ran))
    }

    /// Runs the tests and reads their reports.
    ///
    /// # Errors
    /// If cargo cannot be run, if the project does not build and no test was run, or if a report cannot be read.
    pub(crate) fn run(&self) -> Result<Ran, Problem> {
        self.run_with(&[])
    }

    fn run_with(&self, more: &[(String, OsString)]) -> Result<Ran, Problem> {
        let reports = self.directory.path().join("reports");
        let mut command = cargo::command();
        // A schedule or a baseline in the user's own environment is for other runs than this one.
        command
            .args(self.runner.runs)
            .args(&self.arguments)
            .env_remove(variable("replay"))
            .env_remove(REPLAY_WITH)
            .env_remove(SET_UP)
            .env_remove(TEAR_DOWN)
            .env_remove(COMMAND_LIMIT)
            .env_remove(baseline::VARIABLE)
            .env_remove(baseline::UPDATE_VARIABLE);
        command
            .env(variable("reports"), &reports)
            .envs(self.build.iter().cloned())
            .envs(
                self.variables
                    .iter()
                    .chain(more)
                    .map(|(name, value)| (name, value)),
            );
        let (status, output) = match self.listens {
            true => self.run_and_read(command)?,
            false => self.run_and_show(command)?,
        };
        let (reports, refusals) = reports::read_all(&reports)?;
        let reported = !reports.is_empty() || !refusals.is_empty();
        let output = String::from_utf8_lossy(&output);
        let is_hidden = self.shown == Shown::Trouble;
        if !status.success() && !reported && is_hidden && !output.is_empty() {
            output::pass_on(output.trim_end());
        }
        if !status.success() && !reported && (self.is_of_program() || !self.builds()?) {
            return Err(self.not_run());
        }
        Ok(Ran {
            passed: status.success(),
            of_program: self.is_of_program(),
            reports,
            refusals,
            of_harness: match self.listens {
                true => harness::tests(&output),
                false => Vec::new(),
            },
        })
    }

    /// Runs cargo. Returns its exit status, and its output on stderr if that is not shown.
    fn run_and_show(&self, mut command: Command) -> Result<(ExitStatus, Vec<u8>), Problem> {
        match self.shown {
            Shown::All => &mut command,
            Shown::OnStderr => command.stdout(io::stderr()),
            Shown::Trouble => command.stdout(Stdio::null()).stderr(Stdio::piped()),
        };
        if !self.reads {
            command.stdin(Stdio::null());
        }
        if !self.prints {
            command.stdout(Stdio::null());
        }
        let output = command.spawn().and_then(Child::wait_with_output);
        let Output { status, stderr, .. } = output.map_err(|error| cargo::no_cargo(&error))?;
        Ok((status, stderr))
    }

    /// Runs cargo. Returns its exit status and its whole output. Both streams go to one pipe, because cargo names a test
    /// binary on stderr, and the binary names its tests on stdout.
    fn run_and_read(&self, mut command: Command) -> Result<(ExitStatus, Vec<u8>), Problem> {
        let no_pipe = |error| Problem::usage(format!("cannot make a pipe ({error}): close some files"));
        let (mut reader, writer) = io::pipe().map_err(no_pipe)?;
        command
            .stdout(writer.try_clone().map_err(no_pipe)?)
            .stderr(writer);
        let mut child = command.spawn().map_err(|error| cargo::no_cargo(&error))?;
        // It holds the writing ends, and would keep the pipe open.
        drop(command);
        let (mut output, mut buffer) = (Vec::new(), [0; 1 << 13]);
        loop {
            let length = match reader.read(&mut buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Ok(0) | Err(_) => break,
                Ok(length) => length,
            };
            output.extend_from_slice(&buffer[..length]);
            if self.shown != Shown::Trouble {
                // A closed stderr is no reason to stop the tests.
                let _ = io::stderr().write_all(&buffer[..length]);
            }
        }
        let status = child.wait().map_err(|error| cargo::no_cargo(&error))?;
        Ok((status, output))
    }

    /// Returns the problem of a run in which no test was run.
    fn not_run(&self) -> Problem {
        let line = self.arguments.iter().fold(
            format!("cargo {}", self.runner.runs.join(" ")),
            |mut line, argument| {
                let _ = write!(line, " {}", argument.to_string_lossy());
                line
            },
        );
        if self.is_of_program() {
            return Problem::usage(format!(
                "the program was not explored: the project does not build, cargo finds no such program, or the process \
                 ended early; see cargo's messages above for `{line}`"
            ));
        }
        Problem::usage(format!(
            "no test was run: the project does not build, or cargo does not know these arguments (those of the tests \
             come after a second `--`); see cargo's messages above for `{line}`"
        ))
    }

    /// Checks the arguments of cargo before a long preparation. cargo gets no compiler, so it only parses them.
    ///
    /// # Errors
    /// If cargo does not know one of them.
    fn is_understood(&self) -> Result<(), Problem> {
        // cargo's exit code for an unknown argument. Its other errors have other codes.
        const UNKNOWN: i32 = 1;
        if self.runner.runs == NEXTEST.runs {
            return Ok(());
        }
        let mut command = cargo::command();
        command
            .args(self.runner.runs)
            .args(&self.arguments)
            .env("RUSTC", self.directory.path().join("no-compiler"))
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        let Output { status, stderr, .. } = command.output().map_err(|error| cargo::no_cargo(&error))?;
        if status.code() != Some(UNKNOWN) {
            return Ok(());
        }
        output::pass_on(String::from_utf8_lossy(&stderr).trim_end());
        Err(self.not_run())
    }

    /// `true` if cargo can build the tests. The exit code of a run does not distinguish a failed build from a failed test.
    fn builds(&self) -> Result<bool, Problem> {
        let of_cargo = self.arguments.iter().take_while(|argument| *argument != "--");
        let mut command = cargo::command();
        command
            .args(self.runner.builds)
            .args(of_cargo.filter(|argument| *argument != "--no-run"));
        command
            .envs(self.build.iter().cloned())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        Ok(status(&mut command)?.success())
    }
}

fn status(command: &mut Command) -> Result<ExitStatus, Problem> {
    command.status().map_err(|error| cargo::no_cargo(&error))
}

/// Returns the environment variable that sets this in tests.
pub(super) fn variable(name: &str) -> String {
    format!("INTERMEZZO_{}", name.to_uppercase())
}

/// Returns the list of monitors, with absolute paths: tests are run in the directories of their packages.
fn with_full_paths(monitors: &str) -> String {
    let mut settings = Settings::default();
    settings.set("monitors", monitors).expect("clap accepted it");
    for monitor in &mut settings.monitors {
        let is_file = Path::new(&monitor.name).is_file();
        if is_file && let Ok(full) = std::path::absolute(&monitor.name) {
            monitor.name = full.to_string_lossy().into_owned();
        }
    }
    settings.value("monitors").expect("it is a setting")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The last variable of a name counts, and keeps the members that only the first one has.
    #[test]
    fn a_setting_that_is_given_twice_has_both() {
        let given = [("reduction", "cache_bytes=0"), ("reduction", "dpor")];
        let given = given.map(|(name, value)| (name, value.to_owned()));
        let cargo = CargoTest::new(Vec::new(), true).unwrap().settings(&given);
        let (_, last) = cargo.variables.last().unwrap();
        let mut settings = Settings::default();
        settings.set("reduction", last.to_str().unwrap()).unwrap();
        assert_eq!(settings.value("reduction"), Some("dpor,cache_bytes=0".into()));
    }

    /// The directory replaces the file, and the tests keep their other members.
    #[test]
    fn a_directory_of_checkpoints_keeps_the_other_members() {
        let variables = |value: &str, own| {
            let cargo = CargoTest::new(Vec::new(), true).unwrap();
            let cargo = cargo.settings(&[("checkpoint", value.to_owned())]);
            let cargo = cargo.checkpoints("dir", own);
            let variables = cargo.variables.iter();
            let shown: Vec<String> = variables
                .map(|(name, value)| format!("{name}={}", value.to_string_lossy()))
                .collect();
            shown.join(" ")
        };
        assert_eq!(variables("dir", None), "INTERMEZZO_CHECKPOINTS=dir");
        for (own, instead) in [("a.search", "INTERMEZZO_CHECKPOINT=none "), ("every=60", "")] {
            let shown = variables("dir", Some(own));
            assert_eq!(shown, format!("{instead}INTERMEZZO_CHECKPOINTS=dir"));
        }
        for every in ["every=5", "every=10"] {
            assert_eq!(
                variables(&format!("dir,{every}"), None),
                format!("INTERMEZZO_CHECKPOINT={every} INTERMEZZO_CHECKPOINTS=dir")
            );
        }
    }
}
