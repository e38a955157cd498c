//! The bugs of the corpus's faulty objects are found, each in a small scenario, and the corrected objects pass.
//!
//! `INTERMEZZO_CATALOGUE=large` tries more scenarios of the corrected ones; `INTERMEZZO_CATALOGUE_ONLY=snark` selects
//! some objects. With `--nocapture` there is a line for each comparison.

#![allow(
    clippy::print_stdout,
    reason = "what it took, for whoever asks with --nocapture"
)]

use intermezzo::refinement::RefinementReport;
use intermezzo_corpus::objects::{Against, Effort, Object, Outcome};
use intermezzo_corpus::{Expected, objects};
use std::time::Instant;

/// The document with a row for each object.
const DOCUMENT: &str = include_str!("../docs/REFINEMENT.md");

/// Returns the row of the document for an object whose bug was found.
fn row(object: &Object, report: &RefinementReport) -> String {
    let failure = report.failure.as_ref().expect("it was found out");
    let scenario = &failure.scenario;
    let tasks: Vec<String> = scenario
        .tasks
        .iter()
        .map(|task| format!("{{ {} }}", task.join("; ")))
        .collect();
    let parts = [
        scenario.init.join("; "),
        tasks.join(" ‖ "),
        scenario.post.join("; "),
    ];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let executions = match report.executions {
        count if count < 1_000 => count.to_string(),
        count => format!("{},{:03}", count / 1_000, count % 1_000),
    };
    format!(
        "| {} | {executions} | `{}` | `{}` |\n",
        object.about,
        failure.kind,
        parts.join("; ")
    )
}

/// Returns the effort for corrected versions.
fn effort() -> Effort {
    match std::env::var("INTERMEZZO_CATALOGUE").as_deref() {
        Ok("large") => Effort::Large,
        _ => Effort::Usual,
    }
}

/// Returns the report of a comparison, and prints a line about it.
fn compared(object: &Object, outcome: &Outcome, effort: Effort) -> RefinementReport {
    let start = Instant::now();
    let report = object.run(outcome.against, effort);
    let found = report.failure.as_ref().map_or("pass".to_owned(), |failure| {
        let calls = failure.scenario.calls().count();
        format!(
            "{} in {calls} operations: {}",
            failure.kind,
            failure.scenario.to_string().replace('\n', " | ")
        )
    });
    println!(
        "{} against {}: {} scenarios, {} not in full, and {} to make it small, {} executions, {} histories, {:.2} s: {found}",
        object.name,
        outcome.against,
        report.scenarios,
        report.short.len(),
        report.minimising,
        report.executions,
        report.histories,
        start.elapsed().as_secs_f64(),
    );
    report
}

/// Checks every comparison with such an outcome, and reports all that are wrong.
fn check(
    effort: Effort,
    which: fn(&Expected) -> bool,
    wrong: fn(&Object, &Outcome, &RefinementReport) -> Option<String>,
) {
    let only = std::env::var("INTERMEZZO_CATALOGUE_ONLY").unwrap_or_default();
    let mut all = Vec::new();
    for object in objects().iter().filter(|object| object.name.contains(&only)) {
        for outcome in object.outcomes.iter().filter(|outcome| which(&outcome.expected)) {
            let report = compared(object, outcome, effort);
            if let Some(wrong) = wrong(object, outcome, &report) {
                all.push(format!(
                    "{} against {}: {wrong}\n{report}",
                    object.name, outcome.against
                ));
            }
        }
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
}

#[test]
fn bugs_are_found_in_small_scenarios() {
    check(
        Effort::Usual,
        |expected| *expected != Expected::Pass,
        |object, outcome, report| {
            let as_expected = report.failure.as_ref().is_some_and(|failure| {
                outcome.expected.to_string() == format!("fail: {}", failure.kind)
                    && outcome.operations == failure.scenario.calls().count()
            });
            if !as_expected {
                return Some(format!(
                    "not {} in {} operations",
                    outcome.expected, outcome.operations
                ));
            }
            let row = row(object, report);
            let is_told = outcome.against != Against::Itself || DOCUMENT.contains(&row);
            (!is_told).then(|| format!("docs/REFINEMENT.md has no row\n{row}"))
        },
    );
}

/// A pass covers all of each scenario. With more effort, some scenarios have too many executions for that.
#[test]
fn corrected_versions_pass() {
    check(
        effort(),
        |expected| *expected == Expected::Pass,
        |_, _, report| {
            let whole = report.short.is_empty() || effort() == Effort::Large;
            let passes = report.verdict().is_pass() && whole;
            (!passes).then(|| "not a pass of everything".to_owned())
        },
    );
}

#[test]
fn the_document_has_a_row_for_each_object_with_a_bug() {
    let (_, table) = DOCUMENT.split_once("| object | executions |").unwrap();
    let rows = table
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .count();
    let refuted = |object: &&Object| {
        object
            .outcomes
            .iter()
            .any(|outcome| outcome.expected != Expected::Pass)
    };
    assert_eq!(rows, objects().iter().filter(refuted).count());
}

#[test]
fn names_are_unique_and_sorted() {
    let names: Vec<&str> = objects().iter().map(|object| object.name).collect();
    let unsorted: Vec<_> = names.windows(2).filter(|pair| pair[0] >= pair[1]).collect();
    assert_eq!(unsorted, Vec::<&[&str]>::new());
}
