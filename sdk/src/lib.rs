//! The vocabulary of events, and the contract between the engine and its monitors.
//!
//! A monitor listens to the executions of a concurrent test and reports findings. It depends on
//! this crate alone. The engine calls it in a fixed order:
//!
//! ```text
//! on_execution_begin
//!   on_schedule_point      right before each visible operation
//!   on_sync_var_access     right after it
//!   on_data_var_access     at each access to tracked plain memory
//!   on_user_event          when the test says something
//! on_execution_end
//! ...                      the next execution
//! on_shutdown              once, when the exploration is over
//! ```
//!
//! Calls never overlap. A monitor that reports the same verdict on every execution of one trace is
//! *reduction compatible*; it says so, and the engine may then skip executions that add no trace.
//!
//! # Example
//!
//! A monitor that objects to any relaxed store:
//!
//! ```
//! use intermezzo_sdk::*;
//!
//! struct NoRelaxedStores;
//!
//! impl Monitor for NoRelaxedStores {
//!     fn name(&self) -> &str {
//!         "no-relaxed-stores"
//!     }
//!     fn interests(&self) -> Interests {
//!         Interests::SYNC_ACCESSES
//!     }
//!     fn reduction_compatible(&self) -> bool {
//!         true
//!     }
//!     fn on_sync_var_access(&mut self, access: &SyncVarAccess, cx: &mut Context<'_>) {
//!         if access.op == SyncVarOp::AtomicStore && access.order == MemoryOrder::Relaxed {
//!             let variable = cx.var_name(access.var);
//!             cx.report(
//!                 FindingKind::Plugin("relaxed-store".into()),
//!                 format!("a relaxed store to {variable}"),
//!                 &[access.event],
//!             );
//!         }
//!     }
//! }
//! ```

mod finding;
mod id;
mod monitor;
mod op;

pub use finding::FindingKind;
pub use id::{EventId, Location, SiteId, SyncVar, TaskId};
pub use monitor::{
    Context, DataVarAccess, Execution, Host, Interests, Monitor, PointKind, Report, SchedulePoint,
    SyncVarAccess, UserEvent,
};
pub use op::{MemoryOrder, SyncVarOp};
