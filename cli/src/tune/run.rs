//! The result of one run of a search on a program, read from its report.

use crate::problem::Problem;
use serde::{Deserialize, Serialize};

/// The way in which a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Ended {
    /// After every execution, or another one of the same trace.
    Everything,
    /// After every execution within its bound.
    Bound,
    /// At a failure.
    Failure,
    /// At a limit of executions or of time. Samples always end so, unless they fail.
    Limit,
}

impl Ended {
    /// Returns the end in words.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Ended::Everything => "everything",
            Ended::Bound => "bound",
            Ended::Failure => "failure",
            Ended::Limit => "limit",
        }
    }
}

impl Ended {
    /// Returns the end, as in "18 executions to the end".
    pub(crate) fn end(self) -> &'static str {
        match self {
            Ended::Everything => "the end",
            Ended::Bound => "the end of the bound",
            Ended::Failure => "the failure",
            Ended::Limit => "the limit",
        }
    }
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Run {
    /// The program, as its report names it.
    pub(crate) program: String,
    pub(crate) seed: u64,
    /// The number, from 1, of the execution that failed.
    pub(crate) failure: Option<u64>,
    /// The kind of the failure.
    pub(crate) kind: Option<String>,
    pub(crate) executions: u64,
    pub(crate) traces: Option<u64>,
    pub(crate) redundant: u64,
    pub(crate) ended: Ended,
    pub(crate) seconds: f64,
}

/// The fields of a report that are needed.
#[derive(Deserialize)]
struct ReportJson {
    program: String,
    first_failure: Option<u64>,
    executions: u64,
    #[serde(default)]
    executions_before: u64,
    traces: Option<u64>,
    redundant: u64,
    coverage: CoverageJson,
    elapsed_seconds: f64,
    findings: Vec<FindingJson>,
}

#[derive(Deserialize)]
struct FindingJson {
    kind: String,
    severity: String,
}

#[derive(Deserialize)]
struct CoverageJson {
    kind: String,
    reason: Option<String>,
}

impl Run {
    /// Reads a run from a report's JSON.
    ///
    /// # Errors
    /// If it is not a report.
    pub(crate) fn of_report(json: &str, seed: u64) -> Result<Run, Problem> {
        let report: ReportJson = serde_json::from_str(json).map_err(|error| {
            Problem::usage(format!(
                "a report cannot be read ({error}): run the command again"
            ))
        })?;
        let ended = match (
            report.first_failure,
            report.coverage.kind.as_str(),
            report.coverage.reason,
        ) {
            (Some(_), ..) => Ended::Failure,
            (None, "exhaustive", _) => Ended::Everything,
            (None, "bounded", None) => Ended::Bound,
            _ => Ended::Limit,
        };
        let error = report.findings.iter().find(|finding| finding.severity == "error");
        Ok(Run {
            program: report.program,
            seed,
            failure: report
                .first_failure
                .map(|failure| report.executions_before + failure),
            kind: error.map(|finding| finding.kind.clone()),
            executions: report.executions_before + report.executions,
            traces: report.traces,
            redundant: report.redundant,
            ended,
            seconds: report.elapsed_seconds,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use intermezzo::{Explorer, Report};

    fn ended(report: Report) -> (Option<u64>, Ended) {
        let run = Run::of_report(&report.to_json(), 0).unwrap();
        assert_eq!(run.executions, report.executions());
        (run.failure, run.ended)
    }

    /// A failure is found in the fourth attempt, in a search that follows two others.
    #[test]
    fn searches_before_the_last_one_count() {
        let test = || {
            use intermezzo::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
            let (held, attempts) = (AtomicBool::new(false), AtomicUsize::new(0));
            intermezzo::thread::scope(|s| {
                s.spawn(|| {
                    held.store(true, SeqCst);
                    held.store(false, SeqCst);
                });
                while held.load(SeqCst) && attempts.fetch_add(1, SeqCst) < 20 {
                    intermezzo::thread::yield_now();
                }
            });
            assert!(attempts.load(SeqCst) < 20);
        };
        let auto = |most: u64| {
            let strategy = format!("auto(fair_yields={most})");
            Explorer::new().set("strategy", strategy).explore(test)
        };
        let report = auto(256);
        let before: u64 = report.executions_before();
        assert!(before > auto(1).executions(), "{report}");
        let run = Run::of_report(&report.to_json(), 0).unwrap();
        assert_eq!(run.executions, before + report.executions());
        assert_eq!(
            run.failure,
            report.first_failure().map(|failure| before + failure)
        );
        assert!(run.failure.is_some(), "{report}");
    }

    #[test]
    fn ends_are_distinguished() {
        let fails_last = || assert!(intermezzo::choose(3) < 2);
        let never_fails = || assert!(intermezzo::choose(3) < 3);
        let explorer = Explorer::new;
        assert_eq!(ended(explorer().explore(fails_last)), (Some(3), Ended::Failure));
        assert_eq!(ended(explorer().explore(never_fails)), (None, Ended::Everything));
        assert_eq!(
            ended(explorer().executions(2).explore(never_fails)),
            (None, Ended::Limit)
        );
        assert!(
            Run::of_report("{}", 0)
                .unwrap_err()
                .to_string()
                .contains("cannot be read")
        );
    }
}
