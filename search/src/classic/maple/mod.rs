//! Interleaving coverage: which iRoots executions expose, and which they could.
//!
//! After Maple (Yu, Narayanasamy, Pereira, Pokam, OOPSLA 2012). An [`IRoot`] is a pattern of dependencies between static places
//! of two tasks. [`exposed`] tells which of them an execution has, [`profile`] and [`predict`] which ones others like it could
//! have, and [`memo`] keeps what was exposed from one exploration to the next. A [`Session`] does that for one exploration: it
//! is told of each execution by a monitor ([`observer`]), and asked by the search ([`search`]), if that goes by
//! iRoots, and for the report.

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
#[cfg(test)]
mod tests;

use access::Access;
use iroot::IRoot;
pub use measured::{IRootCoverage, IRootsExposed};
pub use memo::{MemoError, MemoProblem};
use place::Place;
pub use session::{Options, Session};
