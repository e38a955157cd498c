//! The state that the workers of one exploration share: limits, results, the reason for its end, and its checkpoint.

mod fallback;
mod limits;

use super::checkpoint::{Checkpoint, CheckpointError, CheckpointProblem, Contents, Ending, Identity};
use super::cut_off::CutOffExecutions;
use super::finding_set::FindingSet;
use super::log::Log;
use super::pause_barrier::PauseBarrier;
use super::span_totals::SpanTotals;
use super::{Decide, OnProgress, Progress};
use crate::report::Finding;
use crate::retry::{Departed, DepartedOfAll};
use crate::settings::Settings;
pub(super) use fallback::Cause;
use fallback::Fallback;
use intermezzo_engine::memory_model::RaisedOrders;
use intermezzo_engine::runtime::CutOffTime;
use intermezzo_engine::runtime::interrupt::interrupted;
use intermezzo_engine::strategy::{SearchPosition, SearchState, Strategy};
use intermezzo_engine::trace::{Fingerprints, SoundReduction};
use intermezzo_engine::words::seconds;
use intermezzo_sdk::FindingKind;
use intermezzo_search::classic::maple::Session;
use intermezzo_search::estimate::Estimate;
use limits::Limits;
pub(crate) use limits::limits_left;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// The reason why an exploration ended before its search was over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// It would end like this again.
    ForGood(Ending),
    Executions,
    Time,
    /// The user interrupted it.
    Interrupted,
    /// The tool itself panicked.
    Panic,
}

impl End {
    /// Returns the ending, if the exploration would end like this again.
    pub(super) fn for_good(self) -> Option<Ending> {
        match self {
            End::ForGood(ending) => Some(ending),
            End::Executions | End::Time | End::Interrupted | End::Panic => None,
        }
    }

    /// Returns the reason in words, for a report of this many executions, in addition to those that were cut off.
    /// `keeps_rest` is `true` if a part of the limits was kept for an exploration that follows.
    pub(super) fn reason(
        self,
        settings: &Settings,
        executions: u64,
        cut_off: &CutOffExecutions,
        keeps_rest: bool,
    ) -> String {
        let limits = Limits::of_search(settings, executions);
        let raise = match limits.by_default {
            true if keeps_rest => " (no limit is set: set `executions` or `time` to change it)",
            true => ", which holds where none is set (set `executions` or `time` to change it)",
            false => "",
        };
        match self {
            End::ForGood(Ending::Finding) => "stopped at the first finding".into(),
            End::ForGood(Ending::EarlyCrash) => "an execution before the search crashed".into(),
            End::ForGood(Ending::Crash) => "a crash ended the search".into(),
            End::ForGood(Ending::Hang) => "a task that hung ended the search".into(),
            End::ForGood(Ending::Divergence) => {
                "the test did not do the same thing twice under the same schedule".into()
            }
            End::Executions if keeps_rest && limits.executions(true) < limits.executions => format!(
                "{} of {} executions that the limit allows were run; the rest is for weak memory{raise}",
                limits.executions(true).unwrap_or_default(),
                limits.executions.unwrap_or_default()
            ),
            End::Time if keeps_rest => format!(
                "three quarters of the limit of {} were used{}; the rest is for weak memory{raise}",
                seconds(limits.time.unwrap_or_default()),
                cut_off.within(),
            ),
            End::Executions => format!("the limit of {executions} executions was reached{raise}"),
            End::Time => format!(
                "the limit of {} was reached{}{raise}",
                seconds(limits.time.unwrap_or_default()),
                cut_off.within(),
            ),
            End::Interrupted => format!("it was interrupted{}", cut_off.within()),
            End::Panic => "the exploration itself panicked".into(),
        }
    }
}

/// The note of a report whose search cannot be saved.
const GAVE_UP: &str =
    "checkpoint: the time was over before the last execution was analysed; the file is as it was before";

