//! The vocabulary of events, and the contract between the engine and its monitors.
//!
//! A monitor listens to the executions of a concurrent test and reports findings. It depends on
//! this crate alone. The engine calls it in a fixed order:
//!
//! ```text
//! on_execution_begin
//!   on_schedule_point      right before a visible operation at which another task could be chosen
//!   on_sync_var_access     right after each visible operation
//!   on_data_var_access     at each access to tracked plain memory
//!   on_allocation          memory begins to be used
//!   on_release             and is given back
//!   on_event_attribute     something is known about an event
//!   on_user_event          when the test says something
//! on_execution_end
//! ...                      the next execution
//! on_shutdown              once, when the exploration is over
//! ```
//!
//! A monitor may judge plain memory when an execution is over; [`Monitor::memory_afterwards`] says so. It then
//! receives memory events by [`Monitor::on_memory`], which is cheaper. If it continues from what it knows of the
//! execution before, it receives them by [`Monitor::on_memory_again`].
//!
//! Calls never overlap. A monitor whose verdict is the same on every execution of one trace is *reduction
//! compatible*. It says so, and the engine may then skip executions that add no trace.
//!
//! # Example
//!
//! A monitor that objects to any relaxed store, and a test of it without any engine:
//!
//! ```
//! use intermezzo_sdk::testing::Script;
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
//!             let kind = FindingKind::Plugin("relaxed-store".into());
//!             let report = MonitorFinding::new(kind, format!("a relaxed store to {variable}"));
//!             cx.report(report.events([access.event]).suggest("store with Release"));
//!         }
//!     }
//! }
//!
//! let mut script = Script::new();
//! let main = Script::MAIN;
//! let flag = script.var("flag");
//! script.store(main, flag, MemoryOrder::Release, 1);
//! assert!(script.play(&mut NoRelaxedStores).is_empty());
//! let second = script.store(main, flag, MemoryOrder::Relaxed, 2);
//! let reports = script.play(&mut NoRelaxedStores);
//! assert_eq!(reports[0].message, "a relaxed store to flag");
//! assert_eq!(reports[0].events, [second]);
//! ```

pub mod abi;
mod choice;
mod class;
mod clock;
mod context;
mod event;
mod finding;
mod id;
mod monitor;
mod op;
mod op_set;
mod order;
mod report;
mod synchronisation;
pub mod testing;

pub use choice::{Choice, ChoiceKind};
pub use class::Class;
pub use clock::VectorClock;
pub use context::{Context, Host};
pub use event::{
    Allocation, BlockKind, DataVarAccess, EventAttribute, EventStatus, Execution, MemoryDeed, MemoryEvent,
    PointKind, Release, SchedulePoint, SyncVarAccess, UserEvent,
};
pub use finding::FindingKind;
pub use id::{EventId, Location, SiteId, SyncVar, TaskId};
pub use monitor::{Interests, Monitor};
pub use op::{MemoryOrder, SyncVarOp};
pub use op_set::SyncVarOps;
pub use order::HappensBefore;
pub use report::{Deed, MonitorFinding, Severity};
pub use synchronisation::{Knowledge, Moments, Side, Synchronisation};
