//! The choices at which a search branches.

use intermezzo_engine::schedule::Choice;
use std::ops::Range;

/// The alternatives that are explored below a prefix in the current round, and those that are left to the next one.
pub(super) trait Branching {
    /// Returns `true` if the other alternatives of this choice are explored in this round.
    fn is_free(&self, choice: &Choice) -> bool;

    /// Returns the alternatives of this choice that are put aside for the next round when this round is done with the
    /// choice.
    fn aside(&self, choice: &Choice, round: u32) -> Range<u32>;
}
