//! Traces are counted as independent tools count them: the tables of `corpus/oracle`, row by row.
//!
//! Debug builds leave out rows with many traces, and print them (`--nocapture` shows that, as does a failure).

mod tables;

use intermezzo::{Reduction, Report, Settings};
use tables::{Comparison, Row, TRACE_COUNTS, rows};

const HAPPENS_BEFORE_COUNTS: &str = include_str!("../corpus/oracle/happens_before_counts.csv");

/// The maximum number of traces of a row that is explored.
const TRACES_MAX: u64 = if cfg!(debug_assertions) { 3000 } else { u64::MAX };

/// The operations of this suite on a row.
trait Published {
    /// Returns the numbers of the first of these columns that has any.
    fn first_numbers(&self, columns: [&str; 2]) -> Vec<u64>;
    fn is_wrong(&self) -> bool;
    /// Explores the program under these settings, in a calm environment.
    fn explored(&self, settings: Settings) -> Report;
    /// Returns the contradiction between the row and the report's verdict.
    fn objection(&self, report: &Report) -> Option<String>;
}

impl Published for Row {
    fn first_numbers(&self, columns: [&str; 2]) -> Vec<u64> {
        let numbers = columns.map(|column| self.numbers(column));
        numbers
            .into_iter()
            .find(|numbers| !numbers.is_empty())
            .unwrap_or_default()
    }

    fn is_wrong(&self) -> bool {
        self.cell("verdict") == "wrong"
    }

    fn explored(&self, settings: Settings) -> Report {
        self.explore(settings, |explorer| explorer)
    }

    fn objection(&self, report: &Report) -> Option<String> {
        let meets = match self.is_wrong() {
            true => self.program().0.meets(report),
            false => report.verdict().is_pass(),
        };
        (!meets).then(|| format!("must be {}:\n{report}", self.cell("verdict")))
    }
}

/// Returns the number of executions with a finding, if an execution shows only one.
fn failing_executions(report: &Report) -> u64 {
    report.findings().iter().map(|finding| finding.count).sum()
}

/// Programs that wait in loops. The first failed round of such a loop is part of the trace here, because the state
/// before it cannot be recognised as the state after it. The tables count as if it had not happened, so only verdicts
/// compare.
const WAITING: [&str; 5] = ["fairness2", "interlock4", "mretest", "semaphore", "events"];

#[test]
fn optimal_reduction_runs_each_trace_once() {
    let mut comparison = Comparison::default();
    for row in rows(TRACE_COUNTS).iter().filter(|row| !row.is("verdict")) {
        let program = row.cell("program");
        let [traces] = row.numbers("traces")[..] else {
            continue;
        };
        if traces > TRACES_MAX {
            comparison.note(program, format!("left out: {traces} traces"));
            continue;
        }
        let report = row.explored(Settings {
            reduction: Reduction::Dpor,
            keep_going: true,
            // An exploration with twice as many executions is already wrong, and need not end.
            executions: Some(if row.is("awaits") {
                20 * traces + 1000
            } else {
                2 * traces + 100
            }),
            ..Settings::default()
        });
        let expected = (traces + failing_executions(&report), Some(traces), 0);
        let told = report.executions() - report.blocked();
        let counted = (told, report.traces(), report.redundant());
        comparison.note(
            program,
            format!(
                "{traces} traces, {told} executions and {} blocked",
                report.blocked()
            ),
        );
        if counted != expected {
            let heading = "executions not blocked, traces, redundant";
            comparison.object(program, format!("{heading}: {counted:?} instead of {expected:?}"));
        }
        if let Some(objection) = row.objection(&report) {
            comparison.object(program, objection);
        }
    }
    comparison.conclude();
}

