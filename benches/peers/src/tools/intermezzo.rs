//! Intermezzo: depth first, without a preemption bound, every schedule or one for each trace.
//!
//! Only the scheduler is adversarial, so that the counts are comparable with the peers'.

use std::sync::Arc;
use std::time::Duration;

use ::intermezzo::sync::Mutex;
use ::intermezzo::sync::atomic::{AtomicUsize, Ordering};
use ::intermezzo::{Environment, Explorer, Reduction, thread};

use crate::{Case, Outcomes};

#[path = "../kernels.rs"]
mod kernels;

pub(super) fn explore_dpor(case: Case, time: Duration, outcomes: Arc<Outcomes>) -> u64 {
    explore(Reduction::Dpor, case, time, outcomes)
}

pub(super) fn explore_dfs(case: Case, time: Duration, outcomes: Arc<Outcomes>) -> u64 {
    explore(Reduction::None, case, time, outcomes)
}

fn explore(reduction: Reduction, case: Case, time: Duration, outcomes: Arc<Outcomes>) -> u64 {
    let report = Explorer::new()
        .environment(Environment::calm())
        .reduction(reduction)
        .time(time)
        .explore(move || outcomes.record(kernels::run(case)));
    // A finding ends the search early, which would pass for speed.
    assert!(report.verdict().is_pass(), "{report}");
    report.executions()
}
