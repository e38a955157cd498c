//! The two tables of functions: a monitor's for its engine, and an engine's for its monitors.

use super::data::{
    Allocated, Attribute, DataAccess, ExecutionInfo, Finding, Point, PrescribedChoice, Released, Said,
    SyncAccess, Text,
};
use crate::{EventId, Location, SiteId, SyncVar, TaskId};
use std::ffi::{c_char, c_void};

/// The version of this contract.
pub const VERSION: u32 = 7;

/// The return value of a function that succeeded.
pub const OK: u32 = 0;

/// The return value of a function that failed.
pub const FAILED: u32 = 1;

/// The return value of functions that return a count, if there is no such event or step.
pub const NONE: usize = usize::MAX;

/// Maximum number of bytes of an entry's message, including the terminating zero.
pub const MESSAGE_BYTES: usize = 4096;

/// Maximum number of bytes of a monitor's name.
pub const NAME_BYTES_MAX: usize = 128;

/// Maximum number of bytes of a monitor's arguments.
pub const ARGUMENTS_BYTES_MAX: usize = 65536;

/// The number of bytes at the pointer to the table that an entry fills, all of them zero. They are enough for the table of
/// any version, so a plugin of another version does not write into other memory before it is refused.
pub const TABLE_BYTES: usize = 4096;

/// Bits of `interests`: the callbacks that a monitor wants. Beginning, end and shutdown are always called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Interest {
    /// `on_schedule_point`
    SchedulePoints = 1,
    /// `on_sync_var_access`, `on_aggregate_sync_var_access`
    SyncAccesses = 2,
    /// `on_data_var_access`
    DataAccesses = 4,
    /// `on_user_event`
    UserEvents = 8,
    /// `on_event_attribute`
    Attributes = 16,
    /// `on_allocation`, `on_release`
    Allocations = 32,
    /// No callback; enables `enabled_at`, `disabled_at`, `held_back_at` and `point_of`.
    EnabledSets = 64,
}

/// The call of a callback, to be passed back to the functions of the host's table. Valid until the callback returns.
pub struct Call {
    _opaque: (),
}

/// The function that a plugin exports under the name `intermezzo_monitor_7`. It creates one monitor, and fills its table.
///
/// It may be called any number of times, and several monitors may exist at the same time. It is first called once in a
/// separate process, to check that it does not crash. So it must have no effects that matter if they are repeated.
///
/// - `host` is the engine's table. It is valid until the monitor is destroyed; its functions must not be called now.
/// - `arguments` are the user's, as text; empty if there are none. Their meaning is up to the plugin.
/// - `monitor` must be filled. All its bytes are zero.
/// - `message` has room for `capacity` bytes. If the monitor cannot be created, write the reason there, as text that
///   ends with a zero byte.
///
/// Returns 0 on success. With any other value there is no monitor, and `destroy` is not called.
pub type Entry = unsafe extern "C" fn(
    host: *const HostTable,
    arguments: Text,
    monitor: *mut MonitorTable,
    message: *mut c_char,
    capacity: usize,
) -> u32;

