//! The loop of one worker of an exploration: execution after execution, to the end.

use super::checkpoint::Ending;
use super::found;
use super::pace::Pace;
use super::running_guard::RunningGuard;
use super::shared::{Cause, End, Kind, Shared, WorkerState};
use super::span_totals::Counts;
use crate::classify;
use crate::report::Finding;
use crate::retry::{self, After, Retry};
use crate::settings::search;
use intermezzo_engine::runtime::interrupt::interrupted;
use intermezzo_engine::runtime::journal::Journal;
use intermezzo_engine::runtime::{Abnormal, CutOffExecution, ExecutionOutcome, Executor, Stop, TimeSpent};
use intermezzo_engine::schedule::{Schedule, TestBinary};
use intermezzo_engine::strategy::{FallbackReason, Parallel, SearchPosition};
use intermezzo_engine::trace::{FingerprintBatch, SoundReduction};
use intermezzo_sdk::FindingKind;
use intermezzo_search::classic::maple::Session;

/// The memory that a gathered trace may take, including the time when its span is joined to others.
const TRACE_BYTES: usize = 64;

/// A running worker.
pub(super) struct WorkerLoop<'a> {
    common: &'a Shared<'a>,
    program: (&'a str, &'a TestBinary),
    /// The index of the worker.
    number: usize,
    worker: Executor,
    /// The beginning of the span that it runs, and the counts since they were last published.
    span: SearchPosition,
    tally: Counts,
    attempts: Retry<'a>,
    /// Its traces that are not yet in the shared table.
    traces: FingerprintBatch,
    /// The number of executions that it ran.
    executions: u64,
    /// The reduction that was requested, and the current one.
    asked: SoundReduction,
    planned: SoundReduction,
    /// The number of times that a weaker reduction had taken over when the current one began.
    weakened: u32,
    /// The steps left to the trial of the search within the bound, while it runs.
    trial: Option<u64>,
    /// The number of traces that it may still gather besides those in the shared table.
    room_for_traces: usize,
    pace: Pace,
    presence: RunningGuard<'a>,
    /// `true` if its executions are cut off where the time begins that is kept for the exploration that follows.
    keeps_rest: bool,
    /// `true` if the last execution showed that a loop only waits, or that accesses race, so that the search has to
    /// restart. `given_up` counts the restarts.
    learned: bool,
    given_up: GivenUp,
}

/// The executions before a restart, which was necessary because a loop proved to only wait or because accesses proved
/// to race.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GivenUp {
    pub(super) times: u32,
    pub(super) executions: u64,
}

/// The summary of a worker when it is done.
pub(super) struct Done {
    /// `true` if a weaker reduction took over.
    pub(super) weakened: bool,
    /// `true` if an execution that departed was still to be retried.
    pub(super) untried: bool,
    /// The progress of the search after its last execution, if it can be told.
    pub(super) share: Option<f64>,
    pub(super) given_up: GivenUp,
    /// The time that it spent, if there is a log.
    pub(super) spent: Option<TimeSpent>,
}

