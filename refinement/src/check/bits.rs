//! Sets of operations, as words of bits.

use smallvec::SmallVec;

/// A set of small numbers. Up to 256 of them need no allocation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Bits(SmallVec<[u64; 4]>);

impl Bits {
    /// Creates an empty set with room for numbers below `most`.
    pub(super) fn new(most: usize) -> Bits {
        Bits(SmallVec::from_elem(0, most.div_ceil(64)))
    }

    pub(super) fn insert(&mut self, number: usize) {
        self.0[number / 64] |= 1 << (number % 64);
    }

    pub(super) fn remove(&mut self, number: usize) {
        self.0[number / 64] &= !(1 << (number % 64));
    }
}
