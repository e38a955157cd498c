//! `replay` of a test of the project, by `cargo test` of just that test.

use super::cargo::{CargoTest, Ran};
use super::program::Program;
use super::reports::ProjectReport;
use super::target;
use crate::args::ReplayArgs;
use crate::exit::Exit;
use crate::output;
use crate::problem::Problem;
use crate::view;
use intermezzo::refinement::is_of_scenario;
use intermezzo::{Schedule, TestBinary, Verbosity};
use std::ffi::OsString;
use std::fs;

/// Replays the schedule.
pub(crate) fn run(schedule: Schedule, args: ReplayArgs) -> Result<Exit, Problem> {
    let of_scenario = is_of_scenario(&schedule.program);
    if of_scenario && args.cargo.is_empty() {
        return Err(Problem::usage(format!(
            "the schedule is of a scenario ({:?}) of a test of an object, and does not name the test: name it after `--`, as \
             the failure does (`-- TEST -- --exact`)",
            schedule.program
        )));
    }
    if !of_scenario && !schedule.program.contains("::") {
        return Err(Problem::usage(format!(
            "the schedule's program {:?} is not the name of a test (`crate::module::test`): \
             run it with INTERMEZZO_REPLAY set",
            schedule.program
        )));
    }
    let program = match schedule.binary.is_program() {
        true => Some(Program::new(args.around.clone(), &args.cargo)),
        false => {
            args.around.refuse_for_test()?;
            None
        }
    };
    let arguments = match of_scenario {
        true => args.cargo.clone(),
        false if program.is_some() => arguments_of_program(&schedule, &args.cargo)?,
        false => arguments_of_test(&schedule.program, &schedule.binary, &args.cargo)?,
    };

    view::check_may_write(args.view.as_ref())?;
    let watched = Some(schedule.binary.is_watched());
    let mut cargo = CargoTest::new(arguments, args.json)?
        .program(program.as_ref())
        .unmodified(watched.filter(|_| schedule.binary.is_unmodified()))?
        .record(view::records(args.view.as_ref()));
    if !args.json && args.limits.detail()? == Verbosity::Quiet {
        cargo = cargo.silent();
    }
    // A file, because the token of a long schedule is too long for an environment variable.
    let path = cargo.directory().join("schedule.json");
    fs::write(&path, schedule.to_json(None))
        .map_err(|error| Problem::file("write", &path, &error, "set TMPDIR to a directory with room"))?;
    if let Some(at) = &args.stop {
        cargo = cargo.stop_before(at);
    }
    if let Some(debugger) = args.debugger {
        let script = debugger.script(cargo.directory())?;
        cargo = cargo.run_by(&script);
    }
    let ran = cargo.settings(args.limits.given()).replay(path).run()?;
    ran.refused_none()?;
    show(&schedule.program, of_scenario, &ran, &args)
}

/// Returns arguments of `cargo test` that run this test alone, with those that the user gives.
///
/// # Errors
/// If no package or crate here has such a test.
pub(crate) fn arguments_of_test(
    program: &str,
    binary: &TestBinary,
    cargo: &[OsString],
) -> Result<Vec<OsString>, Problem> {
    let (krate, test) = program.split_once("::").unwrap_or(("", program));
    let (of_cargo, of_binary) = at_dashes(cargo);
    let mut arguments = target::of_binary(binary, krate, of_cargo)?;
    // The name goes after the `--`, because cargo accepts only one, and the user may have given one.
    arguments.extend(["--", test, "--exact", "--include-ignored"].map(OsString::from));
    arguments.extend(of_binary.iter().skip(1).cloned());
    Ok(arguments)
}

/// Returns arguments of `cargo run` that run the program of this schedule, with those that the user gives.
///
/// # Errors
/// If no package here has such a program.
fn arguments_of_program(schedule: &Schedule, cargo: &[OsString]) -> Result<Vec<OsString>, Problem> {
    let (of_cargo, of_program) = at_dashes(cargo);
    let mut arguments = target::of_binary(&schedule.binary, &schedule.program, of_cargo)?;
    arguments.extend_from_slice(of_program);
    Ok(arguments)
}

/// Returns the arguments of cargo, and those from `--` on.
fn at_dashes(cargo: &[OsString]) -> (&[OsString], &[OsString]) {
    let at = cargo.iter().position(|argument| argument == "--");
    cargo.split_at(at.unwrap_or(cargo.len()))
}

/// Shows the report of the test that was replayed; for a scenario, the report of the test that has it.
fn show(program: &str, of_scenario: bool, ran: &Ran, args: &ReplayArgs) -> Result<Exit, Problem> {
    let is_it = |report: &&ProjectReport| match of_scenario {
        true => report.refinement && report.replayed,
        false => report.program == program,
    };
    let Some(report) = ran.reports.iter().find(is_it) else {
        let why = match (ran.passed, of_scenario) {
            (true, true) => "no test that was run has that scenario, or none of its scenarios fails any more",
            (true, false) => {
                "there is no such test here, or it is not explored: run this where it was recorded"
            }
            (false, _) => "run it without --quiet to see the test's output",
        };
        return Err(Problem::usage(format!("{program:?} was not replayed: {why}")));
    };
    if args.json {
        output::raw(&format!("{}\n", report.text))?;
    } else {
        let detail = args.limits.detail()?;
        let style = output::style().detail(detail);
        let mut text = report.summary(&style);
        if args.view.is_none() && detail != Verbosity::Quiet {
            let how = "with --view page.html it becomes a page, event by event";
            text.push_str(&output::indented(how, output::BESIDE, &style));
        }
        output::text(&text)?;
    }
    if let Some(page) = &args.view {
        // The recorded execution of a scenario is in a report of its own.
        let shown = ran.reports.iter().filter(|report| report.program == program);
        view::write_page(page, shown.map(|report| report.text.get()))?;
    }
    Ok(report.verdict.into())
}
