//! Searches that are explored by workers on several machines, with a shared pool of work in NATS: `test --pool`, `worker`,
//! `pool status`. They need the feature `pool`, because its dependencies double the time of the build.

#[cfg(feature = "pool")]
mod binaries;
#[cfg(feature = "pool")]
mod process;
#[cfg(feature = "pool")]
mod state;
#[cfg(feature = "pool")]
mod submit;
#[cfg(feature = "pool")]
mod work;

#[cfg(feature = "pool")]
pub(crate) use {process::run_for_worker, state::status, submit::explore, work::worker};

#[cfg(not(feature = "pool"))]
pub(crate) use without::{explore, run_for_worker, status, worker};

/// The number of parts into which a share is divided.
#[cfg(feature = "pool")]
const SPLIT_INTO: u32 = 8;

/// Connects to the pool.
#[cfg(feature = "pool")]
fn connect(address: &str) -> Result<intermezzo_pool::Pool, crate::problem::Problem> {
    use crate::problem::Problem;
    let parsed: Result<intermezzo_pool::Address, String> = address.parse();
    let parsed = parsed.map_err(|why| Problem::usage(format!("--pool: {why}")))?;
    intermezzo_pool::Pool::connect(&parsed).map_err(|error| Problem::usage(error.to_string()))
}

#[cfg(feature = "pool")]
impl From<intermezzo_pool::PoolError> for crate::problem::Problem {
    fn from(error: intermezzo_pool::PoolError) -> crate::problem::Problem {
        crate::problem::Problem::usage(format!(
            "the pool cannot be used any more: {error}; run the command again when the server is reachable"
        ))
    }
}

/// The commands of a build without the feature `pool`.
#[cfg(not(feature = "pool"))]
mod without {
    use super::super::cargo::{CargoTest, Ran};
    use crate::args::{PoolStatusArgs, TestArgs, WorkerArgs};
    use crate::exit::Exit;
    use crate::problem::Problem;
    use intermezzo::settings::CommandSettings;
    use std::process::ExitCode;

    fn none<T>() -> Result<T, Problem> {
        Err(Problem::usage(
            "this cargo-intermezzo is built without pools: `cargo install cargo-intermezzo --features pool` installs one \
             with pools. Shares work without: `test --partition 1/2`",
        ))
    }

    pub(crate) fn worker(_: WorkerArgs) -> Result<Exit, Problem> {
        none()
    }

    pub(crate) fn status(_: &PoolStatusArgs) -> Result<Exit, Problem> {
        none()
    }

    pub(crate) fn explore(_: &str, _: &TestArgs, _: &CommandSettings, _: CargoTest) -> Result<Ran, Problem> {
        none()
    }

    pub(crate) fn run_for_worker() -> Option<ExitCode> {
        None
    }
}
