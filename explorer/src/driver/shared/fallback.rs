//! The fallback to another search: to a weaker reduction, or to the search within the bound.

use super::{Results, Shared};
use crate::driver::shares;
use crate::settings::{Settings, search};
use intermezzo_engine::strategy::{FallbackReason, SoFar, Strategy};
use intermezzo_engine::trace::SoundReduction;
use std::fmt;
use std::sync::PoisonError;
use std::sync::atomic::Ordering::SeqCst;

/// The use of the bound on preemptions that was requested. Often there are far fewer executions without it than within
/// it, and sometimes far more, so each search has a short time before the first has a long one. If the first search seems far
/// from its end, `Trial` and `Second` are left out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Without the bound, for a short time.
    First,
    /// Within it, for a short time.
    Trial,
    /// Without it again, for a long time.
    Second,
    /// Within it, to the end.
    Bound,
}

impl Stage {
    fn is_within_bound(self) -> bool {
        matches!(self, Stage::Trial | Stage::Bound)
    }
}

/// The cause for which a weaker reduction takes over.
pub(in crate::driver) enum Cause {
    /// The test does something for which no stronger reduction is sound, with the reason in words.
    Test(SoundReduction, String),
    /// The plans of the present search are not reliable. Those of another search of the test may be.
    Plans(FallbackReason),
}

impl Cause {
    /// Returns the strongest reduction that may take over.
    fn sound(&self) -> SoundReduction {
        match self {
            Cause::Test(sound, _) => *sound,
            Cause::Plans(why) => why.sound(),
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::Test(_, reason) => reason.fmt(f),
            Cause::Plans(why) => why.fmt(f),
        }
    }
}

/// The search that took over, if any.
pub(super) struct Fallback {
    /// Its reduction.
    sound: SoundReduction,
    stage: Stage,
    /// `true` if it begins or ends the use of the bound: the traces before it do not count any more.
    forgets_traces: bool,
    /// The reduction that is sound for what the test did, whatever the plans of the search were worth; and the note that
    /// says so.
    sound_for_test: (SoundReduction, Option<String>),
    /// The shares of it that have not been taken yet, by worker.
    pub(super) shares: Vec<Option<Box<dyn Strategy>>>,
}

impl Fallback {
    /// Returns the state before anything takes over from the search of these results.
    pub(super) fn of(settings: &Settings, results: &Results) -> Fallback {
        Fallback {
            sound: results.planned,
            stage: match settings.tries_all_first() {
                true => Stage::First,
                false => Stage::Bound,
            },
            forgets_traces: false,
            sound_for_test: (results.planned, results.gave_way.clone()),
            shares: Vec::new(),
        }
    }

    /// Notes that nothing stronger than the present reduction suits the test, with the note that says why.
    fn suit_test(&mut self, note: &str) {
        self.sound_for_test = (self.sound, Some(note.to_owned()));
    }

    fn enter(&mut self, stage: Stage) {
        self.forgets_traces |= self.stage.is_within_bound() != stage.is_within_bound();
        self.stage = stage;
    }

    /// Returns the search with this reduction. `drawn` is the number of samples that were drawn before.
    fn search(&self, settings: &Settings, drawn: u64) -> Box<dyn Strategy> {
        let allowance = match self.stage {
            Stage::First => Some(search::first_allowance(settings)),
            Stage::Second => Some(search::second_allowance(settings)),
            Stage::Trial | Stage::Bound => None,
        };
        search::weaker(settings, self.sound, allowance, drawn)
    }
}

