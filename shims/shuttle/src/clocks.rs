//! The clocks of the tasks of the execution that runs on this thread: what comes before the next event of each.
//!
//! A monitor keeps them up to date, by the happens-before order of C11 and Rust. It is attached if the feature
//! `vector-clocks` is on; without it all clocks are empty, and nothing is kept.
//!
//! An event of a task is a visible operation. Its beginning and its end are none, nor is a yield or a random number.

use crate::clock::VectorClock;
use crate::state;
use crate::task_id::TaskId;
use intermezzo::sdk::{
    self, Context, Execution, Interests, Monitor, SyncVarAccess, SyncVarOp, Synchronisation,
};
use std::cell::RefCell;

/// `true` if tasks have clocks.
pub(crate) const ARE_KEPT: bool = cfg!(feature = "vector-clocks");

thread_local! {
    static KNOWN: RefCell<Synchronisation<sdk::VectorClock>> = RefCell::default();
}

fn number(task: TaskId) -> sdk::TaskId {
    sdk::TaskId(task.0 as u32)
}

/// Forgets the last execution.
pub(crate) fn begin() {
    if ARE_KEPT {
        KNOWN.with_borrow_mut(Synchronisation::forget);
    }
}

/// Returns the clock of a task.
pub(crate) fn of(task: TaskId) -> VectorClock {
    if !ARE_KEPT {
        return VectorClock::new();
    }
    let mut clock = KNOWN.with_borrow_mut(|known| VectorClock::from(known.known(number(task)).as_slice()));
    clock.extend(task);
    clock
}

/// Returns the clock of the calling task after its next event.
pub(crate) fn of_next_event() -> VectorClock {
    let Some(task) = state::task().filter(|_| ARE_KEPT) else {
        return VectorClock::new();
    };
    let mut clock = of(task);
    clock.increment(task);
    clock
}

/// Lets the next event of the calling task come after everything that comes before this clock.
pub(crate) fn come_after(clock: &VectorClock) {
    let Some(task) = state::task().filter(|_| ARE_KEPT) else {
        return;
    };
    let more: sdk::VectorClock = clock.time.iter().copied().collect();
    KNOWN.with_borrow_mut(|known| known.known(number(task)).join(&more));
}

/// Listens to the operations of executions.
pub(crate) struct Listener;

impl Monitor for Listener {
    fn name(&self) -> &str {
        "vector-clocks"
    }

    fn interests(&self) -> Interests {
        Interests::SYNC_ACCESSES
    }

    fn reduction_compatible(&self) -> bool {
        true
    }

    fn follows_stale_reads(&self) -> bool {
        true
    }

    fn on_execution_begin(&mut self, _: &Execution<'_>) {
        begin();
    }

    fn on_sync_var_access(&mut self, access: &SyncVarAccess, _: &mut Context<'_>) {
        let task = access.event.task;
        let is_event = !matches!(
            access.op,
            SyncVarOp::TaskBegin
                | SyncVarOp::TaskEnd
                | SyncVarOp::Yield
                | SyncVarOp::SchedulePoint
                | SyncVarOp::Choice
        );
        KNOWN.with_borrow_mut(|known| {
            if is_event {
                let own = known.known(task);
                own.set(task, own.get(task) + 1);
            }
            // The end of a channel brings nothing: no message was sent.
            if access.op != SyncVarOp::ChannelClose {
                known.observe(access);
            }
        });
    }
}
