//! The data that crosses the line, and its conversions from and to the Rust vocabulary.

use crate::{
    Allocation, BlockKind, Choice, ChoiceKind, DataVarAccess, EventAttribute, EventId, EventStatus,
    Execution, Location, MemoryOrder, PointKind, Release, SchedulePoint, Severity, SiteId, SyncVar,
    SyncVarAccess, SyncVarOp, UserEvent,
};
use std::ffi::c_char;

/// Text in UTF-8. It need not end with a zero byte.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Text {
    /// The first byte; null for no text at all.
    pub bytes: *const c_char,
    /// The length in bytes.
    pub length: usize,
}

/// A visible operation that has happened. The meaning of `read` and `written` depends on the operation. Values that are
/// not in this list are 0:
///
/// - atomics: the values read and written, as bits
/// - `TASK_FORK`, `TASK_JOIN`: `read` is the other task's number
/// - `TASK_CHECK`, `ONCE_CHECK`, `POISON_CHECK`: `read` is 1 if the task has ended, the initialisation is complete, or the
///   lock is poisoned
/// - `ONCE_END`: `written` is 1 if it is complete, 0 if it panicked
/// - `CONDVAR_WAIT`: `written` is the number of the mutex released, a variable
/// - `CONDVAR_WAKE`, `PARK`: `read` is 1 if no other task caused it
/// - `CHANNEL_SEND`: `written` is the number of the message, from 1 in each channel, or 0 if no receiver is left; for a
///   rendezvous channel, `read` is the message that the receiver has taken
/// - `CHANNEL_RECEIVE`: `read` is the number of the message, or 0 if no sender is left; for a rendezvous channel,
///   `written` is 1 if no message arrived: the receiver only begins or stops waiting
/// - `CHANNEL_CLOSE`: `written` is 1 if it was the receiver, 0 for a sender
/// - `BARRIER_ARRIVE`, `BARRIER_PASS`: `read` is the round of the barrier, from 1
/// - `COUNT_UP`, `COUNT_DOWN`, `COUNT_READ`: the counts before and after
/// - `CHOICE`: `read` is the value chosen
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct SyncAccess {
    /// Bytes of this struct.
    pub size: u32,
    /// The operation: a `SyncVarOp`.
    pub op: u32,
    /// The ordering, for atomics and fences: a `MemoryOrder`.
    pub order: u32,
    /// The variable, or `UINT32_MAX` for none.
    pub var: SyncVar,
    /// The event.
    pub event: EventId,
    /// The source place of the operation.
    pub site: SiteId,
    /// Under a memory model, the number of the store to the variable that an operation on an atomic reads, or makes if it
    /// reads nothing. The events that store have the numbers from 2 on, in their order, which need not be the order in which
    /// the stores are read. Number 1 is the value that was there before. 0 for all other operations, and without a memory
    /// model: then the last store is read.
    pub store: u32,
    /// The value read.
    pub read: u64,
    /// The value written.
    pub written: u64,
}

/// The place right before a visible operation at which another task could be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Point {
    /// Bytes of this struct.
    pub size: u32,
    /// The reason for the point: a `PointKind`.
    pub kind: u32,
    /// The operation: a `SyncVarOp`.
    pub op: u32,
    /// The variable of the operation, or `UINT32_MAX` for none.
    pub var: SyncVar,
    /// The event that comes next.
    pub event: EventId,
    /// The source place of the operation.
    pub site: SiteId,
}

/// The value of [`DataAccess::is_write`] for an access by a pointer.
const BY_POINTER: u32 = 2;

/// The value of [`DataAccess::is_write`] for memory that is freed.
const FREES: u32 = 3;

