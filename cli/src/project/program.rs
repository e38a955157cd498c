//! `run`: a program of the project, explored as a whole.

use super::test;
use crate::args::{Around, ProgramArgs};
use crate::exit::Exit;
use crate::problem::Problem;
use crate::view::word;
use std::ffi::{OsStr, OsString};

/// A program that is explored as a whole.
pub(super) struct Program {
    pub(super) around: Around,
    /// The arguments that its replay needs in addition to the token, each quoted for a shell.
    pub(super) replay_with: Vec<String>,
}

impl Program {
    /// Returns the program that is run with these arguments of cargo.
    pub(super) fn new(around: Around, cargo: &[OsString]) -> Program {
        let given = around.given().into_iter();
        let mut replay_with: Vec<String> = given
            .map(|(flag, value)| format!("{flag}={}", word(&value)))
            .collect();
        replay_with.extend(words_for_cargo(cargo));
        Program { around, replay_with }
    }
}

/// Returns the words that pass arguments on to cargo, each quoted for a shell.
pub(super) fn words_for_cargo(arguments: &[OsString]) -> Vec<String> {
    let words = arguments.iter().map(|argument| word_of_any(argument));
    let begin = (!arguments.is_empty()).then(|| "--".into());
    begin.into_iter().chain(words).collect()
}

/// Returns an argument, quoted for a shell. Bytes that are not UTF-8 become a call of `printf`.
#[cfg(unix)]
fn word_of_any(argument: &OsStr) -> String {
    use std::os::unix::ffi::OsStrExt;
    if let Some(text) = argument.to_str() {
        return word(text);
    }
    let mut all = String::new();
    for chunk in argument.as_bytes().utf8_chunks() {
        if !chunk.valid().is_empty() {
            all.push_str(&word(chunk.valid()));
        }
        for byte in chunk.invalid() {
            all.push_str(&format!("\"$(printf '\\{byte:03o}')\""));
        }
    }
    all
}

/// Returns an argument, quoted for a shell.
#[cfg(not(unix))]
fn word_of_any(argument: &OsStr) -> String {
    word(&argument.to_string_lossy())
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
    fn a_replay_gets_the_programs_arguments() {
        let of = |set_up: Option<&str>, cargo: &str| {
            let around = Around {
                set_up: set_up.map(str::to_owned),
                ..Around::default()
            };
            let cargo: Vec<OsString> = cargo.split_whitespace().map(OsString::from).collect();
            Program::new(around, &cargo).replay_with.join(" ")
        };
        assert_eq!(of(None, ""), "");
        assert_eq!(of(Some("rm -f x"), ""), "--set-up='rm -f x'");
        assert_eq!(of(None, "--bin a -- b *"), "-- --bin a -- b '*'");
        assert_eq!(of(Some("-x"), ""), "--set-up=-x");
    }

    #[cfg(unix)]
    #[test]
    fn a_shell_reads_back_an_argument_of_any_bytes() {
        use std::os::unix::ffi::OsStrExt;
        for argument in [&b"\xff"[..], b"a '\xc3\xffb\xfe", b"\xe4\n", b"it's"] {
            let word = word_of_any(OsStr::from_bytes(argument));
            let mut shell = std::process::Command::new("sh");
            let ran = shell.args(["-c", &format!("printf %s {word}")]).output().unwrap();
            assert_eq!(ran.stdout, argument, "{word}");
        }
    }
}
