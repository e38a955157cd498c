//! The pairs of a program of the corpus, in this process.

use super::{Counts, Given, Program, settings_to_find_pairs, tried as tried_pairs};
use crate::args::BreakpointsArgs;
use crate::corpus;
use crate::problem::Problem;
use intermezzo::{Finding, Report};
use intermezzo_corpus::{Arguments, Program as OfCorpus};

/// Tries the pairs of the program of that name.
pub(super) fn tried(name: &str, sets: &[String], args: &BreakpointsArgs) -> Result<Program, Problem> {
    let (program, arguments) = corpus::program_with(name, sets)?;
    let found = explore(program, &arguments, settings_to_find_pairs(args))?;
    tried_pairs(program.name.to_owned(), found, args, |given| {
        explore(program, &arguments, given)
    })
}

fn explore(program: &OfCorpus, arguments: &Arguments, given: Given) -> Result<Counts, Problem> {
    let mut settings = program.settings();
    for (name, value) in given {
        settings
            .set(name, &value)
            .map_err(|error| Problem::usage(error.to_string()))?;
    }
    let explorer = program.explorer(settings, arguments);
    let report = corpus::explore(program, arguments, explorer);
    report
        .map(|report| counts(&report))
        .map_err(|error| Problem::usage(error.to_string()))
}

fn counts(report: &Report) -> Counts {
    let mut counts = Counts::of(report.executions(), report.breakpoints());
    for finding in report.findings() {
        let Finding {
            kind, count, places, ..
        } = finding;
        counts.add(&kind.as_str(), finding.is_error(), *count, places);
    }
    counts
}