/// An access to tracked plain memory, about to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct DataAccess {
    /// Bytes of this struct.
    pub size: u32,
    /// The offset in the location at which the access begins, in bytes.
    pub offset: u32,
    /// Bytes accessed.
    pub bytes: u32,
    /// 1 for a write; 2 for a write through a pointer that was obtained at `site`, at some time before the task's next
    /// event; 3 if the memory is freed. Otherwise 0.
    pub is_write: u32,
    /// The ordering of an access that is atomic: a `MemoryOrder`; `None` for a plain one.
    pub order: u32,
    /// The cell, or the block of memory, in which the memory accessed lies.
    pub location: Location,
    /// The variable whose own memory this is: that of an atomic that is accessed plainly. Otherwise `UINT32_MAX`.
    pub var: SyncVar,
    /// The source place of the access.
    pub site: SiteId,
    /// The last visible operation of the same task: the access follows it in program order.
    pub after: EventId,
}

/// The allocation of a block of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Allocated {
    /// Bytes of this struct.
    pub size: u32,
    /// The kind of block: a `BlockKind`.
    pub kind: u32,
    /// The last visible operation of the same task.
    pub after: EventId,
    /// The block: no other of the execution has the same location.
    pub location: Location,
    /// The variable of the counts, if it is shared; otherwise `UINT32_MAX`.
    pub var: SyncVar,
    /// The source place of the allocation.
    pub site: SiteId,
    /// 0.
    pub reserved: u32,
    /// Bytes allocated.
    pub bytes: u64,
}

/// The release of memory, or the drop of a cell. A second release is a double free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Released {
    /// Bytes of this struct.
    pub size: u32,
    /// The block, or a cell that is dropped.
    pub location: Location,
    /// The last visible operation of the same task.
    pub after: EventId,
    /// The source place of the release.
    pub site: SiteId,
}

/// A named attribute of an event. The engine's own: `status` is `blocked` if the task wanted its next operation and
/// cannot continue, `preempted` if it could and another task continues.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Attribute {
    /// Bytes of this struct.
    pub size: u32,
    /// 0.
    pub reserved: u32,
    /// The event. For the engine's own attributes, the event that the task takes next.
    pub event: EventId,
    /// The attribute.
    pub name: Text,
    /// Its value.
    pub value: Text,
}

/// A message from the test. `atomic begin NAME` and `atomic end` are around blocks that are meant to be atomic.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Said {
    /// Bytes of this struct.
    pub size: u32,
    /// 0.
    pub reserved: u32,
    /// The last visible operation of the same task.
    pub after: EventId,
    /// The text.
    pub text: Text,
}

/// An execution, at its beginning or end. `accesses` gives its operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct ExecutionInfo {
    /// Bytes of this struct.
    pub size: u32,
    /// 1 if every task ended, else 0. 0 at the beginning.
    pub complete: u32,
    /// The execution's number in the exploration, from 1.
    pub number: u64,
    /// The number of choices that are prescribed.
    pub prescribed: u64,
    /// The number of the first of them that were the same in the previous execution.
    pub repeated: u64,
}

/// A choice with which an execution began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct PrescribedChoice {
    /// Bytes of this struct.
    pub size: u32,
    /// The kind of choice: a `ChoiceKind`.
    pub kind: u32,
    /// 1 if every alternative but 0 is a preemption, because the running task could have continued; else 0.
    pub preempts: u32,
    /// The number of alternatives, at least 2.
    pub alternatives: u32,
    /// The alternative taken, from 0.
    pub taken: u32,
}

/// A finding, as its monitor reports it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Finding {
    /// Bytes of this struct.
    pub size: u32,
    /// The severity: a `Severity`.
    pub severity: u32,
    /// The kind, as in reports: `data_race`, or the plugin's own, `plugin/NAME`.
    pub kind: Text,
    /// A description for people: with names, without numbers of tasks, events or executions. Reports with the same
    /// message are one finding, however many executions show it.
    pub message: Text,
    /// A suggested fix, for people; null for none.
    pub suggestion: Text,
    /// The events concerned, the most important first; may be null if there are none.
    pub events: *const EventId,
    /// The number of events.
    pub event_count: usize,
    /// Source places of the finding that are not those of its events; may be null if there are none.
    pub sites: *const SiteId,
    /// The number of places.
    pub site_count: usize,
    /// Actions of the finding that are not events; may be null if there are none.
    pub deeds: *const FindingDeed,
    /// The number of deeds.
    pub deed_count: usize,
}

