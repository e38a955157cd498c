//! The past of each task, which shows the stale reads that no other order of the steps leads to.
//!
//! Suppose that a load is stale, and that nothing in its past depends on the newer store. Then the load and its past
//! can be moved before the newer store, which gives the same execution graph with one stale read less. A search that
//! explores each order of dependent steps reaches that execution anyway. So it needs only those stale reads at which
//! all newer stores are in the load's past, in the order of the trace.
//!
//! A store that takes its place before newer ones is left out in fewer cases: only if the last operation on its
//! variable is one of these newer stores, and is not in its past. It must not be moved past loads, which would then
//! read a store that is not the newest.
//!
//! The past is known for tasks that have only used atomics, cloned handles, created tasks and joined them. After any
//! other operation, and after reading what such a task wrote, everything counts as past, and nothing is left out. The
//! past depends on the trace alone, so executions of one trace are offered the same stores.

use intermezzo_sdk::{Class, EventId, SyncVar, SyncVarAccess, SyncVarOp, TaskId, VectorClock};

/// The events that come before the next operation of each task, whatever the order of steps that commute.
#[derive(Default)]
pub(super) struct Past {
    /// `true` if reference counts are visible to other tasks; otherwise traces are without them.
    counts: bool,
    tasks: Vec<Reach>,
    /// For each variable the accesses of each class.
    vars: Vec<[Reach; Class::ALL.len()]>,
}

/// Events, with everything that comes before them.
#[derive(Clone, Default)]
struct Reach {
    clock: VectorClock,
    /// `true` if there are events among them whose past is not known.
    has_unknown: bool,
}

impl Reach {
    fn join(&mut self, other: &Reach) {
        self.clock.join(&other.clock);
        self.has_unknown |= other.has_unknown;
    }

    fn clear(&mut self) {
        self.clock.clear();
        self.has_unknown = false;
    }
}

impl Past {
    pub(super) fn new(counts: bool) -> Past {
        Past {
            counts,
            ..Past::default()
        }
    }

    /// Begins an execution.
    pub(super) fn begin(&mut self) {
        self.tasks.iter_mut().for_each(Reach::clear);
        self.vars.iter_mut().flatten().for_each(Reach::clear);
    }

    /// Returns `true` if the event comes before the next operation of the task in every order of the trace, or may do
    /// so.
    pub(super) fn has(&self, task: TaskId, event: EventId) -> bool {
        let reach = self.tasks.get(task.index());
        event.task == task || reach.is_some_and(|reach| reach.has_unknown || reach.clock.knows(event))
    }

    /// Notes that the task's past is not known from now on.
    pub(super) fn forget(&mut self, task: TaskId) {
        self.task(task).has_unknown = true;
    }

    /// Notes the next event of the execution.
    pub(super) fn observe(&mut self, event: &SyncVarAccess) {
        use SyncVarOp::*;
        let EventId { task, index } = event.event;
        self.task(task).clock.set(task, index);
        match (event.op, event.other_task()) {
            (AtomicLoad | AtomicRmwFailed | AtomicStore | AtomicRmw, _) => self.access(event),
            (CountUp, _) if self.counts => self.access(event),
            (CountRead | CountDown, _) if self.counts => {
                self.access(event);
                self.forget(task);
            }
            (TaskFork, Some(child)) => self.pass_on(task, child),
            (TaskJoin, Some(child)) => self.pass_on(child, task),
            (TaskBegin | TaskEnd | Fence | Choice, _) => {}
            // Under a memory model calls of operations and their returns commute with everything.
            (OperationCall | OperationReturn, _) if event.var == SyncVar::NONE => {}
            _ => self.forget(task),
        }
    }

    /// Adds an access to a variable, after those that it does not commute with.
    fn access(&mut self, event: &SyncVarAccess) {
        let Some(class) = Class::of(event.op, false).filter(|_| event.var != SyncVar::NONE) else {
            return;
        };
        if self.vars.len() <= event.var.index() {
            self.vars.resize_with(event.var.index() + 1, Default::default);
        }
        let (tasks, vars) = (&mut self.tasks, &mut self.vars[event.var.index()]);
        let task = &mut tasks[event.event.task.index()];
        for (accesses, other) in vars.iter().zip(Class::ALL) {
            if !class.commutes(other) {
                task.join(accesses);
            }
        }
        vars[class as usize].join(task);
    }

    fn pass_on(&mut self, from: TaskId, to: TaskId) {
        let from = self.task(from).clone();
        self.task(to).join(&from);
    }

    fn task(&mut self, task: TaskId) -> &mut Reach {
        if self.tasks.len() <= task.index() {
            self.tasks.resize_with(task.index() + 1, Reach::default);
        }
        &mut self.tasks[task.index()]
    }
}