/// The rows without a comparable count: programs that are wrong, and loops that retry.
#[test]
fn verdicts_are_as_published() {
    let mut comparison = Comparison::default();
    for row in &rows(TRACE_COUNTS) {
        let counted = !row.is("verdict") && !row.cell("traces").is_empty();
        if counted {
            continue;
        }
        let (program, settings) = (row.cell("program"), row.program().0.settings());
        let settings = match row.is_wrong() {
            true => Settings {
                reduction: Reduction::Dpor,
                executions: Some(TRACES_MAX),
                ..Settings::default()
            },
            false => settings,
        };
        let report = row.explored(settings);
        comparison.note(
            program,
            format!("{} executions: {:?}", report.executions(), report.verdict()),
        );
        if row.is_wrong() && report.verdict().is_pass() && report.executions() == TRACES_MAX {
            comparison.note(
                program,
                "left out: too many executions to the first failure".into(),
            );
        } else if let Some(objection) = row.objection(&report) {
            comparison.object(program, objection);
        }
    }
    comparison.conclude();
}

#[test]
fn traces_within_preemption_bounds_are_counted_as_published() {
    let mut comparison = Comparison::default();
    let counted = |row: &&Row| !row.is("verdict") && !row.is("awaits");
    for row in rows(TRACE_COUNTS).iter().filter(counted) {
        let program = row.cell("program");
        let published = row.first_numbers(["ours_within_k_preemptions", "traces_within_k_preemptions"]);
        for (preemptions, traces) in (0..).zip(published) {
            if traces > TRACES_MAX {
                comparison.note(
                    program,
                    format!("left out: {traces} traces at bound {preemptions}"),
                );
                continue;
            }
            let report = row.explored(Settings {
                reduction: Reduction::Caching,
                preemptions: Some(preemptions),
                keep_going: true,
                ..Settings::default()
            });
            let bound = format!("bound {preemptions}");
            comparison.note(
                program,
                format!("{bound}: {traces} traces, {} executions", report.executions()),
            );
            if report.traces() != Some(traces) {
                comparison.object(
                    program,
                    format!("{bound}: {:?} instead of {traces}", report.traces()),
                );
            }
        }
    }
    comparison.conclude();
}

#[test]
fn happens_before_executions_are_counted_as_published() {
    let mut comparison = Comparison::default();
    for row in rows(HAPPENS_BEFORE_COUNTS)
        .iter()
        .filter(|row| !row.is("verdict"))
    {
        let program = row.cell("program");
        if WAITING.contains(&program) {
            comparison.note(program, "left out: it waits in a loop".into());
            continue;
        }
        let expected = row.first_numbers(["ours", "traces"]);
        assert_eq!(expected.len(), 3, "{program}: at bounds 1, 2, 3");
        for (preemptions, traces) in (1..).zip(expected) {
            for reduction in [Reduction::None, Reduction::Caching] {
                let report = row.explored(Settings {
                    reduction,
                    preemptions: Some(preemptions),
                    keep_going: true,
                    ..Settings::default()
                });
                let run = format!("bound {preemptions}, {reduction:?}");
                comparison.note(
                    program,
                    format!("{run}: {traces} traces, {} executions", report.executions()),
                );
                if report.traces() != Some(traces) {
                    comparison.object(
                        program,
                        format!("{run}: {:?} instead of {traces}", report.traces()),
                    );
                }
                if preemptions == 3
                    && let Some(objection) = row.objection(&report)
                {
                    comparison.object(program, objection);
                }
            }
        }
    }
    comparison.conclude();
}

/// Rows of which only the verdict can be compared, with suitable settings.
#[test]
fn happens_before_verdicts_are_as_published() {
    let mut comparison = Comparison::default();
    for row in rows(HAPPENS_BEFORE_COUNTS).iter().filter(|row| row.is("verdict")) {
        let report = row.explored(row.program().0.settings());
        if let Some(objection) = row.objection(&report) {
            comparison.object(row.cell("program"), objection);
        }
    }
    comparison.conclude();
}

/// Each row of the tables is about another program of the corpus, and agrees with the corpus.
#[test]
fn tables_are_about_the_corpus() {
    for table in [TRACE_COUNTS, HAPPENS_BEFORE_COUNTS] {
        let mut names = Vec::new();
        for row in rows(table) {
            let (program, arguments) = row.program();
            assert_eq!(
                program.expected != intermezzo_corpus::Expected::Pass,
                row.is_wrong(),
                "{}",
                row.cell("program")
            );
            names.push(program.full_name(&arguments));
        }
        let rows = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), rows, "each row is about another program");
    }
}
