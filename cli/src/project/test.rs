//! `test`: the project's tests under the given search, and a summary of what was explored.

use super::cargo::{CargoTest, NOTHING_EXPLORED, Ran, variable};
use super::ci;
use super::known::{self, KnownFindingJson, KnownFindings};
use super::pool;
use super::program::Program;
use super::refusal::Refusal;
use super::summary;
use crate::args::{self, TestArgs};
use crate::clock;
use crate::exit::Exit;
use crate::output;
use crate::problem::Problem;
use crate::view;
use intermezzo::{Verbosity, Verdict};
use serde::Serialize;
use serde_json::value::RawValue;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::time::SystemTime;

/// A run of a project's tests in JSON.
#[derive(Serialize)]
struct TestJson<'a> {
    /// The arguments with which it was called.
    arguments: Vec<String>,
    started: String,
    ended: String,
    verdict: Verdict,
    cargo_test: &'static str,
    reports: Vec<&'a RawValue>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    refused: &'a [Refusal],
    #[serde(skip_serializing_if = "Option::is_none")]
    baseline: Option<BaselineJson<'a>>,
}

/// The findings of the baseline in JSON.
#[derive(Serialize)]
struct BaselineJson<'a> {
    known: Vec<KnownFindingJson<'a>>,
    gone: Vec<KnownFindingJson<'a>>,
}

/// Runs the tests.
pub(crate) fn run(args: TestArgs) -> Result<Exit, Problem> {
    explore(args, None)
}

/// Runs the tests, or a program instead.
pub(super) fn explore(args: TestArgs, program: Option<&Program>) -> Result<Exit, Problem> {
    let started = SystemTime::now();
    args.search.check()?;
    let command = args.command.settings(&args.cargo.cargo)?;
    let known = command.baseline.as_ref();
    let mut known = known
        .map(|path| KnownFindings::read(path, args.results.update_baseline))
        .transpose()?;
    if args.results.update_baseline && known.is_none() {
        return Err(Problem::usage(
            "`--update-baseline` does not say which file: give `--baseline FILE`, or `baseline` in the table [command] of \
             intermezzo.toml",
        ));
    }
    if let Some(directory) = &args.results.reports {
        // Created now rather than after a long search.
        make_directory(directory, "--reports")?;
    }
    view::check_may_write(args.results.view.as_ref())?;
    ci::check_may_write(&command)?;
    // Tests are run in the directories of their packages, so relative paths would change their meaning.
    let search = args.search.clone().wherever_run();
    let detail = search.detail()?;
    let quiet = detail == Verbosity::Quiet && !args.results.json;
    let mut arguments = match program {
        Some(_) => args.cargo.cargo.clone(),
        None => every_test(args.cargo.cargo.clone()),
    };
    // Quiet harnesses do not name the tests that pass.
    let listens = command.junit.is_some() || command.annotations;
    if quiet && !listens {
        let flag = if command.nextest {
            "--cargo-quiet"
        } else {
            "--quiet"
        };
        arguments.insert(0, flag.into());
    }
    let mut cargo = CargoTest::new(arguments, args.results.json)?
        .program(program)
        .by_nextest(command.nextest)
        .unmodified(command.unmodified.then_some(command.races))?
        .listens(listens)
        .baseline(known.as_ref().and_then(KnownFindings::file))
        .updates_baseline(args.results.update_baseline)
        .settings(search.given());
    if quiet {
        cargo = cargo.silent();
    }
    cargo = cargo.record(view::records(args.results.view.as_ref()));
    let flags = args.search.alone();
    if let Some(directory) = &flags.checkpoint {
        make_directory(directory, "--checkpoint")?;
        let absolute = fs::canonicalize(directory)
            .map_err(|error| Problem::file("find", directory, &error, "give --checkpoint another path"))?;
        let own = std::env::var(variable("checkpoint")).ok();
        cargo = cargo.checkpoints(absolute, own.as_deref());
    }
    let mut ran = match &args.pool {
        Some(pool) => pool::explore(pool, &args, &command, cargo)?,
        None => cargo.run()?,
    };
    if let Some(directory) = &args.results.reports {
        for report in &ran.reports {
            report.write(directory)?;
        }
    }
    if let Some(known) = &mut known {
        if args.results.update_baseline {
            known.update(&ran)?;
        }
        known.mark(&mut ran);
    }
    let has_failed = !ran.passed;
    let verdict = match verdict(&ran, has_failed) {
        Verdict::Inconclusive if ran.reports.is_empty() && command.allow_none => Verdict::Pass,
        verdict => verdict,
    };
    if args.results.json {
        let reports = ran.reports.iter().map(|report| &*report.text).collect();
        let cargo_test = if ran.passed { "passed" } else { "failed" };
        output::json(&TestJson {
            arguments: arguments_of_process(),
            started: clock::in_utc(started),
            ended: clock::in_utc(SystemTime::now()),
            verdict,
            cargo_test,
            reports,
            refused: &ran.refusals,
            baseline: known.as_ref().map(|known| BaselineJson {
                known: known::json(known.all()),
                gone: known::json(known.gone(&ran)),
            }),
        })?;
    } else {
        let style = output::style().detail(detail);
        output::text(&summary::summary(&ran, known.as_ref(), &style))?;
    }
    if let Some(page) = &args.results.view {
        view::write_page(page, ran.reports.iter().map(|report| report.text.get()))?;
    }
    ci::write(&command, &ran)?;
    ran.refused_none()?;
    if has_failed
        && ran
            .reports
            .iter()
            .all(|report| report.verdict.is_pass() || report.known)
    {
        if program.is_some() {
            return Err(Problem::failed_test(
                "the program's process failed, but no execution did: see its output above",
            ));
        }
        let where_to_look = match quiet {
            true => "run it without --quiet to see which test it was",
            false => "the test, or cargo's message, is above",
        };
        return Err(Problem::failed_test(format!(
            "cargo test failed, though no explored test did: {where_to_look}"
        )));
    }
    if ran.reports.is_empty() && !command.allow_none {
        output::complain(match command.unmodified {
            _ if only_builds(&args.cargo.cargo) => "nothing was explored: `--no-run` only builds the tests",
            _ if program.is_some() => "nothing was explored: the program's process reported no execution",
            true => "nothing was explored: there is no test of such a name, or only of a procedural macro",
            false => NOTHING_EXPLORED,
        });
    }
    Ok(verdict.into())
}

