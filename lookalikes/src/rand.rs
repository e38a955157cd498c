//! Random numbers for tests: the same in every execution, and in every process.
//!
//! Inside an exploration a source's numbers depend on the environment's seed, on the task that creates it, and on the
//! number of sources that the task has created. The task is identified by its creator, its index among the creator's
//! tasks, and so on up: not by a number that depends on the schedule. Outside, the numbers depend on
//! `INTERMEZZO_TEST_SEED` and on the number of sources that the thread has created.
//!
//! Not for secrets.

use intermezzo_engine::runtime::Engine;
use rand::{SeedableRng, TryRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::cell::Cell;
use std::convert::Infallible;
use std::sync::OnceLock;

/// The environment variable with the seed outside an exploration: a number below 2^64.
const SEED_VARIABLE: &str = "INTERMEZZO_TEST_SEED";

/// A source of random numbers: xoshiro256++ (Blackman and Vigna, TOMS 2021). With the crate `rand` it is an `Rng`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestRng(Xoshiro256PlusPlus);

/// Returns a new source of random numbers, which a test can rely on to be the same each time.
///
/// ```
/// use rand::RngExt;
///
/// let mut rng = intermezzo_explorer::rand::rng();
/// let die: u8 = rng.random_range(1..=6);
/// assert!((1..=6).contains(&die));
/// ```
///
/// # Panics
/// Outside an exploration, if `INTERMEZZO_TEST_SEED` is set to something else than a number below 2^64.
pub fn rng() -> TestRng {
    let seed = match Engine::current() {
        Some(engine) => seed_inside(engine),
        None => seed_outside(),
    };
    TestRng(Xoshiro256PlusPlus::seed_from_u64(seed))
}

fn seed_inside(engine: Engine) -> u64 {
    let mut seed = engine.environment().seed;
    let mut task = engine.task();
    engine.note_identity(task);
    let ordinal = engine.with_task(task, |entry| {
        entry.random_sources += 1;
        entry.random_sources - 1
    });
    // The first task has no creator: the chain ends there.
    while task != 0 {
        let (ordinal, parent) = engine.with_task(task, |entry| (entry.ordinal, entry.parent));
        seed = mixed(seed, ordinal);
        task = parent;
    }
    mixed(seed, ordinal)
}

fn seed_outside() -> u64 {
    thread_local! {
        static SOURCES: Cell<u32> = const { Cell::new(0) };
    }
    static SEED: OnceLock<u64> = OnceLock::new();
    let seed = *SEED.get_or_init(|| match std::env::var(SEED_VARIABLE) {
        Ok(text) => text
            .parse()
            .unwrap_or_else(|_| panic!("{SEED_VARIABLE}={text}: a number below 2^64 is wanted")),
        Err(_) => 0,
    });
    let ordinal = SOURCES.get();
    SOURCES.set(ordinal.wrapping_add(1));
    mixed(seed, ordinal)
}

/// Returns a seed that depends on all bits of both, and on their order.
fn mixed(seed: u64, number: u32) -> u64 {
    scrambled(scrambled(seed) ^ u64::from(number))
}

/// Returns the next number of splitmix64 (Steele et al., OOPSLA 2014) in this state.
fn scrambled(state: u64) -> u64 {
    let mut z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl TryRng for TestRng {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.0.try_next_u32()
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.0.try_next_u64()
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.0.try_fill_bytes(bytes)
    }
}
