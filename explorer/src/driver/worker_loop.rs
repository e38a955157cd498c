//! One worker's part of an exploration: execution after execution, to the end.

use super::checkpoint::Ending;
use super::shared::{End, Kind, Shared, WorkerState};
use super::span_totals::Counts;
use crate::classify;
use crate::report::Finding;
use crate::retry::{self, After, Retry};
use crate::settings::search;
use intermezzo_engine::runtime::interrupt::interrupted;
use intermezzo_engine::runtime::journal::Journal;
use intermezzo_engine::runtime::{Abnormal, ExecutionOutcome, Executor, Stop};
use intermezzo_engine::schedule::{Schedule, TestBinary};
use intermezzo_engine::strategy::{Parallel, SearchPosition};
use intermezzo_engine::trace::{FingerprintBatch, SoundReduction};
use intermezzo_sdk::FindingKind;
use intermezzo_search::classic::maple::Session;

/// Memory that a gathered trace may take: as it stands in a span, and when its span is joined to others.
const TRACE_BYTES: usize = 64;

/// Executions between two looks at the clock, where executions are short.
const EXECUTIONS_PER_LOOK: u64 = 64;

/// Steps between two looks at the clock, where executions are long.
const STEPS_PER_LOOK: u64 = 4096;

/// Why wakeup trees are given up where they planned what they cannot rely on.
const UNSURE: &str = "an execution failed or was cut short, or it cannot be said which variables or tasks of two executions \
                      are the same";

/// A worker at work.
pub(super) struct WorkerLoop<'a> {
    common: &'a Shared<'a>,
    program: (&'a str, &'a TestBinary),
    /// Which of the workers it is.
    number: usize,
    worker: Executor,
    /// Where the span begins that it runs, and what that came to since it was last written down.
    span: SearchPosition,
    tally: Counts,
    attempts: Retry,
    /// Its traces that are in none of the counts yet.
    traces: FingerprintBatch,
    /// Executions that it ran.
    executions: u64,
    /// What a program may do for the reduction that was asked for to suit it, and for the one at work.
    asked: SoundReduction,
    planned: SoundReduction,
    /// How often a weaker reduction had taken over when this one was at work.
    weakened: u32,
    /// How many more traces it may gather, beside the table of those that count.
    room_for_traces: usize,
    /// Executions and steps since the last look at the clock.
    since_look: (u64, u64),
    presence: RunningGuard<'a>,
    /// Whether the last execution showed that a loop only waits, so that the search has to start anew; and how often it has.
    learned: bool,
    given_up: GivenUp,
}

/// What was run before the search started anew, because a loop proved to only wait.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GivenUp {
    pub(super) times: u32,
    pub(super) executions: u64,
}

/// Whether a worker is one of those who run; told to the others also if it panics.
struct RunningGuard<'a> {
    common: &'a Shared<'a>,
    inside: bool,
}

impl RunningGuard<'_> {
    fn enter(&mut self) {
        self.common.gate.enter();
        self.inside = true;
    }

    fn leave(&mut self) {
        self.inside = false;
        self.common.gate.leave();
    }
}

impl Drop for RunningGuard<'_> {
    fn drop(&mut self) {
        if self.inside {
            // What it had at hand is lost.
            self.common.end(End::Panic);
            self.leave();
        }
    }
}

/// What there is to say of a worker's part when it is over.
pub(super) struct Done {
    /// Whether a weaker reduction took over.
    pub(super) weakened: bool,
    /// Whether an execution that departed was still to be tried again.
    pub(super) untried: bool,
    /// How far the search was after its last execution, as far as that can be told.
    pub(super) share: Option<f64>,
    pub(super) given_up: GivenUp,
}

