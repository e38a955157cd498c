//! The questions a monitor may ask the engine, and its reports.

use crate::{
    Choice, EventId, EventStatus, Location, MonitorFinding, SiteId, SyncVar, SyncVarAccess, SyncVarOps,
    TaskId, VectorClock,
};

/// The engine's side of a [`Context`]. Monitors do not implement this; engines and test doubles do.
pub trait Host {
    /// See [`Context::report`].
    fn report(&mut self, report: MonitorFinding);
    /// See [`Context::task_name`].
    fn task_name(&self, task: TaskId) -> String;
    /// See [`Context::var_name`].
    fn var_name(&self, var: SyncVar) -> String;
    /// See [`Context::source_name`].
    fn source_name(&self, _: SyncVar) -> String {
        String::new()
    }
    /// See [`Context::given_name`].
    fn given_name(&self, _: SyncVar) -> Option<String> {
        None
    }
    /// See [`Context::var_kind`].
    fn var_kind(&self, _: SyncVar) -> String {
        String::new()
    }
    /// See [`Context::made_at`].
    fn made_at(&self, _: SyncVar) -> String {
        String::new()
    }
    /// See [`Context::location_name`].
    fn location_name(&self, location: Location) -> String;
    /// See [`Context::is_held_by_static`].
    fn is_held_by_static(&self, _: Location) -> bool {
        false
    }
    /// See [`Context::site_name`].
    fn site_name(&self, site: SiteId) -> String;
    /// See [`Context::accesses`].
    fn accesses(&self) -> &[SyncVarAccess];
    /// See [`Context::ops`].
    fn ops(&self) -> SyncVarOps {
        self.accesses().iter().map(|access| access.op).collect()
    }
    /// See [`Context::enabled`].
    fn enabled(&self) -> Vec<TaskId>;
    /// See [`Context::disabled`].
    fn disabled(&self) -> Vec<TaskId>;
    /// See [`Context::enabled_at`].
    fn enabled_at(&self, step: usize) -> Option<Vec<TaskId>>;
    /// See [`Context::disabled_at`].
    fn disabled_at(&self, step: usize) -> Option<Vec<TaskId>>;
    /// See [`Context::held_back_at`].
    fn held_back_at(&self, _: usize) -> Option<Vec<TaskId>> {
        None
    }
    /// See [`Context::point_of`].
    fn point_of(&self, _: EventId) -> Option<usize> {
        None
    }
    /// See [`Context::status`].
    fn status(&self, _: EventId) -> Option<EventStatus> {
        None
    }
    /// See [`Context::prescribed`].
    fn prescribed(&self) -> Vec<Choice> {
        Vec::new()
    }
    /// See [`Context::happens_before`].
    fn happens_before(&mut self, a: EventId, b: EventId) -> bool;
    /// See [`Context::clock`].
    fn clock(&mut self, event: EventId) -> Option<&VectorClock>;
}

/// A monitor's access to the engine: to ask questions, and to report. Answers are about the moment of the call.
pub struct Context<'a> {
    host: &'a mut dyn Host,
}

impl<'a> Context<'a> {
    /// Creates a context over an engine, or over a test double.
    pub fn new(host: &'a mut dyn Host) -> Self {
        Context { host }
    }

    /// Reports a finding. An error ends the execution's search for more unless the exploration keeps going.
    pub fn report(&mut self, report: MonitorFinding) {
        self.host.report(report);
    }

    /// Returns the name of a task: `main`, its own name, or its creator and its index among the tasks that it
    /// created.
    pub fn task_name(&self, task: TaskId) -> String {
        self.host.task_name(task)
    }

    /// Returns the name of a variable: its kind, the task that used it first, and its index among the variables which
    /// that task used first.
    pub fn var_name(&self, var: SyncVar) -> String {
        self.host.var_name(var)
    }

    /// Returns the name that the test's author gave a variable: by `intermezzo::name`, or else in the source, as far as
    /// the operations so far show it. Empty if there is none, or if the source was not found. Two variables may have the
    /// same name; [`var_name`](Self::var_name) distinguishes them, and reports show the author's name in its place.
    ///
    /// The source is read when the first monitor asks. At the end of an execution all operations are known, and the name
    /// is the one that a finding shows, except for the numbers of elements, of objects and of equal names.
    pub fn source_name(&self, var: SyncVar) -> String {
        self.host.source_name(var)
    }

    /// Returns the name that the test gave a variable by `intermezzo::name`. For recorders that belong to the explorer.
    #[doc(hidden)]
    pub fn given_name(&self, var: SyncVar) -> Option<String> {
        self.host.given_name(var)
    }

    /// Returns the kind of a variable, as reports call it: `mutex`, `atomic`, `count` for the reference counts of an
    /// `Arc`. Empty if there is no such variable.
    pub fn var_kind(&self, var: SyncVar) -> String {
        self.host.var_kind(var)
    }

