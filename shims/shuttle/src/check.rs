//! `shuttle::check_random` and its siblings: a run with one scheduler and the default settings.

use crate::scheduler::{
    DfsScheduler, PctScheduler, RandomScheduler, ReplayScheduler, RoundRobinScheduler,
    UncontrolledNondeterminismCheckScheduler, UrwRandomScheduler,
};
use crate::{Config, Runner};
use std::path::Path;

/// Runs the test once, with the tasks in turns.
#[doc(hidden)]
#[track_caller]
pub fn check<F: Fn() + Send + Sync + 'static>(f: F) {
    Runner::new(RoundRobinScheduler::new(1), Config::new()).run(f);
}

/// Runs the test that many times by random walks.
///
/// # Panics
/// If an execution fails. The report, with the schedule, is printed on stderr.
#[track_caller]
pub fn check_random<F: Fn() + Send + Sync + 'static>(f: F, iterations: usize) {
    Runner::new(RandomScheduler::new(iterations), Config::new()).run(f);
}

/// Like [`check_random`], with a seed.
#[track_caller]
pub fn check_random_with_seed<F: Fn() + Send + Sync + 'static>(f: F, seed: u64, iterations: usize) {
    Runner::new(RandomScheduler::new_from_seed(seed, iterations), Config::new()).run(f);
}

/// Runs the test that many times by random walks that are uniform over all orders.
///
/// # Panics
/// If an execution fails. The report, with the schedule, is printed on stderr.
#[track_caller]
pub fn check_urw<F: Fn() + Send + Sync + 'static>(f: F, iterations: usize) {
    Runner::new(UrwRandomScheduler::new(iterations), Config::new()).run(f);
}

/// Runs the test that many times by PCT, for bugs of this depth.
///
/// # Panics
/// If an execution fails. The report, with the schedule, is printed on stderr.
#[track_caller]
pub fn check_pct<F: Fn() + Send + Sync + 'static>(f: F, iterations: usize, depth: usize) {
    Runner::new(PctScheduler::new(depth, iterations), Config::new()).run(f);
}

/// Runs the test once per schedule, or as often as is given.
///
/// # Panics
/// If an execution fails. The report, with the schedule, is printed on stderr.
#[track_caller]
pub fn check_dfs<F: Fn() + Send + Sync + 'static>(f: F, max_iterations: Option<usize>) {
    Runner::new(DfsScheduler::new(max_iterations, false), Config::new()).run(f);
}

/// Runs the test by random walks, each of them twice, and checks that it does the same.
///
/// # Panics
/// If it does not, or an execution fails.
#[track_caller]
pub fn check_uncontrolled_nondeterminism<F: Fn() + Send + Sync + 'static>(f: F, max_iterations: usize) {
    let scheduler = UncontrolledNondeterminismCheckScheduler::new(RandomScheduler::new(max_iterations));
    Runner::new(scheduler, Config::new()).run(f);
}

/// Runs the execution of a schedule: the text that a failure shows.
///
/// # Panics
/// If the text is no schedule, or the execution fails.
#[track_caller]
pub fn replay<F: Fn() + Send + Sync + 'static>(f: F, encoded_schedule: &str) {
    Runner::new(ReplayScheduler::new_from_encoded(encoded_schedule), Config::new()).run(f);
}

/// Runs the execution of the schedule in a file that a failure has written.
///
/// # Panics
/// If the file cannot be read, or contains no schedule, or the execution fails.
#[track_caller]
pub fn replay_from_file<F: Fn() + Send + Sync + 'static, P: AsRef<Path>>(f: F, path: P) {
    let scheduler = ReplayScheduler::new_from_file(path)
        .unwrap_or_else(|error| panic!("the file with the schedule cannot be read: {error}"));
    Runner::new(scheduler, Config::new()).run(f);
}

/// Like [`replay`]. No annotated schedule is written.
#[cfg(feature = "annotation")]
#[track_caller]
pub fn annotate_replay<F: Fn() + Send + Sync + 'static>(f: F, encoded_schedule: &str) {
    replay(f, encoded_schedule);
}
