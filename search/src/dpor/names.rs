//! Stable identities of operations, which are the same in all executions, and assumptions about them.

use super::analysis_limit::AnalysisLimit;
use intermezzo_engine::trace::{Key, StableOpId, Trace};
use smallvec::SmallVec;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Stable identities of operations; usually there are few.
pub(super) type Names = SmallVec<[StableOpId; 4]>;

/// The stable identities of the last execution's operations, computed on demand.
#[derive(Default)]
pub(super) struct Named {
    /// The identities by step; `None` for a step whose identity was not requested.
    of_steps: RefCell<Vec<Option<Option<StableOpId>>>>,
    /// Finding an identity takes time that grows with the step's number. Once the analysis has ended early, none is
    /// found.
    pub(super) analysis_limit: AnalysisLimit,
}

impl Named {
    /// Forgets the identities, because there is another execution.
    #[inline(always)]
    pub(super) fn forget(&mut self) {
        self.of_steps.get_mut().clear();
    }

    /// Returns the stable identity of a step.
    pub(super) fn of(&self, trace: &Trace, step: usize) -> Option<StableOpId> {
        let mut of_steps = self.of_steps.borrow_mut();
        if of_steps.len() <= step {
            of_steps.resize(step + 1, None);
        }
        *of_steps[step].get_or_insert_with(|| match self.analysis_limit.ends_after(step) {
            true => None,
            false => trace.stable_id(step),
        })
    }

    /// Returns the key that the operation with this identity accesses, if the execution has it.
    pub(super) fn key(&self, trace: &Trace, name: StableOpId) -> Option<Key> {
        let step = trace.step_of(name.task, name.index)?;
        let is_it = self.of(trace, step) == Some(name);
        trace
            .footprint(step)
            .first()
            .filter(|_| is_it)
            .map(|access| access.key)
    }
}

/// Pairs of operations that are assumed to access different variables, until an execution confirms it.
///
/// The first operation belongs to a sequence still to be explored; the second to a sequence dropped because the first
/// one covers it. Nothing before the second operation depends on the first, so some execution will contain both with
/// the same causal past, and will show it if the assumption is wrong.
#[derive(Default)]
pub(super) struct AssumedDistinct {
    any: AtomicBool,
    pairs: Mutex<Pairs>,
}

/// For each operation, those that are assumed not to access its variable.
type Pairs = BTreeMap<StableOpId, BTreeSet<StableOpId>>;

impl AssumedDistinct {
    fn lock(&self) -> MutexGuard<'_, Pairs> {
        self.pairs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Assumes that an operation and each of these others access different variables.
    pub(super) fn assume(&self, one: StableOpId, others: impl IntoIterator<Item = StableOpId>) {
        let mut others = others.into_iter().peekable();
        if others.peek().is_some() {
            self.lock().entry(one).or_default().extend(others);
            self.any.store(true, Relaxed);
        }
    }

    /// Returns `true` if an execution contradicts no assumption. Assumptions that it confirms are dropped.
    #[inline(always)]
    pub(super) fn holds(&self, trace: &Trace, named: &Named) -> bool {
        !self.any.load(Relaxed) || self.each_holds(trace, named)
    }

    #[inline(never)]
    fn each_holds(&self, trace: &Trace, named: &Named) -> bool {
        let mut pairs = self.lock();
        let mut holds = true;
        pairs.retain(|one, others| {
            if let Some(key) = named.key(trace, *one) {
                others.retain(|other| {
                    let shown = named.key(trace, *other);
                    holds &= shown != Some(key);
                    shown.is_none()
                });
            }
            !others.is_empty()
        });
        self.any.store(!pairs.is_empty(), Relaxed);
        holds
    }

    /// Returns all pairs, in order.
    pub(super) fn pairs(&self) -> Vec<(StableOpId, Vec<StableOpId>)> {
        let pairs = self.lock();
        let pairs = pairs
            .iter()
            .map(|(one, others)| (*one, others.iter().copied().collect()));
        pairs.collect()
    }
}
