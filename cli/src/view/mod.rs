//! `view`: a report as a page, or in a format of other tools.
//!
//! Reports from all sources are read into [`model`], and pages and exports are made from that alone.

mod check;
mod commands;
mod export;
mod load;
mod model;
mod open;
mod page;
mod partial;
mod source;
mod target;
#[cfg(test)]
mod tests;

use crate::args::{Format, Open, ViewArgs};
use crate::exit::Exit;
use crate::output;
use crate::problem::Problem;
pub(crate) use commands::{replay, word};
pub(crate) use export::junit::{Ended, Unexplored};
use intermezzo::Report;
use model::Shown;
use serde::Serialize;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use target::{Force, Target};

/// The description of the written file, in JSON.
#[derive(Serialize)]
struct Written<'a> {
    file: Option<&'a Path>,
    format: Format,
    bytes: usize,
}

/// Makes the requested page or export of a report.
pub(crate) fn run(args: &ViewArgs) -> Result<Exit, Problem> {
    let shown = load::path(&args.report)?;
    let text = render(&shown, args.format, args.report.parent())?;
    let to = args
        .out
        .clone()
        .unwrap_or_else(|| target::default_path(&args.report, args.format));
    if to == Path::new("-") {
        if args.json {
            return Err(Problem::usage(
                "--json and `--out -` both write to stdout: give only one of them",
            ));
        }
        output::raw(&text)?;
        return Ok(Exit::Pass);
    }
    let force = if args.force { Force::Given } else { Force::Possible };
    target::write(&to, Target::of(args.format), &text, force)?;
    if args.json {
        output::json(&Written {
            file: Some(&to),
            format: args.format,
            bytes: text.len(),
        })?;
    } else {
        output::text(&format!("{}\n", said(&to, &text, &shown)))?;
    }
    let opens = match args.open {
        Some(open) => open == Open::Yes,
        None => !args.json && std::io::stdout().is_terminal(),
    };
    if args.format == Format::Html && opens {
        open::browser(&to);
    }
    Ok(Exit::Pass)
}

/// `true` if reports need recordings: for a page, or because the environment says so.
pub(crate) fn records(page: Option<&PathBuf>) -> bool {
    page.is_some() || std::env::var_os("INTERMEZZO_RECORD").is_some()
}

/// Checks that a page may be written there, before a long search rather than after it.
pub(crate) fn check_may_write(to: Option<&PathBuf>) -> Result<(), Problem> {
    to.map_or(Ok(()), |to| {
        target::check(to, Target::of(Format::Html), Force::Unknown)
    })
}

/// Writes the page of these reports, in their JSON form, and says so on stderr.
pub(crate) fn write_page<'a>(to: &Path, reports: impl Iterator<Item = &'a str>) -> Result<(), Problem> {
    let shown = load::all(reports)?;
    let text = render(&shown, Format::Html, None)?;
    target::write(to, Target::of(Format::Html), &text, Force::Unknown)?;
    output::complain(&said(to, &text, &shown));
    Ok(())
}

/// Writes the page of this report, if one was requested.
pub(crate) fn write_page_of(to: Option<&PathBuf>, report: &Report) -> Result<(), Problem> {
    match to {
        Some(to) => write_page(to, std::iter::once(report.to_json().as_str())),
        None => Ok(()),
    }
}

/// Checks that a file of this format may be written there, before a long run rather than after it.
pub(crate) fn check_may_write_as(to: &Path, format: Format) -> Result<(), Problem> {
    target::check(to, Target::of(format), Force::Unknown)
}

/// Reads these reports, in their JSON form.
///
/// # Errors
/// If one is not a report.
pub(crate) fn load_all<'a>(reports: impl Iterator<Item = &'a str>) -> Result<Shown, Problem> {
    load::all(reports)
}

/// Writes these reports as JUnit, with the tests that have none.
pub(crate) fn write_junit(to: &Path, shown: &Shown, others: &[Unexplored]) -> Result<(), Problem> {
    let text = junit(shown, others)?;
    target::write(to, Target::of(Format::Junit), &text, Force::Unknown)
}

/// Writes the findings of these reports as SARIF.
pub(crate) fn write_sarif(to: &Path, shown: &Shown) -> Result<(), Problem> {
    let text = export::sarif::log(shown);
    target::write(to, Target::of(Format::Sarif), &text, Force::Unknown)
}

/// Returns the findings of these reports, and failed tests that have none, as annotations of GitHub.
pub(crate) fn annotations(shown: &Shown, others: &[Unexplored]) -> String {
    export::annotations::lines(shown, others)
}

fn junit(shown: &Shown, others: &[Unexplored]) -> Result<String, Problem> {
    export::junit::suites(shown, others)
        .map_err(|error| Problem::usage(format!("the report cannot be written as XML ({error})")))
}

fn render(shown: &Shown, format: Format, near: Option<&Path>) -> Result<String, Problem> {
    if matches!(format, Format::Shiviz | Format::Dot) {
        check_order_is_known(shown)?;
    }
    match format {
        Format::Html => Ok(page::page(shown, &source::Finder::new(near))),
        Format::Perfetto => Ok(export::perfetto::trace(shown)),
        Format::Shiviz => Ok(export::shiviz::log(shown)),
        Format::Sarif => Ok(export::sarif::log(shown)),
        Format::Junit => junit(shown, &[]),
        Format::Dot => Ok(export::dot::graph(shown)),
    }
}

/// Checks that all executions were recorded. Only recordings have the happens-before order, and without it, these formats
/// would show events as unordered.
fn check_order_is_known(shown: &Shown) -> Result<(), Problem> {
    let executions = shown.findings().flat_map(|(_, finding)| &finding.executions);
    if executions.into_iter().all(|execution| !execution.partial) {
        return Ok(());
    }
    Err(Problem::usage(
        "the report does not have the happens-before order of its executions: record them, with INTERMEZZO_RECORD=1 in \
         the environment of `cargo intermezzo test`, `replay` or `corpus run`",
    ))
}

/// Returns `wrote deque.html (212 kB): 1 report, 1 finding, 2 executions`.
fn said(to: &Path, text: &str, shown: &Shown) -> String {
    let findings = shown.findings().count();
    let executions: usize = shown
        .findings()
        .map(|(_, finding)| finding.executions.len())
        .sum();
    format!(
        "wrote {} ({} kB): {}, {}, {}",
        to.display(),
        text.len().div_ceil(1000),
        output::count(shown.reports.len() as u64, "report"),
        output::count(findings as u64, "finding"),
        output::count(executions as u64, "execution"),
    )
}
