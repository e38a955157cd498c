//! Enters the results of an exploration into its report.

use super::checkpoint::{Ending, Identity};
use super::finding_set::{FINDINGS_MAX, FindingSet};
use super::notes;
use super::shared::{End, Kind, Results};
use super::span_totals::Counts;
use super::worker_loop::{Done, GivenUp};
use super::{OnProgress, Progress};
use crate::classify;
use crate::minimise::{Deadline, Minimiser};
use crate::report::{
    Finding, Limit, NOT_LISTED, PlainAccesses, Report, Share, VarNames, Verdict, count, listed_traces,
    narrowed,
};
use crate::settings::{Reduction, Settings};
use intermezzo_engine::runtime::races::is_order_seen;
use intermezzo_engine::runtime::{Executor, Layout, ROUNDS_LEFT_OVER, Reported, is_laid_over_std};
use intermezzo_engine::schedule::Premises;
use intermezzo_engine::strategy::{Coverage, Partition};
use intermezzo_engine::trace::Fingerprints;
use intermezzo_sdk::FindingKind;
use intermezzo_search::estimate::Estimate;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

/// The note of a report whose executions had parked tasks.
const PARKED: &str = "spin_loops: a task whose loop only waits goes on when a variable that it read changes; only variables, \
                      registers and the task's own stack are compared, so what such a loop does because of other \
                      memory (a count in the heap, in a thread-local, in a frame of another task) may be missed: \
                      `spin_loops=run` runs such loops round by round";

/// The note of a report in which a parked task continued because of memory that is not compared.
const UNSEEN_CHANGE: &str = "spin_loops: a loop that seemed to wait ended because of memory that is not compared; what it does \
                             while other tasks can continue is missed: set `spin_loops=run`";

/// The note of a report in which tasks were unwound that would otherwise have been forgotten.
const UNWOUND: &str = "unfinished tasks of executions were unwound, because the memory that may be leaked for them was \
                       used up: code that was not written to unwind may misbehave then; `stack = \"forgotten=BYTES\"` allows \
                       more";

/// The note of a report of a share with more than a million traces.
const MANY_TRACES: &str = "traces: a report lists a million at most, so this share's are counted, and those of all shares \
                           together are not";

/// The note of a report whose process may be damaged.
const AFTER_A_CRASH: &str = "the exploration ended with a crash: the process may be damaged";

/// The note of a report in which a hanging task was ended.
const AFTER_A_HANG: &str =
    "the task that hung was ended where it was: what it held, such as a lock of std, stays held";

/// The results of an exploration.
pub(super) struct Outcome<'a> {
    pub(super) settings: &'a Settings,
    /// The origin of the search.
    pub(super) kind: Kind,
    pub(super) ended: Option<End>,
    /// The duration of the search.
    pub(super) elapsed: Duration,
    pub(super) books: Results,
    /// A summary of each worker.
    pub(super) done: Vec<Done>,
    /// The traces, if they belong to exactly the executions that the report counts.
    pub(super) traces: Option<Fingerprints<()>>,
    /// `true` if a finding ended the search at once.
    pub(super) alone: bool,
    pub(super) progress: Option<OnProgress>,
    /// The share of the search that was explored, and the identity of the search; `None` for a whole search.
    pub(super) identity: Option<(Partition, Identity)>,
    /// `true` if a part of the limits was reserved for an exploration that follows.
    pub(super) keeps_rest: bool,
}

/// The progress while findings are replayed and minimised, for the caller.
struct MinimisingProgress {
    call: Option<OnProgress>,
    /// The progress at the end of the search.
    last: Progress,
    began: Instant,
    executions: Cell<u64>,
}

impl MinimisingProgress {
    fn new(report: &Report, elapsed: Duration, progress: Option<OnProgress>) -> MinimisingProgress {
        MinimisingProgress {
            call: progress,
            last: Progress {
                executions: report.executions,
                findings: report.findings.len(),
                elapsed,
                estimate: report.estimate,
                minimising: Some(0),
            },
            began: Instant::now(),
            executions: Cell::new(0),
        }
    }

    /// Counts one more execution.
    fn ran(&self) {
        self.executions.set(self.executions.get() + 1);
        if let Some(call) = &self.call {
            let mut call = call.lock().unwrap_or_else(PoisonError::into_inner);
            call(&Progress {
                elapsed: self.last.elapsed + self.began.elapsed(),
                minimising: Some(self.executions.get()),
                ..self.last
            });
        }
    }
}

