//! The bound on preemptions of a search, which all its hands share, and what else all have in common.

use super::Insertion;
use super::names::AssumedDistinct;
use super::node::Node;
use intermezzo_engine::trace::StableOpId;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

/// What a report says where some of the search is missing.
pub(super) const LOST: &str =
    "what the checkpoint said was left of the search does not fit what the test does";

/// The number of preemptions an execution may have, and whether anything was left out for having more.
#[derive(Clone)]
pub(super) struct Bound {
    pub(super) most: u32,
    left_out: Arc<AtomicBool>,
    /// `true` if some of the search is missing: it was loaded, and is of something else.
    lost: Arc<AtomicBool>,
    /// `true` if what some tree holds cannot be relied on: see [`Tree::insert`](super::tree::Tree::insert).
    needs_fallback: Arc<AtomicBool>,
    /// What is taken for granted of variables that came into use late.
    pub(super) apart: Arc<AssumedDistinct>,
    /// Which task each number stands for, as far as they were seen; and what this hand has made sure of.
    lineages: Arc<Mutex<Vec<Option<u64>>>>,
    sure_of: Vec<Option<u64>>,
}

/// What all hands have in common, to be saved.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct SavedBound {
    left_out: bool,
    needs_fallback: bool,
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
            needs_fallback: Arc::default(),
            apart: Arc::default(),
            lineages: Arc::default(),
            sure_of: Vec::new(),
        }
    }

    /// Returns `true` if this alternative may be taken at a step; else it is left out.
    #[inline(always)]
    pub(super) fn allows(&self, node: &Node, alternative: usize) -> bool {
        let allowed = node.preemptions + u32::from(node.preempts && alternative != 0) <= self.most;
        if !allowed {
            self.leave_out();
        }
        allowed
    }

    /// Something is left out.
    pub(super) fn leave_out(&self) {
        self.left_out.store(true, Relaxed);
    }

    /// Some of the search is missing.
    pub(super) fn lose(&self) {
        self.lost.store(true, Relaxed);
    }

    /// Returns `true` if some of the search is missing.
    pub(super) fn has_lost(&self) -> bool {
        self.lost.load(Relaxed)
    }

    /// A task has this number in an execution, and this lineage. Where others have the number in other executions, trees
    /// cannot be relied on: they tell tasks by their numbers.
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
            self.needs_fallback.store(true, Relaxed);
        }
        self.sure_of.clone_from(&all);
    }

    /// What all hands have in common, to be saved.
    pub(super) fn saved(&self) -> SavedBound {
        let lineages = self.lineages.lock().unwrap_or_else(PoisonError::into_inner);
        SavedBound {
            left_out: self.left_out(),
            needs_fallback: self.needs_fallback(),
            lineages: lineages.clone(),
            apart: self.apart.pairs(),
        }
    }

    /// Goes on where that was saved.
    pub(super) fn go_on_from(&self, saved: &SavedBound) {
        if saved.left_out {
            self.leave_out();
        }
        if saved.needs_fallback {
            self.invalidate();
        }
        for (one, others) in &saved.apart {
            self.apart.assume(*one, others.iter().copied());
        }
        let mut all = self.lineages.lock().unwrap_or_else(PoisonError::into_inner);
        if all.is_empty() {
            all.clone_from(&saved.lineages);
        }
    }

    /// What some tree holds cannot be relied on.
    pub(super) fn invalidate(&self) {
        self.needs_fallback.store(true, Relaxed);
    }

    /// Returns `true` if what some tree holds cannot be relied on.
    #[inline]
    pub(super) fn needs_fallback(&self) -> bool {
        self.needs_fallback.load(Relaxed)
    }

    /// Returns `true` if anything was left out.
    pub(super) fn left_out(&self) -> bool {
        self.left_out.load(Relaxed)
    }
}
