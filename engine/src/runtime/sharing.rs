//! Tasks of executions that share something that the engine sees, or nothing.

use super::Runtime;
use crate::record::NO_TASK;
use intermezzo_sdk::SyncVarOp;

impl Runtime {
    /// Returns `true` if two tasks used one object, in this execution or an earlier one. Always `true` for tests that were
    /// not written for intermezzo: what tasks share there is seen.
    #[inline(always)]
    pub(super) fn do_tasks_share(&mut self) -> bool {
        if !self.record.shares && self.tasks.created() > 1 {
            self.record.shares = self.limits.unmodified || self.is_an_object_shared();
        }
        self.record.shares
    }

    #[inline(never)]
    fn is_an_object_shared(&self) -> bool {
        let mut users = vec![NO_TASK; self.objects.vars.count()];
        let mut events = self.record.events.as_slice().iter();
        events.any(|event| {
            let user = users.get_mut(event.var as usize);
            user.filter(|_| is_of_an_object(event.op)).is_some_and(|user| {
                let before = std::mem::replace(user, event.task);
                before != NO_TASK && before != event.task
            })
        })
    }
}

/// Returns `true` if an operation uses an object whose state may be shared. The life of tasks, time, choices and the counts
/// of references are no such objects: tasks that share an `Arc` may share nothing in it that is seen.
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
            | CountRead
            | Fence
            | Quiesce
    )
}