impl Outcome<'_> {
    /// Enters the results into the report. `worker` is the first worker's executor, whose monitors have not been shut
    /// down yet. `shutdown_reports` come from the monitors of the others. Findings are minimised by executions of
    /// `test`, if it is given.
    pub(super) fn settle(
        self,
        report: &mut Report,
        worker: &mut Executor,
        mut shutdown_reports: Vec<Reported>,
        test: Option<&dyn Fn()>,
    ) {
        let Outcome {
            settings,
            kind,
            ended,
            elapsed,
            books,
            done,
            traces,
            alone,
            progress,
            identity,
            keeps_rest,
        } = self;
        // Executions of several workers beyond the first finding do not count: a single worker would not have run them.
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
        let status = worker.status(tally.executions);
        report.blocked = status.blocked;
        report.reduction = match (kind, settings.reduction) {
            // Its search runs every schedule of the points that are left.
            (Kind::OfSettings, Reduction::OrderedAtomics) => "ordered-atomics",
            _ => status.reduction,
        };
        report.estimate = match (ended, done[0].share) {
            (Some(_), Some(share)) => Some(Estimate::new(share, report.executions, elapsed)),
            _ => None,
        };
        let weakened = done.iter().any(|done| done.weakened);
        report.settled = books.settled;
        report.note_settled(books.settled, "");
        report.passed_over.clone_from(&books.passed_over);
        let gave_way = books.gave_way.as_deref().filter(|_| weakened);
        note_tally(report, &tally, settings, gave_way);
        let given_up = done[0].given_up;
        if worker.known_loops() > 0 {
            report.note(&assumed_note(worker.known_loops(), given_up));
        }
        if worker.learned_points() > 0 {
            report.note(&races_note(worker.learned_points(), given_up));
        }
        let mut later_notes: Vec<String> = notes::of_scoping(tally.scoping, settings);
        report.strategy = status.name;
        let before = if weakened { tally.executions } else { 0 };
        let mut status_notes = status.notes;
        if let Some(shares) = shares_note(&status.draws, before) {
            status_notes.insert(0, shares);
            // Where several strategies take turns, the others say nothing.
            report.on_samples.clone_from(&status_notes);
        }
        later_notes.extend(status_notes);
        later_notes.extend(books.unfitted());
        later_notes.extend(books.places);
        later_notes.extend(worker.quiet_note());
        let counts = worker.percent_of_counts();
        if ended.is_some() && is_laid_over_std() && settings.environment.arc_counts && counts >= MANY_COUNTS {
            later_notes.push(format!(
                "{counts} % of the operations in the last execution are on reference counts; `arc_counts=0` in the `environment` \
                 leaves their order out, and explores more of the rest"
            ));
        }
        // Executions of other shares count for limits.
        let run = given_up.executions + tally.executions + tally.elsewhere;
        let mut coverage = covered(
            worker.coverage(ended.is_none()),
            &tally,
            ended.map(|end| end.reason(settings, run, &books.cut_off, keeps_rest)),
            kind,
        );
        report.plain_accesses.seen = tally.plain_accesses;
        report.limits = limits(&tally, settings, report.memory_model);
        report.limits.extend(limits_of_memory(report));
        if let Some(why) = unexplored_races(settings, kind, &books.catalogue) {
            later_notes.push(format!("races: {why}"));
            report.limits.push(Limit::Races);
        }
        for armed in tally.breakpoints.iter().filter(|armed| armed.visits == 0) {
            report.note(&format!(
                "breakpoint `{0}`: no task came to it, so it constrained nothing; arm a name or a place to which the test comes",
                armed.name
            ));
            coverage = coverage.because(&format!("no task came to the breakpoint `{}`", armed.name));
        }

        if settings.long_allowed && tally.complete < tally.executions {
            coverage = coverage.because("executions were stopped at the limit of steps");
        }

        if !books.touchers.is_empty() {
            let threads = books.touchers.into_iter().collect();
            // The first limit is the reason of the coverage.
            report.limits.insert(0, Limit::OtherThreads { threads });
        }

        let (findings, more) = books.catalogue.into_findings();
        report.findings = findings;
        if more {
            report.note(&too_many());
        }
        if let Some(End::ForGood(Ending::Crash | Ending::EarlyCrash)) = ended {
            report.note(AFTER_A_CRASH);
        }
        if let Some(End::ForGood(Ending::Hang)) = ended {
            report.note(AFTER_A_HANG);
        }
        if settings.warm_up > 0 {
            report.note(&format!(
                "the test was run {} {} before the search, not judged: what can go wrong only the first time was not seen",
                settings.warm_up,
                if settings.warm_up == 1 { "time" } else { "times" }
            ));
        }
        let untried = done.iter().any(|done| done.untried);
        if let Some(note) = tally.departures.note(untried, kind == Kind::Custom) {
            report.caution(&note);
        }
        let crashed = matches!(
            ended,
            Some(End::ForGood(Ending::Crash | Ending::EarlyCrash | Ending::Hang))
        );
        let (program, binary) = (report.program.clone(), report.binary.clone());
        let schedule = |choices, premises| settings.schedule((&program, &binary), choices, premises);
        if let Some(test) = test
            && !crashed
            && !(settings.as_found && settings.minimise == 0)
            && !worker.is_damaged()
        {
            // Another search may have made a finding before, in another order.
            let in_order = worker.strategy().needs().in_order && tally.departures.none() && !weakened;
            let deadline = Deadline::new(settings, elapsed);
            let minimising = MinimisingProgress::new(report, elapsed, progress);
            let minimiser = Minimiser::new(worker, settings, deadline, in_order);
            minimiser.settle(report, test, &schedule, &|| minimising.ran());
        }
        shutdown_reports.splice(0..0, worker.shut_down());
        report.take_findings(classify::reported(
            shutdown_reports,
            &[],
            (&VarNames::new(), &Layout::default(), &None),
            &schedule(Vec::new(), Premises::default()),
        ));
        let fingerprints = match (&identity, &traces) {
            (Some(_), Some(traces)) => listed_traces(traces).unwrap_or_else(|| {
                if !traces.overflowed() {
                    report.note(MANY_TRACES);
                }
                NOT_LISTED.to_owned()
            }),
            _ => String::new(),
        };
        match traces {
            Some(traces) if traces.overflowed() => {
                report.note(
                    "traces: there were too many to distinguish in the `cache_bytes` of `reduction`, so they are not counted",
                );
            }
            Some(traces) => report.traces = Some(traces.count() as u64),
            // Only the traces of counted executions that come before the finding.
            None => report.traces = tally.traces.different(),
        }
        let cut_off = books.cut_off.note();
        report.cautions.extend(cut_off.clone());
        later_notes.extend(cut_off);
        for note in later_notes {
            report.note(&note);
        }
        if let Some(problem) = books.checkpoint_problem {
            report.note_for_good(&problem);
        }
        let coverage = match coverage {
            // For a few executions the limits say nothing.
            Coverage::Sampled { .. } | Coverage::Replayed { .. } => coverage,
            coverage => narrowed(coverage, &report.limits),
        };
        let mut complete = tally.complete;
        let coverage = match identity {
            None => coverage,
            Some((partition, identity)) => {
                if tally.executions == 0 && ended.is_none() {
                    // Of a small search not every share has a part. It has nothing to show.
                    report.note("no execution of this search falls to this share");
                    complete = 1;
                }
                let share = share(settings, partition, &identity, coverage, fingerprints);
                let share = Share {
                    ended: ended.is_none(),
                    elsewhere: tally.elsewhere,
                    ..share
                };
                let coverage = share.coverage();
                report.share = Some(Box::new(share));
                coverage
            }
        };
        // An interrupted exploration has not passed, whatever it had covered. Nor has one in which an execution showed a
        // failure before it was cut off.
        report.cut_off_failed = books.cut_off.has_shown();
        let undecided = ended == Some(End::Interrupted) || report.cut_off_failed;
        report.settle(coverage, complete, elapsed);
        if undecided && report.verdict.is_pass() {
            report.verdict = Verdict::Inconclusive;
        }
    }
}

