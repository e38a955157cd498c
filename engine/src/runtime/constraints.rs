//! The settings that add, close or skip schedule points, and the data that they need in an execution.

use super::breakpoints::Breakpoints;
use super::data_points::DataPoints;
use super::ordered_atomics::OrderedAtomics;
use super::scope::{Preemptible, Scoping};
use super::spin::Spins;

/// The constraints on an execution, other than its prescribed choices.
pub(super) struct Constraints {
    /// `true` if decisions look for points to close in this execution.
    pub(super) scoped: bool,
    /// The parts of the program where the settings allow preemptions; `None` for everywhere.
    pub(super) preemptible: Option<Box<Preemptible>>,
    /// The armed breakpoints; `None` if there are none.
    pub(super) breakpoints: Option<Box<Breakpoints>>,
    /// The atomics without schedule points; `None` if all have them.
    pub(super) ordered_atomics: Option<Box<OrderedAtomics>>,
    /// The accesses to plain memory that are schedule points; `None` if there are none.
    pub(super) data_points: Option<Box<DataPoints>>,
    /// The loops that wait, and the tasks that are parked in one.
    pub(super) spins: Spins,
    pub(super) scoping: Scoping,
}

impl Constraints {
    /// Returns no constraints but that on loops that wait.
    pub(super) fn new(spins: Spins) -> Constraints {
        Constraints {
            scoped: false,
            preemptible: None,
            breakpoints: None,
            ordered_atomics: None,
            data_points: None,
            spins,
            scoping: Scoping::default(),
        }
    }
}
