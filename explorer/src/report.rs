//! The result of an exploration, as a value with a text form and a JSON form.

#[cfg(test)]
mod bare;
mod breakpoints;
mod expected;
mod finding_detail;
mod found_by;
mod growth;
#[cfg(feature = "files")]
mod json;
mod limits;
pub mod lines;
mod listed;
mod more_actions;
mod more_yields;
pub mod names;
mod orderings;
pub(crate) mod recording;
mod share;
pub mod source;
mod stale;
mod text;
mod turning;
mod weak_memory;

pub use crate::files::write_beside;
pub use crate::settings::Verbosity;
pub use breakpoints::{Reproduction, SuggestedBreakpoint, SuggestedPlace};
pub use intermezzo_engine::described::{BreakpointFigures, Effect, FindingDeed, FindingEvent, NamedPlace};
pub use intermezzo_engine::strategy::{Coverage, RankBound};
pub use intermezzo_engine::words::count;
pub(crate) use limits::narrowed;
pub use limits::{Limit, covered, unexplored};
pub(crate) use more_actions::Action;
pub use share::Share;
#[doc(hidden)]
pub use share::united_traces;
pub(crate) use share::{NOT_LISTED, listed_traces};
pub(crate) use text::number;
pub use text::{INDENT, Part, ReplayedBy, TOKEN_MAX, Text, TextStyle, replay_command, with_places};

use intermezzo_engine::environment::Environment;
use intermezzo_engine::memory_model::ExecutionGraph;
use intermezzo_engine::runtime::Layout;
use intermezzo_engine::schedule::{Schedule, TestBinary};
use intermezzo_engine::serial::Serialize;
use intermezzo_sdk::{FindingKind, Severity};
use intermezzo_search::classic::maple::IRootCoverage;
use intermezzo_search::estimate::Estimate;
use recording::Recorded;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

pub use expected::{Expected, Figure};
pub use finding_detail::{
    Awaited, EndlessCause, FindingDetail, HangState, LoopStep, TaskLoop, TaskPanic, WaitingTask,
};
pub use found_by::FoundBy;
pub(crate) use found_by::{severity_from_name, severity_name};
pub use growth::Growth;
pub use names::VarNames;
pub use orderings::{OrderingAdvice, StrongerOrdering};
pub use turning::{Reversal, TurningPoint};
pub use weak_memory::WeakMemory;

/// The format of a report's JSON form.
pub const REPORT_FORMAT: &str = "intermezzo-report/1";

/// The outcome in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Nothing was found in the executions that were covered, except perhaps warnings.
    Pass,
    /// An error was found.
    Fail,
    /// Neither: no execution ended by itself, or the test did not do the same thing twice.
    Inconclusive,
}

impl Verdict {
    /// Returns `true` if nothing was found in the executions that were covered.
    pub fn is_pass(self) -> bool {
        self == Verdict::Pass
    }

    /// Returns `true` if an error was found.
    pub fn is_fail(self) -> bool {
        self == Verdict::Fail
    }
}

/// A failure or a warning, with the schedule that shows it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Its kind.
    pub kind: FindingKind,
    /// The severity: an error, or a warning that does not change the verdict.
    pub severity: Severity,
    /// Its origin: a monitor, or the engine.
    pub monitor: FoundBy,
    /// The failure in words.
    pub message: String,
    /// The failure as data.
    pub detail: FindingDetail,
    /// Advice on how to fix it, in words.
    pub suggestion: Option<String>,
    /// The names of the tasks involved.
    pub tasks: Vec<String>,
    /// The events of the execution, in order.
    pub events: Vec<FindingEvent>,
    /// The schedule that reproduces it.
    pub schedule: Schedule,
    /// The number of executions of this exploration in which it was found.
    pub count: u64,
    /// The strategy that drew the execution that showed it first, if several strategies share the executions.
    pub found_by: Option<String>,
    /// The number of replays that showed it, if a replay of its schedule did not.
    pub replays: Option<Replays>,
    /// The places that it names at which a breakpoint can be set: the accesses of a race, or the places where the tasks
    /// of a deadlock wait for locks.
    pub places: Vec<NamedPlace>,
    /// The actions it is about besides events: the accesses of a data race.
    pub deeds: Vec<FindingDeed>,
    /// The names of its variables, by their identities: `tail` for `atomic 0.1`. The test gave them by `intermezzo::name`,
    /// or the source has them. A variable is left out if the source has none, or was not found.
    pub names: VarNames,
    /// The functions that its tasks run, by the tasks' names: `producer` for `task 1`. Tasks whose threads have names are
    /// left out, and those whose functions the source does not show.
    pub functions: BTreeMap<String, String>,
    /// The places of its variables in memory, from which elements and objects are numbered.
    pub(crate) layout: Layout,
    /// The operations on atomics with the stores that they read, under a memory model.
    pub(crate) graph: Option<Arc<ExecutionGraph>>,
}

