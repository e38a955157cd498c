//! The settings that add, close or skip schedule points, and the data that they need in an execution.

use super::breakpoints::Breakpoints;
use super::data_points::DataPoints;
use super::ordered_atomics::OrderedAtomics;
use super::scope::{Preemptible, Scoping};
use super::spin::Spins;
use super::symmetric::Symmetric;
use super::unyielding::Reads;
use crate::schedule::Premises;
use intermezzo_breakpoint::Armings;

/// The constraints on an execution, other than its prescribed choices.
pub(super) struct Constraints {
    /// `true` if decisions must check for closed points in this execution.
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
    /// The reads by which loops that wait without yielding are recognised.
    pub(super) reads: Reads,
    pub(super) scoping: Scoping,
    /// The tasks that begin in the first step of another one.
    pub(super) symmetric: Symmetric,
}

impl Constraints {
    /// Returns the constraint on loops that wait, and no others.
    pub(super) fn new(spins: Spins) -> Constraints {
        Constraints {
            scoped: false,
            preemptible: None,
            breakpoints: None,
            ordered_atomics: None,
            data_points: None,
            spins,
            reads: Reads::default(),
            scoping: Scoping::default(),
            symmetric: Symmetric::default(),
        }
    }

    /// Resets the state for a new execution.
    #[inline(always)]
    pub(super) fn begin(&mut self) {
        self.scoped = false;
        self.scoping = Scoping::default();
        if let Some(points) = &mut self.data_points {
            points.begin();
        }
        if let Some(breakpoints) = &mut self.breakpoints {
            breakpoints.begin();
            // Only the slow path of decisions respects tasks that are parked at a breakpoint.
            self.scoped = true;
        }
        if let Some(preemptible) = &mut self.preemptible {
            preemptible.begin();
            self.scoped = true;
        }
        if let Some(ordered_atomics) = &mut self.ordered_atomics {
            ordered_atomics.begin();
            self.scoped = true;
        }
        self.spins.reset();
        self.reads.begin();
        self.symmetric.begin();
    }

    /// Arms these breakpoints and no others.
    pub(super) fn arm(&mut self, armings: Armings) {
        self.breakpoints = (!armings.0.is_empty()).then(|| Box::new(Breakpoints::new(armings)));
    }

    /// Returns the assumptions of the execution; `all_listed` is one of them.
    pub(super) fn premises(&self, all_listed: bool) -> Premises {
        Premises {
            all_listed,
            known_loops: self
                .spins
                .known()
                .map_or(Vec::new(), |known| known.known().to_vec()),
            breakpoints: self
                .breakpoints
                .as_ref()
                .map_or(Armings::default(), |breakpoints| breakpoints.armings().clone()),
            data_points: self
                .data_points
                .as_ref()
                .map_or(Vec::new(), |points| points.met()),
        }
    }
}
