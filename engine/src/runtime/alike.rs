//! Why an execution may not do what the one before it did under the same choices.
//!
//! Hash tables of std are gone through in another order each time, which no schedule settles. Whether the test makes any is
//! told by the keys that std counts up: it draws them for each thread, and adds one to one of them for each `RandomState`. So
//! two that are made one after the other differ by one, unless others were made in between.

use super::Unlike;
use std::hash::RandomState;

/// Evidence of why the execution that runs may depart.
#[derive(Debug, Default)]
pub(super) struct Alike {
    /// Attempts before this one.
    attempts: u64,
    /// Keys that were made when it began.
    keys: u64,
}

impl Alike {
    /// The next execution is a new one.
    #[inline]
    pub(super) fn next(&mut self) {
        self.attempts = 0;
    }

    /// The next execution is another attempt at this one, which departed.
    pub(super) fn again(&mut self) {
        self.attempts += 1;
    }

    /// It begins.
    #[inline]
    pub(super) fn begin(&mut self) {
        self.keys = keys();
    }

    /// Why the execution, the `number`th, may have departed.
    pub(super) fn told(&self, number: u64) -> Unlike {
        let (now, next) = (keys(), keys());
        let counts_up = next.wrapping_sub(now) == 1;
        Unlike {
            hash_tables: counts_up && now.wrapping_sub(self.keys) > 1,
            follows_first: number.wrapping_sub(self.attempts) == 2,
            is_first: number.wrapping_sub(self.attempts) == 1,
        }
    }
}

/// The sum of the keys of a `RandomState` that is made now: it is not promised which of them counts up.
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
        assert!(!alike.told(9).hash_tables);
        alike.begin();
        let _ = HashMap::<u8, u8>::new();
        assert!(alike.told(9).hash_tables);
    }
}
