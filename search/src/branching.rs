//! The choices that a search branches at.

use intermezzo_engine::schedule::Choice;
use std::ops::Range;

/// The alternatives that are explored below a prefix, and the treatment of the others.
pub(super) trait Branching {
    /// Returns `true` if other alternatives of this choice are explored in this round.
    fn is_free(&self, choice: &Choice) -> bool;

    /// Returns the alternatives of this choice that are put aside for the next round when the choice is left behind in
    /// this one.
    fn aside(&self, choice: &Choice, round: u32) -> Range<u32>;
}