/// The results of the exploration so far.
pub(super) struct Results {
    pub(super) ledger: SpanTotals,
    pub(super) catalogue: FindingSet,
    /// Notes that name the part of the search in which things were found, if it has parts.
    pub(super) places: Vec<String>,
    /// The current reduction.
    pub(super) planned: SoundReduction,
    /// Threads that are not controlled but used objects of executions.
    pub(super) touchers: BTreeSet<String>,
    /// The executions before the search was restored, and those that departed.
    pub(super) departed_before: Departed,
    /// A note for the report on why a weaker reduction took over, if one did.
    pub(super) gave_way: Option<String>,
    /// The failures that the user's function settled.
    pub(super) settled: u64,
    /// The kind of the first finding that was passed over. It is no part of a checkpoint: the searches that pass over findings
    /// have none.
    pub(super) passed_over: Option<FindingKind>,
    /// Redundant executions before the search was restored.
    pub(super) redundant: u64,
    /// The scope entries that matched nothing before the search was restored; `None` if it was not restored.
    pub(super) unfitted: Option<Vec<String>>,
    /// The state of each worker that is paused or has left.
    pub(super) worker_states: Vec<WorkerState>,
    /// The reason why the last checkpoint could not be written.
    pub(super) checkpoint_problem: Option<String>,
    /// The executions that were cut off at the end. They are no part of a checkpoint: a search that continues from it
    /// runs them.
    pub(super) cut_off: CutOffExecutions,
}

impl Results {
    /// Makes the results of a search that has run nothing. `planned` is the reduction that it begins with.
    pub(super) fn new(settings: &Settings, planned: SoundReduction) -> Results {
        Results {
            planned,
            ledger: SpanTotals::default(),
            catalogue: FindingSet::new(!settings.keep_going),
            places: Vec::new(),
            touchers: BTreeSet::new(),
            departed_before: Departed::default(),
            gave_way: None,
            settled: 0,
            passed_over: None,
            redundant: 0,
            unfitted: None,
            worker_states: vec![WorkerState::default(); settings.jobs],
            checkpoint_problem: None,
            cut_off: CutOffExecutions::default(),
        }
    }

    /// Adds the findings of the execution at `rank`. `place` is the part of the search to which it belongs, if the
    /// search has parts.
    pub(super) fn add(&mut self, rank: &SearchPosition, found: Vec<Finding>, place: Option<String>) {
        let told: Vec<String> = found
            .iter()
            .filter(|found| found.is_error())
            .map(|found| found.kind.to_string())
            .collect();
        let known = self.catalogue.len();
        self.catalogue.add(rank, found);
        if let Some(place) = place
            && self.catalogue.len() > known
        {
            self.places.push(format!("found in {place}: {}", told.join(", ")));
        }
    }

    /// Returns the number of redundant executions of all workers that are paused or have left, and of those before a
    /// restore.
    pub(super) fn redundant(&self) -> u64 {
        self.redundant
            + self
                .worker_states
                .iter()
                .map(|worker| worker.redundant)
                .sum::<u64>()
    }

    /// Returns the scope entries that matched nothing for any worker.
    pub(super) fn unfitted(&self) -> Vec<String> {
        let mut lists = self
            .unfitted
            .iter()
            .chain(self.worker_states.iter().map(|worker| &worker.unfitted));
        let mut common = lists.next().cloned().unwrap_or_default();
        for list in lists {
            common.retain(|entry| list.contains(entry));
        }
        common
    }
}

/// The state of a worker between executions.
#[derive(Clone, Default)]
pub(super) struct WorkerState {
    /// Its share of the search, if it has unfinished work.
    pub(super) search: Option<String>,
    /// The number of its redundant executions.
    pub(super) redundant: u64,
    /// The scope entries that matched nothing in its executions.
    pub(super) unfitted: Vec<String>,
}

/// A checkpoint, with the identity of its search.
pub(super) struct CheckpointWriter {
    identity: Identity,
    checkpoint: Mutex<Checkpoint>,
}

impl CheckpointWriter {
    pub(super) fn new(identity: Identity, checkpoint: Checkpoint) -> CheckpointWriter {
        CheckpointWriter {
            identity,
            checkpoint: Mutex::new(checkpoint),
        }
    }

    /// Locks the checkpoint, to write it.
    fn checkpoint(&self) -> MutexGuard<'_, Checkpoint> {
        self.checkpoint.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the error that the checkpoint does not belong to this search.
    pub(super) fn refused(&self, problem: CheckpointProblem) -> CheckpointError {
        self.checkpoint().refused(problem)
    }
}

/// The origin of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The settings ask for it.
    OfSettings,
    /// The user wrote it.
    Custom,
    /// It repeats one schedule.
    Replay,
}

/// The workers of a search, as far as its results depend on them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Workers {
    /// `true` if a finding ends the search at once: either no other worker can come before it, or the order depends on
    /// the pace of the workers.
    pub(super) alone: bool,
    /// `true` if several workers run the search, or did.
    pub(super) several: bool,
}