/// Returns the arguments with which the command was called, without the program.
fn arguments_of_process() -> Vec<String> {
    let arguments = args::without_subcommand_word(env::args_os());
    let given = arguments.iter().skip(1);
    given
        .map(|argument| argument.to_string_lossy().into_owned())
        .collect()
}

/// Returns the verdict of the whole run. A failed test that explored nothing counts like a finding.
pub(super) fn verdict(ran: &Ran, has_failed: bool) -> Verdict {
    let any = |verdict| {
        let mut judged = ran.reports.iter().filter(|report| !report.known);
        judged.any(|report| report.verdict == verdict)
    };
    if any(Verdict::Fail) {
        Verdict::Fail
    } else if any(Verdict::Inconclusive) {
        Verdict::Inconclusive
    } else if has_failed {
        Verdict::Fail
    } else if ran.reports.is_empty() {
        Verdict::Inconclusive
    } else {
        Verdict::Pass
    }
}

/// Adds `--no-fail-fast`, because a test binary that fails must not keep the others from being explored.
fn every_test(mut cargo: Vec<OsString>) -> Vec<OsString> {
    const EVERY: &str = "--no-fail-fast";
    if !cargo.iter().any(|argument| argument == EVERY) {
        cargo.insert(0, EVERY.into());
    }
    cargo
}

/// Returns `true` if these arguments of `cargo test` let it run nothing.
fn only_builds(cargo: &[OsString]) -> bool {
    let mut of_cargo = cargo.iter().take_while(|argument| *argument != "--");
    of_cargo.any(|argument| argument == "--no-run")
}

pub(super) fn make_directory(directory: &Path, flag: &str) -> Result<(), Problem> {
    let help = format!("give {flag} another path");
    fs::create_dir_all(directory)
        .map_err(|error| Problem::file("make the directory", directory, &error, &help))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn every_binary_is_run() {
        assert_eq!(
            every_test(words("push -- -q")),
            words("--no-fail-fast push -- -q")
        );
        assert_eq!(every_test(words("--no-fail-fast")), words("--no-fail-fast"));
    }

    #[test]
    fn a_build_alone_is_told_from_a_run() {
        assert!(only_builds(&words("--release --no-run -- push")));
        assert!(!only_builds(&words("--release -- --no-run")));
    }
}
