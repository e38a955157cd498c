//! Commands that pass arguments on to cargo: which arguments are ours, and which are cargo's.
//!
//! An unknown flag is passed on to cargo, unless it is similar to one of ours. Then it is refused, because cargo's own
//! error would not suggest our flags. It is still passed on if the help of cargo or cargo-nextest has a flag of this
//! name, or one that is more similar.

use super::Cli;
use crate::cargo;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use clap::{Command, CommandFactory};
use std::ffi::OsString;
use std::process::Stdio;

/// Flags of cargo that its help does not list because they are unstable, and flags of the harness that are similar to ours:
/// for these, cargo's error says where they belong.
const NOT_IN_HELP: [&str; 7] = [
    "artifact-dir",
    "build-plan",
    "compile-time-deps",
    "exact",
    "lockfile-path",
    "out-dir",
    "report-time",
];

/// The smallest similarity, from 0 to 1, at which an unknown flag is taken for a typing error. This is the threshold at
/// which clap suggests flags in all other commands.
const SIMILARITY_MIN: f64 = 0.7;

/// Returns the arguments with our flags before those of cargo, because clap passes on everything from the first unknown
/// flag. Arguments after `--` stay where they are.
///
/// # Errors
/// If an unknown flag is similar to one of ours.
pub(crate) fn ours_first(args: Vec<OsString>) -> Result<Vec<OsString>, Error> {
    let cli = Cli::command();
    let name = args.get(1).and_then(|word| word.to_str()).unwrap_or_default();
    let Some(command) = cli.find_subcommand(name).filter(|command| passes_on(command)) else {
        return Ok(args);
    };
    let end = args.iter().position(|arg| arg == "--").unwrap_or(args.len());
    let (mut ours, mut cargos) = (args[..2].to_vec(), Vec::new());
    let mut rest = args[2..end].iter();
    while let Some(arg) = rest.next() {
        let text = arg.to_string_lossy();
        let long = text.strip_prefix("--").unwrap_or_default();
        let (long, joined) = long
            .split_once('=')
            .map_or((long, false), |(long, _)| (long, true));
        let mut known = command.get_arguments();
        let Some(flag) = known.find(|flag| !long.is_empty() && flag.get_long() == Some(long)) else {
            if let Some(meant) = meant(long, command) {
                return Err(refusal(long, meant, name));
            }
            cargos.push(arg.clone());
            continue;
        };
        ours.push(arg.clone());
        if flag.get_action().takes_values() && !joined && !flag.is_require_equals_set() {
            ours.extend(rest.next().cloned());
        }
    }
    if name == RUN && cargos.is_empty() && end < args.len() {
        // clap removes the first `--`, and cargo needs one before the program's arguments.
        ours.push("--".into());
    }
    // After cargo's arguments, clap leaves the `--` that ends ours.
    let marks = args[end..].iter().filter(|&arg| arg == "--").count();
    let skipped = usize::from(marks > 1 && name != RUN && !cargos.is_empty());
    ours.extend(cargos);
    ours.extend_from_slice(&args[end + skipped..]);
    Ok(ours)
}

/// The command whose arguments after `--` are the program's.
const RUN: &str = "run";

/// `true` if the command passes unknown arguments on to cargo.
fn passes_on(command: &Command) -> bool {
    command.get_arguments().any(clap::Arg::is_trailing_var_arg_set)
}

/// Returns the flag of the command, without dashes, for which this unknown one is probably a typing error.
fn meant<'c>(given: &str, command: &'c Command) -> Option<&'c str> {
    if given.is_empty() || NOT_IN_HELP.contains(&given) {
        return None;
    }
    let similar = |flag: &str| strsim::jaro(given, flag);
    let ours = command.get_arguments().filter(|flag| !flag.is_hide_set());
    let ours = ours
        .filter_map(clap::Arg::get_long)
        .map(|flag| (similar(flag), flag));
    let (similarity, meant) = ours.max_by(|(one, _), (other, _)| one.total_cmp(other))?;
    let is_nearer = |help: &str| flags_in(help).any(|flag| similar(flag) > similarity);
    let is_like_ours = similarity > SIMILARITY_MIN;
    let of_cargo_itself = if command.get_name() == RUN { RUN } else { "test" };
    let has_nearer = |words: &[&str]| is_nearer(&output_of_cargo(words));
    let others_have =
        || has_nearer(&[of_cargo_itself, "--help"]) || has_nearer(&["nextest", "run", "--help"]);
    (is_like_ours && !others_have()).then_some(meant)
}

/// Returns the flags that a help names, without dashes.
fn flags_in(help: &str) -> impl Iterator<Item = &str> {
    let words = help.split(|sign: char| !sign.is_ascii_alphanumeric() && sign != '-');
    words.filter_map(|word| word.strip_prefix("--"))
}

