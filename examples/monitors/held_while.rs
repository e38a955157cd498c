//! The monitor `held-while`: reports a task that holds one lock while it uses another variable, both given by name. With
//! `registry,epoch`, no task may hold `registry` while touching `epoch`.
//!
//! Blind spots: shares of reader-writer locks do not count as held, and a variable counts only if it has a name in the
//! source or by `intermezzo::name`.

use intermezzo_sdk::{
    Context, EventId, Execution, FindingKind, Interests, Monitor, MonitorFinding, SyncVar, SyncVarAccess, SyncVarOp,
    TaskId,
};

struct HeldWhile {
    lock: String,
    touched: String,
    /// The locks that tasks hold, with the events that took them.
    held: Vec<(TaskId, SyncVar, EventId)>,
    /// The locks that were held at an operation on another variable, and that operation; of equal ones the first.
    uses: Vec<((SyncVar, EventId), (SyncVar, EventId))>,
}

intermezzo_sdk::export_monitor!(|arguments| match arguments.split_once(',') {
    Some((lock, touched)) => Ok(HeldWhile {
        lock: lock.into(),
        touched: touched.into(),
        held: Vec::new(),
        uses: Vec::new(),
    }),
    None => Err(format!("`{arguments}`: give two names, as in `registry,epoch`")),
});

impl Monitor for HeldWhile {
    fn name(&self) -> &str {
        "held-while"
    }

    fn interests(&self) -> Interests {
        Interests::SYNC_ACCESSES
    }

    // A task's own operations come in the same order in every execution of a trace.
    fn reduction_compatible(&self) -> bool {
        true
    }

    fn on_execution_begin(&mut self, _: &Execution<'_>) {
        self.held.clear();
        self.uses.clear();
    }

    fn on_sync_var_access(&mut self, access: &SyncVarAccess, _: &mut Context<'_>) {
        let task = access.event.task;
        for (_, lock, taken) in self.held.iter().filter(|(holder, ..)| *holder == task) {
            let is_known = |((known, _), (touched, _)): &_| (known, touched) == (lock, &access.var);
            if *lock != access.var && !self.uses.iter().any(is_known) {
                self.uses.push(((*lock, *taken), (access.var, access.event)));
            }
        }
        // A wait for a condition variable releases its mutex.
        let released = match access.op {
            SyncVarOp::LockRelease => access.var,
            _ => access.other_var(),
        };
        self.held.retain(|(holder, lock, _)| (*holder, *lock) != (task, released));
        if matches!(access.op, SyncVarOp::LockAcquire | SyncVarOp::LockTryAcquire) {
            self.held.push((task, access.var, access.event));
        }
    }

    // By now, the operations have shown all the names that they can.
    fn on_execution_end(&mut self, _: &Execution<'_>, cx: &mut Context<'_>) {
        for ((lock, taken), (touched, event)) in std::mem::take(&mut self.uses) {
            if cx.source_name(lock) == self.lock && cx.source_name(touched) == self.touched {
                let message = format!(
                    "{} holds {} while touching {}",
                    cx.task_name(event.task),
                    cx.var_name(lock),
                    cx.var_name(touched),
                );
                let report = MonitorFinding::new(FindingKind::Plugin("held-while".into()), message);
                cx.report(report.events([taken, event]).suggest("release the lock before"));
            }
        }
    }
}