/// A monitor of a plugin. A callback that is null is not called.
///
/// `instance` is the plugin's own, and is passed to each function. Pointers in structs are valid until the callback
/// returns.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct MonitorTable {
    /// Bytes of this struct, as the plugin was compiled.
    pub size: u32,
    /// The version of the contract for which the plugin was compiled.
    pub version: u32,
    /// Bits of `Interest`.
    pub interests: u32,
    /// 1 if the verdict is the same on every execution of one trace, so that reductions hide nothing; else 0.
    pub reduction_compatible: u32,
    /// The monitor's name in reports: 1 to 128 bytes without control characters. Valid until the monitor is destroyed.
    pub name: Text,
    /// The plugin's own version, for people; null if there is none. Valid until the monitor is destroyed.
    pub plugin_version: Text,
    /// The plugin's own pointer; may be null.
    pub instance: *mut c_void,
    /// Called once, after all other calls, when the monitor is no longer needed. When it returns, no code of the monitor
    /// may run any more, so it must end the monitor's threads.
    pub destroy: Option<unsafe extern "C" fn(instance: *mut c_void)>,
    /// Called when an execution begins. No queries are possible yet.
    pub on_execution_begin:
        Option<unsafe extern "C" fn(instance: *mut c_void, execution: *const ExecutionInfo)>,
    /// Called right before a visible operation at which another task could be chosen, after the operation was chosen to
    /// come next. Operations whose order with those of other tasks cannot be observed have no such point, for example
    /// fences, and the creation, beginning, end and join of a task.
    pub on_schedule_point:
        Option<unsafe extern "C" fn(instance: *mut c_void, next: *const Point, call: *mut Call)>,
    /// Called right after a visible operation.
    pub on_sync_var_access:
        Option<unsafe extern "C" fn(instance: *mut c_void, access: *const SyncAccess, call: *mut Call)>,
    /// Called right after a visible operation on several variables at once, that of `access` first among them. If it
    /// is null, `on_sync_var_access` is called.
    pub on_aggregate_sync_var_access: Option<
        unsafe extern "C" fn(
            instance: *mut c_void,
            access: *const SyncAccess,
            vars: *const SyncVar,
            count: usize,
            call: *mut Call,
        ),
    >,
    /// Called at an access to tracked plain memory, before it happens.
    pub on_data_var_access:
        Option<unsafe extern "C" fn(instance: *mut c_void, access: *const DataAccess, call: *mut Call)>,
    /// Called when a block of memory is allocated.
    pub on_allocation:
        Option<unsafe extern "C" fn(instance: *mut c_void, allocation: *const Allocated, call: *mut Call)>,
    /// Called when memory is released, or a cell is dropped.
    pub on_release:
        Option<unsafe extern "C" fn(instance: *mut c_void, release: *const Released, call: *mut Call)>,
    /// Called when an attribute of an event becomes known.
    pub on_event_attribute:
        Option<unsafe extern "C" fn(instance: *mut c_void, attribute: *const Attribute, call: *mut Call)>,
    /// Called when the test sends a message.
    pub on_user_event:
        Option<unsafe extern "C" fn(instance: *mut c_void, event: *const Said, call: *mut Call)>,
    /// Called when an execution is over, complete or not.
    pub on_execution_end:
        Option<unsafe extern "C" fn(instance: *mut c_void, execution: *const ExecutionInfo, call: *mut Call)>,
    /// Called when the whole exploration is over, for example to report statistics.
    pub on_shutdown: Option<unsafe extern "C" fn(instance: *mut c_void, call: *mut Call)>,
    /// 1 if the monitor can judge executions under a memory model, in which an operation on an atomic need not read the
    /// last store: `store` of the access says which one it reads. Else 0: where the environment allows `stale_reads`, such a
    /// monitor is refused.
    pub follows_stale_reads: u32,
    /// 0; any other value is refused.
    pub reserved: u32,
}

