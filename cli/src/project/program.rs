//! `run`: a program of the project, explored as a whole.

use super::test;
use crate::args::{Around, ProgramArgs};
use crate::exit::Exit;
use crate::problem::Problem;
use crate::view::word;
use std::ffi::OsString;

/// A program that is explored as a whole.
pub(super) struct Program {
    pub(super) around: Around,
    /// The arguments that its replay needs besides the token, as a shell takes them, each after a space.
    pub(super) replay_with: String,
}

impl Program {
    /// Returns the program that is run with these arguments of cargo.
    pub(super) fn new(around: Around, cargo: &[OsString]) -> Program {
        let mut words = Vec::new();
        let commands = [("--set-up", &around.set_up), ("--tear-down", &around.tear_down)];
        for (flag, command) in commands {
            if let Some(command) = command {
                words.extend([flag.to_owned(), word(command)]);
            }
        }
        if !cargo.is_empty() {
            words.push("--".into());
            words.extend(cargo.iter().map(|argument| word(&argument.to_string_lossy())));
        }
        let replay_with = words.iter().map(|word| format!(" {word}")).collect();
        Program { around, replay_with }
    }
}

/// Explores the program.
pub(crate) fn run(args: ProgramArgs) -> Result<Exit, Problem> {
    let (args, around) = args.split();
    let program = Program::new(around, &args.cargo.cargo);
    test::explore(args, Some(&program))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replay_gets_what_the_program_got() {
        let of = |set_up: Option<&str>, cargo: &str| {
            let around = Around {
                set_up: set_up.map(str::to_owned),
                tear_down: None,
            };
            let cargo: Vec<OsString> = cargo.split_whitespace().map(OsString::from).collect();
            Program::new(around, &cargo).replay_with
        };
        assert_eq!(of(None, ""), "");
        assert_eq!(of(Some("rm -f x"), ""), " --set-up 'rm -f x'");
        assert_eq!(of(None, "--bin a -- b *"), " -- --bin a -- b '*'");
    }
}
