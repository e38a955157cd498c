//! What monitors are told.

use crate::{EventId, Location, MemoryOrder, SiteId, SyncVar, SyncVarOp, TaskId};

/// Why there is a schedule point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum PointKind {
    /// A visible operation comes next.
    Access = 0,
    /// A value is about to be chosen.
    Choice = 1,
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
///
/// What `read` and `written` hold depends on the operation; both are 0 where nothing is said here:
///
/// | operation | `read` | `written` |
/// |---|---|---|
/// | atomics | the value read, as bits | the value written, as bits |
/// | `TaskFork`, `TaskJoin` | the other task's number | |
/// | `TaskCheck`, `OnceCheck`, `PoisonCheck` | 1 if it is so | |
/// | `OnceEnd` | | 1 if it is complete, 0 if it panicked |
/// | `CondvarWait` | | the number of the mutex released, a `SyncVar` |
/// | `CondvarWake`, `Park` | 1 if nobody caused it | |
/// | `ChannelSend` | (rendezvous) the message that the receiver has taken | the number of the message, from 1 in each channel; 0 if nobody is left to receive it |
/// | `ChannelReceive` | the number of the message; 0 if nobody is left to send one | (rendezvous) 1 if none came: the receiver only says that it waits, or no longer does |
/// | `ChannelClose` | (receiver) how many messages are dropped with it: the last that were sent | 1 if it was the receiver, 0 for a sender |
/// | `BarrierArrive`, `BarrierPass` | the round of the barrier, from 1 | |
/// | `CountUp`, `CountDown`, `CountRead` | the count before | the count after |
/// | `Choice` | the value chosen | |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyncVarAccess {
    /// Which event it was.
    pub event: EventId,
    /// The variable, or `SyncVar::NONE`.
    pub var: SyncVar,
    /// What it did.
    pub op: SyncVarOp,
    /// The ordering, for atomics and fences; `Acquire` of a `CountRead` that found its handle to be the only one, and
    /// gives the value out because of it.
    pub order: MemoryOrder,
    /// What was read, see above.
    pub read: u64,
    /// What was written, see above.
    pub written: u64,
    /// Where in the source it is.
    pub site: SiteId,
}

impl SyncVarAccess {
    /// The other task, of a `TaskFork` or `TaskJoin`.
    pub fn other_task(&self) -> Option<TaskId> {
        let about_another = matches!(self.op, SyncVarOp::TaskFork | SyncVarOp::TaskJoin);
        about_another.then_some(TaskId(self.read as u32))
    }

    /// The second variable of an operation that works on two at once: the mutex that a `CondvarWait` releases.
    /// `SyncVar::NONE` for all others.
    pub fn other_var(&self) -> SyncVar {
        match self.op {
            SyncVarOp::CondvarWait => SyncVar(self.written as u32),
            _ => SyncVar::NONE,
        }
    }
}

/// An access to tracked plain memory, about to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataVarAccess {
    /// The last visible operation of the same task: the access follows it in program order.
    pub after: EventId,
    /// The cell, or the block of memory, in which the memory accessed lies.
    pub location: Location,
    /// Where in it the access begins, in bytes.
    pub offset: u32,
    /// Bytes accessed.
    pub size: u32,
    /// Whether it was written.
    pub is_write: bool,
    /// Whether a pointer was asked for at `site`. If `is_write`, it was written by that pointer, before the task's next
    /// event; else it counts as a read.
    pub by_pointer: bool,
    /// The ordering of an access that is atomic; `None` for a plain one.
    pub order: MemoryOrder,
    /// The variable whose own memory this is: of an atomic that is accessed plainly, by `get_mut` say. Else
    /// `SyncVar::NONE`.
    pub var: SyncVar,
    /// Where in the source it is.
    pub site: SiteId,
}

impl DataVarAccess {
    /// What it does, as events are called: `read`, `write`, `get pointer`, `write by pointer`.
    pub fn name(&self) -> &'static str {
        match (self.is_write, self.by_pointer) {
            (false, false) => "read",
            (false, true) => "get pointer",
            (true, false) => "write",
            (true, true) => "write by pointer",
        }
    }

    /// Whether the two touch a byte in common, and one of them writes it.
    pub fn conflicts(&self, other: &DataVarAccess) -> bool {
        let end = |access: &DataVarAccess| u64::from(access.offset) + u64::from(access.size);
        self.location == other.location
            && (self.is_write || other.is_write)
            && u64::from(self.offset) < end(other)
            && u64::from(other.offset) < end(self)
    }
}

/// Something that an execution does with plain memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryEvent {
    /// Number of visible operations before it, of all tasks.
    pub events: usize,
    /// What happens.
    pub what: MemoryDeed,
}

/// The kinds of [`MemoryEvent`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryDeed {
    /// What [`Monitor::on_data_var_access`](crate::Monitor::on_data_var_access) is told.
    Access(DataVarAccess),
    /// What [`Monitor::on_allocation`](crate::Monitor::on_allocation) is told.
    Allocation(Allocation),
    /// What [`Monitor::on_release`](crate::Monitor::on_release) is told.
    Release(Release),
}

/// What a block of tracked memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
#[non_exhaustive]
pub enum BlockKind {
    /// Memory asked of the allocator.
    Heap = 0,
    /// What an `Arc` holds: given back when no share is left.
    Shared = 1,
    /// A value that is tracked by itself.
    Value = 2,
}

/// Memory begins to be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// The last visible operation of the same task.
    pub after: EventId,
    /// The block: no other of the execution has the same location, not even one that has its address later.
    pub location: Location,
    /// What it is.
    pub kind: BlockKind,
    /// Bytes.
    pub size: u64,
    /// The variable of the counts, if it is shared; else `SyncVar::NONE`.
    pub var: SyncVar,
    /// Where in the source it is.
    pub site: SiteId,
}

/// Memory is given back. Told each time that the test does so: more than once is a double free, after which the
/// execution goes on unharmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Release {
    /// The last visible operation of the same task.
    pub after: EventId,
    /// The block, or a cell that is dropped.
    pub location: Location,
    /// Where in the source it is.
    pub site: SiteId,
}

/// Something the test said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserEvent<'a> {
    /// The last visible operation of the same task.
    pub after: EventId,
    /// The text.
    pub text: &'a str,
}

impl<'a> UserEvent<'a> {
    /// What a test says where a block begins that is meant to be atomic: this, and the block's name.
    pub const BLOCK_BEGINS: &'static str = "atomic begin ";
    /// What it says where the block ends that began last.
    pub const BLOCK_ENDS: &'static str = "atomic end";

    /// The name of the block that begins here, if one does.
    pub fn begins_block(&self) -> Option<&'a str> {
        self.text.strip_prefix(Self::BLOCK_BEGINS)
    }

    /// Whether the block ends here that the task began last.
    pub fn ends_block(&self) -> bool {
        self.text == Self::BLOCK_ENDS
    }
}

/// Something about an event, by name. The engine tells of these, and of whatever the test attaches:
///
/// | name | value |
/// |---|---|
/// | `status` | `blocked`: the task wanted this operation, and cannot go on; `preempted`: it could, and another goes on |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventAttribute<'a> {
    /// The event: for the engine's own, the one that the task takes next.
    pub event: EventId,
    /// The attribute.
    pub name: &'a str,
    /// Its value.
    pub value: &'a str,
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
