//! Refinement checks: they test that a concurrent queue, stack, map or lock behaves like a sequential one.
//!
//! [`refine`] describes a test: an object, its operations, and the standard with which it is compared. Scenarios of a few
//! tasks are generated from the operations, and every execution of each is explored. Each history is compared with a
//! model, or with the object's own sequential behaviour.
//!
//! A [`History`](history::History) has operations with their times and results. It is *linearizable* with respect to a
//! [`Specification`](specification::Specification) if each operation can be assigned a moment between its call and its
//! return so that the operations, performed one after the other at these moments, return the same results (Herlihy &
//! Wing, TOPLAS 1990).
#![cfg(feature = "checks")]

mod arguments;
pub mod check;
mod checked;
mod failure;
mod generate;
pub mod history;
mod judge;
mod literal;
mod locks;
mod minimise;
mod model;
mod observations;
mod operation;
mod pin;
mod progress;
pub mod recorded;
mod refine;
mod report;
mod result;
mod run;
mod said;
mod scenario;
mod serial;
mod settings;
mod show;
pub mod specification;
pub mod specs;
mod text;
mod verify;

/// The directory of the sources. Generic code of theirs is compiled into the crates that use it.
#[doc(hidden)]
pub const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src");

pub use arguments::{AnyOf, Arguments, Fresh, Numbered, OneOf, Source, any, fresh, one_of};
pub use failure::{Failure, ToldDeadEnd, ToldOperation, ToldOrders, ToldStep};
pub use history::Same;
pub use observations::{
    Difference, OBSERVATIONS_FORMAT, Observation, ObservationError, ObservationSet, ObservedOutcome,
    ObservedScenario,
};
pub use operation::Argument;
pub use pin::{Pin, PinTask};
pub use refine::{Itself, Modelled, Refinement, Spec, refine};
pub use report::{REFINEMENT_FORMAT, RefinementReport};
pub use said::{callback, observe};
pub use scenario::{Description, Place, Scenario, Step};
pub use settings::{Granularity, Progress};
pub use verify::is_of_scenario;
