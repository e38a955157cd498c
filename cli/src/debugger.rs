//! Debuggers in which a replay stops before one of its steps.
//!
//! The process calls a function right before that step ([`intermezzo::Explorer::stop_before`]), and the debugger has a
//! breakpoint at that function.

use crate::problem::Problem;
use clap::ValueEnum;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// The path of the function that is called at the stop.
const STOP: &str = "intermezzo_explorer::stop_before::stopped_here";

/// A debugger.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Debugger {
    Gdb,
    Lldb,
    /// Records the replay, and runs the recording in gdb: it also goes backwards
    Rr,
}

impl Debugger {
    /// Returns the line of a shell script that runs the command `"$@"` under the debugger.
    fn line(self) -> String {
        // The watchdog sends this signal to ask a worker for its progress.
        let gdb = format!(
            "-ex 'set confirm off' -ex 'set breakpoint pending on' -ex 'handle SIGURG nostop noprint pass' -ex 'break {STOP}'"
        );
        match self {
            Debugger::Gdb => format!("exec gdb -q {gdb} -ex run --args \"$@\""),
            Debugger::Lldb => format!(
                "exec lldb -o 'breakpoint set -n {STOP}' -o 'process handle SIGURG -s false -n false' -o run -- \"$@\""
            ),
            Debugger::Rr => format!("rr record \"$@\"\nexec rr replay -- -q {gdb} -ex continue"),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Debugger::Gdb => "gdb",
            Debugger::Lldb => "lldb",
            Debugger::Rr => "rr",
        }
    }

    /// Writes a script into this directory that runs a command under the debugger.
    ///
    /// # Errors
    /// If the debugger is not installed, or the file cannot be written.
    pub(crate) fn script(self, directory: &Path) -> Result<PathBuf, Problem> {
        let is_there = env::var_os("PATH")
            .is_some_and(|paths| env::split_paths(&paths).any(|path| path.join(self.name()).is_file()));
        if !is_there {
            return Err(Problem::usage(format!(
                "the debugger `{}` is not in PATH: install it, or leave out `--debugger` to have the stop printed",
                self.name()
            )));
        }
        let path = directory.join("debugger.sh");
        fs::write(&path, format!("#!/bin/sh\n{}\n", self.line()))
            .map_err(|error| Problem::file("write", &path, &error, "set TMPDIR to a directory with room"))?;
        Ok(path)
    }

    /// Runs this process's command under the debugger, without the flag `--debugger`. Returns the debugger's exit code.
    ///
    /// # Errors
    /// If the debugger is not installed, or cannot be run.
    pub(crate) fn run_this_command(self) -> Result<i32, Problem> {
        let problem = |error| Problem::usage(format!("cannot run {} ({error})", self.name()));
        let directory = tempfile::tempdir().map_err(problem)?;
        let script = self.script(directory.path())?;
        let this = env::current_exe().map_err(problem)?;
        let status = Command::new("sh")
            .arg(script)
            .arg(this)
            .args(without_flag(env::args_os().skip(1)))
            .status()
            .map_err(problem)?;
        Ok(status.code().unwrap_or(1))
    }
}

/// Returns the arguments without `--debugger NAME` and `--debugger=NAME`.
fn without_flag(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments = arguments.peekable();
    let mut kept = Vec::new();
    while let Some(argument) = arguments.next() {
        if argument == OsStr::new("--debugger") {
            arguments.next();
        } else if !argument.to_string_lossy().starts_with("--debugger=") {
            kept.push(argument);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_is_left_out_in_both_forms() {
        let given = [
            "replay",
            "--debugger",
            "gdb",
            "imz1.x",
            "--debugger=rr",
            "--break",
            "event 3",
        ];
        let kept = without_flag(given.into_iter().map(OsString::from));
        assert_eq!(
            kept,
            ["replay", "imz1.x", "--break", "event 3"].map(OsString::from)
        );
    }
}
