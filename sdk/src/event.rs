//! The events that monitors receive.

use crate::{EventId, Location, MemoryOrder, SiteId, SyncVar, SyncVarOp, TaskId};

/// The reason for a schedule point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum PointKind {
    /// A visible operation comes next.
    Access = 0,
    /// A value is about to be chosen.
    Choice = 1,
}

/// A schedule point: the moment right before a visible operation at which another task could be chosen, after the
/// operation was chosen to come next. Operations whose order with those of other tasks cannot be observed have none.
#[derive(Clone, Copy, Debug)]
pub struct SchedulePoint {
    /// The reason for the point.
    pub kind: PointKind,
    /// The event that comes next.
    pub event: EventId,
    /// The variable of the operation, or `SyncVar::NONE`.
    pub var: SyncVar,
    /// The operation.
    pub op: SyncVarOp,
    /// The source place of the operation.
    pub site: SiteId,
}

/// A visible operation that has happened.
///
/// The meaning of `read` and `written` depends on the operation. Values that are not in this table are 0:
///
/// | operation | `read` | `written` |
/// |---|---|---|
/// | atomics | the value read, as bits | the value written, as bits |
/// | `AtomicRmwFailed` | the value read, as bits | 1 if a weak exchange failed although the value was the expected one |
/// | `TaskFork`, `TaskJoin` | the other task's number | |
/// | `TaskCheck`, `OnceCheck`, `PoisonCheck` | 1 if the task has ended, the initialisation is complete, or the lock is poisoned | |
/// | `OnceEnd` | | 1 if it is complete, 0 if it panicked |
/// | `CondvarWait` | | the number of the mutex released, a `SyncVar` |
/// | `CondvarWake`, `Park` | 1 if no other task caused it | |
/// | `ChannelSend` | (rendezvous) the message that the receiver has taken; (bounded) the message whose removal made room | the number of the message, from 1 in each channel; 0 if no receiver is left |
/// | `ChannelReceive` | the number of the message; 0 if no sender is left | (rendezvous) 1 if no message arrived: the receiver only begins or stops waiting |
/// | `ChannelClose` | (receiver) how many messages are dropped with it: the last that were sent | 1 if it was the receiver, 0 for a sender |
/// | `BarrierArrive`, `BarrierPass` | the round of the barrier, from 1 | |
/// | `CountUp`, `CountDown`, `CountRead` | the count before | the count after |
/// | `Choice` | the value chosen | |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyncVarAccess {
    /// The event.
    pub event: EventId,
    /// The variable, or `SyncVar::NONE`.
    pub var: SyncVar,
    /// The operation.
    pub op: SyncVarOp,
    /// The ordering, for atomics and fences. It is `Acquire` for a `CountRead` that found its handle to be the only
    /// one, and so gives access to the value.
    pub order: MemoryOrder,
    /// The value read, see above.
    pub read: u64,
    /// The value written, see above.
    pub written: u64,
    /// The source place of the operation.
    pub site: SiteId,
    /// Under a memory model, the number of the store to the variable that an operation on an atomic reads, or makes if
    /// it reads nothing. The events that store have the numbers from 2 on, in their order, which need not be the order
    /// in which the stores are read. Number 1 is the value that was there before. 0 for all other operations, and
    /// without a memory model: then the last store is read.
    pub store: u32,
}

impl SyncVarAccess {
    /// Returns the other task of a `TaskFork` or `TaskJoin`.
    pub fn other_task(&self) -> Option<TaskId> {
        let about_another = matches!(self.op, SyncVarOp::TaskFork | SyncVarOp::TaskJoin);
        about_another.then_some(TaskId(self.read as u32))
    }

    /// Returns the second variable of an operation that works on two at once: the mutex that a `CondvarWait`
    /// releases. `SyncVar::NONE` for all others.
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
    /// The offset in the location at which the access begins, in bytes.
    pub offset: u32,
    /// Bytes accessed.
    pub size: u32,
    /// `true` if the access is a write.
    pub is_write: bool,
    /// `true` if a pointer was obtained at `site`. With `is_write`, the memory was written through that pointer before the
    /// task's next event; otherwise the access counts as a read.
    pub by_pointer: bool,
    /// `true` if it is a write because the memory is freed.
    pub frees: bool,
    /// The ordering of an access that is atomic; `None` for a plain one.
    pub order: MemoryOrder,
    /// The variable whose own memory this is: that of an atomic that is accessed plainly, for example by `get_mut`.
    /// Otherwise `SyncVar::NONE`.
    pub var: SyncVar,
    /// The source place of the access.
    pub site: SiteId,
}

impl DataVarAccess {
    /// Returns the name of the kind of access: `read`, `write`, `get pointer`, `write by pointer`, `free`.
    pub fn name(&self) -> &'static str {
        match (self.is_write, self.by_pointer) {
            _ if self.frees => "free",
            (false, false) => "read",
            (false, true) => "get pointer",
            (true, false) => "write",
            (true, true) => "write by pointer",
        }
    }

    /// `true` if the two accesses have a byte in common, and one of them writes it.
    pub fn conflicts(&self, other: &DataVarAccess) -> bool {
        let end = |access: &DataVarAccess| u64::from(access.offset) + u64::from(access.size);
        self.location == other.location
            && (self.is_write || other.is_write)
            && u64::from(self.offset) < end(other)
            && u64::from(other.offset) < end(self)
    }
}