/// Returns the text of a report about its share of the search.
fn share(
    settings: &Settings,
    share: Partition,
    identity: &Identity,
    covers: Coverage,
    traces: String,
) -> Share {
    let mut compared: BTreeMap<String, String> = identity.settings().iter().cloned().collect();
    if settings.strategy.is_sampler() {
        // The executions of all shares together.
        let executions = settings.executions.map_or("none".into(), |most| most.to_string());
        compared.insert("executions".into(), executions);
    }
    Share {
        share,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        code: identity.code(),
        settings: compared,
        ended: false,
        covers,
        elsewhere: 0,
        traces,
    }
}

/// Returns the reason why the consequences of racing accesses were not explored, if there is a data race and the search
/// continued after it.
fn unexplored_races(settings: &Settings, kind: Kind, catalogue: &FindingSet) -> Option<String> {
    if !settings.keep_going || !catalogue.has(&FindingKind::DataRace) {
        return None;
    }
    let why = match settings.may_preempt_at_races() {
        Ok(()) if kind == Kind::OfSettings => return None,
        Ok(()) => "the search would begin again, which a strategy of your own cannot do",
        Err(why) => why,
    };
    Some(format!(
        "what follows from the order of their accesses was not explored: {why}"
    ))
}

/// Returns the coverage that the search states, with the reason if it is not complete.
fn covered(coverage: Coverage, tally: &Counts, ended: Option<String>, kind: Kind) -> Coverage {
    let mut coverage = notes::limit(tally.scoping, coverage);
    match &mut coverage {
        // Each share of the search knows only its own executions.
        Coverage::Sampled { executions } if kind == Kind::OfSettings => *executions = tally.executions,
        Coverage::Bounded { reason, .. } if ended.is_some() => *reason = ended,
        _ => {}
    }
    coverage
}

