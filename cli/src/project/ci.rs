//! The results of a run for CI servers and code hosts, written by the same command that runs the tests.

use super::cargo::Ran;
use super::harness::Outcome;
use super::reports::ProjectReport;
use crate::args::Format;
use crate::output;
use crate::problem::Problem;
use crate::view::{self, Ended, Unexplored};
use intermezzo::settings::CommandSettings;
use std::collections::BTreeSet;
use std::fs;

/// Creates the directories of the files, and checks that the files may be written. This is done before a long run rather
/// than after it.
///
/// # Errors
/// If one may not be written.
pub(super) fn check_may_write(command: &CommandSettings) -> Result<(), Problem> {
    for (path, format) in [(&command.junit, Format::Junit), (&command.sarif, Format::Sarif)] {
        if let Some(path) = path {
            if let Some(directory) = path.parent() {
                let help = "give another path";
                fs::create_dir_all(directory)
                    .map_err(|error| Problem::file("make the directory", directory, &error, help))?;
            }
            view::check_may_write_as(path, format)?;
        }
    }
    Ok(())
}

/// Writes the requested files: all tests as JUnit; findings as SARIF and as annotations. Known findings, and those that
/// tests expect, fail no test, so only JUnit has them.
///
/// # Errors
/// If a report cannot be read, or a file cannot be written.
pub(super) fn write(command: &CommandSettings, ran: &Ran) -> Result<(), Problem> {
    let others = unexplored(ran);
    if let Some(path) = &command.junit {
        // The harness's output has the tests of objects, with the failure as their output, so their reports are left out.
        let is_told = |report: &ProjectReport| {
            let test = report.test_of_object();
            test.is_some_and(|test| ran.of_harness.iter().any(|other| other.name == test))
        };
        let reports = || ran.reports.iter().filter(|report| !is_told(report));
        let mut shown = view::load_all(reports().map(|report| report.text.get()))?;
        for (shown, report) in shown.reports.iter_mut().zip(reports()) {
            if report.known {
                shown.verdict = "pass".to_owned();
            }
        }
        view::write_junit(path, &shown, &others)?;
    }
    if command.sarif.is_none() && !command.annotations {
        return Ok(());
    }
    let of_run = |report: &&ProjectReport| !report.known && !report.expected_finding;
    let shown = ran.reports.iter().filter(of_run);
    let shown = view::load_all(shown.map(|report| report.text.get()))?;
    if let Some(path) = &command.sarif {
        view::write_sarif(path, &shown)?;
    }
    if command.annotations {
        // Hosts read both streams, and stdout may have JSON.
        let lines = view::annotations(&shown, &others);
        lines.lines().for_each(output::complain);
    }
    Ok(())
}

/// Returns the tests that have no report.
fn unexplored(ran: &Ran) -> Vec<Unexplored> {
    let refused = ran.refusals.iter().map(|refusal| Unexplored {
        program: refusal.program.clone(),
        ended: Ended::Refused,
        output: refusal.reason.clone(),
    });
    let refused: Vec<Unexplored> = refused.collect();
    let explored = ran.reports.iter().map(|report| report.program.clone());
    let reported: BTreeSet<String> = explored
        .chain(refused.iter().map(|test| test.program.clone()))
        .collect();
    let others = ran
        .of_harness
        .iter()
        .filter(|test| !reported.contains(&test.program()));
    let others = others.map(|test| Unexplored {
        program: test.program(),
        ended: match test.outcome {
            Outcome::Passed => Ended::Passed,
            Outcome::Failed => Ended::Failed,
            Outcome::Ignored => Ended::Ignored,
        },
        output: test.output.clone(),
    });
    others.chain(refused).collect()
}