/// An action of a finding that is not an event: an access to plain memory.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct FindingDeed {
    /// Bytes of this struct.
    pub size: u32,
    /// The source place of the action.
    pub site: SiteId,
    /// The task's last event at that time, or the event itself.
    pub after: EventId,
    /// A description: `write cell 1.1`.
    pub what: Text,
}

/// The size of a struct, as its first field states it.
const fn size_of<T>() -> u32 {
    std::mem::size_of::<T>() as u32
}

impl Text {
    /// No text at all.
    pub const NULL: Text = Text {
        bytes: std::ptr::null(),
        length: 0,
    };

    /// Creates a text that is valid as long as the string is.
    pub const fn new(text: &str) -> Text {
        Text {
            bytes: text.as_ptr().cast(),
            length: text.len(),
        }
    }

    /// Returns the text; `None` if there is none.
    ///
    /// # Errors
    /// Describes what is wrong with it, in words that follow "is": it is not UTF-8, or longer than `most` bytes.
    ///
    /// # Safety
    /// If it is not null, `length` bytes must be there, unchanged for as long as the text is used.
    pub unsafe fn read<'a>(self, most: usize) -> Result<Option<&'a str>, String> {
        if self.bytes.is_null() {
            return Ok(None);
        }
        if self.length > most {
            return Err(format!("longer than {most} bytes ({})", self.length));
        }
        // SAFETY: the caller guarantees the bytes; they are not too many for a slice.
        let bytes = unsafe { std::slice::from_raw_parts(self.bytes.cast::<u8>(), self.length) };
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Some(text)),
            Err(error) => Err(format!("not UTF-8 from byte {} on", error.valid_up_to())),
        }
    }
}

impl From<&SyncVarAccess> for SyncAccess {
    fn from(access: &SyncVarAccess) -> SyncAccess {
        SyncAccess {
            size: size_of::<SyncAccess>(),
            op: access.op as u32,
            order: access.order as u32,
            var: access.var,
            event: access.event,
            site: access.site,
            store: access.store,
            read: access.read,
            written: access.written,
        }
    }
}

/// Returns the operation of that number.
fn op(number: u32) -> SyncVarOp {
    *SyncVarOp::ALL
        .get(number as usize)
        .unwrap_or_else(|| panic!("the engine sent operation {number}, which this version does not have"))
}

/// Returns the ordering of that number.
fn order(number: u32) -> MemoryOrder {
    *MemoryOrder::ALL
        .get(number as usize)
        .unwrap_or_else(|| panic!("the engine sent ordering {number}, which this version does not have"))
}

// An engine of the same version sends only numbers of this version. Any other number is a bug of the engine, and the
// panic becomes a finding that says so.

impl From<&SyncAccess> for SyncVarAccess {
    fn from(access: &SyncAccess) -> SyncVarAccess {
        SyncVarAccess {
            event: access.event,
            var: access.var,
            op: op(access.op),
            order: order(access.order),
            read: access.read,
            written: access.written,
            site: access.site,
            store: access.store,
        }
    }
}

impl From<&SchedulePoint> for Point {
    fn from(point: &SchedulePoint) -> Point {
        Point {
            size: size_of::<Point>(),
            kind: point.kind as u32,
            op: point.op as u32,
            var: point.var,
            event: point.event,
            site: point.site,
        }
    }
}

impl From<&Point> for SchedulePoint {
    fn from(point: &Point) -> SchedulePoint {
        SchedulePoint {
            kind: if point.kind == PointKind::Choice as u32 {
                PointKind::Choice
            } else {
                PointKind::Access
            },
            event: point.event,
            var: point.var,
            op: op(point.op),
            site: point.site,
        }
    }
}

impl From<&DataVarAccess> for DataAccess {
    fn from(access: &DataVarAccess) -> DataAccess {
        DataAccess {
            size: size_of::<DataAccess>(),
            offset: access.offset,
            bytes: access.size,
            is_write: match (access.is_write, access.by_pointer) {
                (false, _) => 0,
                _ if access.frees => FREES,
                (true, false) => 1,
                (true, true) => BY_POINTER,
            },
            order: access.order as u32,
            location: access.location,
            var: access.var,
            site: access.site,
            after: access.after,
        }
    }
}

