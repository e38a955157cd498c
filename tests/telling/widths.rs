//! Texts in terminals of all widths.

use super::{objects, reports};
use intermezzo::report::TextStyle;
use intermezzo::report::lines::width;
use intermezzo::sdk::FindingKind;
use std::collections::BTreeSet;

/// Returns every case's text in `columns` columns, with the schedule that it must still contain.
fn texts(columns: usize) -> Vec<(String, String, Option<String>)> {
    let style = TextStyle {
        width: Some(columns),
        ..super::style()
    };
    let explored = reports().map(|(case, report)| {
        // A finding about the whole exploration has no execution to replay.
        let mut findings = report.findings().iter();
        let token = findings
            .find(|finding| !finding.events.is_empty())
            .map(|finding| finding.schedule.token());
        (case.name.to_owned(), report.text(&style), token)
    });
    let objects = objects::reports().into_iter().map(|(name, report)| {
        let failure = report.failure.as_ref().unwrap();
        let token = failure.schedule.token();
        (name.to_owned(), report.text(&style), Some(token))
    });
    explored.chain(objects).collect()
}

/// Returns the paths to sources in a text, as written there.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || "(),;\"'".contains(c))
        .filter(|word| word.contains(".rs:"))
        .map(|word| word.trim_end_matches(['.', ':']))
}

#[test]
fn no_line_is_too_long_and_nothing_is_cut_without_a_sign() {
    let wide: BTreeSet<String> = texts(400)
        .iter()
        .flat_map(|(_, text, _)| paths(text).map(str::to_owned).collect::<Vec<_>>())
        .collect();
    assert!(
        wide.iter()
            .any(|path| path.starts_with("tests/telling/programs.rs:"))
    );
    for columns in [40, 80, 160] {
        for (name, text, token) in texts(columns) {
            let longest = text.lines().max_by_key(|line| width(line)).unwrap();
            assert!(width(longest) <= columns, "{name} in {columns}: {longest}");
            // For the shell, a command is on one line, and it contains the whole schedule.
            let commands = text.replace("\\\n", "");
            if let Some(token) = token {
                assert!(commands.contains(&token), "{name} in {columns}: {text}");
            }
            for path in paths(&commands) {
                // If tasks have columns of their own, there is no column for places.
                let is_line_of = |place: &str, known: &str| {
                    known
                        .strip_prefix(place)
                        .is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
                };
                let whole = wide
                    .iter()
                    .any(|known| is_line_of(path, known) || is_line_of(known, path));
                assert!(whole || path.contains('…'), "{name} in {columns}: {path}");
            }
        }
    }
}

#[test]
fn in_a_narrow_terminal() {
    let narrow = texts(40);
    for name in ["assertion", "deadlock_of_crossed_locks", "refinement"] {
        let (_, text, _) = narrow.iter().find(|(known, ..)| known == name).unwrap();
        insta::assert_snapshot!(format!("{name}_in_40_columns"), text);
    }
    assert!(narrow.len() > FindingKind::ALL.len());
}

/// The same failures in terminals of usual widths, and in a wide one.
#[test]
fn in_terminals_of_usual_widths() {
    for columns in [80, 100, 160] {
        let texts = texts(columns);
        for name in [
            "assertion",
            "long_execution",
            "livelock",
            "data_race",
            "deadlock_of_channels",
        ] {
            let (_, text, _) = texts.iter().find(|(known, ..)| known == name).unwrap();
            insta::assert_snapshot!(format!("{name}_in_{columns}_columns"), text);
        }
    }
}

/// The failure that the README shows fits on a page, and nothing in it is cut within an expression.
#[test]
fn a_long_failure_of_the_corpus() {
    let program = intermezzo_corpus::find("work_stealing_queue").unwrap();
    let arguments = program.arguments::<&str>(&[]).unwrap();
    let explorer = program.explorer(program.settings(), &arguments);
    let report = explorer.explore(program.test(&arguments));
    for columns in [80, 100, 160] {
        let style = TextStyle {
            width: Some(columns),
            ..super::style()
        };
        let text = report.text(&style);
        let (_, listing) = text.split_once("what happened").unwrap();
        let listing = listing.split("\n\n").next().unwrap();
        // In 80 columns each place is on a line of its own.
        let most = if columns < 100 { 80 } else { 40 };
        assert!(listing.lines().count() <= most, "{text}");
        insta::assert_snapshot!(format!("work_stealing_queue_in_{columns}_columns"), text);
    }
}