/// Returns the output of cargo with these arguments; nothing if it cannot be run.
fn output_of_cargo(words: &[&str]) -> String {
    let output = cargo::command().args(words).stderr(Stdio::null()).output();
    output.map_or_else(
        |_| String::new(),
        |output| String::from_utf8_lossy(&output.stdout).into_owned(),
    )
}

/// Returns the error about an unknown flag that is similar to one of ours.
fn refusal(given: &str, meant: &str, name: &str) -> Error {
    let to_others = match name {
        RUN => format!("to pass '--{given}' to the program, give it after '--'"),
        _ => format!(
            "to pass '--{given}' to cargo, use '-- --{given} --'; to pass it to the test binaries, use '-- -- --{given}'"
        ),
    };
    let mut cli = Cli::command();
    // After this, usage lines name the whole command.
    cli.build();
    let mut error = Error::new(ErrorKind::UnknownArgument);
    if let Some(command) = cli.find_subcommand(name) {
        error = error.with_cmd(command);
        let usage = command.clone().render_usage();
        error.insert(ContextKind::Usage, ContextValue::StyledStr(usage));
    }
    let text = |text: &str| ContextValue::String(format!("--{text}"));
    error.insert(ContextKind::InvalidArg, text(given));
    error.insert(ContextKind::SuggestedArg, text(meant));
    let to_others = ContextValue::StyledStrs(vec![StyledStr::from(to_others)]);
    error.insert(ContextKind::Suggested, to_others);
    error
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args;
    use clap::Parser;

    fn cargo_args(words: &str) -> Result<Vec<OsString>, String> {
        let words = format!("cargo-intermezzo test {words}");
        let words = ours_first(words.split_whitespace().map(OsString::from).collect());
        let words = words.map_err(|error| error.to_string())?;
        match Cli::try_parse_from(words).unwrap().command {
            args::Command::Test(args) => Ok(args.cargo.cargo),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_not_ours_is_cargos() {
        for (words, cargo) in [
            ("--seed 1", ""),
            ("--seed 1 push", "push"),
            (
                "--seed 1 -p queue push -- --nocapture",
                "-p queue push -- --nocapture",
            ),
            ("--seed 1 -- -p queue -- --nocapture", "-p queue -- --nocapture"),
            ("push --release", "push --release"),
            ("--release push", "--release push"),
            ("-p queue --json", "-p queue"),
            (
                "-p queue --seed 5 push --time=3 --keep-going -- --seed 5",
                "-p queue push -- --seed 5",
            ),
            ("-p queue -- --lib -- --skip a", "-p queue --lib -- --skip a"),
            // Unknown flags that are like none of ours, or more like a flag of cargo or the harness.
            ("--zzyzx", "--zzyzx"),
            ("--test-thread=1", "--test-thread=1"),
            ("--no-fail-fats", "--no-fail-fats"),
            // The forms that the error message suggests.
            ("-- --preemption --", "--preemption --"),
            ("-p queue -- --preemption --", "-p queue --preemption --"),
            ("-- -- --preemption", "-- --preemption"),
            ("-p queue -- -- --preemption", "-p queue -- --preemption"),
        ] {
            let cargo: Vec<OsString> = cargo.split_whitespace().map(OsString::from).collect();
            assert_eq!(cargo_args(words), Ok(cargo), "{words}");
        }
    }

    #[test]
    fn what_others_have_is_passed_on() {
        let named = output_of_cargo(&["test", "--help"]);
        let flags: Vec<&str> = flags_in(&named).chain(NOT_IN_HELP).collect();
        assert!(flags.len() > 30, "{flags:?}");
        let cli = Cli::command();
        let test = cli.find_subcommand("test").unwrap();
        let is_ours = |flag: &str| test.get_arguments().any(|own| own.get_long() == Some(flag));
        for flag in flags.into_iter().filter(|flag| !is_ours(flag)) {
            assert_eq!(meant(flag, test), None, "{flag}");
        }
    }

    #[test]
    fn what_is_like_ours_is_refused() {
        for (words, given, meant) in [
            ("--preemption 2", "--preemption", "--preemptions"),
            ("-p queue --preemption=2 push", "--preemption", "--preemptions"),
            ("--jsno", "--jsno", "--json"),
            ("--stratgy dfs", "--stratgy", "--strategy"),
            ("--keep_going", "--keep_going", "--keep-going"),
            ("--unmodifed", "--unmodifed", "--unmodified"),
            ("--report out", "--report", "--reports"),
        ] {
            let refused = cargo_args(words).unwrap_err();
            for says in [
                format!("unexpected argument '{given}' found"),
                format!("a similar argument exists: '{meant}'"),
                format!(
                    "to cargo, use '-- {given} --'; to pass it to the test binaries, use '-- -- {given}'"
                ),
                "Usage: cargo intermezzo test".into(),
            ] {
                assert!(refused.contains(&says), "{refused}");
            }
        }
    }
}
