//! **intermezzo** finds the in-between moves that break concurrent Rust code.
//!
//! Write a test against the look-alikes of `std` in [`sync`], [`thread`] and their siblings, put
//! `#[intermezzo::test]` on it, and it is run once per schedule: until one fails, and can be replayed, or
//! all have passed.
//!
//! ```
//! # #[cfg(feature = "explore")] {
//! use intermezzo::sync::{Arc, atomic::{AtomicUsize, Ordering::SeqCst}};
//! use intermezzo::{Explorer, thread};
//!
//! let report = Explorer::new().explore(|| {
//!     let n = Arc::new(AtomicUsize::new(0));
//!     let t = { let n = n.clone(); thread::spawn(move || { let v = n.load(SeqCst); n.store(v + 1, SeqCst); }) };
//!     let v = n.load(SeqCst); n.store(v + 1, SeqCst);
//!     t.join().unwrap();
//!     assert_eq!(n.load(SeqCst), 2);
//! });
//! assert!(report.verdict().is_fail(), "{report}");
//! # }
//! ```
//!
//! # Feature `explore`
//!
//! Without it the facade re-exports `std`, and nothing of the explorer is compiled: a library uses
//! `intermezzo` in its own code at no cost, and switches `explore` on in its `[dev-dependencies]`. With it
//! the look-alikes are controlled inside an exploration, and behave as `std` outside one.

#[cfg(feature = "explore")]
mod brought;
#[cfg(feature = "explore")]
mod explored;
#[cfg(all(doctest, feature = "explore"))]
mod guide;
#[cfg(not(feature = "explore"))]
mod plain;
mod test;

#[cfg(feature = "explore")]
pub use explored::*;
#[cfg(not(feature = "explore"))]
pub use plain::*;

#[doc(hidden)]
#[cfg(feature = "explore")]
#[doc(hidden)]
pub use test::run_unmodified;
#[doc(hidden)]
pub use test::{Outcome, Source, check_outcome, run_test};

/// Explores a test function: `#[intermezzo::test]`, or with settings,
/// `#[intermezzo::test(preemptions = 2, strategy = "random", executions = 10_000)]`.
///
/// The settings are those of `Settings::set`, by name. An `intermezzo.toml` next to the package's `Cargo.toml` has
/// them for all tests, which the attribute overrides, and for single ones (`[test."ring::full"]`), which override it.
/// Environment variables override both (`INTERMEZZO_PREEMPTIONS=3`), and `INTERMEZZO_REPLAY` runs one schedule. The
/// test fails with the report if something is found, or if the outcome is inconclusive. Without the feature `explore`
/// the test is run once, as it is, and says so on stderr.
///
/// With `#[should_panic]` the test passes if some execution panics with that message, and nothing else is found. If
/// `INTERMEZZO_REPLAY` has a schedule of another test, the test is not run, and says so on stderr.
///
/// If the dependency has another name, or is re-exported, `crate` names it: `#[my_name::test(crate = my_name)]`.
pub use intermezzo_macros::test;
