//! Strategies: which schedule comes next. Each is one file.
//!
//! A strategy is a policy over the sequence of choices that determines an execution: it prescribes the
//! first choices of the next execution, and is asked about the ones beyond. It sees executions, never
//! findings.

mod auto;
mod best_first;
mod branch;
mod caching;
mod delays;
mod depth;
mod dfs;
mod dpor;
mod frontier;
pub(crate) mod kinds;
mod preemption;
mod priority;
mod ranked;
mod replay;
pub(crate) mod sampling;
mod tree;

pub(crate) use auto::Auto;
pub use best_first::BestFirst;
pub(crate) use caching::Caching;
pub use delays::IterativeDelayBounding;
pub use depth::DepthBounded;
pub use dfs::DepthFirst;
pub(crate) use dpor::{Dpor, Insertion};
pub use frontier::{Hand, Left};
pub use preemption::IterativePreemptionBounding;
pub use priority::{BuiltIn, Prefix, Priorities, Priority, PriorityKind, PrioritySpec};
pub use ranked::{Ranked, ThreadBound};
pub use replay::Replay;
pub use sampling::Interesting;

pub use crate::strategy::{ChoicePoint, Idle, Operation, Past, Plan, Rank, SearchState, Strategy};