/// Returns the limits of the search.
fn limits(tally: &Counts, settings: &Settings, memory_model: &str) -> Vec<Limit> {
    let environment = &settings.environment;
    let capped = tally.capped;
    // With other orderings than `SeqCst`, and with several tasks, memory may behave in other ways. In code that was not
    // written for intermezzo, orderings are not seen everywhere.
    let is_weaker = environment.has_memory_model() || !is_order_seen() || tally.may_be_weaker();
    let model = || memory_model.to_owned();
    let has_barriers = is_weaker && capped.barriers;
    let is_left_out = has_barriers && !environment.has_memory_model();
    let limits = [
        (tally.departures.departed > 0).then_some(Limit::Departures {
            executions: tally.departures.departed,
            lost: tally.departures.lost,
        }),
        tally.unseen_change.then_some(Limit::Awaits { seen: true }),
        tally.unfair_left_out.then_some(Limit::Fairness {
            every: settings.fair_yields.max(1),
        }),
        (tally.max_tasks == 1).then_some(Limit::OneTask),
        (tally.max_tasks > 1 && !tally.shares && tally.plain_accesses == 0).then_some(Limit::NothingShared),
        (is_weaker && !is_left_out).then(|| Limit::Memory { model: model() }),
        has_barriers.then(|| Limit::Barriers { model: model() }),
        capped.compiler_fences.then_some(Limit::CompilerFences),
        (capped.assembly && tally.max_tasks > 1).then_some(Limit::Assembly),
        capped.timeouts.then_some(Limit::Timeouts {
            most: environment.timeouts,
            beyond: 0,
        }),
        capped.spurious_wakeups.then_some(Limit::SpuriousWakeups {
            most: environment.spurious_wakeups,
        }),
        capped.weak_failures.then_some(Limit::WeakFailures {
            most: environment.weak_failures,
            beyond: 0,
        }),
        // It needs no saying that std's own never does this.
        (capped.try_lock_failures && environment.try_lock_failures > 0).then_some(Limit::TryLockFailures {
            most: environment.try_lock_failures,
        }),
        capped.address_reuse.then_some(Limit::AddressReuse {
            most: environment.address_reuse,
            beyond: 0,
        }),
        capped.stale_reads.then_some(Limit::StaleReads {
            most: environment.stale_reads,
        }),
        capped.notify_any.then_some(Limit::NotifyAny),
        capped.waiting_writers.then_some(Limit::WaitingWriters),
        capped.left_over.then_some(Limit::LeftOver {
            rounds: ROUNDS_LEFT_OVER,
        }),
        capped.payloads.then_some(Limit::Payloads),
        capped.symmetric.then_some(Limit::Symmetry {
            differ: capped.asymmetric,
        }),
        (!environment.arc_counts).then_some(Limit::ArcCounts),
        (tally.parked && !tally.unseen_change).then_some(Limit::Awaits { seen: false }),
    ];
    limits.into_iter().flatten().collect()
}

/// Returns the limit for accesses to plain memory, if there were any that no monitor watched.
fn limits_of_memory(report: &Report) -> Option<Limit> {
    let PlainAccesses { seen, watched } = report.plain_accesses;
    (seen > 0 && !watched).then_some(Limit::PlainMemory { accesses: seen })
}

