//! The contract: which calls a monitor gets.

use crate::{
    Allocation, Context, DataVarAccess, EventAttribute, Execution, MemoryEvent, Release, SchedulePoint,
    SyncVar, SyncVarAccess, UserEvent,
};
use std::ops::BitOr;

/// Which callbacks a monitor wants. The engine pays for nothing else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interests(u32);

impl Interests {
    /// Beginning, end and shutdown only: these always come.
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
    /// No callback, but what [`Context::enabled_at`] needs.
    pub const ENABLED_SETS: Interests = Interests(64);
    /// Everything.
    pub const ALL: Interests = Interests(127);

    /// These, and those of `other`: `|` for constants.
    pub const fn and(self, other: Interests) -> Interests {
        Interests(self.0 | other.0)
    }

    /// Whether any of `other` is wanted.
    pub const fn intersects(self, other: Interests) -> bool {
        self.0 & other.0 != 0
    }

    /// The interests as bits, as the C contract has them.
    pub fn bits(self) -> u32 {
        self.0
    }

    /// The interests with these bits; `None` if a bit means nothing.
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

    /// Right after a visible operation on several variables at once, `access.var` first among them. Unless it is
    /// overridden, it is a call of `on_sync_var_access`.
    fn on_aggregate_sync_var_access(
        &mut self,
        access: &SyncVarAccess,
        vars: &[SyncVar],
        cx: &mut Context<'_>,
    ) {
        self.on_sync_var_access(access, cx);
    }

    /// At an access to tracked plain memory, before it happens.
    fn on_data_var_access(&mut self, access: &DataVarAccess, cx: &mut Context<'_>) {}

    /// Memory begins to be used.
    fn on_allocation(&mut self, allocation: &Allocation, cx: &mut Context<'_>) {}

    /// Memory is given back, or a cell is dropped.
    fn on_release(&mut self, release: &Release, cx: &mut Context<'_>) {}

    /// `true` if it is enough to tell the monitor of plain memory when the execution is over. It is then told by
    /// [`on_memory`](Self::on_memory), and not by `on_data_var_access`, `on_allocation` and `on_release`.
    ///
    /// Asked once, before the first execution. An engine need not heed it: plugins are always told at once.
    fn memory_afterwards(&self) -> bool {
        false
    }

    /// What the execution did with plain memory, in order; at the latest right before `on_execution_end`, in one call or
    /// in several. It holds at least what the monitor's interests ask for.
    ///
    /// [`Context::accesses`] may hold more than there was before an event of `memory`, which says how many there were.
    fn on_memory(&mut self, memory: &[MemoryEvent], cx: &mut Context<'_>) {}

    /// The same, for a monitor that goes on from what it knows of the execution before: the one that began last before this.
    /// The first `same` events of `memory` were the first there too, and so were all visible operations before the last
    /// of them: tasks, variables, locations and source places have the same numbers, and values are the same. It is 0 where
    /// nothing is known of that.
    ///
    /// This is so in the first call in an execution. In further ones, which go on where the one before ended, `same` is 0.
    ///
    /// An engine may call either. Unless it is overridden, this is a call of `on_memory`.
    fn on_memory_again(&mut self, memory: &[MemoryEvent], same: usize, cx: &mut Context<'_>) {
        self.on_memory(memory, cx);
    }

    /// Something is known about an event.
    fn on_event_attribute(&mut self, attribute: &EventAttribute<'_>, cx: &mut Context<'_>) {}

    /// The test said something.
    fn on_user_event(&mut self, event: &UserEvent<'_>, cx: &mut Context<'_>) {}

    /// An execution is over, complete or not.
    fn on_execution_end(&mut self, execution: &Execution<'_>, cx: &mut Context<'_>) {}

    /// The whole exploration is over: time for statistics.
    fn on_shutdown(&mut self, cx: &mut Context<'_>) {}
}
