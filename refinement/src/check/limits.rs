//! The point at which a search for an order gives up: after too many states, or when its time is over.

use std::time::Instant;

/// Rounds of a search between two checks of the clock.
const ROUNDS_PER_LOOK: u32 = 1_024;

/// The limits of one search.
pub(super) struct Limits {
    states_max: u64,
    until: Option<Instant>,
    rounds: u32,
}

impl Limits {
    pub(super) fn new(states_max: u64, until: Option<Instant>) -> Limits {
        Limits {
            states_max,
            until,
            rounds: 0,
        }
    }

    /// `true` if the search, which has examined this many states and asks in each round, must give up.
    #[inline]
    pub(super) fn is_over(&mut self, states: u64) -> bool {
        if states > self.states_max {
            return true;
        }
        self.rounds += 1;
        if self.rounds < ROUNDS_PER_LOOK {
            return false;
        }
        self.rounds = 0;
        self.until.is_some_and(|until| Instant::now() >= until)
    }
}