impl From<&DataAccess> for DataVarAccess {
    fn from(access: &DataAccess) -> DataVarAccess {
        DataVarAccess {
            after: access.after,
            location: access.location,
            offset: access.offset,
            size: access.bytes,
            is_write: access.is_write != 0,
            by_pointer: access.is_write == BY_POINTER,
            frees: access.is_write == FREES,
            order: order(access.order),
            var: access.var,
            site: access.site,
        }
    }
}

impl From<&Allocation> for Allocated {
    fn from(allocation: &Allocation) -> Allocated {
        Allocated {
            size: size_of::<Allocated>(),
            kind: allocation.kind as u32,
            after: allocation.after,
            location: allocation.location,
            var: allocation.var,
            site: allocation.site,
            reserved: 0,
            bytes: allocation.size,
        }
    }
}

impl From<&Allocated> for Allocation {
    fn from(allocated: &Allocated) -> Allocation {
        let kinds = [BlockKind::Heap, BlockKind::Shared, BlockKind::Value];
        Allocation {
            after: allocated.after,
            location: allocated.location,
            kind: *kinds
                .get(allocated.kind as usize)
                .unwrap_or_else(|| panic!("the engine sent a block of kind {}", allocated.kind)),
            size: allocated.bytes,
            var: allocated.var,
            site: allocated.site,
        }
    }
}

impl From<&Release> for Released {
    fn from(release: &Release) -> Released {
        Released {
            size: size_of::<Released>(),
            location: release.location,
            after: release.after,
            site: release.site,
        }
    }
}

impl From<&Released> for Release {
    fn from(released: &Released) -> Release {
        Release {
            after: released.after,
            location: released.location,
            site: released.site,
        }
    }
}

impl From<&EventAttribute<'_>> for Attribute {
    fn from(attribute: &EventAttribute<'_>) -> Attribute {
        Attribute {
            size: size_of::<Attribute>(),
            reserved: 0,
            event: attribute.event,
            name: Text::new(attribute.name),
            value: Text::new(attribute.value),
        }
    }
}

impl From<&UserEvent<'_>> for Said {
    fn from(event: &UserEvent<'_>) -> Said {
        Said {
            size: size_of::<Said>(),
            reserved: 0,
            after: event.after,
            text: Text::new(event.text),
        }
    }
}

impl From<&Execution<'_>> for ExecutionInfo {
    fn from(execution: &Execution<'_>) -> ExecutionInfo {
        ExecutionInfo {
            size: size_of::<ExecutionInfo>(),
            complete: execution.complete.into(),
            number: execution.number,
            prescribed: execution.prescribed,
            repeated: execution.repeated,
        }
    }
}

impl From<&Choice> for PrescribedChoice {
    fn from(choice: &Choice) -> PrescribedChoice {
        PrescribedChoice {
            size: size_of::<PrescribedChoice>(),
            kind: choice.kind as u32,
            preempts: choice.preempts.into(),
            alternatives: choice.alternatives,
            taken: choice.taken,
        }
    }
}

impl From<&PrescribedChoice> for Choice {
    fn from(choice: &PrescribedChoice) -> Choice {
        Choice {
            kind: *ChoiceKind::ALL
                .get(choice.kind as usize)
                .unwrap_or_else(|| panic!("the engine sent a choice of kind {}", choice.kind)),
            preempts: choice.preempts != 0,
            alternatives: choice.alternatives,
            taken: choice.taken,
        }
    }
}

/// Returns the status of that number; `None` for 0.
pub(super) fn status(number: u32) -> Option<EventStatus> {
    let at = number.checked_sub(1)? as usize;
    let known = EventStatus::ALL.get(at).copied();
    Some(known.unwrap_or_else(|| panic!("the engine sent status {number}, which this version does not have")))
}

/// Returns the severity of that number; `None` if it means nothing.
pub(super) fn severity(number: u32) -> Option<Severity> {
    [Severity::Warning, Severity::Error].get(number as usize).copied()
}
