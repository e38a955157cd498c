//! What an exploration came to: a value, with a text and a JSON form.

#[cfg(test)]
mod bare;
mod breakpoints;
mod expected;
mod finding_detail;
mod found_by;
mod limits;
pub mod lines;
pub(crate) mod recording;
pub mod source;
mod text;

pub use crate::files::write_beside;
pub use crate::settings::Verbosity;
pub use breakpoints::{Reproduction, SuggestedBreakpoint, SuggestedPlace};
pub use intermezzo_engine::described::{BreakpointFigures, FindingDeed, NamedPlace};
pub use intermezzo_engine::strategy::{Coverage, RankBound};
pub use intermezzo_engine::words::count;
pub(crate) use limits::narrowed;
pub use limits::{Limit, covered, unexplored};
pub use text::{INDENT, Part, ReplayedBy, Text, TextStyle, with_places};

use intermezzo_engine::environment::Environment;
use intermezzo_engine::schedule::{Schedule, TestBinary};
use intermezzo_sdk::{FindingKind, Severity};
use intermezzo_search::classic::maple::IRootCoverage;
use intermezzo_search::estimate::Estimate;
use recording::Recorded;
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use std::path::Path;
use std::time::Duration;

pub use finding_detail::{
    Awaited, EndlessCause, FindingDetail, HangState, LoopStep, TaskLoop, TaskPanic, WaitingTask,
};
pub use found_by::FoundBy;

/// The format of a report's JSON form.
pub const REPORT_FORMAT: &str = "intermezzo-report/1";

/// The outcome in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Nothing was found in what was covered, or nothing but warnings.
    Pass,
    /// Something was found.
    Fail,
    /// Neither: no execution came to its end, or the test did not do the same thing twice.
    Inconclusive,
}

impl Verdict {
    /// Whether nothing was found in what was covered.
    pub fn is_pass(self) -> bool {
        self == Verdict::Pass
    }

    /// Whether something was found.
    pub fn is_fail(self) -> bool {
        self == Verdict::Fail
    }
}

/// One event of a failing execution, in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingEvent {
    /// `task.index`, the index from 1 in its task.
    pub id: String,
    /// Name of the task.
    pub task: String,
    /// What it did: `lock`, `store`.
    pub op: String,
    /// The effect that it had, if it is not the usual one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    /// The memory ordering, for atomics.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<String>,
    /// Name of the variable, or empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub var: String,
    /// The value read, as bits, where one was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<u64>,
    /// The value written, as bits, where one was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<u64>,
    /// `file:line:column`; empty for the beginning and end of the test's own body.
    pub site: String,
    /// Whether the task of the event before could have gone on, and was preempted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub preempts: bool,
    /// Whether the finding is about this event.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub concerned: bool,
}

/// The effect of an event that is not the usual one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// None: it belongs to an iteration of a loop that only waits, and the iteration is left out of the trace.
    Elided,
    /// A wait ended without a notification.
    Spurious,
}

impl std::fmt::Display for Effect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Effect::Elided => "no effect",
            Effect::Spurious => "spuriously",
        })
    }
}

/// Something found, with the schedule that shows it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Its kind.
    pub kind: FindingKind,
    /// Whether it is an error, or a warning that lets the verdict stand.
    pub severity: Severity,
    /// Its origin: a monitor, or the engine.
    pub monitor: FoundBy,
    /// What happened, for people.
    pub message: String,
    /// What happened, as data.
    pub detail: FindingDetail,
    /// What would mend it, for people.
    pub suggestion: Option<String>,
    /// Names of the tasks concerned.
    pub tasks: Vec<String>,
    /// The events of the execution, in order.
    pub events: Vec<FindingEvent>,
    /// The schedule that reproduces it.
    pub schedule: Schedule,
    /// In how many executions of this exploration it was found.
    pub count: u64,
    /// Which strategy drew the execution that showed it first, if several share the executions.
    pub found_by: Option<String>,
    /// What became of its schedule, if a replay of it did not show the finding again.
    pub replays: Option<Replays>,
    /// The places that it names, where a breakpoint may lie: the accesses of a race, where tasks of a deadlock wait for locks.
    pub places: Vec<NamedPlace>,
    /// What it is about beside events: the accesses of a data race.
    pub deeds: Vec<FindingDeed>,
}

