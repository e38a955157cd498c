//! The pairs of the explored tests of the project in the current directory, by `cargo test`.

use super::{Counts, Given, Program, settings_to_find_pairs, tried as tried_pairs};
use crate::args::BreakpointsArgs;
use crate::output;
use crate::problem::Problem;
use crate::project::{CargoTest, NOTHING_EXPLORED, ProjectReport, arguments_of_test};
use std::ffi::OsString;

/// Tries the pairs of each explored test.
pub(super) fn tried(cargo: &[OsString], args: &BreakpointsArgs) -> Result<Vec<Program>, Problem> {
    let mut every = vec![OsString::from("--no-fail-fast")];
    every.extend_from_slice(cargo);
    let ran = CargoTest::new(every, true)?
        .settings(&settings_to_find_pairs(args))
        .run()?;
    ran.refused_none()?;
    if ran.reports.is_empty() {
        output::complain(NOTHING_EXPLORED);
    }
    let one = |report: &ProjectReport| {
        let test = arguments_of_test(&report.program, &report.binary, cargo)?;
        tried_pairs(report.program.clone(), counts(report), args, |given| {
            explore(&report.program, test.clone(), given)
        })
    };
    ran.reports.iter().map(one).collect()
}

fn explore(program: &str, test: Vec<OsString>, given: Given) -> Result<Counts, Problem> {
    let ran = CargoTest::new(test, true)?.silent().settings(&given).run()?;
    ran.refused_none()?;
    let report = ran.reports.iter().find(|report| report.program == program);
    report.map(counts).ok_or_else(|| {
        Problem::usage(format!(
            "{program:?} was not explored when it was run alone: look at it with `cargo intermezzo test`"
        ))
    })
}

/// Returns the results of a report's executions, with or without a breakpoint.
fn counts(report: &ProjectReport) -> Counts {
    let mut counts = Counts::of(report.executions, &report.breakpoints);
    for finding in &report.findings {
        counts.add(&finding.kind, finding.is_error(), finding.count, &finding.places);
    }
    counts
}
