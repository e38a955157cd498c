//! Concurrent breakpoints: two tasks at two places whose local states satisfy a predicate together, and the order in
//! which they continue.
//!
//! A bug that depends on timing is reproduced by a pair of lines in the program itself (Park, Sen: *Concurrent
//! Breakpoints*, UC Berkeley, EECS-2011-159). A task that reaches one of them waits, up to a limit, until another
//! task reaches the other; then both continue, the first one first.
//!
//! ```
//! use intermezzo_breakpoint as breakpoint;
//! use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
//!
//! fn add_one(n: &AtomicUsize) {
//!     let v = n.load(SeqCst);
//!     // Two tasks that both have read: one of the additions is lost.
//!     breakpoint::conflict("lost-update", n).meet();
//!     n.store(v + 1, SeqCst);
//! }
//!
//! breakpoint::arm("lost-update").unwrap(); // or INTERMEZZO_BREAKPOINTS=lost-update
//! let n = AtomicUsize::new(0);
//! std::thread::scope(|s| {
//!     s.spawn(|| add_one(&n));
//!     s.spawn(|| add_one(&n));
//! });
//! assert_eq!(n.into_inner(), 1);
//! assert_eq!(breakpoint::statistics()[0].hits, 1);
//! ```
//!
//! As long as nothing is armed, a place costs one relaxed load and a branch. Inside an exploration (`intermezzo`'s
//! feature `explore`) no task waits in real time: an armed breakpoint exactly constrains which task runs.
//!
//! Differs from the paper: the second task waits until the first has *done* its step, where that is marked
//! ([`Turn`]), and not for a short while; a deadlock may have more than two tasks. Misses: in real time, partners
//! that do not arrive within the limit.

mod armed;
mod arming;
mod control;
mod held;
mod log;
mod place;
mod real;
mod statistics;
mod switch;
mod table;
mod variable;
mod visit;

pub use armed::{arm, disarm, disarm_all, is_armed, statistics};
pub use arming::{ArmError, Arming, Armings, Refinements, Spot, Where};
pub use control::{Controller, Passed, control};
pub use held::{Held, held};
pub use log::LOG_VARIABLE;
pub use place::{
    Anywhere, Atomicity, Conflict, Deadlock, Joint, Notification, Ordered, Place, Turn, Unjoined, Unordered,
    With, at, atomicity, conflict, deadlock, notification,
};
pub use statistics::Statistics;
pub use table::{Arrived, Meeting, Table, Ticket};
pub use variable::{VARIABLE, variable_problem};
pub use visit::{Objects, Role, Visit};
