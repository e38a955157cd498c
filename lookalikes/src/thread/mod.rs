//! `std::thread`, controlled.

mod handle;
mod local;
mod park;
mod scope;
mod spawn;

pub use handle::{Thread, ThreadId, current};
#[doc(hidden)]
pub use handle::{name_main, number_of, own_number};
pub use local::{AccessError, LocalKey};
pub use park::{park, park_timeout, sleep, yield_now};
#[allow(deprecated, reason = "std has them too")]
pub use park::{park_timeout_ms, sleep_ms};
pub use scope::{Scope, ScopedJoinHandle, scope};
#[doc(hidden)]
pub use spawn::spawn_symmetric;
pub use spawn::{Builder, JoinHandle, spawn};
pub use std::thread::{Result, panicking};

use intermezzo_engine::runtime::Engine;
use std::num::NonZero;

/// The number of processors in an execution: enough for tests for which more than one is interesting, and the same
/// everywhere.
const PROCESSORS: usize = 2;

/// Returns the number of processors: 2 inside an exploration, so that a test does the same on every machine.
///
/// # Errors
/// Outside an exploration, if std does not know.
pub fn available_parallelism() -> std::io::Result<NonZero<usize>> {
    match Engine::current() {
        Some(_) => Ok(NonZero::new(PROCESSORS).expect("not zero")),
        None => std::thread::available_parallelism(),
    }
}

pub use crate::thread_local_lookalike as thread_local;