impl Finding {
    /// Whether the other says the same. How an execution departed is chance: the first says as much as all.
    pub(crate) fn says(&self, other: &Finding) -> bool {
        (&self.kind, self.severity) == (&other.kind, other.severity)
            && (self.message == other.message || self.kind == FindingKind::Divergence)
    }

    /// Returns the message line by line: the first says what happened, and each other one is a part of it.
    pub fn lines(&self) -> Vec<String> {
        self.detail.lines()
    }

    /// Replaces the message by another, of which nothing more is known.
    pub fn say(&mut self, text: String) {
        self.detail = FindingDetail::Message { text: text.clone() };
        self.message = text;
    }

    /// Whether the test fails by it.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// The severity's name in reports.
pub(crate) fn severity_name(severity: Severity) -> &'static str {
    match severity {
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}

/// The severity of that name in reports; `None` if there is none.
pub(crate) fn severity_from_name(name: &str) -> Option<Severity> {
    [Severity::Warning, Severity::Error]
        .into_iter()
        .find(|&severity| severity_name(severity) == name)
}

/// The accesses to plain memory that look-alikes told of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PlainAccesses {
    /// How many there were, in all executions together.
    pub seen: u64,
    /// `true` if a monitor for data races heard of them. An access that is not watched may race, and what follows from
    /// the order in which two of them come is not explored.
    pub watched: bool,
}

/// How often replays of a schedule showed what it was recorded for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Replays {
    /// How many showed it.
    pub shown: u32,
    /// How many there were.
    pub all: u32,
}

impl Serialize for Finding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("kind", &self.kind.as_str())?;
        map.serialize_entry("severity", severity_name(self.severity))?;
        map.serialize_entry("monitor", &self.monitor)?;
        map.serialize_entry("message", &self.message)?;
        if let Some(suggestion) = &self.suggestion {
            map.serialize_entry("suggestion", suggestion)?;
        }
        map.serialize_entry("tasks", &self.tasks)?;
        map.serialize_entry("events", &self.events)?;
        map.serialize_entry("schedule", &self.schedule.token())?;
        map.serialize_entry("count", &self.count)?;
        if let Some(strategy) = &self.found_by {
            map.serialize_entry("found_by", strategy)?;
        }
        if let Some(replays) = &self.replays {
            map.serialize_entry("replays", replays)?;
        }
        if !self.places.is_empty() {
            map.serialize_entry("places", &self.places)?;
        }
        if !self.deeds.is_empty() {
            map.serialize_entry("deeds", &self.deeds)?;
        }
        match &self.detail {
            FindingDetail::Panic { panics } => {
                if let Some(place) = panics.first().and_then(|panic| panic.place.as_ref()) {
                    map.serialize_entry("place", place)?;
                }
            }
            FindingDetail::Blocked { waiting, .. } => map.serialize_entry("waiting", waiting)?,
            _ => {}
        }
        map.serialize_entry("detail", &self.detail)?;
        map.end()
    }
}

