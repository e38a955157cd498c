//! The record of an execution in the engine's own terms: its tasks, its variables with their gates, and its events.
//!
//! The engine fills these tables; the trace and the searches read them. The next execution reuses the entries.

mod event;
mod task;
mod task_set;
mod var;

pub use event::Event;
pub(crate) use event::Events;
pub use task::{Access, Adversities, Local, Pending, Task, WaitLimits, Wake, gate};
pub use task::{Status, TimesOut, WaitsAt};
pub use task_set::TaskSet;
pub(crate) use var::NO_TASK;
pub(crate) use var::VAR_BITS;
pub(crate) use var::VARS_MAX;
pub use var::Vars;
pub use var::{Gates, VarKind};