/// The state that the workers of one exploration share.
pub(super) struct Shared<'a> {
    pub(super) settings: &'a Settings,
    limits: Limits,
    /// `true` if the search continues beyond the default limit of executions; set once that is reached.
    extended: OnceLock<bool>,
    /// `true` if another exploration follows once orderings weaker than `SeqCst` were seen.
    is_followed: AtomicBool,
    /// `true` once such orderings were seen: then a part of the limits is kept for it.
    keeps_rest: AtomicBool,
    /// `true` if a finding ends the exploration at once: either no other worker can be running something before it, or
    /// the order depends on the pace of the workers.
    pub(super) alone: bool,
    /// `true` if several workers run the search, or did.
    pub(super) several: bool,
    pub(super) kind: Kind,
    /// `true` if executions are ordered as they are run: by a single worker, from the first to the last.
    pub(super) in_sequence: bool,
    /// The traces of executions that ended well.
    pub(super) traces: Fingerprints<()>,
    pub(super) gate: PauseBarrier,
    /// Held while executions run before the search, since these may set up state that all share.
    pub(super) warming: Mutex<()>,
    pub(super) keeping: Option<CheckpointWriter>,
    /// The session that measures iRoots, if they are measured.
    pub(super) iroots: Option<Session>,
    /// The executions of all workers, and those that departed.
    pub(super) departed: DepartedOfAll,
    books: Mutex<Results>,
    weaker: Mutex<Fallback>,
    /// The number of times that a weaker search took over. Read before every execution.
    weakened: AtomicU32,
    pub(super) progress: Option<OnProgress>,
    pub(super) decide: Option<Decide>,
    /// The kinds of findings that are no errors here.
    pub(super) passes_over: Vec<FindingKind>,
    pub(super) log: Option<Log>,
    /// The orderings that are raised under a memory model.
    pub(super) raised: RaisedOrders,
    /// `true` if the exploration has ended, or if a worker waits for the others to pause. Read before every execution.
    attention: AtomicBool,
    ended: Mutex<Option<End>>,
    /// `true` if a search gave up in the middle of an analysis, so that the rest of it is not known.
    gave_up: AtomicBool,
    /// `true` if only executions before a finding are still wanted.
    narrowed: AtomicBool,
    began: Instant,
    /// The time it ran in earlier processes.
    before: Duration,
    /// The time at which the next checkpoint is due, in milliseconds since `began`.
    checkpoint_due: AtomicU64,
    /// Executions counted so far; updated at each read of the clock.
    executions: AtomicU64,
    /// Executions that workers may begin, and those that they began. Counted only if there is a limit.
    allowed: AtomicU64,
    begun: AtomicU64,
}

fn millis(duration: Duration) -> u64 {
    duration.as_millis().try_into().unwrap_or(u64::MAX)
}

