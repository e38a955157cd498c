//! The preemption bound of a search, and the other data that all its workers share.

use super::Insertion;
use super::names::AssumedDistinct;
use super::node::Node;
use intermezzo_engine::serial::{Deserialize, Serialize};
use intermezzo_engine::strategy::FallbackReason;
use intermezzo_engine::trace::StableOpId;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The note in a report if a part of the search is missing.
pub(super) const LOST: &str =
    "the work that was left according to the checkpoint does not fit what the test does";

/// The maximum number of preemptions in an execution, a mark that is set if anything was left out because of it, and
/// other data that all workers share.
#[derive(Clone)]
pub(super) struct Bound {
    pub(super) most: u32,
    left_out: Arc<AtomicBool>,
    /// `true` if a part of the search is missing, because the loaded checkpoint belongs to another search.
    lost: Arc<AtomicBool>,
    /// `true` if the order of steps that commute mattered in some execution: see `ChoicePoint::order_matters`. Without
    /// a bound, only fairness is considered.
    held_back: Arc<AtomicBool>,
    /// `true` if virtual time passed in some execution.
    time_passed: Arc<AtomicBool>,
    /// The reason why some tree is not reliable, if one is not: see [`Tree::insert`](super::tree::Tree::insert).
    unreliable: Arc<OnceLock<FallbackReason>>,
    /// The assumptions about variables that are first used late.
    pub(super) apart: Arc<AssumedDistinct>,
    /// The lineage of each task number, as far as known.
    lineages: Arc<Mutex<Vec<Option<u64>>>>,
    /// The part of it that this worker has verified.
    sure_of: Vec<Option<u64>>,
}

/// The data that all workers share, to be saved.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct SavedBound {
    left_out: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    fairness: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    time_passed: bool,
    needs_fallback: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unreliable: Option<FallbackReason>,
    lineages: Vec<Option<u64>>,
    apart: Vec<(StableOpId, Vec<StableOpId>)>,
}

impl Bound {
    pub(super) fn new(insertion: Insertion) -> Bound {
        let most = match insertion {
            Insertion::Bounded(most) => most,
            Insertion::SourceSets | Insertion::WakeupTrees => u32::MAX,
        };
        Bound {
            most,
            left_out: Arc::default(),
            lost: Arc::default(),
            held_back: Arc::default(),
            time_passed: Arc::default(),
            unreliable: Arc::default(),
            apart: Arc::default(),
            lineages: Arc::default(),
            sure_of: Vec::new(),
        }
    }

    /// Returns `true` if this alternative may be taken at a step; otherwise notes that it is left out.
    #[inline(always)]
    pub(super) fn allows(&self, node: &Node, alternative: usize) -> bool {
        let allowed = node.preemptions + u32::from(node.preempts && alternative != 0) <= self.most;
        if !allowed {
            self.leave_out();
        }
        allowed
    }

    /// Notes that something is left out.
    pub(super) fn leave_out(&self) {
        self.left_out.store(true, Relaxed);
    }

    /// Notes that the order of steps that commute decides if a task can continue, or what a switch costs: see
    /// `ChoicePoint::order_matters`.
    pub(super) fn note_held_back(&self) {
        self.held_back.store(true, Relaxed);
    }

    /// Returns `true` if the order of steps that commute mattered.
    pub(super) fn has_held_back(&self) -> bool {
        self.held_back.load(Relaxed)
    }

    /// Notes that virtual time passed.
    pub(super) fn note_time_passed(&self) {
        self.time_passed.store(true, Relaxed);
    }

    /// Returns `true` if virtual time passed.
    pub(super) fn has_time_passed(&self) -> bool {
        self.time_passed.load(Relaxed)
    }

    /// Notes that a part of the search is missing.
    pub(super) fn lose(&self) {
        self.lost.store(true, Relaxed);
    }

    /// Returns `true` if a part of the search is missing.
    pub(super) fn has_lost(&self) -> bool {
        self.lost.load(Relaxed)
    }

    /// Notes that a task with this lineage has this number in an execution. If another task has the number in another
    /// execution, trees are not reliable, because they identify tasks by number.
    #[inline]
    pub(super) fn number_is_of(&mut self, number: usize, lineage: u64) {
        if self.sure_of.get(number) != Some(&Some(lineage)) {
            self.make_sure(number, lineage);
        }
    }

    #[cold]
    fn make_sure(&mut self, number: usize, lineage: u64) {
        let mut all = self.lineages.lock().unwrap_or_else(PoisonError::into_inner);
        let known = all.len().max(number + 1);
        all.resize(known, None);
        if *all[number].get_or_insert(lineage) != lineage {
            self.invalidate(FallbackReason::TasksOfOneNumber);
        }
        self.sure_of.clone_from(&all);
    }

    /// Returns the data that all workers share, to be saved.
    pub(super) fn saved(&self) -> SavedBound {
        let lineages = self.lineages.lock().unwrap_or_else(PoisonError::into_inner);
        SavedBound {
            left_out: self.left_out(),
            fairness: self.has_held_back(),
            time_passed: self.has_time_passed(),
            needs_fallback: self.unreliable().is_some(),
            unreliable: self.unreliable(),
            lineages: lineages.clone(),
            apart: self.apart.pairs(),
        }
    }

    /// Restores the saved data.
    pub(super) fn go_on_from(&self, saved: &SavedBound) {
        if saved.left_out {
            self.leave_out();
        }
        if saved.fairness {
            self.note_held_back();
        }
        if saved.time_passed {
            self.note_time_passed();
        }
        if saved.needs_fallback {
            self.invalidate(saved.unreliable.unwrap_or(FallbackReason::CutShort));
        }
        for (one, others) in &saved.apart {
            self.apart.assume(*one, others.iter().copied());
        }
        let mut all = self.lineages.lock().unwrap_or_else(PoisonError::into_inner);
        if all.is_empty() {
            all.clone_from(&saved.lineages);
        }
    }

    /// Notes that some tree is not reliable. The first reason counts.
    pub(super) fn invalidate(&self, why: FallbackReason) {
        let _ = self.unreliable.set(why);
    }

    /// Returns the reason why some tree is not reliable, if one is not.
    #[inline]
    pub(super) fn unreliable(&self) -> Option<FallbackReason> {
        self.unreliable.get().copied()
    }

    /// Returns `true` if anything was left out.
    pub(super) fn left_out(&self) -> bool {
        self.left_out.load(Relaxed)
    }
}