/// What an exploration came to.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    format: &'static str,
    pub(crate) program: String,
    /// The package and the target that the test is in, as far as they are known.
    #[serde(flatten)]
    pub(crate) binary: TestBinary,
    pub(crate) verdict: Verdict,
    /// `true` if the test was to panic, and did as it should: its errors are these panics.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) expected_panic: bool,
    pub(crate) coverage: Coverage,
    pub(crate) limits: Vec<Limit>,
    pub(crate) executions: u64,
    pub(crate) redundant: u64,
    pub(crate) blocked: u64,
    pub(crate) traces: Option<u64>,
    pub(crate) first_failure: Option<u64>,
    pub(crate) findings: Vec<Finding>,
    pub(crate) steps: u64,
    pub(crate) max_steps: u64,
    pub(crate) max_tasks: u32,
    pub(crate) context_switches: u64,
    #[serde(serialize_with = "seconds")]
    elapsed_seconds: Duration,
    pub(crate) strategy: String,
    pub(crate) reduction: &'static str,
    pub(crate) memory_model: &'static str,
    pub(crate) seed: u64,
    pub(crate) environment: Environment,
    /// The monitors that listened, by name.
    pub(crate) monitors: Vec<String>,
    pub(crate) plain_accesses: PlainAccesses,
    /// What became of the breakpoints that were armed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) breakpoints: Vec<BreakpointFigures>,
    /// The breakpoints that show findings again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) reproductions: Vec<Reproduction>,
    pub(crate) notes: Vec<String>,
    /// How far the search was, if it did not come to its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) estimate: Option<Estimate>,
    /// The iRoots that were exposed, where they were measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) iroots: Option<IRootCoverage>,
    /// Executions of the findings, event by event, if that was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) recordings: Vec<Recorded>,
}

fn seconds<S: Serializer>(elapsed: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(elapsed.as_secs_f64())
}

impl Report {
    /// A report of nothing yet.
    pub(crate) fn new(
        (program, binary): (String, TestBinary),
        environment: Environment,
        strategy: String,
        seed: u64,
    ) -> Report {
        Report {
            format: REPORT_FORMAT,
            program,
            binary,
            verdict: Verdict::Inconclusive,
            expected_panic: false,
            coverage: Coverage::stopped(),
            limits: Vec::new(),
            executions: 0,
            redundant: 0,
            blocked: 0,
            traces: None,
            first_failure: None,
            findings: Vec::new(),
            steps: 0,
            max_steps: 0,
            max_tasks: 0,
            context_switches: 0,
            elapsed_seconds: Duration::ZERO,
            strategy,
            reduction: "none",
            memory_model: "sc",
            seed,
            environment,
            monitors: Vec::new(),
            plain_accesses: PlainAccesses::default(),
            breakpoints: Vec::new(),
            reproductions: Vec::new(),
            notes: Vec::new(),
            estimate: None,
            iroots: None,
            recordings: Vec::new(),
        }
    }

    /// The exploration is over after `elapsed`, having covered this: settles the verdict.
    pub(crate) fn settle(&mut self, coverage: Coverage, complete_executions: u64, elapsed: Duration) {
        let diverged = |finding: &Finding| finding.kind == FindingKind::Divergence;
        self.coverage = match coverage {
            Coverage::Replayed { .. } if self.errors().any(diverged) => {
                Coverage::Replayed { as_recorded: false }
            }
            coverage => coverage,
        };
        self.elapsed_seconds = elapsed;
        let only_divergence = self.errors().all(diverged);
        let passes = self.errors().next().is_none();
        self.verdict = match (passes, only_divergence) {
            (true, _) if complete_executions == 0 => Verdict::Inconclusive,
            (true, _) => Verdict::Pass,
            (false, true) => Verdict::Inconclusive,
            (false, false) => Verdict::Fail,
        };
    }

    /// `true` if the test was to panic, and did as it should.
    pub fn expected_panic(&self) -> bool {
        self.expected_panic
    }

