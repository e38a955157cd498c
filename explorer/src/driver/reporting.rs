//! What came of an exploration, put into its report.

use super::catalogue::FINDINGS_MAX;
use super::checkpoint::Ending;
use super::common::{Books, End};
use super::ledger::Tally;
use super::shift::Done;
use crate::judge;
use crate::report::{Coverage, Report};
use crate::runtime::Reported;
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

/// What a report notes where wakeup trees were given up.
const NO_WAKEUP_TREES: &str = "reduction: wakeup trees miss traces where tasks are parked, so the search began again with \
                               `source-dpor` when the first one was";

/// What a report notes where a parked task went on because of something that is not compared.
const UNSEEN_CHANGE: &str = "awaits: a loop that seemed to wait ended because of memory that is not compared; what it does \
                             before nobody else can go on is missed: set `awaits=false`";

/// Counts the traces, unless more was run than the report is about.
pub(super) fn traces(report: &mut Report, traces: &Fingerprints<()>, countable: bool) {
    if traces.overflowed() {
        report.note("traces were too many to be told apart in `cache_bytes`: they are not counted");
    } else if countable {
        report.traces = Some(traces.count() as u64);
    }
}

/// Puts the rest of it into the report. `own` says whether the search is one that the settings ask for.
pub(super) fn settle(
    report: &mut Report,
    settings: &Settings,
    books: Books,
    ended: Option<End>,
    done: Vec<Done>,
    own: bool,
    elapsed: Duration,
) {
    // What several workers ran beyond the first finding is no part of what was looked for: a single one would not have.
    let last = match ended {
        Some(End::ForGood(Ending::Finding)) => books.catalogue.first().cloned(),
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
    report.reduction = done[0].strategy.reduction();
    let mut later_notes: Vec<String> = tally.scoping.notes(settings);
    later_notes.extend(done[0].strategy.notes());
    later_notes.extend(books.unfitted());
    later_notes.extend(done[0].quiet_note.clone());
    let mut coverage = if done[0].taken_back {
        Coverage::stopped()
    } else {
        done[0].strategy.coverage(ended.is_none())
    };
    note_tally(report, &tally, done.iter().any(|done| done.began_anew));

    let mut catalogue = books.catalogue;
    let last_words: Vec<Reported> = done.into_iter().flat_map(|done| done.last_words).collect();
    if !last_words.is_empty() {
        report.first_failure = report.first_failure.or(Some(report.executions));
        let schedule = settings.schedule(&report.program, Vec::new());
        catalogue.add_last(judge::reported(last_words, &[], &schedule));
    }
    let (findings, more) = catalogue.into_findings();
    report.findings = findings;
    if more {
        report.note(&format!(
            "more than {FINDINGS_MAX} different findings: the others are left out"
        ));
    }
    if ended == Some(End::ForGood(Ending::Crash)) {
        report.note("the exploration ended with a crash: the process may be damaged");
    }
    for note in later_notes.into_iter().chain(books.checkpoint_problem) {
        report.note(&note);
    }

    coverage = tally.scoping.limit(coverage);
    match &mut coverage {
        // Each hand knows of its own.
        Coverage::Sampled { executions } if own => *executions = report.executions,
        Coverage::Bounded { reason, .. } => {
            if let Some(end) = ended {
                *reason = Some(end.reason(settings, report.executions));
            }
        }
        _ => {}
    }
    report.settle(coverage, tally.complete, elapsed);
}

/// What a reader should know of the executions.
fn note_tally(report: &mut Report, tally: &Tally, began_anew: bool) {
    let notes = [
        (tally.unfair_left_out, UNFAIR_LEFT_OUT),
        (tally.parked, PARKED),
        (began_anew, NO_WAKEUP_TREES),
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
    /// Adds a note, once.
    pub(super) fn note(&mut self, note: &str) {
        if !self.notes.iter().any(|known| known == note) {
            self.notes.push(note.to_owned());
        }
    }
}