/// An engine's functions, with which a monitor asks questions and reports. Each must be called during a callback that
/// has a `Call`, on its thread, and with it.
///
/// Functions that give a name write it to `text`: at most `capacity` bytes, the final zero byte included. If there is
/// not enough room, the name is cut where a character begins. They return the length of the whole name in bytes,
/// without the zero, so `capacity` 0 asks for the length. Functions that give a list write at most `capacity` items,
/// and return how many there are. Answers are about the moment of the call.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct HostTable {
    /// Bytes of this struct, as the engine was compiled.
    pub size: u32,
    /// The version of the contract for which the engine was compiled.
    pub version: u32,
    /// Reports a finding; it is copied. Returns 0, or `FAILED` if the finding is malformed: then the report says so,
    /// as a finding about the plugin.
    pub report: unsafe extern "C" fn(call: *mut Call, finding: *const Finding) -> u32,
    /// Name of a task: `main`, its own name, or its creator and its index among the tasks that it created.
    pub task_name:
        unsafe extern "C" fn(call: *mut Call, task: TaskId, text: *mut c_char, capacity: usize) -> usize,
    /// Name of a variable: its kind, the task that used it first, and its index among the variables which that task
    /// used first.
    pub var_name:
        unsafe extern "C" fn(call: *mut Call, var: SyncVar, text: *mut c_char, capacity: usize) -> usize,
    /// Name that the test's author gave a variable: by `intermezzo::name`, or else in the source, as far as the operations
    /// so far show it; empty if there is none. Two variables may have the same name. The source is read at the first
    /// query. At the end of an execution, this is the name that a finding shows, but without indices of elements and
    /// numbers that distinguish equal names.
    pub source_name:
        unsafe extern "C" fn(call: *mut Call, var: SyncVar, text: *mut c_char, capacity: usize) -> usize,
    /// Kind of a variable, as in reports: `mutex`, `atomic`, `count` for the reference counts of an `Arc`; empty if there
    /// is no such variable.
    pub var_kind:
        unsafe extern "C" fn(call: *mut Call, var: SyncVar, text: *mut c_char, capacity: usize) -> usize,
    /// `file:line:column` of the creation of a variable, if the source shows that in a `let` or in a static; otherwise of
    /// its first use. Empty if that is not known either.
    pub made_at:
        unsafe extern "C" fn(call: *mut Call, var: SyncVar, text: *mut c_char, capacity: usize) -> usize,
    /// Name of a cell or block of memory: its kind, the task that used it first, and its index among those which that
    /// task used first.
    pub location_name: unsafe extern "C" fn(
        call: *mut Call,
        location: Location,
        text: *mut c_char,
        capacity: usize,
    ) -> usize,
    /// 1 if a static holds this memory when the execution ends: it is not released, and no leak. Else 0; 0 before
    /// `on_execution_end`, and in executions that are not complete.
    pub is_held_by_static: unsafe extern "C" fn(call: *mut Call, location: Location) -> u32,
    /// `file:line:column` of a source place.
    pub site_name:
        unsafe extern "C" fn(call: *mut Call, site: SiteId, text: *mut c_char, capacity: usize) -> usize,
    /// The visible operations of the execution so far, in order, from number `first` (the first of all is 0). Returns
    /// how many there are from that number on.
    pub accesses: unsafe extern "C" fn(
        call: *mut Call,
        first: usize,
        accesses: *mut SyncAccess,
        capacity: usize,
    ) -> usize,
    /// The tasks that could take their next operation now, in order of creation.
    pub enabled: unsafe extern "C" fn(call: *mut Call, tasks: *mut TaskId, capacity: usize) -> usize,
    /// The tasks that have not ended and could not take their next operation now, in order of creation.
    pub disabled: unsafe extern "C" fn(call: *mut Call, tasks: *mut TaskId, capacity: usize) -> usize,
    /// The tasks that could have taken step `step`, from 0; `NONE` if there was no such step, or no monitor has the
    /// interest `EnabledSets`.
    pub enabled_at:
        unsafe extern "C" fn(call: *mut Call, step: usize, tasks: *mut TaskId, capacity: usize) -> usize,
    /// The tasks that had not ended and could not have taken step `step`; `NONE` as for `enabled_at`.
    pub disabled_at:
        unsafe extern "C" fn(call: *mut Call, step: usize, tasks: *mut TaskId, capacity: usize) -> usize,
    /// 1 if event `a` comes before event `b` by program order and the order of operations that do not commute; else 0.
    /// Computed by the first call.
    pub happens_before: unsafe extern "C" fn(call: *mut Call, a: EventId, b: EventId) -> u32,
    /// The clock of the event by that order, itself included: for each task, by number, the index of its last known
    /// event, 0 for none. `NONE` if there is no such event.
    pub clock:
        unsafe extern "C" fn(call: *mut Call, event: EventId, indices: *mut u32, capacity: usize) -> usize,
    /// Those of `enabled_at` that fairness held back at step `step`: they had yielded, and gave way to tasks that they
    /// starved. `NONE` as for `enabled_at`.
    pub held_back_at:
        unsafe extern "C" fn(call: *mut Call, step: usize, tasks: *mut TaskId, capacity: usize) -> usize,
    /// The number of the schedule point right before the event, from 1 in each execution. `NONE` if the event has not
    /// happened or has no schedule point of its own, or no monitor has the interest `EnabledSets`.
    pub point_of: unsafe extern "C" fn(call: *mut Call, event: EventId) -> usize,
    /// The status of the event now: an `EventStatus`. 0 if it has not happened and is not the next of its task.
    pub status: unsafe extern "C" fn(call: *mut Call, event: EventId) -> u32,
    /// The choices with which the execution began: the search prescribed them, and was asked about those that follow.
    pub prescribed:
        unsafe extern "C" fn(call: *mut Call, choices: *mut PrescribedChoice, capacity: usize) -> usize,
}
