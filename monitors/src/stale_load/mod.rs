//! Stale loads: loads that, because of store buffers, could return an older value than in any schedule.
//!
//! Source: the definitions of Burckhardt and Musuvathi, Effective Program Verification for Relaxed Memory Models, CAV
//! 2008. All executions under TSO, the memory model of x86, are sequentially consistent if and only if no sequentially
//! consistent execution is *borderline*: it has a load that could return an older value that no schedule explains. So it
//! is enough to examine the executions that the explorer runs anyway.
//!
//! # Stale loads
//!
//! *hb* is program order and the order of operations that do not commute, up to the load itself. *rhb* is hb without the
//! orders that a store buffer relaxes: program order from a store to a later load of the same task, without an operation
//! in between that drains the buffer; and the order from a task's buffered store to its own read of that store. A load of
//! `x` by task `p` is stale-able if there is a store to `x` that
//!
//! - comes before the load's predecessor in `p` by hb: otherwise a schedule has the load before that store;
//! - does not come before the load by rhb: otherwise the machine forbids it, too;
//! - and is followed, in the order of stores to `x`, by no store of `p` itself: a task never reads past its own stores.
//!   An *older* store of `p` does not count: it may wait in the buffer, and the load may read it, although the other store
//!   comes after it (x86's litmus test `n6`).
//!
//! # Decision
//!
//! Both orders contain the order of the stores to `x`, so by either order the stores before the load are a prefix of their
//! list. Hence the last store that is hb-before the load decides. If it is `p`'s own, nothing is stale; otherwise the load
//! is stale-able if and only if that store is not rhb-before it. Each task has three clocks, which count the stores of
//! each task that are hb-before its next operation, rhb-before its next load, and rhb-before its next store. A variable
//! has the clocks of its loads and stores, and the complete list of its stores. Each load costs a binary search in it.
//!
//! # Operations that drain the buffer
//!
//! They are those of x86-TSO, as Rust is compiled for it: `SeqCst` stores (`xchg`), read-modify-writes of any ordering,
//! including a failed compare-exchange (`lock cmpxchg`), and `SeqCst` fences; and operations that consist of these: those
//! of locks, condition variables, channels, barriers and parking, spawn, end and join of tasks, and changes of reference
//! counts. Relaxed and release stores, other fences, yields, sleeps and loads do not drain it. Hence a program whose
//! stores are all `SeqCst` has no findings, whatever its loads are. This holds for x86: on a machine that reorders more,
//! there may be behaviour that is not found here.
//!
//! Accesses to tracked plain memory are loads and stores of the bytes that they touch.
//!
//! # Deviations
//!
//! The paper compares vector timestamps of the last accesses; here the order of all stores is kept, so that the answer is
//! exact. Operations that commute (shares of a lock, changes of a count) are not ordered by each other, as in the
//! explorer's traces.
//!
//! # Blind spots
//!
//! - An older value may do no harm: the warning says that it is possible, not that it is wrong. Values are not compared
//!   either: a load that would read the same value from an older store is reported.
//! - Checks of locks, counts, tasks and one-time initialisations (`is_poisoned`, `strong_count`, `is_finished`,
//!   `is_completed`) are plain loads that order others; they are not reported themselves.
//! - A failed `try_read` or `try_write` may be a plain load in `std`. It is assumed to drain the buffer, like a failed
//!   `try_lock`.
//! - Plain accesses are no schedule points. Where they race with each other, executions of one trace may show
//!   different findings; fix the race first.
//! - The exploration must cover every trace, because an execution that it leaves out may be borderline.
//!
//! Reduction compatible: hb and rhb are the same in all executions of a trace.

mod memory;
mod operation;
mod order;
#[cfg(test)]
mod tests;

use crate::arguments::{self, Argument, SWITCH, switch};
use intermezzo_sdk::{
    Context, DataVarAccess, EventId, Execution, FindingKind, Interests, Monitor, MonitorFinding, SiteId,
    SyncVarAccess, TaskId,
};
use memory::Memory;
use operation::Operation;
use order::{Missed, Place, Tasks};
use std::collections::HashSet;

const NAME: &str = "stale-load";

/// Warns of loads that could read an older value because of a store buffer, such that no schedule explains it.
///
/// ```
/// use intermezzo_monitors::StaleLoads;
///
/// let as_errors = StaleLoads::with_arguments("errors=true");
/// assert!(as_errors.is_ok());
/// ```
#[derive(Debug, Default)]
pub struct StaleLoads {
    /// `true` if a finding is an error, not a warning.
    errors: bool,
    tasks: Tasks,
    memory: Memory,
    /// The pairs that the execution has shown already: the load, by its task and place, and the store.
    told: HashSet<[(TaskId, SiteId); 2]>,
}

