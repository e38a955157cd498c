//! `shuttle::rand`: `rand` 0.8, with a generator whose numbers the scheduler chooses.

pub use rand::{Rng, RngCore};

use rngs::ThreadRng;

/// Generators.
pub mod rngs {
    use crate::state;
    use rand::{CryptoRng, Error, RngCore};

    /// The generator of [`thread_rng`](super::thread_rng).
    #[derive(Clone, Debug, Default)]
    pub struct ThreadRng {
        pub(super) _private: (),
    }

    impl RngCore for ThreadRng {
        fn next_u32(&mut self) -> u32 {
            self.next_u64() as u32
        }

        fn next_u64(&mut self) -> u64 {
            state::next_u64()
        }

        fn fill_bytes(&mut self, dest: &mut [u8]) {
            for chunk in dest.chunks_mut(8) {
                let bytes = self.next_u64().to_le_bytes();
                chunk.copy_from_slice(&bytes[..chunk.len()]);
            }
        }

        fn try_fill_bytes(&mut self, dest: &mut [u8]) -> Result<(), Error> {
            self.fill_bytes(dest);
            Ok(())
        }
    }

    impl CryptoRng for ThreadRng {}
}

/// Returns the generator whose numbers the scheduler chooses.
pub fn thread_rng() -> ThreadRng {
    ThreadRng { _private: () }
}