impl Shared<'_> {
    /// Switches all workers to the reduction that this cause calls for, if it is weaker than the present one. `drawn` is the
    /// number of samples that were drawn.
    #[cold]
    pub(in crate::driver) fn fall_back(&self, cause: &Cause, drawn: u64) {
        let sound = cause.sound();
        let mut weaker = self.weaker.lock().unwrap_or_else(PoisonError::into_inner);
        if sound <= weaker.sound {
            return;
        }
        weaker.sound = sound;
        if sound >= SoundReduction::Caching && !weaker.stage.is_within_bound() {
            // Without the bound there is partial-order reduction only.
            weaker.enter(Stage::Bound);
        }
        let search = weaker.search(self.settings, drawn);
        let note = match search.status(&SoFar::default()).reduction {
            "none" => format!("reduction: none from here on, because {cause}"),
            weaker => format!("reduction: `{weaker}` took over, because {cause}"),
        };
        if let Cause::Test(..) = cause {
            weaker.suit_test(&note);
        }
        self.hand_over(&mut weaker, search, note);
    }

    /// Begins the search within the bound, because the search without it has run out of steps. `completed` is the part that
    /// it seems to have completed. If the new search is a trial, returns its steps: after them, call
    /// [`Shared::end_trial`].
    #[cold]
    pub(in crate::driver) fn keep_to_bound(&self, reason: &str, completed: Option<f64>) -> Option<u64> {
        let mut weaker = self.weaker.lock().unwrap_or_else(PoisonError::into_inner);
        let is_first = weaker.stage == Stage::First;
        let is_trial = is_first && completed.is_none_or(|part| search::second_may_end(self.settings, part));
        weaker.enter(if is_trial { Stage::Trial } else { Stage::Bound });
        weaker.sound = weaker.sound.max(FallbackReason::TooMany.sound());
        let search = weaker.search(self.settings, 0);
        let most = self.settings.preemptions.unwrap_or(u32::MAX);
        let note = format!("preemptions: at most {most} from here on, because {reason}");
        if !is_first {
            weaker.suit_test(&note);
        }
        self.hand_over(&mut weaker, search, note);
        is_trial.then(|| search::steps_of_trial(self.settings))
    }

    /// Begins the search without the bound again, because neither search has ended soon. If the test needs `caching`, the
    /// search within the bound continues to the end.
    #[cold]
    pub(in crate::driver) fn end_trial(&self) {
        let mut weaker = self.weaker.lock().unwrap_or_else(PoisonError::into_inner);
        let (sound, note) = weaker.sound_for_test.clone();
        if sound >= SoundReduction::Caching {
            weaker.enter(Stage::Bound);
            return;
        }
        weaker.enter(Stage::Second);
        weaker.sound = sound;
        let search = weaker.search(self.settings, 0);
        let words = "preemptions: no bound for now, because the test has many executions within it, too";
        self.hand_over(&mut weaker, search, words.to_owned());
        self.books().gave_way = note;
    }

    /// Has this search take over, with a note that says why.
    fn hand_over(&self, weaker: &mut Fallback, search: Box<dyn Strategy>, note: String) {
        self.say(&note);
        weaker.shares = shares(search, self.settings.jobs).into_iter().map(Some).collect();
        let mut books = self.books();
        // A checkpoint describes the current search only.
        (books.planned, books.redundant) = (weaker.sound, 0);
        books.gave_way = Some(note);
        for worker in &mut books.worker_states {
            (worker.search, worker.redundant) = (None, 0);
        }
        // Incremented while the results are locked, so that a worker that publishes its state knows which search it
        // belongs to.
        self.weakened.fetch_add(1, SeqCst);
    }

    /// Returns the search that took over, from its beginning.
    pub(in crate::driver) fn weaker_again(&self) -> Box<dyn Strategy> {
        let weaker = self.weaker.lock().unwrap_or_else(PoisonError::into_inner);
        weaker.search(self.settings, 0)
    }

    /// Forgets that the plans of the search were not reliable, because it is about to restart. Returns the reduction of
    /// the new search.
    pub(in crate::driver) fn forget_plans(&self) -> SoundReduction {
        let mut weaker = self.weaker.lock().unwrap_or_else(PoisonError::into_inner);
        let (sound, note) = weaker.sound_for_test.clone();
        weaker.sound = sound;
        let is_of_test = weaker.stage == Stage::Bound && sound >= SoundReduction::SourceSets;
        if self.settings.tries_all_first() {
            // Plans of the search that has ended may have been the only reason for the bound.
            weaker.stage = match is_of_test || sound >= SoundReduction::Caching {
                true => Stage::Bound,
                false => Stage::First,
            };
        }
        let mut books = self.books();
        (books.planned, books.gave_way) = (sound, note);
        sound
    }

    /// Returns the number of times that a weaker search took over.
    #[inline]
    pub(in crate::driver) fn weakened(&self) -> u32 {
        self.weakened.load(SeqCst)
    }

    /// Returns a worker's share of the weaker search that took over last, with its reduction; `None` if the
    /// worker has taken it already. The last part is `true` if the traces before it do not count any more.
    pub(in crate::driver) fn share_of_weaker(
        &self,
        worker: usize,
    ) -> Option<(SoundReduction, Box<dyn Strategy>, bool)> {
        let mut weaker = self.weaker.lock().unwrap_or_else(PoisonError::into_inner);
        let share = weaker.shares.get_mut(worker)?.take()?;
        let forgets_traces = std::mem::take(&mut weaker.forgets_traces);
        Some((weaker.sound, share, forgets_traces))
    }
}
