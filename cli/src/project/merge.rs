//! `merge`: combines the reports of all shares of a search, which several processes explored, into one report.

pub(crate) mod combine;
mod cover;
pub(crate) mod read;

use super::cargo::Ran;
use super::reports::ProjectReport;
use super::{summary, test};
use crate::args::MergeArgs;
use crate::exit::Exit;
use crate::output;
use crate::problem::Problem;
use crate::view;
use combine::combined;
use intermezzo::Verdict;
use read::{ReadReport, read_all};
use serde::Serialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// The merged reports in JSON.
#[derive(Serialize)]
struct MergeJson<'a> {
    verdict: Verdict,
    reports: Vec<&'a RawValue>,
}

/// The test of a report: its name, its package, and its target.
pub(crate) type Test = (String, String, String);

/// Merges the reports.
pub(crate) fn run(args: &MergeArgs) -> Result<Exit, Problem> {
    if let Some(directory) = &args.reports {
        test::make_directory(directory, "--reports")?;
    }
    view::check_may_write(args.view.as_ref())?;
    let mut tests: BTreeMap<Test, Vec<ReadReport>> = BTreeMap::new();
    for report in read_all(&args.files)? {
        tests.entry(report.test()).or_default().push(report);
    }
    if tests.is_empty() {
        return Err(Problem::usage(
            "there is no report to merge: give the files or the directories of all shares, as `test --reports DIR` wrote them",
        ));
    }
    let (mut reports, mut problems) = (Vec::new(), Vec::new());
    for ((program, _, _), shares) in &tests {
        match combined(shares, &[]) {
            Ok(text) => {
                let name: String = program
                    .chars()
                    .map(|letter| if letter.is_alphanumeric() { letter } else { '-' })
                    .collect();
                reports.push(ProjectReport::parse(
                    format!("{name}-{}", reports.len() + 1),
                    text,
                )?);
            }
            Err(mut found) => {
                found
                    .iter_mut()
                    .for_each(|problem| *problem = format!("{program}: {problem}"));
                problems.append(&mut found);
            }
        }
    }
    if !problems.is_empty() {
        return Err(Problem::usage(format!(
            "these reports are not those of all shares of one search:\n  {}\nGive the report of each share once, all of \
             one run",
            problems.join("\n  ")
        )));
    }
    let passed = reports.iter().all(|report| report.verdict.is_pass());
    let ran = Ran {
        of_program: false,
        passed,
        reports,
        refusals: Vec::new(),
        of_harness: Vec::new(),
    };
    if let Some(directory) = &args.reports {
        for report in &ran.reports {
            report.write(directory)?;
        }
    }
    let verdict = test::verdict(&ran, false);
    if args.json {
        let reports = ran.reports.iter().map(|report| &*report.text).collect();
        output::json(&MergeJson { verdict, reports })?;
    } else {
        output::text(&summary::summary(&ran, None, &output::style()))?;
    }
    if let Some(page) = &args.view {
        view::write_page(page, ran.reports.iter().map(|report| report.text.get()))?;
    }
    Ok(verdict.into())
}
