//! The joins of an execution, and the accesses that they order before a release.

use intermezzo_sdk::{DataVarAccess, EventId, MemoryDeed, MemoryEvent, SyncVarAccess, SyncVarOp, TaskId};

/// The joins of an execution, which are the part of its order that is cheap to compute.
#[derive(Debug, Default)]
pub(super) struct Joins {
    /// Number of visible operations examined.
    seen: usize,
    /// The numbers of visible operations before each creation of a task.
    created: Vec<usize>,
    /// Ends of tasks, each with the number of visible operations before it.
    ends: Vec<(EventId, usize)>,
    /// The task that joins, and the end of the other; and the number of visible operations before the join.
    list: Vec<(TaskId, EventId, usize)>,
}

impl Joins {
    /// Forgets all but this many first operations.
    pub(super) fn go_back_to(&mut self, operations: usize) {
        if operations < self.seen {
            self.seen = operations;
            while self.created.pop_if(|at| *at >= operations).is_some() {}
            while self.ends.pop_if(|(_, at)| *at >= operations).is_some() {}
            while self.list.pop_if(|(.., at)| *at >= operations).is_some() {}
        }
    }

    pub(super) fn look_at(&mut self, events: &[SyncVarAccess]) {
        use SyncVarOp::*;
        self.go_back_to(events.len());
        for (access, at) in events[self.seen..].iter().zip(self.seen..) {
            if matches!(access.op, TaskFork | TaskEnd | TaskJoin) {
                self.add(access, at);
            }
        }
        self.seen = events.len();
    }

    fn add(&mut self, access: &SyncVarAccess, at: usize) {
        match (access.op, access.other_task()) {
            (SyncVarOp::TaskFork, _) => self.created.push(at),
            (SyncVarOp::TaskEnd, _) => self.ends.push((access.event, at)),
            (_, Some(joined)) => {
                let joiner = access.event.task;
                let end = self.ends.iter().find(|(end, _)| end.task == joined);
                // A scope may join again what its handle has joined.
                let knows = |end| self.list.iter().any(|&(by, of, _)| (by, of) == (joiner, end));
                if let Some(&(end, _)) = end
                    && !knows(end)
                {
                    self.list.push((joiner, end, at));
                }
            }
            _ => {}
        }
    }

    /// `true` if the task has joined the other task, after that task's actions that follow this event.
    pub(super) fn order(&self, after: EventId, task: TaskId) -> bool {
        let covers = |&(joiner, end, _): &(TaskId, EventId, usize)| {
            joiner == task && end.task == after.task && end.index > after.index
        };
        self.list.iter().any(covers)
    }

    /// Returns the number of visible operations before the first end of any task, if this is the main task and has
    /// joined all others.
    fn first_end(&self, task: TaskId) -> Option<usize> {
        let main = TaskId(0);
        let by_main = self.list.iter().filter(|(joiner, ..)| *joiner == main);
        // They are joins of different tasks.
        let are_joined = task == main && by_main.count() == self.created.len();
        are_joined.then(|| self.ends.iter().map(|(_, at)| *at).min().unwrap_or(usize::MAX))
    }
}

/// The accesses before the first release. If the tasks that performed them were joined before it, they cannot be part of a
/// finding, and are not kept.
pub(super) struct Early<'a> {
    pub(super) memory: &'a [MemoryEvent],
    /// The task that has joined all others of the tasks that made these accesses.
    pub(super) joiner: Option<TaskId>,
}

impl Early<'_> {
    /// `true` if a task has joined all others that made these accesses, after them.
    pub(super) fn are_before(&mut self, task: TaskId, joins: &mut Joins, events: &[SyncVarAccess]) -> bool {
        if self.joiner != Some(task) {
            joins.look_at(events);
            // An access that comes before the end of any task comes before that of its own.
            let unclear = match joins.first_end(task) {
                Some(first) => {
                    let clear = |event: &MemoryEvent| event.events <= first;
                    let clear = self.memory.iter().rposition(clear);
                    &self.memory[clear.map_or(0, |last| last + 1)..]
                }
                None => self.memory,
            };
            let mut last = None;
            for event in unclear {
                let MemoryDeed::Access(DataVarAccess { after, .. }) = event.what else {
                    continue;
                };
                if last != Some(after) && after.task != task && !joins.order(after, task) {
                    return false;
                }
                last = Some(after);
            }
            self.joiner = Some(task);
        }
        true
    }
}
