//! Is this concurrent queue, stack, map or lock what its sequential self is?
//!
//! [`refine`] describes a test: an object, its operations, and what it is compared with. Scenarios of a few tasks are made
//! of the operations, every execution of each is explored, and each history is compared with what the object does when
//! its operations come one at a time, or with a model.
//!
//! A [`History`](history::History) says which operations ran when and what they returned. It is *linearizable* with
//! respect to a [`Specification`](specification::Specification) if each operation can be given a moment between its
//! call and its return at which, one after the other, they would have returned just that (Herlihy & Wing, TOPLAS 1990).
//! [`check`] decides that for histories from anywhere.

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
mod scenario;
mod serial;
mod settings;
mod show;
pub mod specification;
pub mod specs;
mod text;
mod verify;

pub use arguments::{AnyOf, Arguments, Fresh, Numbered, OneOf, Source, any, fresh, one_of};
pub use check::Same;
pub use failure::{Failure, ToldDeadEnd, ToldOperation, ToldOrders, ToldStep};
pub use observations::{
    Difference, OBSERVATIONS_FORMAT, Observation, ObservationError, ObservationSet, ObservedOutcome,
    ObservedScenario,
};
pub use operation::Argument;
pub use pin::{Pin, PinTask};
pub use refine::{Itself, Modelled, Refinement, Spec, refine};
pub use report::{REFINEMENT_FORMAT, RefinementReport};
pub use scenario::{Description, Place, Scenario, Step};
pub use settings::{Granularity, Progress};
pub use verify::is_of_scenario;
