//! Operations by names that hold in all executions, and what is taken for granted of them.

use intermezzo_engine::trace::{Key, StableOpId, Trace};
use smallvec::SmallVec;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Names of operations: mostly few.
pub(super) type Names = SmallVec<[StableOpId; 4]>;

/// The names of the last execution's operations, worked out as they are asked for.
#[derive(Default)]
pub(super) struct Named {
    /// By step; `None` of one that nobody asked for.
    of_steps: RefCell<Vec<Option<Option<StableOpId>>>>,
}

impl Named {
    /// There is another execution.
    #[inline(always)]
    pub(super) fn forget(&mut self) {
        self.of_steps.get_mut().clear();
    }

    /// Returns the name of a step.
    pub(super) fn of(&self, trace: &Trace, step: usize) -> Option<StableOpId> {
        let mut of_steps = self.of_steps.borrow_mut();
        if of_steps.len() <= step {
            of_steps.resize(step + 1, None);
        }
        *of_steps[step].get_or_insert_with(|| trace.stable_id(step))
    }

    /// What the operation of this name touches, if there is one.
    pub(super) fn key(&self, trace: &Trace, name: StableOpId) -> Option<Key> {
        let step = trace.step_of(name.task, name.index)?;
        let is_it = self.of(trace, step) == Some(name);
        trace
            .touches(step)
            .first()
            .filter(|_| is_it)
            .map(|touch| touch.key)
    }
}

/// Pairs of operations that are taken to touch different variables, as no execution has shown yet.
///
/// Where that is wrong, an execution shows it. The first of a pair is of a sequence that is still to be tried, and the other
/// of one that is not tried for its own sake, because it would come to be tried after the first: up to the second operation nothing in
/// it depends on the first, so an execution has both, each after what it came after when it was named.
#[derive(Default)]
pub(super) struct AssumedDistinct {
    any: AtomicBool,
    pairs: Mutex<Pairs>,
}

/// Each operation that others are taken not to touch the variable of, and those.
type Pairs = BTreeMap<StableOpId, BTreeSet<StableOpId>>;

impl AssumedDistinct {
    fn lock(&self) -> MutexGuard<'_, Pairs> {
        self.pairs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes an operation and each of these others to touch different variables.
    pub(super) fn assume(&self, one: StableOpId, others: impl IntoIterator<Item = StableOpId>) {
        let mut others = others.into_iter().peekable();
        if others.peek().is_some() {
            self.lock().entry(one).or_default().extend(others);
            self.any.store(true, Relaxed);
        }
    }

    /// Returns `true` if an execution shows nothing else. What it shows need not be taken for granted any more.
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