    /// Returns the place where a variable is made, as `file:line:column`, if the source shows that in a `let` or in a
    /// static. Otherwise the place of its first use. Empty if that is not known either.
    pub fn made_at(&self, var: SyncVar) -> String {
        self.host.made_at(var)
    }

    /// Returns the name of a cell or block of memory: its kind, the task that used it first, and its index among
    /// those which that task used first.
    pub fn location_name(&self, location: Location) -> String {
        self.host.location_name(location)
    }

    /// Returns `true` if a static holds this memory when the execution ends. Such memory is not released, and it is no
    /// leak, because statics live until the process ends. `false` before `on_execution_end`, and in executions that are
    /// not complete.
    ///
    /// ```
    /// # mod intermezzo { pub mod sdk { pub use intermezzo_sdk::*; } }
    /// use intermezzo::sdk::{Context, Location};
    ///
    /// // At the end of the execution: memory that a static holds is no leak.
    /// fn leaked<'a>(left: &'a [Location], cx: &'a Context<'_>) -> impl Iterator<Item = &'a Location> {
    ///     left.iter().filter(|location| !cx.is_held_by_static(**location))
    /// }
    /// ```
    pub fn is_held_by_static(&self, location: Location) -> bool {
        self.host.is_held_by_static(location)
    }

    /// Returns a source place as `file:line:column`.
    pub fn site_name(&self, site: SiteId) -> String {
        self.host.site_name(site)
    }

    /// Returns the visible operations of the execution so far, in order. The `n`-th, from 0, is *step* `n`.
    pub fn accesses(&self) -> &[SyncVarAccess] {
        self.host.accesses()
    }

    /// Returns the kinds of the visible operations of the execution so far. If they do not
    /// include the kinds that a monitor looks for, it need not call [`accesses`](Self::accesses).
    pub fn ops(&self) -> SyncVarOps {
        self.host.ops()
    }

    /// Returns the tasks that could take their next operation at this moment, in order of creation.
    pub fn enabled(&self) -> Vec<TaskId> {
        self.host.enabled()
    }

    /// Returns the tasks that have not ended and could not take their next operation, in order of creation.
    pub fn disabled(&self) -> Vec<TaskId> {
        self.host.disabled()
    }

    /// Returns the tasks that could have taken step `n`, whatever fairness says. `None` if there was no such step, or if
    /// no monitor asked for [`Interests::ENABLED_SETS`](crate::Interests::ENABLED_SETS).
    pub fn enabled_at(&self, step: usize) -> Option<Vec<TaskId>> {
        self.host.enabled_at(step)
    }

    /// Returns the tasks that had not ended and could not have taken step `n`; `None` as for
    /// [`enabled_at`](Self::enabled_at).
    pub fn disabled_at(&self, step: usize) -> Option<Vec<TaskId>> {
        self.host.disabled_at(step)
    }

    /// Returns those of [`enabled_at`](Self::enabled_at) that fairness held back: they had yielded, and gave way to tasks
    /// that they starved. The search could choose among the others of `enabled_at`, and among tasks whose wait may time out
    /// early. Empty at a step before which nothing was decided; `None` as for `enabled_at`.
    pub fn held_back_at(&self, step: usize) -> Option<Vec<TaskId>> {
        self.host.held_back_at(step)
    }

    /// Returns the number of the schedule point right before an event, from 1 in each execution. `None` if the event has
    /// not happened or has no schedule point of its own, or if no monitor asked for
    /// [`Interests::ENABLED_SETS`](crate::Interests::ENABLED_SETS).
    pub fn point_of(&self, event: EventId) -> Option<usize> {
        self.host.point_of(event)
    }

    /// Returns the status of an event at this moment: it has happened, or is the next of its task. `None` if it is
    /// neither.
    pub fn status(&self, event: EventId) -> Option<EventStatus> {
        self.host.status(event)
    }

    /// Returns the choices with which the execution began: the search prescribed them, and was asked about those that
    /// follow. There are as many as [`Execution::prescribed`](crate::Execution::prescribed) says.
    pub fn prescribed(&self) -> Vec<Choice> {
        self.host.prescribed()
    }

    /// `true` if event `a` comes before event `b` by program order and the order of operations that do not commute
    /// (see [`HappensBefore`](crate::HappensBefore)). The order is computed on the first question, so a monitor that
    /// does not ask does not pay for it.
    pub fn happens_before(&mut self, a: EventId, b: EventId) -> bool {
        self.host.happens_before(a, b)
    }

    /// Returns what the event knows of each task by that order, itself included; `None` if there is no such event.
    pub fn clock(&mut self, event: EventId) -> Option<&VectorClock> {
        self.host.clock(event)
    }
}
