//! Cargo itself: its command, and its workspace.

use crate::problem::Problem;
use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Returns the root of the workspace in the current directory; `None` if there is none, or cargo cannot be asked.
pub(crate) fn workspace_root() -> Option<PathBuf> {
    let output = command()
        .args(["locate-project", "--workspace", "--message-format", "plain"])
        .stderr(Stdio::null())
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    let manifest = String::from_utf8(output.stdout).ok()?;
    Some(Path::new(manifest.trim_end()).parent()?.to_owned())
}

/// Makes a command that runs cargo. Programs that it builds are tested, so the facade may explore in them also with
/// optimisation.
pub(crate) fn command() -> Command {
    let mut cargo = Command::new(cargo_path());
    cargo.env("INTERMEZZO_IN_RELEASE", "1");
    cargo
}

/// Returns the cargo that runs us, or else the one that is found.
fn cargo_path() -> OsString {
    env::var_os("CARGO")
        .filter(|path| !path.is_empty())
        .unwrap_or_else(|| "cargo".into())
}

/// Returns the problem of a cargo that cannot be run.
pub(crate) fn no_cargo(error: &io::Error) -> Problem {
    let path = cargo_path();
    let path = OsStr::to_string_lossy(&path).into_owned();
    Problem::usage(format!(
        "cannot run {path:?} ({error}): install cargo, or set CARGO to its path"
    ))
}

/// Arguments of `cargo test` that choose packages.
const PACKAGES: [&str; 5] = ["-p", "--package", "--workspace", "--all", "--exclude"];

/// Arguments of `cargo test` that choose targets.
const TARGETS: [&str; 10] = [
    "--lib",
    "--bin",
    "--bins",
    "--test",
    "--tests",
    "--example",
    "--examples",
    "--bench",
    "--benches",
    "--all-targets",
];

/// `true` if the argument chooses packages or targets: a user who gives one has chosen.
pub(crate) fn chooses(argument: &OsStr) -> bool {
    PACKAGES.contains(&&*flag(argument)) || chooses_targets(argument)
}

/// `true` if the argument chooses targets.
pub(crate) fn chooses_targets(argument: &OsStr) -> bool {
    TARGETS.contains(&&*flag(argument))
}

/// Returns the argument without its value.
fn flag(argument: &OsStr) -> String {
    let argument = argument.to_string_lossy();
    argument.split('=').next().unwrap_or_default().to_owned()
}

/// Returns the user's `--manifest-path`, if there is one.
pub(crate) fn manifest_path(arguments: &[OsString]) -> Vec<OsString> {
    let at = arguments
        .iter()
        .position(|argument| argument.to_string_lossy().starts_with("--manifest-path"));
    let Some(at) = at else { return Vec::new() };
    let words = if arguments[at] == "--manifest-path" { 2 } else { 1 };
    arguments[at..].iter().take(words).cloned().collect()
}
