//! The same programs under intermezzo and under its peers, measured in the same run.
//!
//! Each [`Case`] is a kernel with its sizes. `kernels.rs` holds the kernels once; each file of [`tools`] compiles them
//! against one tool's own atomics, locks and threads. [`measure()`] runs a case under each tool until the tool has
//! exhausted it, or for as long as the cap allows. Short runs are repeated, the tools in turns.
//!
//! The figures are comparable for these reasons. A kernel shares by `std::sync::Arc`, so that no tool sees reference
//! counts. Every tool searches depth first, without a preemption bound, silently, on one machine and in one process.
//! And the answers of the kernels must agree ([`disagreements`]), so that no tool is fast because it skips something.
//!
//! The figures do not show how soon a tool finds a bug, its memory use, or programs that outgrow exhaustive search.
#![allow(
    clippy::duplicate_mod,
    reason = "kernels.rs is compiled once for each tool, against its own types"
)]

pub mod case;
pub mod measurement;
pub mod outcomes;
pub mod table;
pub mod took;
pub mod tools;

pub use case::{Case, Kernel};
pub use measurement::{Measurement, disagreements, measure};
pub use outcomes::Outcomes;
pub use took::Took;
pub use tools::Tool;
