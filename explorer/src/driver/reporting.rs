//! What came of an exploration, put into its report.

use super::catalogue::FINDINGS_MAX;
use super::checkpoint::Ending;
use super::common::{Books, End};
use super::ledger::Tally;
use super::shift::{Done, GivenUp};
use crate::estimate::Estimate;
use crate::judge;
use crate::minimise::Minimiser;
use crate::report::{Coverage, Finding, Report};
use crate::runtime::{Reported, Worker};
use crate::schedule::Premises;
use crate::settings::Settings;
use crate::trace::Fingerprints;
use std::time::Duration;

/// What a report notes where fairness kept schedules out.
const UNFAIR_LEFT_OUT: &str = "fair scheduling: schedules are left out in which a task that yields again and again \
                               keeps others from running for ever";

/// What a report notes where tasks were parked.
const PARKED: &str = "awaits: a task whose loop only waits goes on when a variable that it read changes; only variables, \
                      registers and the task's own stack are compared, so what such a loop does because of other \
                      memory (a count in the heap, in a thread-local, in a frame of another task) may be missed: \
                      `awaits=false` plays such loops round by round";

/// What a report notes where another reduction took over.
const WEAKER_REDUCTION: &str = "reduction: the test uses what the one asked for does not suit (shared locks, channels, \
                                waits that may end unasked, looks whether a task has ended, parked tasks, variables that \
                                come into use or tasks that are created in an order that depends on the schedule, \
                                failures after which it went on; with several workers also values to choose): the search \
                                began again with a weaker one";

/// What a report notes where a parked task went on because of something that is not compared.
const UNSEEN_CHANGE: &str = "awaits: a loop that seemed to wait ended because of memory that is not compared; what it does \
                             before nobody else can go on is missed: set `awaits=false`";

/// What a report notes where the process may be damaged.
const AFTER_A_CRASH: &str = "the exploration ended with a crash: the process may be damaged";

/// What came of an exploration.
pub(super) struct Outcome<'a> {
    pub(super) settings: &'a Settings,
    /// Whether the search is one that the settings ask for.
    pub(super) own: bool,
    pub(super) ended: Option<End>,
    /// How long the search took.
    pub(super) elapsed: Duration,
    pub(super) books: Books,
    /// What there is to say of each worker.
    pub(super) done: Vec<Done>,
    /// The traces there were, if they are those of what the report is about.
    pub(super) traces: Option<Fingerprints<()>>,
    /// Whether a finding ended it at once.
    pub(super) alone: bool,
}

impl Outcome<'_> {
    /// Puts it into the report. `worker` is the first of those who searched, whose monitors have not been told yet;
    /// others said `last_words`. Findings are made small by executions of `test`, if it is given.
    pub(super) fn settle(
        self,
        report: &mut Report,
        worker: &mut Worker,
        mut last_words: Vec<Reported>,
        test: Option<&dyn Fn()>,
    ) {
        let Outcome {
            settings,
            own,
            ended,
            elapsed,
            books,
            done,
            traces,
            alone,
        } = self;
        // What several workers ran beyond the first finding is no part of what was looked for: a single one would not have.
        let last = match ended {
            Some(End::ForGood(Ending::Finding)) if !alone => books.catalogue.first().cloned(),
            _ => None,
        };
        let tally = books.ledger.total(last.as_ref());
        report.executions = tally.executions;
        report.steps = tally.steps;
        report.max_steps = tally.max_steps;
        report.max_tasks = tally.max_tasks;
        report.context_switches = tally.context_switches;
        report.first_failure = tally.first_failure;
        report.redundant = books.redundant();
        report.breakpoints = tally.breakpoints.clone();
        report.blocked = worker.strategy().blocked();
        report.reduction = worker.strategy().reduction();
        report.estimate = match (ended, done[0].share) {
            (Some(_), Some(share)) => Some(Estimate::new(share, report.executions, elapsed)),
            _ => None,
        };
        note_tally(report, &tally, done.iter().any(|done| done.weakened));
        let given_up = done[0].given_up;
        if worker.known_loops() > 0 {
            report.note(&assumed_note(worker.known_loops(), given_up));
        }
        if worker.learned_points() > 0 {
            report.note(&races_note(worker.learned_points(), given_up));
        }
        let mut later_notes: Vec<String> = tally.scoping.notes(settings);
        report.strategy = worker.strategy().name();
        later_notes.extend(shares_note(&worker.strategy().shares(tally.executions)));
        later_notes.extend(worker.strategy().notes());
        later_notes.extend(books.unfitted());
        later_notes.extend(books.places);
        later_notes.extend(worker.quiet_note());
        let coverage = covered(
            worker.coverage(ended.is_none()),
            &tally,
            ended.map(|end| end.reason(settings, given_up.executions + tally.executions)),
            own,
        );
        let coverage = tally.departures.covered(coverage, report.reduction != "none");

        let (findings, more) = books.catalogue.into_findings();
        report.findings = findings;
        if more {
            report.note(&too_many());
        }
        if let Some(End::ForGood(Ending::Crash | Ending::EarlyCrash)) = ended {
            report.note(AFTER_A_CRASH);
        }
        if settings.warm_up > 0 {
            report.note(&format!(
                "the test was run {} {} before the search, not judged: what can go wrong only the first time was not seen",
                settings.warm_up,
                if settings.warm_up == 1 { "time" } else { "times" }
            ));
        }
        let untried = done.iter().any(|done| done.untried);
        if let Some(note) = tally.departures.note(untried) {
            report.note(&note);
        }
        let crashed = matches!(ended, Some(End::ForGood(Ending::Crash | Ending::EarlyCrash)));
        let program = report.program.clone();
        let schedule = |choices, premises| settings.schedule(&program, choices, premises);
        if let Some(test) = test
            && !crashed
            && !worker.is_damaged()
        {
            let in_order = worker.strategy().is_in_order() && tally.departures.none();
            Minimiser::new(worker, settings, in_order).settle(report, test, &schedule);
        }
        last_words.splice(0..0, worker.shut_down());
        report.take_findings(judge::reported(
            last_words,
            &[],
            &schedule(Vec::new(), Premises::default()),
        ));
        match traces {
            Some(traces) if traces.overflowed() => {
                report.note("traces were too many to be told apart in `cache_bytes`: they are not counted");
            }
            Some(traces) => report.traces = Some(traces.count() as u64),
            None => {}
        }
        for note in later_notes.into_iter().chain(books.checkpoint_problem) {
            report.note(&note);
        }
        report.settle(coverage, tally.complete, elapsed);
    }
}

