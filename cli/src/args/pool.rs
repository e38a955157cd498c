//! The command line of `worker` and `pool`.

use super::CargoArguments;
use crate::search_flags::seconds;
use clap::{Args, Subcommand};
use std::time::Duration;

/// Explores tests for runs of `test --pool` on other machines, until it is stopped
///
/// Builds the tests of this checkout once, and takes part in each run of the pool with identical test binaries. Workers
/// may join and leave at any time: if one ends, its work is given to another.
#[derive(Args, Debug)]
#[command(after_help = WORKER_HELP)]
pub(crate) struct WorkerArgs {
    /// The pool: a NATS server with JetStream, and the name of a stream in it
    #[arg(long, value_name = "nats://HOST:4222/STREAM")]
    pub(crate) pool: String,
    /// Ends after this many seconds without work
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) idle_time: Option<Duration>,
    #[command(flatten)]
    pub(crate) cargo: CargoArguments,
}

const WORKER_HELP: &str = "\
Examples:
  cargo intermezzo worker --pool nats://build-1:4222/queue
  cargo intermezzo worker --pool tls://build-1:4222/queue --idle-time 600 -p my-queue --lib

Give it the arguments for cargo that `test --pool` has: packages, targets, features, profile.
Credentials: in the address, or NATS_USER and NATS_PASSWORD, NATS_TOKEN, NATS_NKEY, NATS_CREDS; NATS_CA, NATS_CERT, NATS_KEY.
Exit code 2: the project does not build, or the server cannot be used.";

#[derive(Subcommand, Debug)]
pub(crate) enum PoolCommand {
    Status(PoolStatusArgs),
}

/// Shows the runs of a pool, what was found in them, and the workers
#[derive(Args, Debug)]
#[command(after_help = STATUS_HELP)]
pub(crate) struct PoolStatusArgs {
    /// The pool: a NATS server with JetStream, and the name of a stream in it
    #[arg(long, value_name = "nats://HOST:4222/STREAM")]
    pub(crate) pool: String,
    /// Prints one JSON value on stdout
    #[arg(long)]
    pub(crate) json: bool,
}

const STATUS_HELP: &str = "\
JSON: { runs: [{ run, tests, tests_done, shares_done, shares_open, done, executions, findings }], workers: [{ name, at,
done, refuses }], aside: [{ place, why, begins }], stray }; `done` of a run is the part of its searches that is done, from 0
to 1. Exit code 2: the server cannot be used.";
