//! `replay` of a test of the project, by `cargo test` of just that test.

use super::cargo::{CargoTest, Ran};
use super::target;
use crate::args::ReplayArgs;
use crate::exit::Exit;
use crate::output;
use crate::problem::Problem;
use crate::search_flags::Given;
use crate::view;
use intermezzo::Schedule;
use std::ffi::OsString;
use std::fs;

/// Replays the schedule.
pub(crate) fn run(schedule: Schedule, args: ReplayArgs) -> Result<Exit, Problem> {
    let Some((krate, test)) = schedule.program.split_once("::") else {
        return Err(Problem::usage(format!(
            "the schedule's program {:?} names no test (`crate::module::test`): \
             run it with INTERMEZZO_REPLAY set",
            schedule.program
        )));
    };
    let at = args
        .cargo
        .iter()
        .position(|argument| argument == "--")
        .unwrap_or(args.cargo.len());
    let (of_cargo, of_binary) = args.cargo.split_at(at);
    let mut arguments = target::of_crate(krate, of_cargo)?;
    arguments.extend_from_slice(of_cargo);
    arguments.extend([test, "--", "--exact", "--include-ignored"].map(OsString::from));
    arguments.extend(of_binary.iter().skip(1).cloned());

    view::check_may_write(args.view.as_ref())?;
    let cargo = CargoTest::new(arguments, args.json)?.record(view::records(args.view.as_ref()));
    // In a file: a long schedule's token is more than an environment variable holds.
    let path = cargo.directory().join("schedule.json");
    fs::write(&path, schedule.to_json(None))
        .map_err(|error| Problem::file("write", &path, &error, "set TMPDIR to a directory with room"))?;
    let ran = cargo.settings(&args.limits.given()).replay(path).run()?;
    show(&schedule.program, &ran, &args)
}

/// Shows the report of the test that was replayed.
fn show(program: &str, ran: &Ran, args: &ReplayArgs) -> Result<Exit, Problem> {
    let Some(report) = ran.reports.iter().find(|report| report.program == program) else {
        let why = if ran.passed {
            "there is no such test here, or it is not explored: run this where it was recorded"
        } else {
            "see above what the test says"
        };
        return Err(Problem::usage(format!("{program:?} was not replayed: {why}")));
    };
    if args.json {
        output::text(&format!("{}\n", report.text))?;
    } else {
        output::text(&report.summary())?;
    }
    if let Some(page) = &args.view {
        view::write_page(page, std::iter::once(report.text.get()))?;
    }
    Ok(report.verdict.into())
}