impl Finding {
    /// `true` if the other finding says the same. For a divergence the message is ignored: how an execution departed is
    /// chance, and the first one is as good as all.
    pub(crate) fn says(&self, other: &Finding) -> bool {
        (&self.kind, self.severity) == (&other.kind, other.severity)
            && (self.message == other.message || self.kind == FindingKind::Divergence)
    }

    /// Returns the message line by line. The first line says what happened; each other line is a part of it.
    /// Variables have the names that the source gives them.
    pub fn lines(&self) -> Vec<String> {
        self.detail.named(&self.names).lines()
    }

    /// Returns the name that the source gives a variable, or else its identity.
    ///
    /// ```
    /// # use intermezzo_explorer as intermezzo;
    /// use intermezzo::{Explorer, sync::atomic::{AtomicUsize, Ordering::SeqCst}};
    ///
    /// let report = Explorer::new().explore(|| {
    ///     let tail = AtomicUsize::new(0);
    ///     assert_eq!(tail.load(SeqCst), 1);
    /// });
    /// let finding = &report.findings()[0];
    /// for event in &finding.events {
    ///     println!("{} {} {}", event.task, event.op, finding.name_of(&event.var));
    /// }
    /// // A variable without a name, or that does not belong to the finding, is shown by its identity.
    /// assert_eq!(finding.name_of("atomic 7.7"), "atomic 7.7");
    /// ```
    pub fn name_of<'a>(&'a self, var: &'a str) -> &'a str {
        self.names.get(var).map_or(var, String::as_str)
    }

    /// Replaces the message with text that has no structured detail.
    pub fn say(&mut self, text: String) {
        self.detail = FindingDetail::Message { text: text.clone() };
        self.message = text;
    }

    /// `true` if it makes the test fail.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// The accesses to plain memory that look-alikes reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PlainAccesses {
    /// The number of accesses, in all executions together.
    pub seen: u64,
    /// `true` if a monitor for data races received them. An access that is not watched may race, and the consequences
    /// of the order of two accesses are not explored.
    pub watched: bool,
}

/// The number of replays of a schedule that showed what it was recorded for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Replays {
    /// The number of replays that showed it.
    pub shown: u32,
    /// The number of all replays.
    pub all: u32,
}