const ARGUMENTS: [Argument<StaleLoads>; 1] = [Argument {
    name: "errors",
    values: SWITCH,
    set: |monitor, value| switch(&mut monitor.errors, value),
}];

impl StaleLoads {
    /// Creates a monitor whose findings are warnings.
    pub fn new() -> StaleLoads {
        StaleLoads::default()
    }

    /// Creates the monitor with `key=value` pairs, separated by commas: `errors=true` makes errors of the findings.
    /// No pairs are fine.
    ///
    /// # Errors
    /// If the text is not of that form, or names an unknown key; the message lists the known ones.
    pub fn with_arguments(arguments: &str) -> Result<StaleLoads, String> {
        arguments::with(StaleLoads::new(), NAME, &ARGUMENTS, arguments)
    }

    fn tell(
        &mut self,
        load: Place,
        variable: impl Fn(&Context<'_>) -> String,
        missed: Missed,
        cx: &mut Context<'_>,
    ) {
        let store = missed.store;
        let ends = [(load.event.task, load.site), (store.event.task, store.site)];
        if !self.told.insert(ends) {
            return;
        }
        let (task, place) = (cx.task_name(load.event.task), cx.site_name(load.site));
        let (other, stored) = (cx.task_name(store.event.task), cx.site_name(store.site));
        let message = format!(
            "the load of {} by {task} at {place} may miss the store by {other} at {stored}: store buffers \
             let it return an older value, which no schedule explains",
            variable(cx)
        );
        let between = |own| {
            format!(
                "between the store by {task} at {} and the load at {place}",
                cx.site_name(own)
            )
        };
        let suggestion = match missed.own.map(between) {
            Some(between) if missed.alone => {
                format!("put a SeqCst fence {between}, or make that store SeqCst or a read-modify-write")
            }
            between => format!(
                "make these stores SeqCst or read-modify-writes. Or put a SeqCst fence between the store by {other} at \
                 {stored} and its next load{}; and one in each other task through which {task} learned of that store",
                between
                    .map(|between| format!(", one {between}"))
                    .unwrap_or_default()
            ),
        };
        let report = MonitorFinding::new(FindingKind::StaleLoad, message)
            .events([load.event, store.event])
            .suggest(suggestion);
        cx.report(if self.errors { report } else { report.warning() });
    }
}

impl Monitor for StaleLoads {
    fn name(&self) -> &str {
        NAME
    }

    fn interests(&self) -> Interests {
        Interests::SYNC_ACCESSES | Interests::DATA_ACCESSES
    }

    fn reduction_compatible(&self) -> bool {
        true
    }

    fn on_execution_begin(&mut self, _: &Execution<'_>) {
        self.tasks.clear();
        self.memory.clear();
        self.told.clear();
    }

    fn on_sync_var_access(&mut self, access: &SyncVarAccess, cx: &mut Context<'_>) {
        let place = Place {
            event: access.event,
            site: access.site,
        };
        let operation = Operation::of(access);
        if operation == Operation::Rest {
            return self.tasks.rest(access.event.task);
        }
        let mut task = self.tasks.acting(access.event.task);
        match operation {
            Operation::Nothing | Operation::Rest => {}
            Operation::Drain => task.drain(),
            Operation::Look => {
                if let Some(shared) = self.memory.of_operation(access.op, access.var) {
                    task.look(shared);
                }
            }
            Operation::Load => {
                let shared = self.memory.of_operation(access.op, access.var);
                if let Some(missed) = shared.and_then(|shared| task.load(shared)) {
                    self.tell(place, |cx| cx.var_name(access.var), missed, cx);
                }
            }
            Operation::Store => {
                if let Some(shared) = self.memory.of_operation(access.op, access.var) {
                    task.store(shared, place);
                }
            }
            Operation::Whole { class, stores } => {
                for var in [access.var, access.other_var()] {
                    if let Some(shared) = self.memory.of_operation(access.op, var) {
                        task.whole(shared, class, stores.then_some(place));
                    }
                }
            }
        }
    }

    fn on_data_var_access(&mut self, access: &DataVarAccess, cx: &mut Context<'_>) {
        let EventId { task, .. } = access.after;
        let place = Place {
            event: access.after,
            site: access.site,
        };
        let mut task = self.tasks.acting(task);
        let mut missed = None;
        self.memory.of_data(access, |shared| {
            if access.is_write {
                task.store(shared, place);
            } else {
                missed = missed.or(task.load(shared));
            }
        });
        if let Some(missed) = missed {
            self.tell(place, |cx| cx.location_name(access.location), missed, cx);
        }
    }
}
