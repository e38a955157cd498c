//! What a monitor may ask the engine, and tell it.

use crate::{EventId, Location, Report, SiteId, SyncVar, SyncVarAccess, TaskId, VectorClock};

/// The engine's side of a [`Context`]. Monitors do not implement this; engines and test doubles do.
pub trait Host {
    /// See [`Context::report`].
    fn report(&mut self, report: Report);
    /// See [`Context::task_name`].
    fn task_name(&self, task: TaskId) -> String;
    /// See [`Context::var_name`].
    fn var_name(&self, var: SyncVar) -> String;
    /// See [`Context::location_name`].
    fn location_name(&self, location: Location) -> String;
    /// See [`Context::site_name`].
    fn site_name(&self, site: SiteId) -> String;
    /// See [`Context::accesses`].
    fn accesses(&self) -> &[SyncVarAccess];
    /// See [`Context::enabled`].
    fn enabled(&self) -> Vec<TaskId>;
    /// See [`Context::disabled`].
    fn disabled(&self) -> Vec<TaskId>;
    /// See [`Context::enabled_at`].
    fn enabled_at(&self, step: usize) -> Option<Vec<TaskId>>;
    /// See [`Context::disabled_at`].
    fn disabled_at(&self, step: usize) -> Option<Vec<TaskId>>;
    /// See [`Context::happens_before`].
    fn happens_before(&mut self, a: EventId, b: EventId) -> bool;
    /// See [`Context::clock`].
    fn clock(&mut self, event: EventId) -> Option<&VectorClock>;
}

/// What a monitor may ask the engine, and tell it. Answers are about the moment of the call.
pub struct Context<'a> {
    host: &'a mut dyn Host,
}

impl<'a> Context<'a> {
    /// A context over an engine, or over a test double.
    pub fn new(host: &'a mut dyn Host) -> Self {
        Context { host }
    }

    /// Reports a finding. An error ends the execution's search for more unless the exploration keeps going.
    pub fn report(&mut self, report: Report) {
        self.host.report(report);
    }

    /// Name of a task: `main`, its own name, or who created it and the how-manieth it was.
    pub fn task_name(&self, task: TaskId) -> String {
        self.host.task_name(task)
    }

    /// Name of a variable: its kind, who used it first, and the how-manieth it was.
    pub fn var_name(&self, var: SyncVar) -> String {
        self.host.var_name(var)
    }

    /// Name of a cell or block of memory: what it is, who used it first, and the how-manieth it was.
    pub fn location_name(&self, location: Location) -> String {
        self.host.location_name(location)
    }

    /// `file:line:column` of a source place.
    pub fn site_name(&self, site: SiteId) -> String {
        self.host.site_name(site)
    }

    /// The visible operations of the execution so far, in order. The `n`-th, from 0, is *step* `n`.
    pub fn accesses(&self) -> &[SyncVarAccess] {
        self.host.accesses()
    }

    /// The tasks that could take their next operation at this moment, in order of creation.
    pub fn enabled(&self) -> Vec<TaskId> {
        self.host.enabled()
    }

    /// The tasks that have not ended and could not take their next operation, in order of creation.
    pub fn disabled(&self) -> Vec<TaskId> {
        self.host.disabled()
    }

    /// The tasks that could have taken step `n`. `None` if there was no such step, or if no monitor asked for
    /// [`Interests::ENABLED_SETS`](crate::Interests::ENABLED_SETS).
    pub fn enabled_at(&self, step: usize) -> Option<Vec<TaskId>> {
        self.host.enabled_at(step)
    }

    /// The tasks that had not ended and could not have taken step `n`; `None` as for [`enabled_at`](Self::enabled_at).
    pub fn disabled_at(&self, step: usize) -> Option<Vec<TaskId>> {
        self.host.disabled_at(step)
    }

    /// Whether event `a` comes before event `b` by program order and the order of operations that do not commute
    /// (see [`HappensBefore`](crate::HappensBefore)). Computed when first asked for: who does not ask does not pay.
    pub fn happens_before(&mut self, a: EventId, b: EventId) -> bool {
        self.host.happens_before(a, b)
    }

    /// What the event knows of each task by that order, itself included; `None` if there is no such event.
    pub fn clock(&mut self, event: EventId) -> Option<&VectorClock> {
        self.host.clock(event)
    }
}
