//! **intermezzo** finds the interleavings that break concurrent Rust code.
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
pub mod extras;
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
pub use test::{
    GrowingCase, NoError, Outcome, Returned, Source, check_outcome, run_deterministic_test, run_growth_test,
    run_test,
};
#[doc(hidden)]
#[cfg(feature = "explore")]
#[doc(hidden)]
pub use test::{run_program, run_unmodified};

/// Explores a test function: `#[intermezzo::test]`, or with settings,
/// `#[intermezzo::test(preemptions = 2, strategy = "random", executions = 10_000)]`.
///
/// The settings are those of `Settings::set`, by name. An `intermezzo.toml` next to the package's `Cargo.toml` has
/// them for all tests, which the attribute overrides, and for single ones (`[test."ring::full"]`), which override it.
/// Environment variables override both (`INTERMEZZO_PREEMPTIONS=3`), and `INTERMEZZO_REPLAY` runs one schedule. The
/// test fails with the report if something is found, or if the outcome is inconclusive. Without the feature `explore`
/// the test is run once, as it is, and says so on stderr.
///
/// A test may take arguments. Each combination of their values is a test of its own, in a module of the function's name:
///
/// ```
/// #[derive(Clone, Copy)]
/// enum Kind { Bounded, Unbounded }
/// use Kind::*;
///
/// // The tests `drains::tasks_2_kind_bounded` to `drains::tasks_3_kind_unbounded`.
/// #[intermezzo::test(args(tasks = 2..=3, kind = [Bounded, Unbounded]))]
/// fn drains(tasks: usize, kind: Kind) {
///     # let _ = (tasks, kind);
/// }
///
/// // `swaps::few` and `swaps::random`: the same test with several settings.
/// #[intermezzo::test(contexts(few(preemptions = 1), random(strategy = "random", executions = 100)))]
/// fn swaps() {}
///
/// // It passes if some execution deadlocks, and nothing else is found.
/// #[intermezzo::test(expect(deadlock))]
/// fn philosophers() {}
///
/// // It fails if there are more or fewer.
/// #[intermezzo::test(expect(executions = 1, traces = 1))]
/// fn alone() {}
///
/// // `passes_on::growth` compares the cases: it fails if the steps grow faster than the number of tasks, or almost.
/// #[intermezzo::test(args(tasks = 2..=4), growth(steps = 1.2))]
/// fn passes_on(tasks: usize) {
///     # let _ = tasks;
/// }
///
/// // It fails if an execution returns another value.
/// #[intermezzo::test(deterministic)]
/// fn total() -> usize {
///     2
/// }
/// # fn main() {}
/// ```
///
/// The values of an argument are a range of integers or a list of expressions. `expect` takes the kind of a finding,
/// with a part of its message if that matters (`expect(panic = "overflow")`), and the figures `executions`, `traces`,
/// `steps` (of the longest execution) and `tasks` (the most of an execution), which must be exactly these. Figures are
/// not compared in a replay. Without the feature `explore` a test that expects a finding is not run.
///
/// A test that is `deterministic` returns a value of any type with `Debug`, and fails if an execution returns another one
/// than the default execution, in which no task is preempted. Values are compared as `Debug` shows them. An `Err` fails,
/// as in any test. Without the feature `explore` the test is run once, and its value is dropped.
///
/// `growth` makes a performance test of a test with one argument, whose values are a range. One more test, `growth`,
/// explores all cases and compares their figures: those of `expect`, each with the largest exponent that is allowed. With
/// an exponent of 1 twice as many tasks take twice as many steps (see `Growth`). Settings such as `executions` hold for
/// each case. Without the feature `explore` there is nothing to compare.
///
/// With `#[should_panic]` the test passes if some execution panics with that message, and nothing else is found. If
/// `INTERMEZZO_REPLAY` has a schedule of another test, the test is not run, and says so on stderr.
///
/// If the dependency has another name, or is re-exported, `crate` names it: `#[my_name::test(crate = my_name)]`.
pub use intermezzo_macros::test;
