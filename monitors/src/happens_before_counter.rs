//! The number of different executions, up to the order of operations that do not conflict.
//!
//! **Source.** Musuvathi & Qadeer, *Partial-order reduction for context-bounded state exploration* (MSR-TR-2007-12), count
//! executions by their happens-before graphs; the fingerprints are our own.
//!
//! **What is computed.** For each complete execution, the happens-before order of [`Context::clock`]: the vector clock of
//! each event, with its operation and the chosen values. Tasks are identified by their creator and the creating event, and
//! variables are left out, so a class depends on no name or number of an execution. Two hashes of 64 bits each
//! distinguish classes.
//!
//! **Differs** from `traces` of the report: that order also orders operations that write and commute nevertheless (shared
//! locks, reference counts, tokens of `park`, passing a barrier), and each of their orders is a class. So without actions
//! of the environment there are at least as many classes as traces, and equally many if the test has no such operations.
//! Actions of the environment make different traces, and are not seen here.
//!
//! **Reduction compatible** in that it has no verdict: it reports a summary at the end, as a warning. Its purpose is
//! to measure reductions, which are not switched off for it.

use crate::arguments;
use intermezzo_sdk::{
    Context, Execution, FindingKind, Interests, Monitor, MonitorFinding, SyncVarOp, TaskId, VectorClock,
};
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

const NAME: &str = "happens-before-counter";

/// Counts the happens-before classes of complete executions. See the [module](self).
#[derive(Debug, Default)]
pub struct HappensBeforeCounter {
    classes: HashSet<(u64, u64)>,
    counts: Counts,
}

/// The counts of a [`HappensBeforeCounter`] so far. They can be read while the engine owns the monitor.
#[derive(Clone, Debug, Default)]
pub struct Counts(Arc<Mutex<(u64, u64)>>);

impl Counts {
    /// Returns the number of complete executions.
    pub fn executions(&self) -> u64 {
        self.both().0
    }

    /// Returns the number of classes of complete executions.
    pub fn classes(&self) -> u64 {
        self.both().1
    }

    fn both(&self) -> (u64, u64) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HappensBeforeCounter {
    /// Creates a counter with counts of 0.
    pub fn new() -> HappensBeforeCounter {
        HappensBeforeCounter::default()
    }

    /// Creates the monitor. It takes no arguments.
    ///
    /// # Errors
    /// If there are any.
    pub fn with_arguments(arguments: &str) -> Result<HappensBeforeCounter, String> {
        arguments::with(HappensBeforeCounter::new(), NAME, &[], arguments)
    }

    /// Returns a handle on the counts, now and later.
    pub fn counts(&self) -> Counts {
        self.counts.clone()
    }
}

/// Returns the rank of each task in the order of creators and creating events.
fn ranks(execution: &Execution<'_>) -> Vec<usize> {
    let tasks = execution
        .accesses
        .iter()
        .map(|access| access.event.task.index() + 1)
        .max();
    let mut lineages: Vec<Vec<u32>> = vec![Vec::new(); tasks.unwrap_or(0)];
    for access in execution.accesses {
        if access.op == SyncVarOp::TaskFork
            && let Some(child) = access.other_task()
            && child.index() < lineages.len()
        {
            let mut lineage = lineages[access.event.task.index()].clone();
            lineage.push(access.event.index);
            lineages[child.index()] = lineage;
        }
    }
    let mut order: Vec<usize> = (0..lineages.len()).collect();
    order.sort_by(|a, b| lineages[*a].cmp(&lineages[*b]));
    let mut ranks = vec![0; order.len()];
    for (rank, task) in order.into_iter().enumerate() {
        ranks[task] = rank;
    }
    ranks
}

/// Returns the happens-before order of an execution, as two numbers.
fn fingerprint(execution: &Execution<'_>, cx: &mut Context<'_>) -> (u64, u64) {
    let ranks = ranks(execution);
    let rank = |task: TaskId| ranks.get(task.index()).copied().unwrap_or(usize::MAX);
    let nothing = VectorClock::new();
    let mut events: Vec<_> = execution.accesses.iter().collect();
    events.sort_by_key(|access| (rank(access.event.task), access.event.index));
    // The second hash starts from another state.
    let mut hashers = [DefaultHasher::new(), DefaultHasher::new()];
    1_u8.hash(&mut hashers[1]);
    for access in events {
        let clock = cx.clock(access.event).unwrap_or(&nothing);
        let mut known: Vec<(usize, u32)> = clock
            .iter()
            .map(|event| (rank(event.task), event.index))
            .collect();
        known.sort_unstable();
        let chosen = (access.op == SyncVarOp::Choice).then_some(access.read);
        for hasher in &mut hashers {
            (rank(access.event.task), access.op, access.order, chosen, &known).hash(hasher);
        }
    }
    (hashers[0].finish(), hashers[1].finish())
}

impl Monitor for HappensBeforeCounter {
    fn name(&self) -> &str {
        NAME
    }

    fn interests(&self) -> Interests {
        Interests::NONE
    }

    fn reduction_compatible(&self) -> bool {
        true
    }

    fn on_execution_end(&mut self, execution: &Execution<'_>, cx: &mut Context<'_>) {
        if execution.complete {
            self.classes.insert(fingerprint(execution, cx));
            let mut counts = self.counts.0.lock().unwrap_or_else(PoisonError::into_inner);
            *counts = (counts.0 + 1, self.classes.len() as u64);
        }
    }

    fn on_shutdown(&mut self, cx: &mut Context<'_>) {
        let message = format!(
            "complete executions: {}, happens-before classes: {} (at least as many as the report's traces, which do not order \
             operations that write and commute, such as ends of `Arc`)",
            self.counts.executions(),
            self.counts.classes()
        );
        cx.report(MonitorFinding::new(FindingKind::Plugin(NAME.into()), message).warning());
    }
}
