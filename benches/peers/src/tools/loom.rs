//! Loom: depth first with its partial-order reduction.
//!
//! Differs from `loom::model`: no tracing subscriber is installed, which is in loom's favour.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use ::loom::model::Builder;
use ::loom::sync::Mutex;
use ::loom::sync::atomic::{AtomicUsize, Ordering};
use ::loom::thread;

use crate::{Case, Outcomes};

#[path = "../kernels.rs"]
mod kernels;

/// Far above what any kernel needs; loom's own default of 1,000 is a limit that aborts.
const BRANCHES_MAX: usize = 1_000_000;

/// The number of executions between loom's looks at the clock: small enough to keep the cap within a hundredth of a
/// second, large enough not to be measured.
const CLOCK_INTERVAL: usize = 100;

pub(super) fn explore(case: Case, time: Duration, outcomes: Arc<Outcomes>) -> u64 {
    // Set one by one: the defaults come from the environment variables `LOOM_*`.
    let mut builder = Builder::new();
    builder.max_threads = ::loom::MAX_THREADS;
    builder.max_branches = BRANCHES_MAX;
    builder.max_permutations = None;
    builder.max_duration = Some(time);
    builder.preemption_bound = None;
    builder.checkpoint_file = None;
    builder.checkpoint_interval = CLOCK_INTERVAL;
    builder.location = false;
    builder.log = false;

    // Loom does not report the number of executions.
    let executions = Arc::new(AtomicU64::new(0));
    let counted = executions.clone();
    builder.check(move || {
        counted.fetch_add(1, Relaxed);
        outcomes.record(kernels::run(case));
    });
    executions.load(Relaxed)
}
