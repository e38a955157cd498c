//! The result of a test, as a value and as JSON.

use crate::checked::Checked;
use crate::failure::Failure;
use crate::scenario::Description;
use intermezzo_explorer::{Coverage, Limit, Verdict};
use intermezzo_sdk::FindingKind;
use serde::{Serialize, Serializer};

/// The format of a report's JSON form.
pub const REFINEMENT_FORMAT: &str = "intermezzo-refinement/1";

/// The result of a test.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct RefinementReport {
    /// The test, by name: see [`Refinement::name`](crate::Refinement::name).
    pub program: String,
    /// Scenarios checked.
    pub scenarios: u64,
    /// Executions of all of them, those that observe included.
    pub executions: u64,
    /// Traces among those that were compared.
    pub traces: u64,
    /// Different histories that were compared.
    pub histories: u64,
    /// `true` if histories were compared by happens-before, under a memory model, and not by real time.
    pub by_happens_before: bool,
    /// The number of observations of the object, if it was compared with itself.
    pub observations: usize,
    /// The number of orders of operations that were run because a history needed them, in scenarios that have too many to
    /// run all.
    pub orders: u64,
    /// The monitors of the executions with concurrent tasks, by name.
    pub monitors: Vec<String>,
    /// Runs of one task alone, or of all but one, or in turns, if progress is demanded; each is one of the executions.
    pub solo_runs: u64,
    /// The scenarios of which not every execution was run, or not every history decided, with the reasons.
    pub short: Vec<String>,
    /// The parts that were not explored in some scenario, whether or not the coverage says so.
    pub limits: Vec<Limit>,
    /// `true` if such a scenario makes the test inconclusive: see
    /// [`Refinement::in_full`](crate::Refinement::in_full).
    pub in_full: bool,
    /// Scenarios tried to make the failing one small.
    pub minimising: u64,
    /// The failure of the object, if any.
    pub failure: Option<Failure>,
    /// The lines that pin the failing scenario in the test.
    pub pin: Option<String>,
    /// `true` if a single execution was run, by its schedule.
    pub replayed: bool,
    /// The test that runs this, as `cargo test` knows it. [`Refinement::check`](crate::Refinement::check) takes it
    /// from the name of its thread.
    pub test: Option<String>,
}

impl RefinementReport {
    /// Adds the result of a scenario.
    pub(crate) fn take(&mut self, checked: Checked, scenario: impl Fn() -> Description) {
        self.scenarios += 1;
        self.executions += checked.executions;
        self.traces += checked.traces;
        self.histories += checked.histories;
        self.by_happens_before |= checked.by_happens_before;
        self.observations += checked.observations;
        self.orders += checked.orders;
        self.solo_runs += checked.solo_runs;
        for monitor in checked.monitors {
            if !self.monitors.contains(&monitor) {
                self.monitors.push(monitor);
            }
        }
        let short = checked
            .short
            .map(|why| format!("{why}: {}", scenario().shortened().one_line()));
        self.short.extend(short);
        for limit in checked.limits {
            if !self.limits.contains(&limit) {
                self.limits.push(limit);
            }
        }
        self.failure = checked.failure;
    }

    /// Returns `Fail` if the object failed; `Inconclusive` if no scenario was compared in full, or one was not that
    /// had to be.
    pub fn verdict(&self) -> Verdict {
        match &self.failure {
            Some(_) => Verdict::Fail,
            None if self.replayed => Verdict::Pass,
            None if self.scenarios == self.short.len() as u64 => Verdict::Inconclusive,
            None if self.in_full && !self.short.is_empty() => Verdict::Inconclusive,
            None => Verdict::Pass,
        }
    }

    /// Returns the coverage: every execution of every scenario that was tried, or less, with the reason.
    pub fn coverage(&self) -> Coverage {
        if self.replayed {
            let diverged = |failure: &Failure| failure.kind == FindingKind::Divergence;
            return Coverage::Replayed {
                as_recorded: !self.failure.as_ref().is_some_and(diverged),
            };
        }
        let reason = match (&self.failure, self.short.len()) {
            (Some(_), _) => "stopped at the first failure".to_owned(),
            (None, 0) => return Coverage::Exhaustive,
            (None, short) => format!("{short} of {} scenarios not in full", self.scenarios),
        };
        Coverage::Bounded {
            preemptions: None,
            delays: None,
            depth: None,
            reason: Some(reason),
            rank: None,
        }
    }

    /// Returns the report as one JSON object, ended by a line break, in the format [`REFINEMENT_FORMAT`]: the same
    /// report is the same text. `docs/REFINEMENT.md` describes its fields.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("strings, numbers and lists are JSON");
        text.push('\n');
        text
    }
}

/// A finding in the form that reports of explorations have, so that their readers can read this.
#[derive(Serialize)]
struct FindingJson<'a> {
    kind: String,
    severity: &'static str,
    message: &'a str,
    schedule: String,
}

#[derive(Serialize)]
struct ReportJson<'a> {
    format: &'static str,
    program: &'a str,
    verdict: Verdict,
    coverage: Coverage,
    limits: &'a [Limit],
    scenarios: u64,
    executions: u64,
    traces: u64,
    histories: u64,
    by_happens_before: bool,
    observations: usize,
    orders: u64,
    solo_runs: u64,
    monitors: &'a [String],
    not_in_full: &'a [String],
    minimising: u64,
    findings: Vec<FindingJson<'a>>,
    notes: Vec<String>,
    failure: Option<&'a Failure>,
    pin: Option<&'a str>,
    replayed: bool,
    test: Option<&'a str>,
}

impl Serialize for RefinementReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let findings = self.failure.iter().map(|failure| FindingJson {
            kind: failure.kind.as_str().into_owned(),
            severity: "error",
            message: &failure.message,
            schedule: failure.schedule.token(),
        });
        ReportJson {
            format: REFINEMENT_FORMAT,
            program: &self.program,
            verdict: self.verdict(),
            coverage: self.coverage(),
            limits: &self.limits,
            scenarios: self.scenarios,
            executions: self.executions,
            traces: self.traces,
            histories: self.histories,
            by_happens_before: self.by_happens_before,
            observations: self.observations,
            orders: self.orders,
            solo_runs: self.solo_runs,
            monitors: &self.monitors,
            not_in_full: &self.short,
            minimising: self.minimising,
            findings: findings.collect(),
            notes: self
                .short
                .iter()
                .map(|short| format!("not in full: {short}"))
                .collect(),
            failure: self.failure.as_ref(),
            pin: self.pin.as_deref(),
            replayed: self.replayed,
            test: self.test.as_deref(),
        }
        .serialize(serializer)
    }
}