impl<'a> WorkerLoop<'a> {
    /// A weaker reduction takes over where a program does what does not suit the one that is `asked` for.
    pub(super) fn new(
        common: &'a Shared<'a>,
        program: (&'a str, &'a TestBinary),
        number: usize,
        worker: Executor,
        asked: SoundReduction,
    ) -> WorkerLoop<'a> {
        WorkerLoop {
            common,
            program,
            number,
            worker,
            span: SearchPosition::default(),
            tally: Counts::default(),
            attempts: Retry::new(common.settings.retries),
            traces: FingerprintBatch::default(),
            executions: 0,
            asked,
            planned: common.books().planned,
            weakened: 0,
            room_for_traces: common.settings.cache_bytes / TRACE_BYTES / common.settings.jobs,
            since_look: (0, 0),
            presence: RunningGuard {
                common,
                inside: false,
            },
            learned: false,
            given_up: GivenUp::default(),
        }
    }

    /// Works until the search is over, or the exploration ends. Its monitors have not been told of that.
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
        loop {
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
            if self.worker.strategy().needs().fallback {
                self.common.allowed_begins(false);
                self.fall_back(SoundReduction::SourceSets, Some(UNSURE));
                continue;
            }
            if !more {
                self.common.allowed_begins(false);
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
                        // Nothing but warnings.
                        self.add_trace(executed.fingerprint);
                    }
                }
            }
        }
        self.rest_at_last()
    }

    /// Counts the trace of an execution that ended well.
    #[inline]
    fn add_trace(&mut self, fingerprint: u128) {
        self.traces.add(fingerprint, &self.common.traces);
        if !self.common.alone && !self.common.settings.keep_going {
            self.tally.traces.add(fingerprint, &mut self.room_for_traces);
        }
    }

    /// The schedule of its next execution, without choices.
    fn schedule_so_far(&self) -> Schedule {
        let premises = self.worker.premises();
        self.common.settings.schedule(self.program, Vec::new(), premises)
    }

    /// Sees to what has to be seen to between two executions; whether to prepare another one.
    #[inline]
    fn goes_on(&mut self) -> bool {
        if self.attempts.is_due() {
            // What is left to do cannot be told before it was tried again.
            return self.common.ended().is_none() && self.is_allowed();
        }
        let (executions, steps) = self.since_look;
        if executions >= EXECUTIONS_PER_LOOK || steps >= STEPS_PER_LOOK {
            self.since_look = (0, 0);
            if self.common.look(executions, self.share()) {
                self.keep();
            }
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
    fn is_allowed(&self) -> bool {
        let allowed = self.common.allow();
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
        self.executions += 1;
        self.since_look.0 += 1;
        self.since_look.1 += executed.steps;
        self.learned = executed.learned;
        let (mut sound, mut reason) = (executed.sound, None);
        if self.common.several && sound < SoundReduction::SourceSets && self.worker.chose_values() {
            // Workers that have wakeup trees in common take each step to be one, not one for each value.
            (sound, reason) = (
                SoundReduction::SourceSets,
                Some("the test chooses values, and several workers explore it"),
            );
        }
        if executed.scoping.region_unheeded
            && self.common.kind == Kind::OfSettings
            && self.common.settings.chooses_reduction()
        {
            (sound, reason) = (
                SoundReduction::Nothing,
                Some("the test turns preemptions off in a region"),
            );
            // From here on it is heeded.
            self.tally.scoping.region_unheeded = false;
        }
        if sound > self.planned && !executed.departed {
            self.fall_back(sound, reason);
        }
    }

    /// A weaker reduction takes over, for all workers.
    #[cold]
    fn fall_back(&mut self, sound: SoundReduction, reason: Option<&str>) {
        let drawn = self.worker.status(0).drawn;
        let reason = match reason {
            Some(reason) => reason.to_owned(),
            None => match self.worker.unsound(sound) {
                Some(operation) => format!("the test does what it does not suit: {operation}"),
                None => "the test does what it does not suit".to_owned(),
            },
        };
        self.common.fall_back(sound, drawn, reason);
    }

    /// Goes on with the weaker reduction that took over; those who wait for work of the search before are told.
    #[cold]
    fn go_on_weaker(&mut self) {
        self.weakened = self.common.weakened();
        if let Some((sound, hand)) = self.common.hand_on_weaker(self.number) {
            self.planned = sound;
            self.attempts.forget();
            self.stop();
            self.worker.restart(hand);
        }
    }

    /// Starts the search anew, for one more loop is known: what was run before counts nowhere, but for what was found and
    /// whether the test always did the same.
    #[cold]
    fn start_anew(&mut self) {
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
        let settings = self.common.settings;
        let own = self.worker.strategy().restart();
        self.worker.restart(if let Some(own) = own {
            own
        } else if self.planned == self.asked {
            search::strategy(settings)
        } else {
            search::weaker(settings, self.planned, 0)
        });
    }

    /// The place in the order of the search of the last execution, or of the one that was prepared.
    fn rank(&mut self) -> SearchPosition {
        if self.common.in_sequence {
            SearchPosition::of_number(self.executions)
        } else {
            self.worker.rank()
        }
    }

    /// Runs the executions before the search. One that crashes ends it all.
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
            let found = classify::findings(*trouble, |choices, premises| {
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

    /// How far the search is, as far as that can be told.
    fn share(&mut self) -> Option<f64> {
        if self.common.in_sequence {
            self.worker.status(0).progress
        } else {
            None
        }
    }

    /// Leaves the rest of the work at hand out.
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

    /// An execution did not just end well; `after` says what becomes of it if it departed. Whether it showed an error.
    fn trouble(&mut self, trouble: Abnormal, after: After) -> bool {
        let damaged = trouble.damaged;
        let hung = matches!(trouble.stop, Stop::Hung(_));
        if let Some(iroots) = &self.common.iroots {
            iroots.stuck(&trouble.wanted);
        }
        let rank = self.rank();
        let schedule = |choices, premises| self.common.settings.schedule(self.program, choices, premises);
        let mut found = classify::findings(trouble, schedule);
        if after == After::Again {
            // The next attempt may be what it should be.
            found.retain(|finding| finding.kind != FindingKind::Divergence);
        }
        let status = self.worker.status(0);
        if let Some(member) = status.drawn_by {
            let credit = |finding: &mut Finding| finding.found_by = Some(member.clone());
            found.iter_mut().for_each(credit);
        }
        let failed = found.iter().any(Finding::is_error);
        if failed {
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
        if failed && !self.common.settings.keep_going {
            if self.common.alone {
                self.common.end(End::ForGood(Ending::Finding));
            } else {
                // All that is left of the work at hand comes after it.
                self.common.stop_at_first_finding();
                self.skip();
            }
        }
        failed
    }

    /// Whether the execution that was prepared comes before what was found.
    #[cold]
    fn is_wanted(&mut self) -> bool {
        let rank = self.rank();
        let books = self.common.books();
        books.catalogue.first().is_none_or(|first| rank < *first)
    }

    /// Waits for work; false if there will be none.
    fn waits(&mut self) -> bool {
        self.write_down();
        self.leave(None);
        let more = self.worker.strategy().parallel().is_some_and(Parallel::wait);
        self.presence.enter();
        more
    }

    /// Writes down what the span came to.
    fn write_down(&mut self) {
        let tally = std::mem::take(&mut self.tally);
        if tally != Counts::default() {
            self.common.books().ledger.add(&self.span, &tally);
        }
    }

    /// Leaves its state where another worker finds it.
    fn publish(&mut self, search: Option<String>) {
        self.write_down();
        self.traces.count(&self.common.traces);
        let redundant = self.worker.redundant();
        let unfitted = self.worker.unfitted();
        let mut books = self.common.books();
        // What it has of a search that a weaker one took over from counts no more.
        let counts = self.common.weakened() == self.weakened;
        books.at_hand[self.number] = WorkerState {
            search: search.filter(|_| counts),
            redundant: if counts { redundant } else { 0 },
            unfitted,
        };
    }

    /// Rests while another worker writes a checkpoint.
    #[cold]
    fn rest(&mut self) {
        let search = self.worker.save();
        self.leave(search);
        self.presence.enter();
    }

    /// Writes a checkpoint, or rests while another worker does.
    #[cold]
    fn keep(&mut self) {
        let search = self.worker.save();
        self.publish(search);
        let (common, hand) = (self.common, self.worker.strategy());
        if !common.keep(|| common.shared(self.number, hand)) {
            self.rest();
        }
    }

    fn leave(&mut self, search: Option<String>) {
        self.publish(search);
        self.presence.leave();
    }

    /// The end: tells the other hands, and leaves.
    fn rest_at_last(mut self) -> (Executor, Done) {
        if self.common.ended().is_some() {
            self.stop();
        }
        let done = Done {
            weakened: self.planned != self.asked,
            untried: self.attempts.is_due() && self.common.keeping.is_none(),
            share: self.share(),
            given_up: self.given_up,
        };
        let keeps = self.common.keeping.is_some();
        let prepares = self.worker.strategy().resumable();
        let prepares = prepares.is_some_and(|search| search.prepares_before_save());
        if keeps && self.attempts.is_due() && !prepares {
            // Who goes on from the checkpoint does not know that it was to be tried again.
            self.tally.departures.lost += 1;
            self.worker.give_up();
        }
        let search = if keeps { self.worker.save() } else { None };
        self.leave(search);
        (self.worker, done)
    }
}
