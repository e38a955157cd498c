//! The arguments of `run`, which explores a program of the project.

use super::{CargoArguments, ResultFlags, TestArgs};
use crate::command_flags::ProgramFlags;
use crate::problem::Problem;
use crate::search_flags::{SearchFlags, seconds};
use clap::Args;
use intermezzo::settings::variables;
use std::ffi::OsString;
use std::time::Duration;

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
    #[command(flatten)]
    pub(crate) results: ResultFlags,
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
    /// Ends a set-up or a tear-down after this many seconds, and counts it as failed [default: 60]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) command_limit: Option<Duration>,
}

/// Longer than a command that runs around each execution should take, and short enough for a user to wait.
const COMMAND_LIMIT: Duration = Duration::from_secs(60);

const HELP: &str = "\
Examples:
  cargo intermezzo run
  cargo intermezzo run --bin pipeline -- --workers 2
  cargo intermezzo run --example reproduction --set-up 'rm -rf data && mkdir data'

JSON: that of `test`.
Exit code 2: the project does not build, cargo finds no such program, or the set-up or the tear-down fails.";

impl Around {
    /// Refuses the commands if no program is run.
    ///
    /// # Errors
    /// If one is given.
    pub(crate) fn refuse_for_test(&self) -> Result<(), Problem> {
        match self.given().first() {
            None => Ok(()),
            Some((flag, _)) => Err(Problem::usage(format!(
                "`{flag}` is for programs, and this is the schedule of a test: leave it out"
            ))),
        }
    }

    /// Returns the flags that were given, with their values.
    pub(crate) fn given(&self) -> Vec<(&'static str, String)> {
        let limit = self.command_limit.map(|limit| limit.as_secs_f64().to_string());
        let all = [
            ("--set-up", self.set_up.clone()),
            ("--tear-down", self.tear_down.clone()),
            ("--command-limit", limit),
        ];
        all.into_iter()
            .filter_map(|(flag, value)| Some((flag, value?)))
            .collect()
    }

    /// Returns the environment variables that pass them to the overlay of `test`.
    pub(crate) fn variables(&self) -> Vec<(&'static str, String)> {
        let limit = self.command_limit.unwrap_or(COMMAND_LIMIT);
        let commands = [
            (variables::SET_UP, &self.set_up),
            (variables::TEAR_DOWN, &self.tear_down),
        ];
        let commands = commands
            .into_iter()
            .filter_map(|(name, command)| Some((name, command.clone()?)));
        commands
            .chain([(variables::COMMAND_LIMIT, limit.as_secs_f64().to_string())])
            .collect()
    }
}

impl ProgramArgs {
    /// Returns the equivalent arguments of `test`, and the commands around each execution.
    pub(crate) fn split(self) -> (TestArgs, Around) {
        let ProgramArgs {
            around,
            search,
            command,
            results,
            cargo,
        } = self;
        let test = TestArgs {
            search,
            command: command.of_test(),
            results,
            pool: None,
            split_after: None,
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
            let Command::Run(args) = Cli::try_parse_from(words.unwrap()).unwrap().command else {
                panic!("it is another command")
            };
            assert_eq!(args.cargo, cargo.split_whitespace().collect::<Vec<_>>());
        }
    }
}
