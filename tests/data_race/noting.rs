//! A monitor around another one, whose reports are recorded instead of passed on. An exploration without findings is
//! much faster, and runs all executions by itself.

use intermezzo::sdk::{
    Allocation, Context, DataVarAccess, EventId, Execution, Host, Interests, Location, Monitor,
    MonitorFinding, Release, SiteId, SyncVar, SyncVarAccess, TaskId, VectorClock,
};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

/// The reports of each execution: `true` if it ended, and the messages.
pub(crate) type Notes = Arc<Mutex<BTreeSet<(bool, Vec<String>)>>>;

pub(crate) struct Noting<M> {
    inner: M,
    notes: Notes,
    /// The reports of the current execution.
    reports: Vec<MonitorFinding>,
}

impl<M: Monitor> Noting<M> {
    pub(crate) fn new(inner: M, notes: Notes) -> Noting<M> {
        Noting {
            inner,
            notes,
            reports: Vec::new(),
        }
    }

    /// Calls the inner monitor.
    fn call(&mut self, cx: &mut Context<'_>, call: impl FnOnce(&mut M, &mut Context<'_>)) {
        let mut host = Overheard(cx, &mut self.reports);
        call(&mut self.inner, &mut Context::new(&mut host));
    }
}

impl<M: Monitor> Monitor for Noting<M> {
    fn name(&self) -> &str {
        self.inner.name()
    }
    fn interests(&self) -> Interests {
        self.inner.interests()
    }
    fn reduction_compatible(&self) -> bool {
        self.inner.reduction_compatible()
    }
    fn on_execution_begin(&mut self, execution: &Execution<'_>) {
        self.inner.on_execution_begin(execution);
    }
    fn on_sync_var_access(&mut self, access: &SyncVarAccess, cx: &mut Context<'_>) {
        self.call(cx, |inner, cx| inner.on_sync_var_access(access, cx));
    }
    fn on_data_var_access(&mut self, access: &DataVarAccess, cx: &mut Context<'_>) {
        self.call(cx, |inner, cx| inner.on_data_var_access(access, cx));
    }
    fn on_allocation(&mut self, allocation: &Allocation, cx: &mut Context<'_>) {
        self.call(cx, |inner, cx| inner.on_allocation(allocation, cx));
    }
    fn on_release(&mut self, release: &Release, cx: &mut Context<'_>) {
        self.call(cx, |inner, cx| inner.on_release(release, cx));
    }
    fn on_execution_end(&mut self, execution: &Execution<'_>, cx: &mut Context<'_>) {
        self.call(cx, |inner, cx| inner.on_execution_end(execution, cx));
        let messages = self.reports.drain(..).map(|report| report.message).collect();
        self.notes.lock().unwrap().insert((execution.complete, messages));
    }
}

/// The engine without reports.
pub(crate) struct Overheard<'a, 'b>(
    pub(crate) &'a mut Context<'b>,
    pub(crate) &'a mut Vec<MonitorFinding>,
);

impl Host for Overheard<'_, '_> {
    fn report(&mut self, report: MonitorFinding) {
        self.1.push(report);
    }
    fn task_name(&self, task: TaskId) -> String {
        self.0.task_name(task)
    }
    fn var_name(&self, var: SyncVar) -> String {
        self.0.var_name(var)
    }
    fn location_name(&self, location: Location) -> String {
        self.0.location_name(location)
    }
    fn site_name(&self, site: SiteId) -> String {
        self.0.site_name(site)
    }
    fn accesses(&self) -> &[SyncVarAccess] {
        self.0.accesses()
    }
    fn enabled(&self) -> Vec<TaskId> {
        self.0.enabled()
    }
    fn disabled(&self) -> Vec<TaskId> {
        self.0.disabled()
    }
    fn enabled_at(&self, step: usize) -> Option<Vec<TaskId>> {
        self.0.enabled_at(step)
    }
    fn disabled_at(&self, step: usize) -> Option<Vec<TaskId>> {
        self.0.disabled_at(step)
    }
    fn happens_before(&mut self, a: EventId, b: EventId) -> bool {
        self.0.happens_before(a, b)
    }
    fn clock(&mut self, event: EventId) -> Option<&VectorClock> {
        self.0.clock(event)
    }
}
