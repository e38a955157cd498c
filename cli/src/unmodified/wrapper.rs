//! The compiler's wrapper: cargo calls this command instead of the compiler, with the compiler and its arguments.

use super::overlays::library;
use super::{NEXT_WRAPPER, OVERLAYS};
use crate::output;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus, Output, Stdio};

/// The extension of the file with a program's name; `overlays/test.rs` reads it.
const PROGRAM: &str = "intermezzo-program";

/// Runs the compiler, if this is a call of it; otherwise returns `None`.
pub(crate) fn run() -> Option<ExitCode> {
    let directory = PathBuf::from(env::var_os(OVERLAYS)?);
    let mut arguments = env::args_os().skip(1);
    let compiler = arguments.next().filter(|path| is_compiler(path))?;
    let arguments: Vec<OsString> = arguments.collect();
    note_program(&arguments);
    let command = |harness: &str| {
        let mut command = match env::var_os(NEXT_WRAPPER) {
            Some(wrapper) => {
                let mut command = Command::new(wrapper);
                command.arg(&compiler);
                command
            }
            None => Command::new(&compiler),
        };
        command
            .args(&arguments)
            .args(additional(&arguments, &directory, harness));
        command
    };
    let status = match arguments.iter().any(|argument| argument == "--test") {
        true => build_test(command),
        false => command(WITH_ARENA).status(),
    };
    Some(match status {
        Ok(status) => ExitCode::from(
            status
                .code()
                .and_then(|code| u8::try_from(code).ok())
                .unwrap_or(1),
        ),
        Err(error) => {
            output::complain(&format!("error: cannot run the compiler ({error})"));
            ExitCode::FAILURE
        }
    })
}

/// The overlays of `test`, with and without a global allocator.
const WITH_ARENA: &str = "arena";
const WITHOUT_ARENA: &str = "test";

/// The compiler's words for a program with two global allocators.
const CONFLICT: &str = "conflicts with global allocator in";

/// Compiles a test binary with our global allocator, or without it if the program has another one: only the compiler
/// knows.
fn build_test(command: impl Fn(&str) -> Command) -> io::Result<ExitStatus> {
    let Output { status, stderr, .. } = command(WITH_ARENA)
        .stdout(Stdio::inherit())
        .stderr(Stdio::piped())
        .spawn()?
        .wait_with_output()?;
    if !status.success() && String::from_utf8_lossy(&stderr).contains(CONFLICT) {
        return command(WITHOUT_ARENA).status();
    }
    // If it cannot be written, neither can a word about that.
    let _ = io::stderr().write_all(&stderr);
    Ok(status)
}

/// `true` if cargo calls us with this as the compiler, or as another wrapper of it. Our own commands are single words.
fn is_compiler(path: &OsStr) -> bool {
    path == "rustc" || Path::new(path).components().count() > 1
}

/// Returns the arguments to add: the overlays, for crates of the project's own target. Cargo names a target for these
/// alone, and build scripts, procedural macros and what they depend on are built without. `harness` is the overlay of
/// `test`.
fn additional(arguments: &[OsString], directory: &Path, harness: &str) -> Vec<OsString> {
    let arguments: Vec<&str> = arguments
        .iter()
        .map(|argument| argument.to_str().unwrap_or_default())
        .collect();
    let has = |flag: &str| {
        let of = |&argument: &&str| {
            argument == flag
                || argument
                    .strip_prefix(flag)
                    .is_some_and(|rest| rest.starts_with('='))
        };
        arguments.iter().any(of)
    };
    let value = |flag: &str| {
        arguments
            .iter()
            .position(|&argument| argument == flag)
            .and_then(|at| arguments.get(at + 1))
    };
    // Without a name, and with this one, it is asked about itself.
    let compiles = value("--crate-name").is_some_and(|&name| name != "___");
    if !compiles || !has("--target") || value("--crate-type") == Some(&"proc-macro") {
        return Vec::new();
    }
    let mut additional: Vec<OsString> = Vec::new();
    let overlays = [("std", "std"), ("core", "core"), ("test", harness)];
    for (name, overlay) in &overlays[..2 + usize::from(has("--test"))] {
        let mut external = OsString::from(format!("{name}="));
        external.push(library(directory, overlay));
        additional.extend(["--extern".into(), external]);
    }
    let mut dependencies = OsString::from("dependency=");
    dependencies.push(directory.join("deps"));
    if arguments.iter().any(|argument| argument.contains("lto")) {
        // The overlays have no code for that.
        additional.extend(["-C".into(), "lto=off".into()]);
    }
    // Crates that the overlays depend on may be the project's, too.
    additional.extend([
        "-L".into(),
        dependencies,
        "-C".into(),
        "metadata=intermezzo".into(),
    ]);
    additional
}

/// Writes the name of the binary or example that is tested into a file beside the test binary, which is not told.
fn note_program(arguments: &[OsString]) {
    let value = |flag: &str| {
        let at = arguments.iter().position(|argument| argument == flag)?;
        arguments.get(at + 1)
    };
    let suffix = arguments
        .iter()
        .find_map(|argument| argument.to_str()?.strip_prefix("extra-filename="));
    if let Some(program) = env::var_os("CARGO_BIN_NAME")
        && arguments.iter().any(|argument| argument == "--test")
        && let (Some(name), Some(directory), Some(suffix)) =
            (value("--crate-name"), value("--out-dir"), suffix)
    {
        let file = format!("{}{suffix}.{PROGRAM}", name.to_string_lossy());
        // Without it, a replay does not find the test.
        let _ = fs::write(Path::new(directory).join(file), program.as_encoded_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(line: &str) -> Vec<String> {
        let arguments: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        let added = additional(&arguments, Path::new("dir"), WITH_ARENA);
        added
            .iter()
            .map(|argument| argument.to_string_lossy().into_owned())
            .collect()
    }

    #[test]
    fn the_projects_own_crates_get_the_overlays() {
        let library = added("--crate-name a --crate-type lib --target t src/lib.rs");
        assert_eq!(
            library.iter().filter(|&argument| argument == "--extern").count(),
            2,
            "{library:?}"
        );
        let test = added("--crate-name a --test --target=t src/lib.rs");
        assert_eq!(
            test.iter().filter(|&argument| argument == "--extern").count(),
            3,
            "{test:?}"
        );
        for line in [
            "-vV",
            "- --crate-name ___ --target t --print=cfg",
            "--crate-name build_script_build --crate-type bin build.rs",
            "--crate-name a_macro --crate-type proc-macro --target t src/lib.rs",
        ] {
            assert!(added(line).is_empty(), "{line}");
        }
    }
}
