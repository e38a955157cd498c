//! Sources of random numbers that can be repeated.

use rand::rngs::StdRng;
use rand::{RngCore, SeedableRng};
use std::fmt::Debug;

/// A source of random numbers that can be repeated.
pub trait DataSource: Debug {
    /// A value from which the numbers follow.
    type Seed: Clone;

    /// Returns the source with this seed.
    fn initialize(seed: Self::Seed) -> Self;

    /// Begins again with another seed, and returns it.
    fn reinitialize(&mut self) -> Self::Seed;

    /// Returns the next number.
    fn next_u64(&mut self) -> u64;
}

/// A source of numbers of a generator.
#[derive(Clone, Debug)]
pub struct RandomDataSource(StdRng);

impl DataSource for RandomDataSource {
    type Seed = u64;

    fn initialize(seed: u64) -> RandomDataSource {
        RandomDataSource(StdRng::seed_from_u64(seed))
    }

    fn reinitialize(&mut self) -> u64 {
        let seed = self.0.next_u64();
        self.0 = StdRng::seed_from_u64(seed);
        seed
    }

    fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }
}