/// Returns the note on how the strategies shared the executions. If a weaker reduction took over, they began again; `all`
/// is then the number of all executions, and otherwise 0.
fn shares_note(shares: &[(String, u64)], all: u64) -> Option<String> {
    let share = |(name, executions): &(String, u64)| format!("{name} {executions}");
    let shared: u64 = shares.iter().map(|(_, executions)| executions).sum();
    let before = match all.saturating_sub(shared) {
        0 => String::new(),
        before => format!("; before a weaker reduction took over {before}"),
    };
    let shares: Vec<String> = shares.iter().map(share).collect();
    (!shares.is_empty()).then(|| format!("executions by strategy: {}{before}", shares.join(", ")))
}

fn too_many() -> String {
    format!("more than {FINDINGS_MAX} different findings: the others are left out")
}

/// Returns the note on the number of loops that were assumed to wait.
fn assumed_note(loops: usize, given_up: GivenUp) -> String {
    let loops = match loops {
        1 => "one loop is".to_owned(),
        loops => format!("{loops} loops are"),
    };
    let GivenUp { times, executions } = given_up;
    let restarts = match times {
        0 => String::new(),
        1 => format!("; the search restarted once, after {executions} executions that are not counted"),
        times => format!(
            "; the search restarted {times} times, after {executions} executions that are not counted"
        ),
    };
    format!(
        "spin_loops=assume: {loops} assumed to only wait from the first round on, for a later round was seen to{restarts}; what \
         such a loop does before its state repeats may be missed"
    )
}

/// Returns the note on the number of places whose accesses became schedule points because they race.
fn races_note(places: usize, given_up: GivenUp) -> String {
    let places = match places {
        1 => "1 place in the source is a schedule point".to_owned(),
        places => format!("{places} places in the source are schedule points"),
    };
    let restarts = match given_up.times {
        0 => "the search ended before it restarted".to_owned(),
        _ => format!(
            "the search restarted, after {} that {} not counted",
            count(given_up.executions, "execution"),
            if given_up.executions == 1 { "is" } else { "are" },
        ),
    };
    format!("races: {places}, for the accesses there race; {restarts}")
}

/// The operations on reference counts among a hundred from which a search that did not end says how to leave them out.
const MANY_COUNTS: usize = 67;

/// Adds the notes that a reader needs about the executions.
fn note_tally(report: &mut Report, tally: &Counts, settings: &Settings, weakened: Option<&str>) {
    if tally.parked {
        report.caution(PARKED);
    }
    if let Some(weakened) = weakened {
        report.note(weakened);
    }
    if tally.unseen_change {
        report.caution(UNSEEN_CHANGE);
    }
    if tally.unwound && settings.forgotten_bytes > 0 {
        report.caution(UNWOUND);
    }
    if tally.failed_iterations > 0 {
        report.note(&format!(
            "spin_loops: in {} executions a loop went round without effect although the variables that it reads had been \
             written: each shows only what a shorter execution shows",
            tally.failed_iterations
        ));
    }
}

impl Report {
    /// Adds findings after the search. A known finding is only counted.
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

    /// Adds the warnings of another search of the same test that this one does not have.
    pub(crate) fn take_unknown(&mut self, mut found: Vec<Finding>) {
        found.retain(|finding| !self.findings.iter().any(|known| known.says(finding)));
        self.take_findings(found);
    }

    /// Adds a note on the failures that the user's function handled, if there are any. `when` follows their number.
    pub(crate) fn note_settled(&mut self, settled: u64, when: &str) {
        match settled {
            0 => {}
            1 => self.note(&format!(
                "on_finding: 1 failure{when} was settled, and is not reported"
            )),
            settled => self.note(&format!(
                "on_finding: {settled} failures{when} were settled, and are not reported"
            )),
        }
    }

    /// Adds a note on what executions may have missed.
    fn caution(&mut self, note: &str) {
        self.note(note);
        self.cautions.push(note.to_owned());
    }

    /// Adds a note that no other search would add.
    pub(crate) fn note_for_good(&mut self, note: &str) {
        self.note(note);
        self.lasting.push(note.to_owned());
    }

    /// Replaces this report by that of another search of the same test, which keeps the lasting notes.
    pub(crate) fn replace_by(&mut self, mut other: Report) {
        other.executions_before = self.executions_before + self.executions;
        let lasting = std::mem::replace(self, other).lasting;
        lasting.iter().for_each(|note| self.note_for_good(note));
    }

    /// Adds a note, once.
    pub(crate) fn note(&mut self, note: &str) {
        if !self.notes.iter().any(|known| known == note) {
            self.notes.push(note.to_owned());
        }
    }
}
