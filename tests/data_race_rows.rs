//! Programs with plain memory have data races or not, as an independent checker says: the rows of
//! `corpus/oracle/data_races.csv`.

use intermezzo::monitors::DataRaces;
use intermezzo::{Environment, Reduction, Report, Settings};
use intermezzo_corpus::parse_full_name;
use std::collections::BTreeSet;

const ROWS: &str = include_str!("../corpus/oracle/data_races.csv");

/// Returns each program with its verdict. Rows of one program under several models have the same verdict.
fn rows() -> BTreeSet<(&'static str, &'static str)> {
    let mut rows = BTreeSet::new();
    for line in ROWS.lines().skip(1) {
        // Only the program may contain commas. Then it is in quotes.
        let (program, rest) = match line.strip_prefix('"') {
            Some(quoted) => quoted.split_once("\",").expect("a closing quote"),
            None => line.split_once(',').expect("a second cell"),
        };
        let verdict = rest.split(',').nth(3).expect("a verdict");
        rows.insert((program, verdict));
    }
    rows
}

fn explored(program: &str, reduction: Reduction) -> Report {
    let (program, arguments) = parse_full_name(program).unwrap_or_else(|error| panic!("{error}"));
    let settings = Settings {
        environment: Environment::calm(),
        keep_going: true,
        reduction,
        // Only races are compared, not their consequences.
        preempt_at_races: false,
        ..Settings::default()
    };
    let explorer = intermezzo::Explorer::with_settings(settings).program(program.full_name(&arguments));
    explorer
        .monitor(DataRaces::new())
        .explore(program.test(&arguments))
}

/// Returns the messages of all data races. There must be no other findings.
fn races(report: &Report) -> BTreeSet<&str> {
    let races = report.findings().iter().map(|finding| {
        assert_eq!(finding.kind.as_str(), "data_race", "{report}");
        finding.message.as_str()
    });
    races.collect()
}

#[test]
fn programs_race_as_published() {
    let mut rows_seen = [0, 0];
    for (program, verdict) in rows() {
        // By C++20 the second store ends the release sequence, so the load that reads it acquires nothing.
        let wrong = match verdict {
            "wrong" => true,
            "correct" => false,
            _ => program == "MP+rels+acq-plain",
        };
        rows_seen[usize::from(wrong)] += 1;
        let all = explored(program, Reduction::None);
        assert_eq!(!races(&all).is_empty(), wrong, "{program}: {all}");
        let (defined, _) = parse_full_name(program).unwrap();
        assert_eq!(
            defined.expected != intermezzo_corpus::Expected::Pass,
            wrong,
            "{program}"
        );
        for reduction in [Reduction::Dpor, Reduction::Caching] {
            let reduced = explored(program, reduction);
            assert_eq!(races(&reduced), races(&all), "{program}, {reduction:?}");
        }
    }
    assert_eq!(rows_seen, [10, 7], "programs that are right, and wrong");
}

/// A release sequence with one read-modify-write for each task, and memory of each task's own.
#[test]
fn the_last_task_of_a_release_sequence_is_ordered_after_all() {
    let report = explored("tickets-plain,tasks=3", Reduction::None);
    assert_eq!(report.executions(), 90, "{report}");
    assert!(report.verdict().is_pass(), "{report}");
}

/// The report of a program names both accesses, and the missing ordering.
#[test]
fn a_report_says_what_would_order_the_accesses() {
    let report = explored("MP+rel+rlx-plain", Reduction::None);
    let [finding] = report.findings() else {
        panic!("{report}")
    };
    // Line numbers of the program may change.
    let without_lines = |text: &str| {
        let mut parts = text.split(".rs:");
        let mut words = parts.next().unwrap_or("").to_owned();
        for part in parts {
            words += ".rs";
            words += part.trim_start_matches(|c: char| c.is_ascii_digit() || c == ':');
        }
        words
    };
    assert_eq!(
        without_lines(&finding.message),
        "data race on cell 1.1: task 1 uses a pointer to it at corpus/src/programs/plain.rs, task 2 uses a pointer to it at \
         corpus/src/programs/plain.rs, at least one of them to write, and nothing orders the two"
    );
    assert_eq!(
        finding.suggestion.as_deref().map(without_lines).as_deref(),
        Some(
            "`Acquire` at the load of atomic 1.2 at corpus/src/programs/plain.rs (now `Relaxed`) would order them"
        )
    );
    assert_eq!(finding.tasks, ["task 2", "task 1"]);
}
