//! The arguments of `run`, which explores a program of the project.

use super::{CargoArguments, TestArgs};
use crate::command_flags::ProgramFlags;
use crate::problem::Problem;
use crate::search_flags::SearchFlags;
use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;

/// Explores a program of this project, from the beginning of its `main` to its end
///
/// Runs `cargo run` with std replaced, as `test --unmodified` does, and explores every execution. The program fails if
/// `main` returns an error or an exit code other than 0, if a thread panics, or if any thread calls `exit` with a code
/// other than 0. When `main` returns, or the program exits, the execution ends, whatever other threads do. Cargo's own
/// arguments and these flags may come in any order, and arguments after `--` are the program's.
#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub(crate) struct ProgramArgs {
    #[command(flatten)]
    pub(crate) around: Around,
    #[command(flatten)]
    pub(crate) search: SearchFlags,
    #[command(flatten)]
    pub(crate) command: ProgramFlags,
    /// Writes the findings of this run into the baseline, so that they are known from now on
    #[arg(long)]
    pub(crate) update_baseline: bool,
    /// Writes the report to this directory, and a schedule file for each finding
    #[arg(long, value_name = "DIR")]
    pub(crate) reports: Option<PathBuf>,
    /// Writes a page to this file that shows the findings' executions event by event (see `view`)
    #[arg(long, value_name = "FILE")]
    pub(crate) view: Option<PathBuf>,
    /// Prints one JSON value on stdout, and cargo's output on stderr
    #[arg(long)]
    pub(crate) json: bool,
    /// Arguments of `cargo run`, and after `--`, of the program
    #[arg(
        value_name = "CARGO RUN ARGS",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub(crate) cargo: Vec<OsString>,
}

/// The commands around each execution of a program
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Around {
    /// Runs this command in a shell before each execution of the program; if it fails, the run ends
    #[arg(long, value_name = "COMMAND")]
    pub(crate) set_up: Option<String>,
    /// Runs this command in a shell after each execution of the program, even if the execution failed
    #[arg(long, value_name = "COMMAND")]
    pub(crate) tear_down: Option<String>,
}

const HELP: &str = "\
Examples:
  cargo intermezzo run
  cargo intermezzo run --bin pipeline -- --workers 2
  cargo intermezzo run --example reproduction --set-up 'rm -rf data && mkdir data'

JSON: that of `test`.
Exit code 2: the project does not build, cargo finds no such program, or the set-up or the tear-down fails.";

impl Around {
    /// Refuses the commands where no program is run.
    ///
    /// # Errors
    /// One is given.
    pub(crate) fn refuse_for_test(&self) -> Result<(), Problem> {
        match (&self.set_up, &self.tear_down) {
            (None, None) => Ok(()),
            _ => Err(Problem::usage(
                "`--set-up` and `--tear-down` are for programs, and this is the schedule of a test: leave them out",
            )),
        }
    }
}

impl ProgramArgs {
    /// Returns the arguments that `test` would have for the same, and the commands around each execution.
    pub(crate) fn split(self) -> (TestArgs, Around) {
        let ProgramArgs {
            around,
            search,
            command,
            update_baseline,
            reports,
            view,
            json,
            cargo,
        } = self;
        let test = TestArgs {
            search,
            command: command.of_test(),
            update_baseline,
            pool: None,
            split_after: None,
            reports,
            view,
            json,
            cargo: CargoArguments { cargo },
        };
        (test, around)
    }
}

#[cfg(test)]
mod tests {
    use crate::args::{Cli, Command, ours_first};
    use clap::Parser;
    use std::ffi::OsString;

    #[test]
    fn what_follows_two_dashes_is_the_programs() {
        for (words, cargo) in [
            ("--seed 1 -- --seed 2", "-- --seed 2"),
            ("--bin a --seed 1 -- b", "--bin a -- b"),
            ("b --seed 1", "b"),
        ] {
            let words = format!("cargo-intermezzo run {words}");
            let words = ours_first(words.split_whitespace().map(OsString::from).collect());
            let Command::Run(args) = Cli::try_parse_from(words).unwrap().command else {
                panic!("it is no `run`")
            };
            assert_eq!(args.cargo, cargo.split_whitespace().collect::<Vec<_>>());
        }
    }
}
