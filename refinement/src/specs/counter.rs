//! A counter: it grows by each added amount.

use crate::specification::Sequential;

/// An operation of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Call {
    /// Adds, wrapping around; returns the value before.
    FetchAdd(u64),
    /// Reads it.
    Get,
}

/// A counter with its first value.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counter(pub u64);

impl Sequential for Counter {
    type Call = Call;
    type Return = u64;
    type State = u64;

    fn initial(&self) -> u64 {
        self.0
    }

    fn apply(&self, state: &mut u64, call: &Call) -> Option<u64> {
        let before = *state;
        if let Call::FetchAdd(amount) = call {
            *state = before.wrapping_add(*amount);
        }
        Some(before)
    }
}
