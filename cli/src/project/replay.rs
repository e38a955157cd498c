//! `replay`: one schedule again, of a program of the corpus or of a test of the project.

use super::cargo::{CargoTest, Ran};
use super::target;
use crate::args::ReplayArgs;
use crate::exit::Exit;
use crate::output;
use crate::problem::Problem;
use crate::search_flags::Given;
use intermezzo::Schedule;
use intermezzo_corpus::parse_full_name;
use std::ffi::OsString;
use std::fs;

/// Replays the schedule.
pub(crate) fn run(args: ReplayArgs) -> Result<Exit, Problem> {
    let schedule = Schedule::parse(&args.schedule).map_err(|error| Problem::usage(error.to_string()))?;
    // With a further `::` it is a test of a crate that happens to have that name.
    match schedule.program.strip_prefix("corpus::").map(str::to_owned) {
        Some(program) if !program.contains("::") => in_corpus(schedule, &program, &args),
        _ => in_project(schedule, args),
    }
}

/// `arguments` is the program's name, and what its parameters are set to.
fn in_corpus(schedule: Schedule, arguments: &str, args: &ReplayArgs) -> Result<Exit, Problem> {
    let full_name = schedule.program.clone();
    if !args.cargo.is_empty() {
        return Err(Problem::usage(format!(
            "{full_name:?} is of the corpus, and replayed without cargo: leave out `--`"
        )));
    }
    crate::corpus::program(arguments.split(',').next().unwrap_or_default())?;
    let (program, arguments) = parse_full_name(&full_name)
        .map_err(|error| Problem::usage(format!("the schedule's program {full_name:?}: {error}")))?;
    let mut settings = program.settings();
    args.limits.apply(&mut settings);
    let explorer = program.explorer(settings, &arguments).replay(schedule);
    let report = explorer
        .try_explore(program.test(&arguments))
        .map_err(|error| Problem::usage(error.to_string()))?;
    output::text(&if args.json {
        report.to_json()
    } else {
        report.to_string()
    })?;
    Ok(report.verdict().into())
}

fn in_project(schedule: Schedule, args: ReplayArgs) -> Result<Exit, Problem> {
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

    let cargo = CargoTest::new(arguments, args.json)?;
    // In a file: a long schedule's token is more than an environment variable holds.
    let path = cargo.directory().join("schedule.json");
    fs::write(&path, schedule.to_json(None))
        .map_err(|error| Problem::file("write", &path, &error, "set TMPDIR to a directory with room"))?;
    let ran = cargo.settings(&args.limits.given()).replay(path).run()?;
    show(&schedule.program, &ran, args.json)
}

/// Shows the report of the test that was replayed.
fn show(program: &str, ran: &Ran, json: bool) -> Result<Exit, Problem> {
    let Some(report) = ran.reports.iter().find(|report| report.program == program) else {
        let why = if ran.passed {
            "there is no such test here, or it is not explored: run this where it was recorded"
        } else {
            "see above what the test says"
        };
        return Err(Problem::usage(format!("{program:?} was not replayed: {why}")));
    };
    if json {
        output::text(&format!("{}\n", report.text))?;
    } else {
        output::text(&report.summary())?;
    }
    Ok(report.verdict.into())
}
