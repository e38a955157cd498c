//! Cargo itself: its command, and its workspace.

use crate::problem::Problem;
use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::ops::Range;
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

/// Returns a command that runs cargo. Programs that it builds are under test, so the facade may explore in them even with
/// optimisation.
pub(crate) fn command() -> Command {
    let mut cargo = Command::new(cargo_path());
    cargo.env("INTERMEZZO_IN_RELEASE", "1");
    cargo
}

/// Returns the path of the cargo that runs this process, or else `cargo`, which is looked up in `PATH`.
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

/// `true` if the argument chooses packages or targets.
pub(crate) fn chooses(argument: &OsStr) -> bool {
    PACKAGES.contains(&&*flag(argument)) || chooses_targets(argument)
}

/// `true` if the argument chooses targets.
pub(crate) fn chooses_targets(argument: &OsStr) -> bool {
    TARGETS.contains(&&*flag(argument))
}

/// Returns the arguments that decide which code is built, with their values, but not those that choose packages and targets.
pub(crate) fn of_build(arguments: &[OsString]) -> Vec<OsString> {
    let mut of_cargo = arguments.iter().take_while(|&argument| argument != "--");
    let mut taken = Vec::new();
    while let Some(argument) = of_cargo.next() {
        let has_value = VALUED.contains(&&*flag(argument));
        // The value may follow a short flag directly.
        let is_short = argument.to_string_lossy().starts_with("-F");
        if !has_value && !is_short && !VALUELESS.contains(&&*argument.to_string_lossy()) {
            continue;
        }
        taken.push(argument.clone());
        if VALUED.contains(&&*argument.to_string_lossy()) {
            taken.extend(of_cargo.next().cloned());
        }
    }
    taken
}

/// cargo's flags that decide which code is built: without a value, and with one.
const VALUELESS: [&str; 4] = ["--release", "-r", "--all-features", "--no-default-features"];
const VALUED: [&str; 6] = [
    "--profile",
    "--features",
    "-F",
    "--config",
    "--manifest-path",
    "--target",
];

/// Returns the argument without its value.
fn flag(argument: &OsStr) -> String {
    let argument = argument.to_string_lossy();
    argument.split('=').next().unwrap_or_default().to_owned()
}

/// Returns the user's `--manifest-path`, if there is one.
pub(crate) fn manifest_path(arguments: &[OsString]) -> Vec<OsString> {
    arguments[words_of("--manifest-path", arguments)].to_vec()
}

/// Returns the directory of the user's `--target-dir`, if there is one.
pub(crate) fn target_directory(arguments: &[OsString]) -> Option<OsString> {
    match &arguments[words_of(TARGET_DIRECTORY, arguments)] {
        [] => None,
        [word] => {
            let word = word.to_string_lossy();
            word.split_once('=').map(|(_, value)| value.into())
        }
        [_, value, ..] => Some(value.clone()),
    }
}

/// Returns the arguments without the user's `--target-dir`.
pub(crate) fn without_target_directory(mut arguments: Vec<OsString>) -> Vec<OsString> {
    arguments.drain(words_of(TARGET_DIRECTORY, &arguments));
    arguments
}

const TARGET_DIRECTORY: &str = "--target-dir";

/// Returns the range of the arguments that are this flag of cargo and its value; an empty one if it is not there.
fn words_of(flag: &str, arguments: &[OsString]) -> Range<usize> {
    let of_cargo = arguments.iter().take_while(|&argument| argument != "--");
    let is_it = |argument: &OsString| {
        let text = argument.to_string_lossy();
        text.strip_prefix(flag)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
    };
    let at = of_cargo.clone().position(is_it).unwrap_or(arguments.len());
    let words = match arguments.get(at) {
        None => 0,
        Some(word) if word != flag => 1,
        // A flag without a value stays for cargo, which reports the error.
        Some(_) => 2 * usize::from(at + 1 < of_cargo.count()),
    };
    at..at + words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_of_the_build_are_found() {
        for (line, expected) in [
            ("", ""),
            ("-p a --lib name -- --release", ""),
            ("--release -p a", "--release"),
            (
                "--manifest-path b/Cargo.toml --lib --target=t",
                "--manifest-path b/Cargo.toml --target=t",
            ),
            ("-r --profile x --lib", "-r --profile x"),
            (
                "--profile=x --features a,b -Fc -F d",
                "--profile=x --features a,b -Fc -F d",
            ),
            (
                "--no-default-features --config k=1 --all-features",
                "--no-default-features --config k=1 --all-features",
            ),
            ("--features", "--features"),
        ] {
            let arguments: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
            let found = of_build(&arguments).join(OsStr::new(" "));
            assert_eq!(found, OsStr::new(expected), "{line}");
        }
    }

    #[test]
    fn the_target_directory_is_taken_out_of_the_arguments() {
        let of = |line: &str| {
            let arguments: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
            let directory = target_directory(&arguments).map(|given| given.into_string().unwrap());
            let rest = without_target_directory(arguments);
            let rest: Vec<String> = rest.into_iter().map(|word| word.into_string().unwrap()).collect();
            (directory, rest.join(" "))
        };
        let some = |directory: &str| Some(directory.to_owned());
        for (line, directory, rest) in [
            ("--target-dir x -p a", some("x"), "-p a"),
            ("-p a --target-dir=x=y", some("x=y"), "-p a"),
            ("--target-directory x", None, "--target-directory x"),
            (
                "--target t -- --target-dir x",
                None,
                "--target t -- --target-dir x",
            ),
            ("--target-dir", None, "--target-dir"),
            ("--target-dir -- a", None, "--target-dir -- a"),
            ("", None, ""),
        ] {
            assert_eq!(of(line), (directory, rest.to_owned()), "{line}");
        }
    }
}
