//! Strategies, which decide the next schedule. Each one is in a file of its own.
//!
//! An execution is determined by its sequence of choices. A strategy prescribes the first choices of the next
//! execution, and is asked for each further one. It sees executions, never findings.
#![cfg_attr(
    not(feature = "files"),
    allow(dead_code, reason = "used only by serde's attributes, or only in files")
)]
#![allow(
    rustdoc::private_intra_doc_links,
    reason = "read by those who work on the crates: `cargo doc --document-private-items`"
)]

mod auto;
mod branch;
mod branching;
mod caching;
#[cfg(feature = "all-searches")]
pub mod classic;
/// Stand-ins for the types that settings and reports use, without the searches. None of them has a value.
#[cfg(not(feature = "all-searches"))]
#[path = "without_classic.rs"]
pub mod classic;
mod dfs;
mod dpor;
pub mod estimate;
mod frontier;
pub mod kinds;
mod partition;
pub mod policies;
mod preemption;
mod replay;
pub mod sampling;
mod tree;
#[doc(hidden)]
pub mod value;
mod work_pool;

pub use auto::Auto;
pub use caching::{Caching, Visits};
#[cfg(feature = "all-searches")]
pub use classic::{
    BestFirst, BuiltIn, DepthBounded, IterativeDelayBounding, Prefix, Priorities, Priority, PriorityKind,
    PrioritySpec, Ranked, ThreadBound,
};
pub use dfs::DepthFirst;
pub use dpor::{Allowance, Dpor, Insertion};
pub use frontier::{Remaining, WorkHandle};
pub use preemption::IterativePreemptionBounding;
pub use replay::Replay;
pub use sampling::Interesting;

pub use intermezzo_engine::strategy::{
    ChoicePoint, CompletedExecution, FallbackReason, Idle, Needs, Operation, Parallel, Plan, Resumable,
    SearchPosition, SearchState, SoFar, Status, Strategy,
};

/// The reason why a search is not in this build, for messages.
pub const NOT_ALL: &str =
    "this build of intermezzo has the usual searches, and not this one: enable its feature `all-searches`";
