//! The contract: the calls that a monitor receives.

use crate::{
    Allocation, Context, DataVarAccess, EventAttribute, Execution, MemoryEvent, Release, SchedulePoint,
    SyncVar, SyncVarAccess, UserEvent,
};
use std::ops::BitOr;

/// The callbacks that a monitor wants. Other events cost nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interests(u32);

impl Interests {
    /// Beginning, end and shutdown only, which are always called.
    pub const NONE: Interests = Interests(0);
    /// `on_schedule_point`
    pub const SCHEDULE_POINTS: Interests = Interests(1);
    /// `on_sync_var_access`, `on_aggregate_sync_var_access`
    pub const SYNC_ACCESSES: Interests = Interests(2);
    /// `on_data_var_access`
    pub const DATA_ACCESSES: Interests = Interests(4);
    /// `on_user_event`
    pub const USER_EVENTS: Interests = Interests(8);
    /// `on_event_attribute`
    pub const ATTRIBUTES: Interests = Interests(16);
    /// `on_allocation`, `on_release`
    pub const ALLOCATIONS: Interests = Interests(32);
    /// No callback; enables [`Context::enabled_at`], [`Context::disabled_at`], [`Context::held_back_at`] and
    /// [`Context::point_of`].
    pub const ENABLED_SETS: Interests = Interests(64);
    /// Everything.
    pub const ALL: Interests = Interests(127);

    /// Returns the union with `other`: `|` for constants.
    pub const fn and(self, other: Interests) -> Interests {
        Interests(self.0 | other.0)
    }

    /// `true` if any of `other` is included.
    pub const fn intersects(self, other: Interests) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns the interests as bits of the C contract.
    pub fn bits(self) -> u32 {
        self.0
    }

    /// Returns the interests with these bits; `None` if a bit means nothing.
    pub fn from_bits(bits: u32) -> Option<Interests> {
        (bits & !Interests::ALL.0 == 0).then_some(Interests(bits))
    }
}

impl BitOr for Interests {
    type Output = Interests;
    fn bitor(self, other: Interests) -> Interests {
        self.and(other)
    }
}

/// A listener on executions.
///
/// Calls are sequential: a monitor never sees two at once. All callbacks have an empty default.
///
/// ```
/// # mod intermezzo { pub mod sdk { pub use intermezzo_sdk::*; } }
/// use intermezzo::sdk::{Context, Interests, Monitor, SyncVarAccess};
///
/// #[derive(Default)]
/// struct Counter {
///     operations: u64,
/// }
///
/// impl Monitor for Counter {
///     fn name(&self) -> &str {
///         "counter"
///     }
///     fn interests(&self) -> Interests {
///         Interests::SYNC_ACCESSES
///     }
///     // Executions of one trace have the same operations.
///     fn reduction_compatible(&self) -> bool {
///         true
///     }
///     fn on_sync_var_access(&mut self, _: &SyncVarAccess, _: &mut Context<'_>) {
///         self.operations += 1;
///     }
/// }
/// ```
#[allow(unused_variables)]
pub trait Monitor: Send {
    /// Returns the monitor's name in reports.
    fn name(&self) -> &str;

    /// Returns the callbacks that the monitor wants. Called once, before the first execution.
    fn interests(&self) -> Interests;

    /// `true` if the monitor's verdict is the same on every execution of one trace, so that reductions hide nothing
    /// from it.
    fn reduction_compatible(&self) -> bool;

    /// `true` if it can judge executions under a memory model, in which an operation on an atomic need not read the last
    /// store: [`SyncVarAccess::store`] says which. The default is `false`; such a monitor is refused where the
    /// environment allows `stale_reads`.
    fn follows_stale_reads(&self) -> bool {
        false
    }

    /// Called when an execution begins.
    fn on_execution_begin(&mut self, execution: &Execution<'_>) {}

    /// Called right before a visible operation at which another task could be chosen, after the operation was chosen to
    /// come next. Operations whose order with those of other tasks cannot be observed have no such point, for example
    /// fences, and the creation, beginning, end and join of a task.
    fn on_schedule_point(&mut self, next: &SchedulePoint, cx: &mut Context<'_>) {}

    /// Called right after a visible operation.
    fn on_sync_var_access(&mut self, access: &SyncVarAccess, cx: &mut Context<'_>) {}

    /// Called right after a visible operation on several variables at once, `access.var` first among them. The
    /// default calls `on_sync_var_access`.
    fn on_aggregate_sync_var_access(
        &mut self,
        access: &SyncVarAccess,
        vars: &[SyncVar],
        cx: &mut Context<'_>,
    ) {
        self.on_sync_var_access(access, cx);
    }

    /// Called at an access to tracked plain memory, before it happens.
    fn on_data_var_access(&mut self, access: &DataVarAccess, cx: &mut Context<'_>) {}

    /// Called when a block of memory is allocated.
    fn on_allocation(&mut self, allocation: &Allocation, cx: &mut Context<'_>) {}

    /// Called when memory is released, or a cell is dropped.
    fn on_release(&mut self, release: &Release, cx: &mut Context<'_>) {}

    /// `true` if the monitor can receive its memory events when the execution is over. It then receives them by
    /// [`on_memory`](Self::on_memory), and not by `on_data_var_access`, `on_allocation` and `on_release`.
    ///
    /// Called once, before the first execution. An engine may ignore it: plugins always receive memory events at
    /// once.
    fn memory_afterwards(&self) -> bool {
        false
    }

    /// Receives the memory events of the execution, in order, in one or several calls. The last call is at the latest
    /// right before `on_execution_end`. `memory` contains at least the events in which the monitor is interested.
    ///
    /// [`Context::accesses`] may contain accesses that came after an event of `memory`. The event has the number of those
    /// before it.
    fn on_memory(&mut self, memory: &[MemoryEvent], cx: &mut Context<'_>) {}

    /// Like `on_memory`, for a monitor that reuses its results of the previous execution. The first `same` events of
    /// `memory` came first in that execution, too, and so did all visible operations before the last of them: tasks,
    /// variables, locations and source places have the same numbers, and values are the same. `same` is 0 if this is not
    /// known.
    ///
    /// This holds for the first call in an execution. Further calls continue where the previous one ended, and have
    /// `same` = 0.
    ///
    /// An engine may call either. The default calls `on_memory`.
    fn on_memory_again(&mut self, memory: &[MemoryEvent], same: usize, cx: &mut Context<'_>) {
        self.on_memory(memory, cx);
    }

    /// Called when an attribute of an event becomes known.
    fn on_event_attribute(&mut self, attribute: &EventAttribute<'_>, cx: &mut Context<'_>) {}

    /// Called when the test sends a message.
    fn on_user_event(&mut self, event: &UserEvent<'_>, cx: &mut Context<'_>) {}

    /// Called when an execution is over, complete or not.
    fn on_execution_end(&mut self, execution: &Execution<'_>, cx: &mut Context<'_>) {}

    /// Called when the whole exploration is over, for example to report statistics.
    fn on_shutdown(&mut self, cx: &mut Context<'_>) {}
}