/// An event of an execution's plain memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryEvent {
    /// Number of visible operations before it, of all tasks.
    pub events: usize,
    /// The event itself.
    pub what: MemoryDeed,
}

/// The kinds of [`MemoryEvent`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryDeed {
    /// An access, as [`Monitor::on_data_var_access`](crate::Monitor::on_data_var_access) receives it.
    Access(DataVarAccess),
    /// An allocation, as [`Monitor::on_allocation`](crate::Monitor::on_allocation) receives it.
    Allocation(Allocation),
    /// A release, as [`Monitor::on_release`](crate::Monitor::on_release) receives it.
    Release(Release),
}

/// The kind of a block of tracked memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
#[non_exhaustive]
pub enum BlockKind {
    /// Memory obtained from the allocator.
    Heap = 0,
    /// The contents of an `Arc`: released when no share is left.
    Shared = 1,
    /// A value that is tracked by itself.
    Value = 2,
}

/// The allocation of a block of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// The last visible operation of the same task.
    pub after: EventId,
    /// The block. No other block of the execution has the same location, not even one that has its address later.
    pub location: Location,
    /// The kind of block.
    pub kind: BlockKind,
    /// Bytes.
    pub size: u64,
    /// The variable of the counts, if it is shared and a step has used them; otherwise `SyncVar::NONE`.
    pub var: SyncVar,
    /// The source place of the allocation.
    pub site: SiteId,
}

/// The release of a block of memory. Each release by the test is an event. A second one is a double free; it does no
/// damage, and the execution continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Release {
    /// The last visible operation of the same task.
    pub after: EventId,
    /// The block, or a cell that is dropped.
    pub location: Location,
    /// The source place of the release.
    pub site: SiteId,
}

/// A message from the test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserEvent<'a> {
    /// The last visible operation of the same task.
    pub after: EventId,
    /// The text.
    pub text: &'a str,
}

impl<'a> UserEvent<'a> {
    /// The text with which a test begins a block that is meant to be atomic; the block's name follows.
    pub const BLOCK_BEGINS: &'static str = "atomic begin ";
    /// The text with which a test ends the block that began last.
    pub const BLOCK_ENDS: &'static str = "atomic end";

    /// Returns the name of the block that begins here, if one does.
    pub fn begins_block(&self) -> Option<&'a str> {
        self.text.strip_prefix(Self::BLOCK_BEGINS)
    }

    /// `true` if the task's innermost open block ends here.
    pub fn ends_block(&self) -> bool {
        self.text == Self::BLOCK_ENDS
    }
}

/// A named attribute of an event. The engine attaches these, and the test may attach its own:
///
/// | name | value |
/// |---|---|
/// | `status` | `blocked`: the task wanted this operation, and cannot continue; `preempted`: it could, and another task continues |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventAttribute<'a> {
    /// The event. For the engine's own attributes, the event that the task takes next.
    pub event: EventId,
    /// The attribute.
    pub name: &'a str,
    /// Its value.
    pub value: &'a str,
}

/// The status of an event at some moment of its execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
#[non_exhaustive]
pub enum EventStatus {
    /// The operation has happened.
    Committed = 1,
    /// It has happened in a round of a loop that changed nothing, so searches ignore it. Known when the round is over.
    Redundant = 2,
    /// It is the task's next operation, and the task waits.
    Blocked = 3,
    /// It is the task's next operation, which is possible, and the task was preempted right before it.
    Preempted = 4,
    /// It is the task's next operation, which is possible, and the task was not preempted.
    Ready = 5,
}

impl EventStatus {
    /// Every status, in the order of their numbers, from 1.
    pub const ALL: [EventStatus; 5] = {
        use EventStatus::*;
        [Committed, Redundant, Blocked, Preempted, Ready]
    };
}

/// An execution, at its beginning or end.
#[derive(Clone, Copy, Debug)]
pub struct Execution<'a> {
    /// The execution's number in the exploration, from 1.
    pub number: u64,
    /// The visible operations so far, in order. Empty at the beginning. At the end of a livelock, the last rounds of its
    /// loops are left out, because their number depends on other threads of the process;
    /// [`Context::accesses`](crate::Context::accesses) contains them.
    pub accesses: &'a [SyncVarAccess],
    /// `true` if every task ended. `false` at the beginning.
    pub complete: bool,
    /// The number of choices that are prescribed; the search is asked about those that follow. They repeat the beginning
    /// of an earlier execution, with another last choice if the search is systematic.
    /// [`Context::prescribed`](crate::Context::prescribed) lists them.
    pub prescribed: u64,
    /// The number of the first of them that were the same in the previous execution of the same worker. Up to there this
    /// execution repeats that one. 0 if that is not known.
    pub repeated: u64,
}