/// The result of an exploration.
///
/// ```
/// # use intermezzo_explorer as intermezzo;
/// use intermezzo::Explorer;
///
/// let report = Explorer::new().explore(|| _ = intermezzo::choose(5));
/// assert_eq!(report.executions(), 5);
/// println!("{report}");
/// ```
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    format: &'static str,
    pub(crate) program: String,
    /// The package and the target that contain the test, as far as they are known.
    #[serde(flatten)]
    pub(crate) binary: TestBinary,
    /// The arguments that a replay by the command line needs besides the token, each as a shell takes it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) replay_with: Vec<String>,
    pub(crate) verdict: Verdict,
    /// `true` if an execution reached its end.
    #[serde(skip)]
    pub(crate) any_complete: bool,
    /// `true` if an execution had shown a failure before it was cut off.
    #[serde(skip)]
    pub(crate) cut_off_failed: bool,
    /// `true` if the test declares a finding, and showed it: its errors are these findings.
    #[serde(rename = "expected_finding", skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_expected: bool,
    pub(crate) coverage: Coverage,
    pub(crate) limits: Vec<Limit>,
    /// The executions under a memory model that followed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) weak_memory: Option<Box<WeakMemory>>,
    pub(crate) executions: u64,
    /// The executions of the searches that this one replaced.
    #[serde(skip_serializing_if = "more_yields::is_none")]
    pub(crate) executions_before: u64,
    pub(crate) redundant: u64,
    pub(crate) blocked: u64,
    /// The number of failures that the user's function settled.
    #[serde(skip)]
    pub(crate) settled: u64,
    /// The kind of the first finding that was no error in this search, and is not reported.
    #[serde(skip)]
    pub(crate) passed_over: Option<FindingKind>,
    pub(crate) traces: Option<u64>,
    pub(crate) first_failure: Option<u64>,
    pub(crate) findings: Vec<Finding>,
    pub(crate) steps: u64,
    pub(crate) max_steps: u64,
    pub(crate) max_tasks: u32,
    pub(crate) context_switches: u64,
    #[serde(serialize_with = "json::seconds")]
    elapsed_seconds: Duration,
    /// The part of that time that was spent in earlier processes.
    #[serde(skip)]
    pub(crate) earlier: Duration,
    pub(crate) strategy: String,
    pub(crate) reduction: &'static str,
    pub(crate) memory_model: &'static str,
    pub(crate) seed: u64,
    pub(crate) environment: Environment,
    /// The names of the monitors.
    pub(crate) monitors: Vec<String>,
    pub(crate) plain_accesses: PlainAccesses,
    /// The figures of the armed breakpoints.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) breakpoints: Vec<BreakpointFigures>,
    /// The breakpoints that reproduce findings.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) reproductions: Vec<Reproduction>,
    /// The turning points of findings' executions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) turning_points: Vec<TurningPoint>,
    /// The orderings that fix findings.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) orderings: Vec<OrderingAdvice>,
    pub(crate) notes: Vec<String>,
    /// Those notes that say what executions may have missed.
    #[serde(skip)]
    pub(crate) cautions: Vec<String>,
    /// Those notes that only this search can have: about earlier processes, and files. They stay if another search's report
    /// takes this one's place.
    #[serde(skip)]
    pub(crate) lasting: Vec<String>,
    /// Those notes that say how strategies took turns, and what their samples find. With an error, only a verbose text has
    /// them.
    #[serde(skip)]
    pub(crate) on_samples: Vec<String>,
    /// The progress of the search, if it did not come to its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) estimate: Option<Estimate>,
    /// The iRoots that were exposed, if they were measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) iroots: Option<IRootCoverage>,
    /// The share of the search that was explored; absent for a whole search.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) share: Option<Box<Share>>,
    /// The executions of the findings, event by event, if recordings were requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) recordings: Vec<Recorded>,
}