    /// The findings by which the test fails.
    pub(crate) fn errors(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.is_error())
    }

    /// The test, by name.
    pub fn program(&self) -> &str {
        &self.program
    }

    /// The package and the target that the test is in, as far as they are known.
    pub fn binary(&self) -> &TestBinary {
        &self.binary
    }

    /// The outcome in a word.
    pub fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// What a pass is worth.
    pub fn coverage(&self) -> &Coverage {
        &self.coverage
    }

    /// What was not explored: what the environment leaves out, and what was kept out of the search.
    ///
    /// ```
    /// # use intermezzo_explorer as intermezzo;
    /// use intermezzo::{Explorer, Limit};
    ///
    /// let report = Explorer::new().explore(|| {});
    /// assert!(report.limits().contains(&Limit::OneTask));
    /// ```
    pub fn limits(&self) -> &[Limit] {
        &self.limits
    }

    /// How often the test was run, to its end or not.
    pub fn executions(&self) -> u64 {
        self.executions
    }

    /// How many of the executions showed nothing that another did not show as well, and were run to no purpose.
    pub fn redundant(&self) -> u64 {
        self.redundant
    }

    /// How many executions came, after a round of a loop that waited in vain, to where nobody could do anything new:
    /// attempts that had to be made, and are no trace. Only with `spin_loops=assume` and a partial-order reduction.
    pub fn blocked(&self) -> u64 {
        self.blocked
    }

    /// How many different traces came to their end without a failure: executions counted up to the order of
    /// steps that commute. `None` if they were too many to be told apart, or if several workers stopped at a finding in a
    /// search that went on from a checkpoint, or with a partial-order reduction.
    pub fn traces(&self) -> Option<u64> {
        self.traces
    }

    /// The search, with its parameters.
    pub fn strategy(&self) -> &str {
        &self.strategy
    }

    /// The reduction that was at work: `none` if every schedule was run.
    pub fn reduction(&self) -> &str {
        self.reduction
    }

    /// The number, from 1, of the execution in which an error was found first.
    pub fn first_failure(&self) -> Option<u64> {
        self.first_failure
    }

    /// What was found: first errors, then warnings, each first found first. The same thing found again is counted, not
    /// listed.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Visible operations in all executions together.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Most visible operations in one execution.
    pub fn max_steps(&self) -> u64 {
        self.max_steps
    }

    /// Most tasks in one execution.
    pub fn max_tasks(&self) -> u32 {
        self.max_tasks
    }

    /// Changes of task in all executions together.
    pub fn context_switches(&self) -> u64 {
        self.context_switches
    }

    /// How long it took.
    pub fn elapsed(&self) -> Duration {
        self.elapsed_seconds
    }

    /// How far the search was, as far as can be told; `None` if it came to its end.
    pub fn estimate(&self) -> Option<&Estimate> {
        self.estimate.as_ref()
    }

    /// The iRoots that the executions exposed; `None` if they were not measured.
    pub fn iroots(&self) -> Option<&IRootCoverage> {
        self.iroots.as_ref()
    }

    /// The names of the monitors that listened, in the order in which they were called.
    pub fn monitors(&self) -> &[String] {
        &self.monitors
    }

    /// The accesses to plain memory: to cells, and by `intermezzo::ptr`.
    pub fn plain_accesses(&self) -> PlainAccesses {
        self.plain_accesses
    }

    /// What became of the breakpoints that were armed, in the order in which they were given.
    pub fn breakpoints(&self) -> &[BreakpointFigures] {
        &self.breakpoints
    }

    /// The breakpoints that show findings again without the tool, for each for which one was looked for.
    pub fn reproductions(&self) -> &[Reproduction] {
        &self.reproductions
    }

    /// The findings' executions, event by event, if [`Explorer::record`](crate::Explorer::record) asked for them.
    pub fn recordings(&self) -> &[Recorded] {
        &self.recordings
    }

    /// What else a reader should know.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Writes the report into a directory, in its JSON form, in a file of its program's name, over none that is there.
    /// It is missing there if it cannot be written, which is for the reader of the directory to notice.
    pub fn write_into(&self, directory: &Path) {
        write_beside(directory, &self.program, &self.to_json());
    }

    /// The report as one JSON object, ended by a line break.
    pub fn to_json(&self) -> String {
        let mut text =
            serde_json::to_string_pretty(self).expect("a report has no map with other keys than text");
        text.push('\n');
        text
    }
}
