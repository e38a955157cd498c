//! The environment of an execution: its bounds, and virtual time.

use super::Capped;
use super::clock::Looks;
use crate::environment::Environment;

/// The environment of an execution, as far as it has acted.
pub(super) struct World {
    pub(super) environment: Environment,
    /// The remaining bounds of the environment in this execution.
    pub(super) left: Environment,
    /// Virtual time in nanoseconds since the execution began, and the reads of the clock.
    pub(super) clock: u64,
    pub(super) looks: Looks,
    /// The time before, if time passes for the step that is being decided, because no task can continue.
    pub(super) time_passes: Option<u64>,
    /// The actions that the environment's bounds prevented.
    pub(super) capped: Capped,
}

impl World {
    pub(super) fn new(environment: Environment) -> World {
        World {
            environment,
            left: environment,
            clock: 0,
            looks: Looks::default(),
            time_passes: None,
            capped: Capped::default(),
        }
    }

    /// Resets the state for a new execution.
    pub(super) fn begin(&mut self) {
        self.left = self.environment;
        self.clock = 0;
        self.looks.clear();
        self.capped = Capped::default();
    }
}
