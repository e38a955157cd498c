//! The contract: what the engine tells a monitor, and what a monitor may ask and say.

use crate::{EventId, FindingKind, Location, MemoryOrder, SiteId, SyncVar, SyncVarOp, TaskId};
use std::ops::BitOr;

/// Which callbacks a monitor wants. The engine pays for nothing else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interests(u8);

impl Interests {
    /// Beginning, end and shutdown only: these always come.
    pub const NONE: Interests = Interests(0);
    /// `on_schedule_point`
    pub const SCHEDULE_POINTS: Interests = Interests(1);
    /// `on_sync_var_access`
    pub const SYNC_ACCESSES: Interests = Interests(2);
    /// `on_data_var_access`
    pub const DATA_ACCESSES: Interests = Interests(4);
    /// `on_user_event`
    pub const USER_EVENTS: Interests = Interests(8);
    /// Everything.
    pub const ALL: Interests = Interests(15);

    /// Whether any of `other` is wanted.
    pub fn intersects(self, other: Interests) -> bool {
        self.0 & other.0 != 0
    }
}

impl BitOr for Interests {
    type Output = Interests;
    fn bitor(self, other: Interests) -> Interests {
        Interests(self.0 | other.0)
    }
}

/// Why there is a schedule point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointKind {
    /// A visible operation comes next.
    Access,
    /// A value is about to be chosen.
    Choice,
}

/// The place right before a visible operation, once it is settled that it comes next.
#[derive(Clone, Copy, Debug)]
pub struct SchedulePoint {
    /// Why the point is there.
    pub kind: PointKind,
    /// The event that comes next.
    pub event: EventId,
    /// The variable of the operation, or `SyncVar::NONE`.
    pub var: SyncVar,
    /// The operation.
    pub op: SyncVarOp,
    /// Where in the source it is.
    pub site: SiteId,
}

/// A visible operation that has happened.
#[derive(Clone, Copy, Debug)]
pub struct SyncVarAccess {
    /// Which event it was.
    pub event: EventId,
    /// The variable, or `SyncVar::NONE`.
    pub var: SyncVar,
    /// What it did.
    pub op: SyncVarOp,
    /// The ordering, for atomics and fences.
    pub order: MemoryOrder,
    /// The value read, as bits; 0 where nothing was. For `TaskFork` and `TaskJoin`, the other task.
    pub read: u64,
    /// The value written, as bits; 0 where nothing was.
    pub written: u64,
    /// Where in the source it is.
    pub site: SiteId,
}

/// An access to tracked plain memory.
#[derive(Clone, Copy, Debug)]
pub struct DataVarAccess {
    /// The last visible operation of the same task: the access follows it in program order.
    pub after: EventId,
    /// What was accessed.
    pub location: Location,
    /// Bytes accessed.
    pub size: u32,
    /// Whether it was written.
    pub is_write: bool,
    /// Where in the source it is.
    pub site: SiteId,
}

/// Something the test said.
#[derive(Clone, Copy, Debug)]
pub struct UserEvent<'a> {
    /// The last visible operation of the same task.
    pub after: EventId,
    /// The text.
    pub text: &'a str,
}

/// An execution, at its beginning or end.
#[derive(Clone, Copy, Debug)]
pub struct Execution<'a> {
    /// The how-manieth of the exploration, from 1.
    pub number: u64,
    /// What happened in it so far, in order. Empty at the beginning.
    pub accesses: &'a [SyncVarAccess],
    /// Whether every task came to its end. False at the beginning.
    pub complete: bool,
}

/// What a monitor reports.
#[derive(Clone, Debug)]
pub struct Report {
    /// The kind of finding.
    pub kind: FindingKind,
    /// What happened, for people.
    pub message: String,
    /// The events concerned, most telling first.
    pub events: Vec<EventId>,
}

/// The engine's side of a [`Context`]. Monitors do not implement this; engines and test doubles do.
pub trait Host {
    /// Takes a finding.
    fn report(&mut self, report: Report);
    /// Name of a task: `main`, its own name, or who created it and the how-manieth it was.
    fn task_name(&self, task: TaskId) -> String;
    /// Name of a variable: its kind, who used it first, and the how-manieth it was.
    fn var_name(&self, var: SyncVar) -> String;
    /// `file:line:column` of a source place.
    fn site_name(&self, site: SiteId) -> String;
    /// The tasks that could take their next operation at this moment, in order of creation.
    fn enabled(&self) -> Vec<TaskId>;
}

/// What a monitor may ask the engine, and tell it.
pub struct Context<'a> {
    host: &'a mut dyn Host,
}

impl<'a> Context<'a> {
    /// A context over an engine, or over a test double.
    pub fn new(host: &'a mut dyn Host) -> Self {
        Context { host }
    }

    /// Reports a finding about the events given, most telling first.
    pub fn report(&mut self, kind: FindingKind, message: String, events: &[EventId]) {
        self.host.report(Report {
            kind,
            message,
            events: events.to_vec(),
        });
    }

    /// Name of a task: `main`, its own name, or who created it and the how-manieth it was.
    pub fn task_name(&self, task: TaskId) -> String {
        self.host.task_name(task)
    }

    /// Name of a variable: its kind, who used it first, and the how-manieth it was.
    pub fn var_name(&self, var: SyncVar) -> String {
        self.host.var_name(var)
    }

    /// `file:line:column` of a source place.
    pub fn site_name(&self, site: SiteId) -> String {
        self.host.site_name(site)
    }

    /// The tasks that could take their next operation at this moment, in order of creation.
    pub fn enabled(&self) -> Vec<TaskId> {
        self.host.enabled()
    }
}

/// A listener on executions.
///
/// Calls are sequential: a monitor never sees two at once. All callbacks have an empty default.
#[allow(unused_variables)]
pub trait Monitor: Send {
    /// The monitor's name in reports.
    fn name(&self) -> &str;

    /// Which callbacks it wants. Asked once, before the first execution.
    fn interests(&self) -> Interests;

    /// Whether its verdict is the same on every execution of one trace, so that reductions hide
    /// nothing from it.
    fn reduction_compatible(&self) -> bool;

    /// An execution begins.
    fn on_execution_begin(&mut self, execution: &Execution<'_>) {}

    /// Right before a visible operation, once it is settled that it comes next.
    fn on_schedule_point(&mut self, next: &SchedulePoint, cx: &mut Context<'_>) {}

    /// Right after a visible operation.
    fn on_sync_var_access(&mut self, access: &SyncVarAccess, cx: &mut Context<'_>) {}

    /// At an access to tracked plain memory.
    fn on_data_var_access(&mut self, access: &DataVarAccess, cx: &mut Context<'_>) {}

    /// The test said something.
    fn on_user_event(&mut self, event: &UserEvent<'_>, cx: &mut Context<'_>) {}

    /// An execution is over, complete or not.
    fn on_execution_end(&mut self, execution: &Execution<'_>, cx: &mut Context<'_>) {}

    /// The whole exploration is over: time for statistics.
    fn on_shutdown(&mut self, cx: &mut Context<'_>) {}
}
