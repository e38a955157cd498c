//! The fallback to another search: to a weaker reduction, or to the search within the bound.

use super::{Results, Shared};
use crate::driver::shares;
use crate::settings::{Settings, search};
use intermezzo_engine::strategy::{FallbackReason, SoFar, Strategy};
use intermezzo_engine::trace::SoundReduction;
use std::sync::PoisonError;
use std::sync::atomic::Ordering::SeqCst;

/// The search that took over, if any.
pub(super) struct Fallback {
    /// Its reduction.
    sound: SoundReduction,
    /// `true` if it keeps to the bound on preemptions that was asked for. The first search may begin without it.
    within_bound: bool,
    /// `true` if it is the first that does: the traces beyond the bound do not count any more.
    begins_bound: bool,
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
            within_bound: !settings.tries_all_first(),
            begins_bound: false,
            sound_for_test: (results.planned, results.gave_way.clone()),
            shares: Vec::new(),
        }
    }

    fn keep_to_bound_if(&mut self, condition: bool) {
        self.begins_bound |= condition && !self.within_bound;
        self.within_bound |= condition;
    }
}

impl Shared<'_> {
    /// Switches all workers to a weaker reduction, because the test does something for which the current one is not
    /// sound; or because of the plans of the search, if `by_plans`.
    #[cold]
    pub(in crate::driver) fn fall_back(
        &self,
        sound: SoundReduction,
        drawn: u64,
        reason: String,
        by_plans: bool,
    ) {
        let mut weaker = self.weaker.lock().unwrap_or_else(PoisonError::into_inner);
        if sound <= weaker.sound {
            return;
        }
        weaker.sound = sound;
        // Without the bound there is partial-order reduction only.
        weaker.keep_to_bound_if(sound >= SoundReduction::Caching);
        let search = search::weaker(self.settings, sound, weaker.within_bound, drawn);
        let note = match search.status(&SoFar::default()).reduction {
            "none" => format!("reduction: none from here on, because {reason}"),
            weaker => format!("reduction: `{weaker}` took over, because {reason}"),
        };
        self.hand_over(&mut weaker, search, note, by_plans);
    }

    /// Begins the search within the bound, because the search without it does not end soon.
    #[cold]
    pub(in crate::driver) fn keep_to_bound(&self, reason: &str) {
        let mut weaker = self.weaker.lock().unwrap_or_else(PoisonError::into_inner);
        weaker.keep_to_bound_if(true);
        weaker.sound = weaker.sound.max(FallbackReason::TooMany.sound());
        let search = search::weaker(self.settings, weaker.sound, true, 0);
        let most = self.settings.preemptions.unwrap_or(u32::MAX);
        let note = format!("preemptions: at most {most} from here on, because {reason}");
        self.hand_over(&mut weaker, search, note, false);
    }

    /// Has this search take over, with a note that says why.
    fn hand_over(&self, weaker: &mut Fallback, search: Box<dyn Strategy>, note: String, by_plans: bool) {
        self.say(&note);
        weaker.shares = shares(search, self.settings.jobs).into_iter().map(Some).collect();
        if !by_plans {
            weaker.sound_for_test = (weaker.sound, Some(note.clone()));
        }
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

    /// Returns `true` if the search keeps to the bound on preemptions that was asked for.
    pub(in crate::driver) fn is_within_bound(&self) -> bool {
        self.weaker
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .within_bound
    }

    /// Forgets that the plans of the search were not reliable, because it is about to restart. Returns the reduction of
    /// the new search.
    pub(in crate::driver) fn forget_plans(&self) -> SoundReduction {
        let mut weaker = self.weaker.lock().unwrap_or_else(PoisonError::into_inner);
        let (sound, note) = weaker.sound_for_test.clone();
        weaker.sound = sound;
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
    /// worker has taken it already. The last part is `true` if the search is the first within the bound.
    pub(in crate::driver) fn share_of_weaker(
        &self,
        worker: usize,
    ) -> Option<(SoundReduction, Box<dyn Strategy>, bool)> {
        let mut weaker = self.weaker.lock().unwrap_or_else(PoisonError::into_inner);
        let share = weaker.shares.get_mut(worker)?.take()?;
        let begins_bound = std::mem::take(&mut weaker.begins_bound);
        Some((weaker.sound, share, begins_bound))
    }
}