impl<'a> Shared<'a> {
    /// Makes the shared state, which continues from the results in `books`.
    pub(super) fn new(
        settings: &'a Settings,
        kind: Kind,
        workers: Workers,
        books: Results,
        traces: Fingerprints<()>,
        before: Duration,
        keeping: Option<CheckpointWriter>,
    ) -> Shared<'a> {
        let executions = books.ledger.total(None).executions;
        let narrowed = !settings.keep_going && books.catalogue.len() > 0;
        let first = keeping
            .as_ref()
            .map_or(Duration::MAX, |keeping| keeping.checkpoint().every());
        Shared {
            settings,
            limits: if kind == Kind::Replay {
                Limits::NONE
            } else {
                Limits::of(settings)
            },
            extended: OnceLock::new(),
            is_followed: AtomicBool::new(false),
            keeps_rest: AtomicBool::new(false),
            kind,
            alone: workers.alone,
            several: workers.several,
            in_sequence: settings.jobs == 1 && keeping.is_none(),
            traces,
            gate: PauseBarrier::default(),
            warming: Mutex::default(),
            keeping,
            iroots: None,
            weaker: Mutex::new(Fallback::of(settings, &books)),
            weakened: AtomicU32::new(0),
            departed: DepartedOfAll::new(books.departed_before, settings.jobs),
            books: Mutex::new(books),
            progress: None,
            decide: None,
            passes_over: Vec::new(),
            log: None,
            raised: RaisedOrders::default(),
            attention: AtomicBool::new(false),
            ended: Mutex::new(None),
            gave_up: AtomicBool::new(false),
            narrowed: AtomicBool::new(narrowed),
            began: Instant::now(),
            before,
            checkpoint_due: AtomicU64::new(millis(first)),
            executions: AtomicU64::new(executions),
            allowed: AtomicU64::new(executions),
            begun: AtomicU64::new(executions),
        }
    }

    /// Sets whether another exploration follows, and looks for what the results so far say of it.
    pub(super) fn follows(&self, is_followed: bool) {
        let (so_far, failed) = {
            let books = self.books();
            (books.ledger.total(None), books.catalogue.len() > 0)
        };
        self.is_followed.store(is_followed && !failed, Relaxed);
        self.note_orders(so_far.may_be_weaker());
    }

    /// Notes that an execution failed: then no other exploration follows.
    pub(super) fn note_failure(&self) {
        self.is_followed.store(false, Relaxed);
    }

    /// `true` once a part of the limits is kept for the exploration that follows.
    pub(super) fn keeps_rest(&self) -> bool {
        self.keeps_rest.load(Relaxed) && self.is_followed.load(Relaxed)
    }

    /// Notes whether several tasks used atomics with orderings weaker than `SeqCst`.
    #[inline]
    pub(super) fn note_orders(&self, are_weaker: bool) {
        if are_weaker {
            self.keeps_rest.store(true, Relaxed);
        }
    }

    /// Returns the time that the exploration has run, in all processes together.
    pub(super) fn elapsed(&self) -> Duration {
        self.before + self.began.elapsed()
    }

    /// Writes a line into the log, if there is one.
    pub(super) fn say(&self, what: &str) {
        self.log.iter().for_each(|log| log.say(what));
    }

    pub(super) fn books(&self) -> MutexGuard<'_, Results> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the results, the traces and the progress callback, once the search is over.
    pub(super) fn into_books(self) -> (Results, Fingerprints<()>, Option<OnProgress>) {
        let books = self.books.into_inner().unwrap_or_else(PoisonError::into_inner);
        (books, self.traces, self.progress)
    }

    /// `true` if there is something to do besides the next execution.
    #[inline]
    pub(super) fn attention(&self) -> bool {
        self.attention.load(Relaxed)
    }

    /// Returns the shared state of the current search. `share` is the worker's share of it, unless the worker has not
    /// taken the share of a newer one yet.
    pub(super) fn shared(&self, worker: usize, share: &mut dyn Strategy) -> Option<String> {
        let mut weaker = self.weaker.lock().unwrap_or_else(PoisonError::into_inner);
        match weaker.shares.get_mut(worker) {
            Some(Some(newer)) => newer.resumable()?.save_shared(),
            _ => share.resumable()?.save_shared(),
        }
    }

    /// Ends the exploration for all workers, each after its current execution, unless it has ended already.
    pub(super) fn end(&self, end: End) {
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        // After a panic nothing is saved, since some of the work is lost.
        if ended.is_none() || end == End::Panic {
            *ended = Some(end);
        }
        self.attention.store(true, SeqCst);
    }

    /// Ends the exploration because a search gave up when its time was over. Its checkpoint stays as it is.
    #[cold]
    pub(super) fn search_gave_up(&self) {
        self.gave_up.store(true, SeqCst);
        self.end(if interrupted() {
            End::Interrupted
        } else {
            End::Time
        });
    }

    /// Returns the reason for its end.
    pub(super) fn ended(&self) -> Option<End> {
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Restricts the search to executions that come before a finding.
    pub(super) fn stop_at_first_finding(&self) {
        self.narrowed.store(true, SeqCst);
    }

    /// `true` if only executions that come before a finding are wanted.
    #[inline]
    pub(super) fn narrowed(&self) -> bool {
        self.narrowed.load(Relaxed)
    }

    /// Allows a worker to prepare an execution. Returns `false` if the limit of executions is reached.
    pub(super) fn allow(&self) -> bool {
        let limits = match self.extended.get() {
            Some(true) => self.limits.extended(),
            _ => self.limits,
        };
        let Some(most) = limits.executions(self.keeps_rest()) else {
            return true;
        };
        loop {
            let more = |allowed| (allowed < most).then_some(allowed + 1);
            if self.allowed.fetch_update(SeqCst, SeqCst, more).is_ok() {
                return true;
            }
            if self.begun.load(SeqCst) >= most {
                return false;
            }
            // Another worker is about to find out whether there is an execution for it. If there is none, the slot is
            // free.
            std::thread::yield_now();
        }
    }

    /// Lets the search continue beyond the limit of executions, which is reached, if that is the default one and
    /// `is_within_reach`. Returns `true` if it does, now or since an earlier call.
    #[cold]
    pub(super) fn extend(&self, is_within_reach: impl FnOnce() -> bool) -> bool {
        let decide = || {
            let extends = is_within_reach();
            if extends {
                self.say(
                    "every trace seems to be within reach, so the search continues beyond the default limit",
                );
            }
            extends
        };
        self.limits.by_default && *self.extended.get_or_init(decide)
    }

    /// Registers that the execution that was allowed begins, or that there is none.
    pub(super) fn allowed_begins(&self, begins: bool) {
        match self.limits.executions {
            None => {}
            Some(_) if begins => drop(self.begun.fetch_add(1, SeqCst)),
            Some(_) => drop(self.allowed.fetch_sub(1, SeqCst)),
        }
    }

    /// Ends the exploration if the user interrupted it or its time is over, and returns `true` if so. Only the time of
    /// this process counts: a search that continues from a checkpoint gets its full time again.
    pub(super) fn has_no_time(&self) -> bool {
        if interrupted() {
            self.end(End::Interrupted);
            return true;
        }
        let over = self
            .limits
            .time(self.keeps_rest())
            .is_some_and(|most| self.began.elapsed() >= most);
        if over {
            self.end(End::Time);
        }
        over
    }

    /// Returns the time at which running executions are cut off.
    pub(super) fn cut_off_at(&self) -> CutOffTime {
        CutOffTime {
            at: self
                .limits
                .time(self.keeps_rest())
                .and_then(|most| self.began.checked_add(most)),
        }
    }

    /// Checks the clock and reports progress. `executions` is the number that the worker ran since its last check, and
    /// `share` the progress of the search, if known. Returns `true` if a checkpoint is due.
    pub(super) fn look(&self, executions: u64, share: Option<f64>) -> bool {
        let executions = self.executions.fetch_add(executions, Relaxed) + executions;
        let elapsed = self.elapsed();
        if let Some(progress) = &self.progress
            && let Ok(mut call) = progress.try_lock()
        {
            let findings = self.books().catalogue.different();
            call(&Progress {
                executions,
                findings,
                elapsed,
                estimate: share.map(|share| Estimate::new(share, executions, elapsed)),
                minimising: None,
            });
        }
        self.has_no_time();
        self.keeping.is_some() && millis(self.began.elapsed()) >= self.checkpoint_due.load(Relaxed)
    }

    /// Pauses the other workers and writes a checkpoint. `shared` returns the shared state of the search. Returns
    /// `false` if another worker is about to write one: then the caller has to pause.
    pub(super) fn keep(&self, shared: impl FnOnce() -> Option<String>) -> bool {
        if !self.gate.close(|| self.attention.store(true, SeqCst)) {
            return false;
        }
        let ended = self.ended();
        if ended != Some(End::Panic) {
            self.write(ended.and_then(End::for_good), shared(), self.elapsed());
        }
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        self.attention.store(ended.is_some(), SeqCst);
        drop(ended);
        self.gate.reopen();
        true
    }

    /// Writes a checkpoint after `elapsed`, while all workers are paused.
    pub(super) fn write(&self, ending: Option<Ending>, shared: Option<String>, elapsed: Duration) {
        let (Some(keeping), Some(shared)) = (&self.keeping, shared) else {
            return;
        };
        let mut books = self.books();
        if self.gave_up.load(SeqCst) {
            books.checkpoint_problem = Some(GAVE_UP.to_owned());
            return;
        }
        let contents = Contents::new(
            &keeping.identity,
            elapsed,
            Workers {
                alone: self.alone,
                several: self.several,
            },
            ending,
            (&books, self.departed.total()),
            &self.traces,
        );
        let state = SearchState {
            shared,
            hands: books
                .worker_states
                .iter()
                .filter_map(|worker| worker.search.clone())
                .collect(),
        };
        let (pause, problem) = keeping.checkpoint().write(&contents, &state);
        books.checkpoint_problem = problem.map(|problem| problem.to_string());
        self.say(
            books
                .checkpoint_problem
                .as_deref()
                .unwrap_or("checkpoint: written"),
        );
        self.checkpoint_due
            .store(millis(self.began.elapsed().saturating_add(pause)), Relaxed);
    }
}

#[cfg(test)]
mod tests;
