//! Interleaving coverage: the iRoots that executions expose, and those that other executions could expose.
//!
//! After Maple (Yu, Narayanasamy, Pereira, Pokam, OOPSLA 2012). An `IRoot` is a pattern of dependencies between static
//! places of two tasks. `exposed` finds those of an execution, `profile` and `predict` those that similar executions
//! could have. `memo` keeps the exposed ones from one exploration to the next. A [`Session`] does all that for one
//! exploration: a monitor (`observer`) passes it each execution, and the search (`search`), if iRoots are searched for,
//! and the report query it.

mod access;
mod exposed;
mod iroot;
mod locks;
mod measured;
mod memo;
mod observer;
mod order;
mod place;
mod predict;
mod profile;
mod search;
mod session;
mod sharing;
#[cfg(test)]
mod tests;

use access::{Access, Accesses};
use iroot::IRoot;
pub use iroot::IRootId;
pub use measured::{IRootCoverage, IRootsExposed};
pub use memo::{MemoError, MemoProblem, MergedMemo, StoredIRoot, StoredMemo, StoredTest};
use place::Place;
pub use session::{Options, Session};
