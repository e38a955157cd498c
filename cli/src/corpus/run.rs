//! `corpus run`: one program, or all of them, explored in this process.

use crate::args::RunArgs;
use crate::exit::Exit;
use crate::files::{self, Kind};
use crate::output;
use crate::problem::Problem;
use crate::progress::Progress;
use crate::search_flags::{SearchFlags, flag};
use crate::view;
use anstyle::AnsiColor;
use intermezzo::report::covered;
use intermezzo::{ExploreError, Report, SettingError, Settings};
use intermezzo_corpus::{Arguments, Program, programs};
use serde::Serialize;
use std::path::Path;

/// A program's exploration in JSON, when all programs are run.
#[derive(Serialize)]
struct Ran {
    name: &'static str,
    expected: String,
    met: bool,
    report: Report,
}

/// Explores the named program, or all.
pub(crate) fn run(args: RunArgs) -> Result<Exit, Problem> {
    // The variable asks for a replay, which this command does not do.
    if let Some(token) = std::env::var_os("INTERMEZZO_REPLAY").filter(|token| !token.is_empty()) {
        return Err(Problem::usage(format!(
            "INTERMEZZO_REPLAY is for tests: `cargo intermezzo replay {}` runs the schedule of a program of the corpus",
            token.display()
        )));
    }
    match &args.name {
        Some(name) => run_one(name, &args),
        None => run_all(&args),
    }
}

fn run_one(name: &str, args: &RunArgs) -> Result<Exit, Problem> {
    let (program, arguments) = super::program_with(name, &args.sets)?;
    if let Some(path) = &args.schedule_out {
        // Checked now rather than after a long search.
        files::check_may_write(path, Kind::Schedule)?;
    }
    view::check_may_write(args.view.as_ref())?;
    let records = view::records(args.view.as_ref());
    let report = explore(program, &arguments, &args.search, records)?;
    if args.json {
        output::raw(&report.to_json())?;
    } else {
        let detail = args.search.detail()?;
        output::text(&report.text(&super::style(detail)))?;
    }
    if let Some(path) = &args.schedule_out {
        write_schedule(path, &report)?;
    }
    view::write_page_of(args.view.as_ref(), &report)?;
    Ok(report.verdict().into())
}

fn run_all(args: &RunArgs) -> Result<Exit, Problem> {
    if args.search.alone().checkpoint.is_some() {
        return Err(Problem::usage("--checkpoint is for one program: name it"));
    }
    let mut all_met = true;
    let mut ran = Vec::new();
    let width = programs()
        .iter()
        .map(|program| program.name.len())
        .max()
        .unwrap_or(0);
    for program in programs() {
        let arguments = program.arguments::<&str>(&[]).expect("defaults are in range");
        let report = explore(program, &arguments, &args.search, view::records(None))?;
        let met = program.meets(&report);
        all_met &= met;
        if args.json {
            ran.push(Ran {
                name: program.name,
                expected: program.expected.to_string(),
                met,
                report,
            });
        } else {
            output::text(&line(program, met, &report, width))?;
        }
    }
    if args.json {
        output::json(&ran)?;
    }
    Ok(if all_met { Exit::Pass } else { Exit::Findings })
}

/// Returns the line of a program, such as
/// `met      counter  pass: 90 executions; every schedule was run; not explored: weak memory`.
fn line(program: &Program, met: bool, report: &Report, width: usize) -> String {
    let (word, colour) = if met {
        ("met    ", AnsiColor::Green)
    } else {
        ("not met", AnsiColor::Red)
    };
    let result = match report.findings() {
        [first, ..] if report.verdict().is_fail() => format!("fail: {}", first.kind),
        _ => format!("{:?}", report.verdict()).to_lowercase(),
    };
    let expected = if met {
        String::new()
    } else {
        format!(" (expected {})", program.expected)
    };
    let executions = output::count(report.executions(), "execution");
    let (any, passes) = (!report.findings().is_empty(), report.verdict().is_pass());
    format!(
        "{}  {:width$}  {result}{expected}: {executions}; {}\n",
        output::painted(word, colour),
        program.name,
        covered(
            report.coverage(),
            report.weak_memory(),
            report.limits(),
            any,
            passes
        )
    )
}

/// Explores with the program's own settings, overridden by environment variables, and these by flags.
fn explore(
    program: &Program,
    arguments: &Arguments,
    flags: &SearchFlags,
    records: bool,
) -> Result<Report, Problem> {
    let mut settings = program.settings();
    settings
        .override_from_environment()
        .map_err(|error| Problem::usage(error.to_string()))?;
    flags.apply(&mut settings);
    let progress = Progress::of(program.name);
    let lines = settings.progress;
    let explorer = progress
        .watch(program.explorer(settings, arguments), lines)
        .record(records);
    super::explore(program, arguments, explorer)
        .map_err(|error| Problem::usage(refusal(&program.settings(), flags, &error)))
}

/// Returns the reason why a program cannot be explored. `presets` are the program's own settings, which the user may not
/// know.
fn refusal(presets: &Settings, flags: &SearchFlags, error: &ExploreError) -> String {
    let ExploreError::Setting(SettingError { name, .. }) = error else {
        return error.to_string();
    };
    let is_given = flags.given().iter().any(|(given, _)| given == name);
    match (presets.value(name), Settings::default().value(name)) {
        (Some(preset), Some(default)) if preset != default && !is_given => format!(
            "{error}\nthe program itself sets `{name} = {preset}`: override it by `{} {default}`",
            flag(name)
        ),
        _ => error.to_string(),
    }
}

fn write_schedule(path: &Path, report: &Report) -> Result<(), Problem> {
    let Some(finding) = report.findings().first() else {
        output::complain(&format!("nothing was found: {path:?} was not written"));
        return Ok(());
    };
    files::write(
        path,
        Kind::Schedule,
        &finding
            .schedule
            .to_json(Some((&finding.kind.as_str(), &finding.message))),
    )
}