impl<'a> WorkerLoop<'a> {
    /// Makes a worker. A weaker reduction than the one that was `asked` for takes over if the program requires it.
    pub(super) fn new(
        common: &'a Shared<'a>,
        program: (&'a str, &'a TestBinary),
        number: usize,
        mut worker: Executor,
        asked: SoundReduction,
    ) -> WorkerLoop<'a> {
        let keeps_rest = common.keeps_rest();
        worker.cut_off(Some(common.cut_off_at()));
        WorkerLoop {
            common,
            program,
            number,
            worker,
            span: SearchPosition::default(),
            tally: Counts::default(),
            attempts: Retry::new(common.settings.retries, &common.departed, number),
            traces: FingerprintBatch::default(),
            executions: 0,
            asked,
            planned: common.books().planned,
            weakened: 0,
            trial: None,
            room_for_traces: common.settings.cache_bytes / TRACE_BYTES / common.settings.jobs,
            pace: Pace::new(),
            presence: RunningGuard::new(common),
            keeps_rest,
            learned: false,
            given_up: GivenUp::default(),
        }
    }

    /// Runs until the search is over or the exploration ends. The monitors are not shut down.
    pub(super) fn run(mut self, test: &dyn Fn()) -> (Executor, Done) {
        self.presence.enter();
        if let Some(directory) = self.common.settings.journal.directory() {
            let journal = Journal::open(&directory, &self.schedule_so_far());
            self.worker.keep_journal(journal);
        }
        if interrupted() {
            self.common.end(End::Interrupted);
        }
        self.warm_up(test);
        if self.common.log.is_some() {
            self.worker.measure_time();
        }
        loop {
            // Nothing of the search is prepared here, and no execution is to be tried again.
            if self.trial == Some(0) && !self.attempts.is_due() {
                self.trial = None;
                self.common.end_trial();
            }
            if self.common.weakened() != self.weakened {
                self.go_on_weaker();
            }
            if !self.goes_on() {
                break;
            }
            if std::mem::take(&mut self.learned) {
                self.start_anew();
            }
            let more = self.attempts.prepare(&mut self.worker);
            if let Some(why) = self.worker.strategy().needs().fallback {
                self.common.allowed_begins(false);
                let drawn = self.worker.status(0).drawn;
                match why {
                    FallbackReason::TooMany => {
                        let completed = self.worker.status(0).progress;
                        self.trial = self.common.keep_to_bound(&why.to_string(), completed);
                    }
                    _ => self.common.fall_back(&Cause::Plans(why), drawn),
                }
                continue;
            }
            if !more {
                self.common.allowed_begins(false);
                if self.worker.strategy().gave_up() {
                    self.common.search_gave_up();
                    break;
                }
                if self.waits() || self.common.weakened() != self.weakened {
                    continue;
                }
                break;
            }
            if !self.common.in_sequence
                && let Some(search) = self.worker.strategy().parallel()
                && let Some(begin) = search.segment()
            {
                self.write_down();
                self.span = begin;
            }
            if self.common.narrowed() && !self.is_wanted() {
                self.common.allowed_begins(false);
                self.skip();
                continue;
            }
            self.common.allowed_begins(true);
            let executed = self.worker.execute(test);
            if let Some(cut_off) = &executed.cut_off
                && executed.trouble.is_none()
            {
                self.put_back(executed.steps, cut_off);
                continue;
            }
            if self.is_elsewhere(&executed) {
                self.pass_by(&executed);
                continue;
            }
            self.count(&executed);
            if let Some(thread) = &executed.toucher {
                self.common.books().touchers.insert(thread.clone());
            }
            let after = self.attempts.after(executed.departed, &mut self.tally.departures);
            match executed.trouble {
                None => self.add_trace(executed.fingerprint),
                Some(trouble) => {
                    let ended_well = matches!(trouble.stop, Stop::Complete);
                    if !self.trouble(*trouble, after) && ended_well {
                        // It showed nothing but warnings.
                        self.add_trace(executed.fingerprint);
                    }
                }
            }
        }
        self.rest_at_last()
    }

    /// Puts back an execution that was cut off after `steps` steps: it does not count, and a search that continues from
    /// the checkpoint runs it.
    #[cold]
    fn put_back(&mut self, steps: u64, cut_off: &CutOffExecution) {
        self.worker.put_back();
        self.common.books().cut_off.add(steps, &cut_off.shown);
        self.common.has_no_time();
    }

    /// Returns `true` if an execution that followed its schedule belongs to another share of the search. But damage to the
    /// process is reported by each share that has it.
    fn is_elsewhere(&mut self, executed: &ExecutionOutcome) -> bool {
        let damaged = |trouble: &Abnormal| trouble.damaged;
        if self.common.settings.partition.is_none()
            || executed.departed
            || executed.trouble.as_deref().is_some_and(damaged)
        {
            return false;
        }
        self.worker.is_elsewhere()
    }

    /// Passes by an execution of another share: it counts for nothing here, and that share judges it.
    fn pass_by(&mut self, executed: &ExecutionOutcome) {
        self.attempts.after(false, &mut self.tally.departures);
        self.pace.count(executed.steps);
        self.tally.elsewhere += 1;
        let (sound, reason) = self.soundness(executed);
        if sound > self.planned {
            self.fall_back(sound, reason);
        }
    }

    /// Counts the trace of an execution that ended well.
    #[inline]
    fn add_trace(&mut self, fingerprint: u128) {
        self.traces.add(fingerprint, &self.common.traces);
        if !self.common.alone && !self.common.settings.keep_going {
            self.tally.traces.add(fingerprint, &mut self.room_for_traces);
        }
    }

    /// Returns the schedule of its next execution, without choices.
    fn schedule_so_far(&self) -> Schedule {
        let premises = self.worker.premises();
        self.common.settings.schedule(self.program, Vec::new(), premises)
    }

    /// Performs the work between two executions. Returns `true` if another execution must be prepared.
    #[inline]
    fn goes_on(&mut self) -> bool {
        if self.attempts.is_due() {
            // The remaining work is not known before the retry.
            return self.common.ended().is_none() && self.is_allowed();
        }
        if let Some(executions) = self.pace.is_due()
            && self.common.look(executions, self.share())
        {
            self.keep();
        }
        while self.common.attention() {
            if self.common.ended().is_some() {
                return false;
            }
            self.rest();
        }
        self.is_allowed()
    }

    #[inline]
    fn is_allowed(&mut self) -> bool {
        if self.common.keeps_rest() != self.keeps_rest {
            self.keeps_rest = !self.keeps_rest;
            self.worker.cut_off(Some(self.common.cut_off_at()));
        }
        let common = self.common;
        let mut extend = || common.extend(|| self.worker.strategy().keep_to_whole());
        let allowed = common.allow() || extend() && common.allow();
        if !allowed {
            self.common.end(End::Executions);
        }
        allowed
    }

    #[inline]
    fn count(&mut self, executed: &ExecutionOutcome) {
        let complete = executed
            .trouble
            .as_ref()
            .is_none_or(|trouble| classify::complete(&trouble.stop));
        self.tally.count(executed, complete);
        self.common
            .note_orders(executed.capped.weaker_orders && executed.tasks > 1);
        self.executions += 1;
        self.pace.count(executed.steps);
        self.learned = executed.learned;
        if let Some(left) = &mut self.trial {
            *left = left.saturating_sub(executed.steps);
        }
        let (mut sound, mut reason) = self.soundness(executed);
        if executed.scoping.region_unheeded
            && self.common.kind == Kind::OfSettings
            && self.common.settings.chooses_reduction()
        {
            let why = "the test turns preemptions off in a region";
            (sound, reason) = (SoundReduction::Nothing, Some(why));
            // From here on the region takes effect.
            self.tally.scoping.region_unheeded = false;
        }
        if sound > self.planned && !executed.departed {
            self.fall_back(sound, reason);
        }
    }

    /// Returns the strongest reduction that is sound after this execution, and the reason, unless the engine knows it.
    #[inline]
    fn soundness(&self, executed: &ExecutionOutcome) -> (SoundReduction, Option<&'static str>) {
        let workers_divide_values = self.common.several && self.worker.chose_values();
        if !workers_divide_values || executed.sound >= SoundReduction::SourceSets {
            return (executed.sound, None);
        }
        // Workers that share wakeup trees treat a step as one, not as one for each chosen value.
        let reason = match self.common.settings.environment.has_memory_model() {
            true => "loads may read older stores, and several workers explore the test",
            false => "the test chooses values, and several workers explore it",
        };
        (SoundReduction::SourceSets, Some(reason))
    }

    /// Has a weaker reduction take over, for all workers.
    #[cold]
    fn fall_back(&mut self, sound: SoundReduction, reason: Option<&str>) {
        let drawn = self.worker.status(0).drawn;
        let reason = match reason {
            Some(reason) => reason.to_owned(),
            None => match self.worker.unsound(sound) {
                Some(operation) => {
                    format!("the test does something for which a stronger one is not sound: {operation}")
                }
                None => "the test does something for which a stronger one is not sound".to_owned(),
            },
        };
        self.common.fall_back(&Cause::Test(sound, reason), drawn);
    }

    /// Continues with the weaker reduction that took over. Wakes the workers that wait for work of the previous search.
    #[cold]
    fn go_on_weaker(&mut self) {
        self.weakened = self.common.weakened();
        if let Some((sound, share, forgets_traces)) = self.common.share_of_weaker(self.number) {
            self.planned = sound;
            self.attempts.forget();
            self.stop();
            self.worker.restart(share);
            if forgets_traces {
                self.traces.clear();
                self.common.traces.clear();
            }
        }
    }

    /// Restarts the search, because one more waiting loop or racing access is known. Earlier executions no longer
    /// count. Their findings stay, and so does the record of departures.
    #[cold]
    fn start_anew(&mut self) {
        self.common.say(
            "the search starts again, because executions showed a loop that waits or accesses that race",
        );
        self.worker.adopt_learned();
        let schedule = self.schedule_so_far();
        self.worker.journal().executions_of(&schedule);
        self.attempts.forget();
        self.given_up.times += 1;
        self.given_up.executions += self.tally.executions;
        self.tally = Counts {
            departures: self.tally.departures,
            first_failure: self.tally.first_failure,
            ..Counts::default()
        };
        self.traces.clear();
        self.common.traces.clear();
        self.planned = self.common.forget_plans();
        self.trial = None;
        let settings = self.common.settings;
        let own = self.worker.strategy().restart();
        self.worker.restart(if let Some(own) = own {
            own
        } else if self.planned == self.asked && !settings.tries_all_first() {
            search::strategy(settings)
        } else {
            self.common.weaker_again()
        });
    }

    /// Returns the position in search order of the last execution, or of the prepared one.
    fn rank(&mut self) -> SearchPosition {
        if self.common.in_sequence {
            SearchPosition::of_number(self.executions)
        } else {
            self.worker.rank()
        }
    }

    /// Runs the executions before the search. If one crashes, the exploration ends.
    fn warm_up(&mut self, test: &dyn Fn()) {
        let executions = self.common.settings.warm_up;
        let over = self.common.ended().is_some();
        if executions == 0 || over && self.common.books().catalogue.len() == 0 {
            return;
        }
        let warming = self.common.warming.lock();
        let common = self.common;
        let is_over = || common.has_no_time();
        let crashed = retry::warm_up(&mut self.worker, executions, &is_over, test);
        drop(warming);
        if let Some(trouble) = crashed.and_then(|crashed| crashed.trouble)
            && !over
        {
            let ending = match trouble.stop {
                Stop::Hung(_) => Ending::Hang,
                _ => Ending::EarlyCrash,
            };
            let found = classify::findings(*trouble, &|choices, premises| {
                self.common.settings.schedule(self.program, choices, premises)
            });
            self.tally.executions += 1;
            self.tally.first_failure = Some(1);
            self.common
                .books()
                .catalogue
                .add(&SearchPosition::default(), found);
            self.common.end(End::ForGood(ending));
        }
    }

    /// Returns the progress of the search, if it can be told.
    fn share(&mut self) -> Option<f64> {
        if self.common.in_sequence {
            self.worker.status(0).progress
        } else {
            None
        }
    }

    /// Discards the rest of its current work.
    fn skip(&mut self) {
        self.attempts.forget();
        if let Some(search) = self.worker.strategy().parallel() {
            search.discard();
        }
    }

    /// Ends the search for all workers.
    fn stop(&mut self) {
        if let Some(search) = self.worker.strategy().parallel() {
            search.stop();
        }
    }

    /// Handles an execution that did not simply end well. `after` says how to continue if it departed. Returns `true`
    /// if it showed an error.
    fn trouble(&mut self, trouble: Abnormal, after: After) -> bool {
        let damaged = trouble.damaged;
        let hung = matches!(trouble.stop, Stop::Hung(_));
        if let Some(iroots) = &self.common.iroots {
            iroots.stuck(&trouble.wanted);
        }
        let rank = self.rank();
        let schedule = |choices, premises| self.common.settings.schedule(self.program, choices, premises);
        let mut found = classify::findings(trouble, &schedule);
        if after == After::Again {
            // The next attempt may follow the schedule.
            found.retain(|finding| finding.kind != FindingKind::Divergence);
        }
        let status = self.worker.status(0);
        if self.common.kind == Kind::Custom {
            let suspect = |finding: &mut Finding| classify::suspect_search(finding, &status.name);
            found.iter_mut().for_each(suspect);
        }
        if let Some(member) = status.drawn_by {
            let credit = |finding: &mut Finding| finding.found_by = Some(member.clone());
            found.iter_mut().for_each(credit);
        }
        let stops = self.decides(&mut found);
        let log = self.common.log.iter();
        log.for_each(|log| log.found(self.number, self.executions, &found));
        let failed = found.iter().any(Finding::is_error);
        if failed {
            self.common.note_failure();
            self.common.iroots.iter().for_each(Session::failed);
            self.tally.first_failure.get_or_insert(self.tally.executions);
        }
        self.common.books().add(&rank, found, status.part);
        if damaged {
            let ending = if hung { Ending::Hang } else { Ending::Crash };
            self.common.end(End::ForGood(ending));
            return failed;
        }
        if after == After::TooMany && !self.common.settings.keep_going {
            self.common.end(End::ForGood(Ending::Divergence));
            return failed;
        }
        if after == After::Lost && self.common.kind != Kind::Replay {
            if !self.common.settings.keep_going || self.worker.strategy().needs().replays_exactly {
                self.common.end(End::ForGood(Ending::Divergence));
                return failed;
            }
            self.worker.give_up();
        }
        if stops {
            self.common.end(End::ForGood(Ending::Finding));
        }
        if failed && !self.common.settings.keep_going {
            if self.common.alone {
                self.common.end(End::ForGood(Ending::Finding));
            } else {
                // The rest of the worker's current work comes after the finding.
                self.common.stop_at_first_finding();
                self.skip();
            }
        }
        failed
    }

    /// Removes what is no error in this search, and asks the user's function about failures, if there is one. Returns `true`
    /// if the search ends.
    fn decides(&mut self, found: &mut Vec<Finding>) -> bool {
        let passed = found::pass_over(&self.common.passes_over, found);
        let ends = passed.is_some() && !self.common.settings.keep_going;
        let asked = self.common.decide.as_ref();
        let (settled, stops) = asked.map_or((0, false), |decide| found::ask(decide, found));
        let mut books = self.common.books();
        books.passed_over = books.passed_over.take().or(passed);
        books.settled += settled;
        ends || stops
    }

    /// `true` if the prepared execution comes before the findings so far.
    #[cold]
    fn is_wanted(&mut self) -> bool {
        let rank = self.rank();
        let books = self.common.books();
        books.catalogue.first().is_none_or(|first| rank < *first)
    }

    /// Waits for work. Returns `false` if there will be none.
    fn waits(&mut self) -> bool {
        self.write_down();
        self.leave(None);
        let more = self.worker.strategy().parallel().is_some_and(Parallel::wait);
        self.presence.enter();
        more
    }

    /// Publishes the counts of the span.
    fn write_down(&mut self) {
        let tally = std::mem::take(&mut self.tally);
        if tally != Counts::default() {
            self.common.books().ledger.add(&self.span, &tally);
        }
    }

    /// Publishes its state for other workers.
    fn publish(&mut self, search: Option<String>) {
        self.write_down();
        self.traces.count(&self.common.traces);
        let redundant = self.worker.redundant();
        let unfitted = self.worker.unfitted();
        let mut books = self.common.books();
        // Its state does not count if a weaker search has taken over meanwhile.
        let counts = self.common.weakened() == self.weakened;
        books.worker_states[self.number] = WorkerState {
            search: search.filter(|_| counts),
            redundant: if counts { redundant } else { 0 },
            unfitted,
        };
    }

    /// Returns the rest of its share of the search, for a checkpoint.
    fn saved(&mut self) -> Option<String> {
        let search = self.worker.save();
        if self.worker.strategy().gave_up() {
            self.common.search_gave_up();
        }
        search
    }

    /// Pauses while another worker writes a checkpoint.
    #[cold]
    fn rest(&mut self) {
        let search = self.saved();
        self.leave(search);
        self.presence.enter();
    }

    /// Writes a checkpoint, or pauses while another worker does.
    #[cold]
    fn keep(&mut self) {
        let search = self.saved();
        self.publish(search);
        let (common, share) = (self.common, self.worker.strategy());
        if !common.keep(|| common.shared(self.number, share)) {
            self.rest();
        }
    }

    fn leave(&mut self, search: Option<String>) {
        self.publish(search);
        self.presence.leave();
    }

    /// Finishes: wakes the waiting workers if the exploration has ended, and leaves.
    fn rest_at_last(mut self) -> (Executor, Done) {
        if self.common.ended().is_some() {
            self.stop();
        }
        let done = Done {
            weakened: self.planned != self.asked,
            untried: self.attempts.is_due() && self.common.keeping.is_none(),
            share: self.share(),
            given_up: self.given_up,
            spent: self.worker.time_spent(),
        };
        let keeps = self.common.keeping.is_some();
        let prepares = self.worker.strategy().resumable();
        let prepares = prepares.is_some_and(|search| search.prepares_before_save());
        if keeps && self.attempts.is_due() && !prepares {
            // A search that continues from the checkpoint would not know that this execution was to be retried.
            self.tally.departures.lost += 1;
            self.worker.give_up();
        }
        let search = if keeps { self.saved() } else { None };
        self.leave(search);
        // Replays of findings run to their ends.
        self.worker.cut_off(None);
        (self.worker, done)
    }
}
