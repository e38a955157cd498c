//! The breakpoint that a finding suggests shows it in the first execution, for every failing program of the corpus that
//! has one. The others give the reason why they have none.

use super::armed;
use intermezzo::{Explorer, Finding, Reduction, Report, Settings};
use intermezzo_corpus::{Expected, Program, programs};

fn explored(program: &Program, settings: Settings) -> Report {
    let arguments = program.arguments::<&str>(&[]).expect("defaults are in range");
    let explorer: Explorer = program.explorer(settings, &arguments);
    explorer.explore(program.test(&arguments))
}

/// Runs the default execution, with the breakpoint of this finding armed.
fn first_execution(program: &Program, finding: &Finding, armings: &str) -> Report {
    let mut settings = program.settings();
    settings.reduction = Reduction::None;
    if settings.spin_loops == intermezzo::SpinLoops::Assume {
        settings.spin_loops = intermezzo::SpinLoops::Park;
    }
    settings.preempt_at_races = false;
    settings.executions = Some(1);
    settings.breakpoints = armed(armings);
    let report = explored(program, settings);
    assert_eq!(report.executions(), 1, "{}: {}", program.name, finding.message);
    report
}

#[test]
fn a_finding_s_breakpoint_shows_it_in_the_first_execution() {
    let failing = programs()
        .iter()
        .filter(|program| program.expected != Expected::Pass);
    let (mut with, mut clean, mut all) = (0, 0, 0);
    let mut without: Vec<String> = Vec::new();
    for program in failing {
        let report = explored(program, program.settings());
        let finding = &report.findings()[0];
        all += 1;
        match report.reproductions().first().map(|first| &first.breakpoint) {
            Some(Ok(breakpoint)) => {
                let again = first_execution(program, finding, &breakpoint.armed);
                let shows = |other: &Finding| other.kind == finding.kind;
                assert!(
                    again.findings().iter().any(shows),
                    "{}: {report}\n{again}",
                    program.name
                );
                assert!(
                    again.breakpoints().iter().all(|figures| figures.hits > 0),
                    "{again}"
                );
                assert!(!breakpoint.places.is_empty());
                with += 1;
                clean += u32::from(breakpoint.in_vain == 0);
                println!(
                    "{}: {} ({} timed out)",
                    program.name, breakpoint.armed, breakpoint.in_vain
                );
            }
            Some(Err(reason)) => without.push(format!("{} ({}): {reason}", program.name, finding.kind)),
            None => without.push(format!("{} ({}): not looked for", program.name, finding.kind)),
        }
    }
    println!(
        "{with} of {all}, {clean} without a wait that timed out; without:\n{}",
        without.join("\n")
    );
    assert!(
        with >= 33 && clean >= 21,
        "{with} of {all}, {clean} without a wait that timed out"
    );
    let document = include_str!("../../docs/BREAKPOINTS.md").split_whitespace();
    let document = document.collect::<Vec<_>>().join(" ");
    let others = |what: &str| without.iter().filter(|line| line.contains(what)).count();
    let (by_default, no_pair) = (
        others("the default order"),
        others("pairs of places brings it about"),
    );
    for says in [
        format!("Of the {all} failing programs of the corpus, {with} have a breakpoint"),
        format!(
            "In {clean} of these, no wait times out. Of the others, {by_default} fail in the default order"
        ),
        format!("for {no_pair} neither a pair nor two of the first pairs are enough"),
    ] {
        assert!(
            document.contains(&says),
            "docs/BREAKPOINTS.md does not say: {says}"
        );
    }
    let missing = |what: &str| without.iter().find(|line| line.contains(what));
    assert_eq!(missing("(data_race)"), None, "two places are two places");
    assert_eq!(missing("not looked for"), None);
}
