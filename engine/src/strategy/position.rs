//! The position of an execution in the order of its search.

use crate::schedule::Choice;
use crate::serial::{Deserialize, Serialize};

/// The position of an execution in the order in which a single worker runs the executions of a search.
///
/// Several workers run executions in another order. The positions are used to restore the search order of the findings.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SearchPosition {
    /// The round of an iterative search: its bound.
    round: u32,
    /// The alternatives taken. Executions are ordered by the first alternative that differs.
    path: Vec<u32>,
}

impl SearchPosition {
    /// Returns the position of an execution that makes these choices. The first alternative that differs decides; all
    /// executions of an earlier round come first.
    pub fn of_choices(round: u32, choices: &[Choice]) -> SearchPosition {
        SearchPosition {
            round,
            path: choices.iter().map(|choice| choice.taken).collect(),
        }
    }

    /// Returns the position of the execution with this number.
    pub fn of_number(number: u64) -> SearchPosition {
        SearchPosition {
            round: 0,
            path: vec![(number >> 32) as u32, number as u32],
        }
    }

    /// Returns the round of an iterative search.
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
