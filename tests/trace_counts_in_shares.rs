//! The shares of a search together run the executions of one search, for the programs of the trace tables and 2, 3 and 8
//! shares.
//!
//! Debug builds leave out rows with many traces. The ignored test makes the table of `docs/guide/src/shares.md`, in a
//! minute: `UPDATE_DOCS=1 cargo test --release --test trace_counts_in_shares -- --include-ignored`.

mod tables;

use intermezzo::report::united_traces;
use intermezzo::{Reduction, Report, Settings, Strategy};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use tables::{Comparison, Row, TRACE_COUNTS, rows};

/// The maximum number of traces of a row that is explored.
const TRACES_MAX: u64 = if cfg!(debug_assertions) { 300 } else { 100_000 };

/// The numbers of shares.
const TOTALS: [u32; 3] = [2, 3, 8];

/// The smallest number of executions of a row in the table.
const SHOWN: u64 = 1000;

/// The heading of the table.
const HEADING: &str = "| program | executions | 2 shares | 3 shares | 8 shares | largest of 8 |\n\
                       |---|---:|---:|---:|---:|---:|\n";

/// The rows with a number of traces that is not too large. Loops that are assumed to end are not divided.
fn divided() -> impl Iterator<Item = Row> {
    rows(TRACE_COUNTS).into_iter().filter(|row| {
        let traces = row.numbers("traces");
        !row.is("awaits") && traces.first().is_some_and(|&traces| traces <= TRACES_MAX)
    })
}

fn settings(reduction: Reduction) -> Settings {
    Settings {
        reduction,
        keep_going: true,
        minimise: 0,
        ..Settings::default()
    }
}

fn whole(row: &Row, reduction: Reduction) -> Report {
    row.explore(settings(reduction), |explorer| explorer.strategy(Strategy::dfs()))
}

fn in_shares(row: &Row, reduction: Reduction, total: u32) -> Vec<Report> {
    let share = |number| {
        row.explore(settings(reduction), |explorer| {
            explorer.strategy(Strategy::dfs()).partition(number, total)
        })
    };
    (1..=total).map(share).collect()
}

/// Returns kinds and texts of all findings.
fn findings<'a>(reports: impl IntoIterator<Item = &'a Report>) -> BTreeSet<(String, String)> {
    let all = reports.into_iter().flat_map(Report::findings);
    all.map(|finding| (finding.kind.to_string(), finding.message.clone()))
        .collect()
}

fn elsewhere(shares: &[Report]) -> u64 {
    shares.iter().map(|share| share.share().unwrap().elsewhere).sum()
}

/// Returns `true` if a task was parked in a loop that waits. Rounds without effect are part of traces then, and how many of
/// them are run depends on the order of the search.
fn waits(report: &Report) -> bool {
    report.notes().iter().any(|note| note.starts_with("spin_loops"))
}

/// Returns the difference between the shares and the search; `None` if they show the same.
fn difference(whole: &Report, shares: &[Report]) -> Option<String> {
    let shown = |report: &Report| report.executions() - report.redundant();
    let all: u64 = shares.iter().map(shown).sum();
    let traces = united_traces(shares.iter().map(|share| &*share.share().unwrap().traces));
    let fails = shares.iter().any(|share| share.verdict().is_fail());
    let is_more = waits(whole) && traces.is_ok_and(|traces| traces >= whole.traces()) && all >= shown(whole);
    if !is_more && traces != Ok(whole.traces()) {
        Some(format!("traces {traces:?} instead of {:?}", whole.traces()))
    } else if !is_more && all != shown(whole) {
        Some(format!("{all} executions instead of {}", shown(whole)))
    } else if fails != whole.verdict().is_fail() {
        Some(format!("a verdict other than {:?}", whole.verdict()))
    } else if findings(shares) != findings([whole]) {
        Some("other findings".to_owned())
    } else {
        shares
            .iter()
            .find(|share| !share.share().unwrap().ended)
            .map(|share| format!("no end of {share}"))
    }
}

#[test]
fn shares_run_the_executions_of_one_search() {
    let mut comparison = Comparison::default();
    for row in divided() {
        let program = row.cell("program");
        for reduction in [Reduction::SourceDpor, Reduction::Dpor] {
            let report = whole(&row, reduction);
            comparison.note(
                program,
                format!("{reduction:?}: {} executions", report.executions()),
            );
            for total in TOTALS {
                if let Some(difference) = difference(&report, &in_shares(&row, reduction, total)) {
                    comparison.object(program, format!("{reduction:?}, {total} shares: {difference}"));
                }
            }
        }
    }
    comparison.conclude();
}

#[test]
#[ignore = "a debug build leaves out what the table shows"]
fn the_table_shows_the_additional_executions_of_shares() {
    let mut lines = Vec::new();
    for row in divided() {
        let report = whole(&row, Reduction::Dpor);
        if report.executions() < SHOWN || waits(&report) {
            continue;
        }
        let mut line = format!("| `{}` | {} |", row.cell("program"), report.executions());
        for total in TOTALS {
            let shares = in_shares(&row, Reduction::Dpor, total);
            let executions: u64 = shares.iter().map(Report::executions).sum();
            let all = (executions + elsewhere(&shares)) as f64;
            let more = 100.0 * (all / report.executions() as f64 - 1.0);
            let _ = write!(line, " {more:+.1} % |");
            if total == 8 {
                let largest = shares.iter().map(Report::executions).max().unwrap_or_default();
                let _ = write!(
                    line,
                    " {:.0} % |",
                    100.0 * largest as f64 / report.executions() as f64
                );
            }
        }
        lines.push((report.executions(), line));
    }
    lines.sort();
    let table: String = lines.into_iter().map(|(_, line)| line + "\n").collect();
    assert!(
        !table.is_empty(),
        "a debug build leaves out all rows: run it with --release"
    );
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/guide/src/shares.md");
    let page = fs::read_to_string(path).unwrap();
    let (before, rest) = page.split_once(HEADING).expect("the page has the table");
    let (written, after) = rest.split_once("\n\n").expect("more follows it");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(path, format!("{before}{HEADING}{table}\n{after}")).unwrap();
    } else {
        assert_eq!(format!("{written}\n"), table, "UPDATE_DOCS=1 makes it again");
    }
}
