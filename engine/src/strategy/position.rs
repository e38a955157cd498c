//! Where an execution stands in the order of its search.

use crate::schedule::Choice;
use serde::{Deserialize, Serialize};

/// The place of an execution in the order in which a single worker comes to the executions of a search.
///
/// Several workers run executions in another order; by their ranks, what they found is put into the order of the
/// search again.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SearchPosition {
    /// The round of an iterative search: its bound.
    round: u32,
    /// The alternatives taken: an order in which what comes below a choice follows it.
    path: Vec<u32>,
}

impl SearchPosition {
    /// A place by the alternatives that an execution takes, the first that differs decides; all of an earlier round
    /// come first.
    pub fn of_choices(round: u32, choices: &[Choice]) -> SearchPosition {
        SearchPosition {
            round,
            path: choices.iter().map(|choice| choice.taken).collect(),
        }
    }

    /// A place by number.
    pub fn of_number(number: u64) -> SearchPosition {
        SearchPosition {
            round: 0,
            path: vec![(number >> 32) as u32, number as u32],
        }
    }

    /// The round of an iterative search.
    pub fn round(&self) -> u32 {
        self.round
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_rounds_are_in_order() {
        let numbers = [0, 1, u64::from(u32::MAX), 1 << 32, u64::MAX].map(SearchPosition::of_number);
        assert!(numbers.is_sorted());
        let rank = |round, path: &[u32]| SearchPosition {
            round,
            path: path.to_vec(),
        };
        assert!(
            [
                rank(0, &[]),
                rank(0, &[0, 2]),
                rank(0, &[1]),
                rank(1, &[]),
                rank(1, &[0])
            ]
            .is_sorted()
        );
    }
}
