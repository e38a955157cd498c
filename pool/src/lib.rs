//! A pool of work over NATS JetStream, from which processes on several machines explore searches.
//!
//! A *run* is one call of `cargo intermezzo test --pool`: tests, their settings, and the code. An *item* is a share of one
//! test's search. Items are messages of a work-queue stream: an item is acknowledged when its result is kept, and
//! delivered again if that does not happen. Results are kept in a key-value bucket under the item's name, the first one
//! only, so an item that is delivered twice counts once. The result of an item is a report, or that the item was divided
//! into shares of its own, which are items again. A run is over when the tree of these results is complete, whatever is
//! left in the stream.
//!
//! This crate knows what is in the server and in which order it is written. It neither runs tests nor merges reports.
//!
//! Misses: two clusters that lose contact each continue with what they have; JetStream needs a majority of its servers.

mod address;
mod cover;
mod items;
mod server;
mod worker;

pub use address::Address;
pub use cover::{Cover, Leaf, Progress};
pub use items::{Aside, Binary, Item, Outcome, Run, ShareName, TestEntry, WorkerEntry};
pub use server::{Pool, Status};
pub use worker::{Take, Taken};

use std::fmt;

/// The format of all that is kept in the server. Anything else is set aside.
pub const FORMAT: &str = "intermezzo-pool/1";

/// The reason why the pool cannot be used, or why an operation failed, with what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolError(String);

impl PoolError {
    pub(crate) fn new(text: impl Into<String>) -> PoolError {
        PoolError(text.into())
    }

    pub(crate) fn of(what: &str, error: impl fmt::Display) -> PoolError {
        PoolError(format!("cannot {what} ({error})"))
    }
}

impl fmt::Display for PoolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PoolError {}
