//! Detects whether tasks of executions share an object that the engine sees.

use super::Runtime;
use crate::record::{NO_TASK, Status};
use intermezzo_sdk::SyncVarOp;

impl Runtime {
    /// Notes whether two tasks used one object, in this execution or an earlier one. In a test that was not written for
    /// intermezzo, everything that tasks share is observed, so it is enough that there are several tasks.
    #[inline(always)]
    pub(super) fn note_sharing(&mut self) {
        if !self.record.shares && self.tasks.created() > 1 {
            self.record.shares = self.limits.unmodified || self.is_an_object_shared();
        }
    }

    #[inline(never)]
    fn is_an_object_shared(&self) -> bool {
        let mut users = vec![NO_TASK; self.objects.vars.count()];
        let events = self.record.events.as_slice().iter();
        let events = events.map(|event| (event.task, event.op, event.var));
        // An operation that waits for ever has no event.
        let waiting = self
            .tasks
            .numbers()
            .filter(|&task| self.tasks[task].status != Status::Ended);
        let waiting = waiting.map(|task| {
            let access = self.tasks[task].pending.access;
            (task, access.op, access.var)
        });
        events.chain(waiting).any(|(task, op, var)| {
            let user = users.get_mut(var as usize).filter(|_| is_of_an_object(op));
            user.is_some_and(|user| {
                let before = std::mem::replace(user, task);
                before != NO_TASK && before != task
            })
        })
    }
}

/// Returns `true` if an operation uses an object whose state may be shared. The life of tasks, time and choices are not
/// such objects. Neither are handles of an `Arc`, whose content may not be observed; but reading their number counts.
fn is_of_an_object(op: SyncVarOp) -> bool {
    use SyncVarOp::*;
    !matches!(
        op,
        TaskFork
            | TaskBegin
            | TaskEnd
            | TaskJoin
            | TaskCheck
            | Yield
            | Sleep
            | TimeOut
            | Choice
            | CountUp
            | CountDown
            | Fence
            | Quiesce
    )
}
