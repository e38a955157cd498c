//! Tests of the command line as a user sees it: the binary is run, and its output and exit code are checked.

mod actions;
mod allocators;
mod baseline;
mod breakpoints;
mod broken;
mod checkpoint;
mod ci;
mod ci_shares;
mod commands;
mod config;
mod configured;
mod corpus;
#[cfg(target_os = "linux")]
mod counts;
mod crash;
mod documents;
#[cfg(unix)]
mod fastest_for_loom;
mod first_day;
mod freed;
mod history;
mod hooks;
mod identity;
#[cfg(unix)]
mod loom_suites;
mod memo;
mod merge;
mod monitor;
mod new_user;
mod object;
mod ordinary;
// Without the feature, `commands.rs` checks that the commands say so.
#[cfg(all(unix, feature = "pool"))]
mod pool;
mod programs;
mod project;
mod published_crates;
mod races;
mod real_crates;
#[cfg(target_os = "linux")]
mod real_outcomes;
mod real_schedulers;
mod refusals;
mod registry;
mod replay;
mod reuse;
#[cfg(target_os = "linux")]
mod same_outcomes;
mod seeded;
mod shuttle_suites;
mod speed;
mod stand_in;
mod std_names;
mod suites;
mod system_waits;
#[path = "../../../tests/common/throw_away.rs"]
mod throw_away;
mod tune;
mod unmodified;
mod usage;
mod view;
mod waits;
mod weak_memory;

use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// The result of a run of the binary.
struct Ran {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Ran {
    /// Runs this command.
    fn of(command: &mut Command) -> Ran {
        let output = command.output().unwrap();
        Ran {
            code: output.status.code().expect("no signal ended it"),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Checks the exit code.
    #[track_caller]
    fn ends_with(self, code: i32) -> Ran {
        assert_eq!(
            self.code, code,
            "\n--- stdout\n{}\n--- stderr\n{}",
            self.stdout, self.stderr
        );
        self
    }

    /// Checks that the command was refused: exit code 2, nothing on stdout, and each of these on stderr.
    #[track_caller]
    fn refused(self, says: &[&str]) {
        let ran = self.ends_with(2);
        assert_eq!(ran.stdout, "");
        for says in says {
            assert!(ran.stderr.contains(says), "{says:?} is not in:\n{}", ran.stderr);
        }
    }

    /// Returns the one JSON value on stdout.
    #[track_caller]
    fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}:\n{}\n{}", self.stdout, self.stderr))
    }
}

/// Returns the binary with these arguments, to be run in this directory.
fn command(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-intermezzo"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("INTERMEZZO_") {
            command.env_remove(name);
        }
    }
    // The target directory of this build, in which the dependencies are already built.
    let target = Path::new(env!("CARGO_BIN_EXE_cargo-intermezzo"))
        .ancestors()
        .nth(2)
        .unwrap();
    command
        .env("CARGO_TARGET_DIR", target)
        .env("CARGO_NET_OFFLINE", "true");
    command.arg("intermezzo").args(arguments).current_dir(directory);
    command
}

/// Runs the binary with these arguments in this directory.
fn run_in(directory: &Path, arguments: &[&str]) -> Ran {
    Ran::of(&mut command(directory, arguments))
}

/// Runs the binary with these arguments.
fn run(arguments: &[&str]) -> Ran {
    run_in(Path::new(env!("CARGO_MANIFEST_DIR")), arguments)
}

/// Returns the one JSON value that a run with these arguments and `--json` prints; it must end with this code.
#[track_caller]
fn json(code: i32, arguments: &[&str]) -> Value {
    run(&[arguments, &["--json"]].concat()).ends_with(code).json()
}

/// Returns a report's findings, without the strategy that found them, because a replay has none.
fn findings(report: &Value) -> Value {
    let mut findings = report["findings"].clone();
    for finding in findings.as_array_mut().unwrap() {
        finding.as_object_mut().unwrap().remove("found_by");
    }
    findings
}

/// Returns the token of a report's first finding.
#[track_caller]
fn token(report: &Value) -> String {
    report["findings"][0]["schedule"]
        .as_str()
        .expect("a finding with a schedule")
        .to_owned()
}
