//! What is known of an execution in the engine's own terms: its tasks, its variables with their gates, and its events.
//!
//! The engine fills these tables; the trace and the searches read them. Entries are used again in the next execution.

mod event;
mod task;
mod task_set;
mod var;

pub(crate) use event::{Event, Events};
pub(crate) use task::{Access, Local, Patience, Pending, Site, Status, Task, Wake, gate};
pub(crate) use task_set::TaskSet;
pub(crate) use var::{Gates, NOBODY, VAR_BITS, VARS_MAX, VarKind, Vars};
