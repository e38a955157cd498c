//! The bounds of a ranked search, call by call.

use super::Explorer;
use crate::settings::{Arrays, Epsilon, VariableSets};

impl Explorer {
    /// Explores, with [`Strategy::ranked`](super::Strategy::ranked), executions whose preemptions count against at most
    /// this many variables: each counts against the one that the preempted task accessed last. Default: no bound.
    pub fn variables(mut self, most: u32) -> Explorer {
        self.settings.variables = Some(most);
        self
    }

    /// Whether a ranked search takes sets of variables one after the other, those known to be shared first, or as the first
    /// preemptions choose them. Default: one after the other.
    pub fn variable_sets(mut self, sets: VariableSets) -> Explorer {
        self.settings.variable_sets = sets;
        self
    }

    /// Whether a ranked search counts the elements of an array one by one, or an array as one variable. An array are the
    /// variables of one kind that one place in the source goes through. Default: one by one.
    pub fn arrays(mut self, arrays: Arrays) -> Explorer {
        self.settings.arrays = arrays;
        self
    }

    /// Has tasks go by strict priorities in a ranked search, in so many random orders that each so many tasks come in
    /// every order, up to the chance of [`Explorer::epsilon`]. Default: any task goes wherever another cannot.
    ///
    /// # Panics
    /// Fewer than 2 tasks.
    pub fn threads(mut self, most: u32) -> Explorer {
        self.settings
            .set("threads", &most.to_string())
            .unwrap_or_else(|error| panic!("{error}"));
        self
    }

    /// The most probable it may be that an order of tasks is missed; see [`Explorer::threads`]. Default: 0.01.
    pub fn epsilon(mut self, epsilon: Epsilon) -> Explorer {
        self.settings.epsilon = epsilon;
        self
    }
}