/// What was covered: what the search says, and why there is not more.
fn covered(coverage: Coverage, tally: &Tally, ended: Option<String>, own: bool) -> Coverage {
    let mut coverage = tally.scoping.limit(coverage);
    match &mut coverage {
        // Each hand knows of its own.
        Coverage::Sampled { executions } if own => *executions = tally.executions,
        Coverage::Bounded { reason, .. } if ended.is_some() => *reason = ended,
        _ => {}
    }
    coverage
}

/// What a report notes of how strategies shared the executions.
fn shares_note(shares: &[(String, u64)]) -> Option<String> {
    let share = |(name, executions): &(String, u64)| format!("{name} {executions}");
    let shares: Vec<String> = shares.iter().map(share).collect();
    (!shares.is_empty()).then(|| format!("executions by strategy: {}", shares.join(", ")))
}

fn too_many() -> String {
    format!("more than {FINDINGS_MAX} different findings: the others are left out")
}

/// What a report notes where so many loops were assumed to wait.
fn assumed_note(loops: usize, given_up: GivenUp) -> String {
    let loops = match loops {
        1 => "one loop is".to_owned(),
        loops => format!("{loops} loops are"),
    };
    let GivenUp { times, executions } = given_up;
    let restarts = match times {
        0 => String::new(),
        1 => format!("; the search started anew once, after {executions} executions that are not counted"),
        times => format!(
            "; the search started anew {times} times, after {executions} executions that are not counted"
        ),
    };
    format!(
        "assume_awaits: {loops} assumed to only wait from the first round on, for a later round was seen to{restarts}; what \
         such a loop does before its state repeats may be missed"
    )
}

/// What a report notes where races made accesses at so many places schedule points.
fn races_note(places: usize, given_up: GivenUp) -> String {
    let places = match places {
        1 => "1 place in the source is a schedule point".to_owned(),
        places => format!("{places} places in the source are schedule points"),
    };
    let restarts = match given_up.times {
        0 => "the search ended before it started anew".to_owned(),
        _ => format!(
            "the search started anew, after {} executions that are not counted",
            given_up.executions
        ),
    };
    format!("races: {places}, for the accesses there race; {restarts}")
}

/// What a reader should know of the executions.
fn note_tally(report: &mut Report, tally: &Tally, weakened: bool) {
    let notes = [
        (tally.unfair_left_out, UNFAIR_LEFT_OUT),
        (tally.parked, PARKED),
        (weakened, WEAKER_REDUCTION),
        (tally.unseen_change, UNSEEN_CHANGE),
    ];
    for (_, note) in notes.into_iter().filter(|(noted, _)| *noted) {
        report.note(note);
    }
    if tally.failed_iterations > 0 {
        report.note(&format!(
            "awaits: in {} executions a loop came round in vain while what it read was written: each shows what a \
             shorter one shows",
            tally.failed_iterations
        ));
    }
}

impl Report {
    /// Adds what was found after the search; what is known already is counted.
    pub(crate) fn take_findings(&mut self, found: Vec<Finding>) {
        if found.iter().any(Finding::is_error) {
            self.first_failure.get_or_insert(self.executions);
        }
        for finding in found {
            match self.findings.iter().position(|known| known.says(&finding)) {
                Some(known) => self.findings[known].count += 1,
                None if self.findings.len() < FINDINGS_MAX => self.findings.push(finding),
                None => self.note(&too_many()),
            }
        }
    }

    /// Adds a note, once.
    pub(crate) fn note(&mut self, note: &str) {
        if !self.notes.iter().any(|known| known == note) {
            self.notes.push(note.to_owned());
        }
    }
}
