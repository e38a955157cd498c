//! Searches from the papers from which the usual ones derive. They are kept for study and comparison.
//!
//! No other search uses them; only [`policies`](crate::policies) creates those that draw executions.

mod best_first;
mod delays;
mod depth;
pub mod maple;
mod pct_all;
mod pct_vars;
mod priority;
mod ranked;
mod slots;

pub use best_first::BestFirst;
pub use delays::IterativeDelayBounding;
pub use depth::DepthBounded;
pub(crate) use pct_all::PctAll;
pub(crate) use pct_vars::PctVars;
pub use priority::{BuiltIn, Prefix, Priorities, Priority, PriorityKind, PrioritySpec};
pub use ranked::{Ranked, ThreadBound};
