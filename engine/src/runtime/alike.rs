//! Possible reasons why an execution differs from the previous one under the same choices.
//!
//! std iterates over hash tables in a different order each time, which no schedule determines. The keys of
//! `RandomState` show whether the test creates any tables: std draws keys once for each thread, and adds one to one of
//! them for each `RandomState`. So the keys of two states that are made one after the other differ by one, unless
//! others were made in between.

use super::Unlike;
use std::hash::RandomState;

/// The number of the current execution, and evidence of the reason why it may depart.
#[derive(Debug, Default)]
pub(super) struct Alike {
    /// The number of this execution in its exploration, from 1.
    pub(super) number: u64,
    /// The number of attempts before this one.
    attempts: u64,
    /// The sum of the keys when it began.
    keys: u64,
    /// `true` if it has called the system.
    calls_system: bool,
}

impl Alike {
    /// Notes that the next execution is a new one.
    #[inline]
    pub(super) fn next(&mut self) {
        self.attempts = 0;
    }

    /// Notes that the next execution is another attempt at this one, which departed.
    pub(super) fn again(&mut self) {
        self.attempts += 1;
    }

    /// Notes that the execution begins.
    #[inline]
    pub(super) fn begin(&mut self) {
        self.number += 1;
        self.keys = keys();
        self.calls_system = false;
    }

    /// Notes that the execution calls the system, whose answers may differ.
    pub(super) fn call_system(&mut self) {
        self.calls_system = true;
    }

    /// Returns the possible reasons for the departure of the execution. `unmodified` is `true` if the test was not
    /// written for intermezzo.
    pub(super) fn told(&self, unmodified: bool) -> Unlike {
        let (now, next) = (keys(), keys());
        let counts_up = next.wrapping_sub(now) == 1;
        Unlike {
            hash_tables: counts_up && now.wrapping_sub(self.keys) > 1,
            follows_first: self.number.wrapping_sub(self.attempts) == 2,
            is_first: self.number.wrapping_sub(self.attempts) == 1,
            unmodified,
            calls_system: self.calls_system,
        }
    }
}

/// Returns the sum of the keys of a new `RandomState`: std does not specify which of them is incremented.
fn keys() -> u64 {
    // SAFETY: it is as long as two integers, which is checked when this is compiled, and nothing else.
    let keys: [u64; 2] = unsafe { std::mem::transmute(RandomState::new()) };
    keys[0].wrapping_add(keys[1])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn a_table_that_is_made_is_noticed() {
        let mut alike = Alike::default();
        alike.begin();
        assert!(!alike.told(false).hash_tables);
        alike.begin();
        let _ = HashMap::<u8, u8>::new();
        assert!(alike.told(false).hash_tables);
    }
}