impl Report {
    /// Makes an empty report.
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
            replay_with: Vec::new(),
            verdict: Verdict::Inconclusive,
            cut_off_failed: false,
            any_complete: false,
            is_expected: false,
            coverage: Coverage::stopped(),
            limits: Vec::new(),
            weak_memory: None,
            executions: 0,
            executions_before: 0,
            redundant: 0,
            blocked: 0,
            settled: 0,
            passed_over: None,
            traces: None,
            first_failure: None,
            findings: Vec::new(),
            steps: 0,
            max_steps: 0,
            max_tasks: 0,
            context_switches: 0,
            elapsed_seconds: Duration::ZERO,
            earlier: Duration::ZERO,
            strategy,
            reduction: "none",
            memory_model: environment.memory_model(),
            seed,
            environment,
            monitors: Vec::new(),
            plain_accesses: PlainAccesses::default(),
            breakpoints: Vec::new(),
            reproductions: Vec::new(),
            turning_points: Vec::new(),
            orderings: Vec::new(),
            notes: Vec::new(),
            cautions: Vec::new(),
            lasting: Vec::new(),
            on_samples: Vec::new(),
            estimate: None,
            iroots: None,
            share: None,
            recordings: Vec::new(),
        }
    }

    /// Settles the verdict of an exploration that ended after `elapsed` with this coverage.
    pub(crate) fn settle(&mut self, coverage: Coverage, complete_executions: u64, elapsed: Duration) {
        let diverged = |finding: &Finding| finding.kind == FindingKind::Divergence;
        self.coverage = match coverage {
            Coverage::Replayed { .. } if self.errors().any(diverged) => {
                Coverage::Replayed { as_recorded: false }
            }
            coverage => coverage,
        };
        self.elapsed_seconds = elapsed;
        self.any_complete = complete_executions > 0;
        // Code that was not written for intermezzo may wait for what is not controlled, or simply go on for long.
        let is_unmodified = self.binary.is_unmodified();
        let undecided = |finding: &Finding| match finding.kind {
            FindingKind::Divergence => true,
            FindingKind::Hang | FindingKind::StepLimit => is_unmodified,
            // A thread that is not controlled may yet release the tasks.
            FindingKind::Deadlock | FindingKind::Livelock => finding.detail.may_be_released(),
            _ => false,
        };
        let only_undecided = self.errors().all(undecided);
        let passes = self.errors().next().is_none();
        self.verdict = match (passes, only_undecided) {
            (true, _) if !self.any_complete => Verdict::Inconclusive,
            (true, _) => Verdict::Pass,
            (false, true) => Verdict::Inconclusive,
            (false, false) => Verdict::Fail,
        };
    }

    /// Gives the variables of all findings the names that the source has for them.
    pub(crate) fn name_variables(&mut self, sources: &source::Search) {
        let mut files = names::SourceFiles::new(sources.clone());
        for finding in &mut self.findings {
            finding.names = names::of(finding, &mut files);
            finding.functions = names::functions(finding, &mut files);
        }
        if let Some(iroots) = &mut self.iroots {
            iroots.name_variables(|site| names::at_place(site, &mut files));
        }
        for Reproduction { finding, breakpoint } in &mut self.reproductions {
            let (Ok(breakpoint), Some(finding)) = (breakpoint, self.findings.get(*finding)) else {
                continue;
            };
            for place in &mut breakpoint.places {
                place.name_objects(finding, &mut files);
            }
        }
    }

    /// Gives the variables of all recordings the names that the source has for them. The names of a failing execution are
    /// those of its finding.
    pub(crate) fn name_recorded(&mut self, sources: &source::Search) {
        let mut files = names::SourceFiles::new(sources.clone());
        for recorded in &mut self.recordings {
            let names = self.findings.get(recorded.finding).map(|finding| &finding.names);
            for var in recorded
                .execution
                .iter_mut()
                .flat_map(|recording| &mut recording.vars)
            {
                let name = names.and_then(|names| names.get(&var.name)).cloned();
                var.source_name = name.or(var.source_name.take());
            }
            let both = recorded.execution.iter_mut().chain(&mut recorded.nearest_pass);
            both.for_each(|recording| names::of_recorded(recording, &mut files));
            if let Some(passing) = &mut recorded.nearest_pass {
                names::name_recording(passing, &mut files);
            }
        }
    }

    /// Returns `true` if the test declares a finding and showed it, and no other error was found. It passes unless a figure
    /// that it declares is another one.
    pub fn has_expected_finding(&self) -> bool {
        self.is_expected
    }

    /// Returns the findings that make the test fail.
    pub(crate) fn errors(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.is_error())
    }

    /// Returns the share of the search that was explored; `None` for a whole search.
    pub fn share(&self) -> Option<&Share> {
        self.share.as_deref()
    }

    /// Returns the name of the test.
    pub fn program(&self) -> &str {
        &self.program
    }

    /// Returns the package and the target that contain the test, as far as they are known.
    pub fn binary(&self) -> &TestBinary {
        &self.binary
    }

    /// Returns the outcome in a word.
    ///
    /// ```
    /// # use intermezzo_explorer as intermezzo;
    /// use intermezzo::Explorer;
    ///
    /// assert!(Explorer::new().explore(|| {}).verdict().is_pass());
    /// assert!(Explorer::new().explore(|| panic!("no")).verdict().is_fail());
    /// ```
    pub fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// Returns the coverage of the exploration, which says how much a pass means.
    ///
    /// ```
    /// # use intermezzo_explorer as intermezzo;
    /// use intermezzo::{Coverage, Explorer};
    ///
    /// let explored = |explorer: Explorer| explorer.explore(|| _ = intermezzo::choose(9));
    /// assert_eq!(explored(Explorer::new()).coverage(), &Coverage::Exhaustive);
    /// assert!(matches!(explored(Explorer::new().executions(3)).coverage(), Coverage::Bounded { .. }));
    /// ```
    pub fn coverage(&self) -> &Coverage {
        &self.coverage
    }

    /// Returns what was not explored: behaviours that the environment leaves out, and executions that were kept out of
    /// the search.
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

    /// Returns the environment of the executions.
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// Returns the number of executions, complete or not.
    pub fn executions(&self) -> u64 {
        self.executions
    }

    /// Returns the number of redundant executions: those that showed nothing that another did not show as well.
    pub fn redundant(&self) -> u64 {
        self.redundant
    }

    /// Returns the number of blocked executions: after a failed round of a loop no task could do anything new. They
    /// could not be avoided, and are no traces. They exist only with `spin_loops=assume` and a partial-order reduction.
    pub fn blocked(&self) -> u64 {
        self.blocked
    }

    /// Returns the number of different traces of the executions that ended without a failure.
    ///
    /// `None` if there were too many to distinguish, or if several workers stopped at a finding in a search that continued
    /// from a checkpoint.
    pub fn traces(&self) -> Option<u64> {
        self.traces
    }

    /// Returns the name of the strategy, with its parameters.
    pub fn strategy(&self) -> &str {
        &self.strategy
    }

    /// Returns the name of the reduction: `none` if every schedule was run.
    pub fn reduction(&self) -> &str {
        self.reduction
    }

    /// Returns the number, from 1, of the first execution in which an error was found.
    pub fn first_failure(&self) -> Option<u64> {
        self.first_failure
    }

    /// Returns the findings: first errors, then warnings, each in the order in which they were found. A finding that
    /// occurs again is counted, not listed.
    ///
    /// ```
    /// # use intermezzo_explorer as intermezzo;
    /// use intermezzo::Explorer;
    ///
    /// let report = Explorer::new().explore(|| panic!("the queue is empty"));
    /// let finding = &report.findings()[0];
    /// assert!(finding.message.contains("the queue is empty"));
    /// println!("replay it by {}", finding.schedule.token());
    /// ```
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Returns the number of visible operations in all executions together.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Returns the largest number of visible operations in one execution.
    pub fn max_steps(&self) -> u64 {
        self.max_steps
    }

    /// Returns the largest number of tasks in one execution.
    pub fn max_tasks(&self) -> u32 {
        self.max_tasks
    }

    /// Returns the number of context switches in all executions together.
    pub fn context_switches(&self) -> u64 {
        self.context_switches
    }

    /// Returns the duration of the exploration.
    pub fn elapsed(&self) -> Duration {
        self.elapsed_seconds
    }

    /// Returns the duration in this process.
    pub(crate) fn elapsed_here(&self) -> Duration {
        self.elapsed_seconds.saturating_sub(self.earlier)
    }

    /// Returns an estimate of the search's progress, if it can be estimated; `None` if the search came to its end.
    pub fn estimate(&self) -> Option<&Estimate> {
        self.estimate.as_ref()
    }

    /// Returns the iRoots that the executions exposed; `None` if they were not measured.
    pub fn iroots(&self) -> Option<&IRootCoverage> {
        self.iroots.as_ref()
    }

    /// Returns the names of the monitors, in the order in which they were called.
    pub fn monitors(&self) -> &[String] {
        &self.monitors
    }

    /// Returns the accesses to plain memory: to cells, and by `intermezzo::ptr`.
    pub fn plain_accesses(&self) -> PlainAccesses {
        self.plain_accesses
    }

    /// Returns the figures of the armed breakpoints, in the order in which they were given.
    pub fn breakpoints(&self) -> &[BreakpointFigures] {
        &self.breakpoints
    }

    /// Returns the breakpoints that reproduce findings without the tool, with one entry for each finding for which one
    /// was looked for.
    pub fn reproductions(&self) -> &[Reproduction] {
        &self.reproductions
    }

    /// Returns the turning points of findings, as far as they were found.
    pub fn turning_points(&self) -> &[TurningPoint] {
        &self.turning_points
    }

    /// Returns the orderings that fix findings, where advice on that is given: see `stale_reads` of the environment.
    pub fn orderings(&self) -> &[OrderingAdvice] {
        &self.orderings
    }

    /// Returns the executions of the findings, event by event, if [`Explorer::record`](crate::Explorer::record)
    /// requested them.
    pub fn recordings(&self) -> &[Recorded] {
        &self.recordings
    }

    /// Returns further notes for the reader.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}
