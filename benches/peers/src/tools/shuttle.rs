//! Shuttle: its depth-first scheduler, which tries every schedule.
//!
//! Its panic hook outlives its runs, and treats every later panic as a failure of its own, which it prints. Loom ends
//! each of its threads by a panic, and would be measured printing. So the previous hook is restored.

use std::panic;
use std::sync::Arc;
use std::time::Duration;

use ::shuttle::scheduler::DfsScheduler;
use ::shuttle::sync::Mutex;
use ::shuttle::sync::atomic::{AtomicUsize, Ordering};
use ::shuttle::{Config, FailurePersistence, Runner, thread};

use crate::{Case, Outcomes};

#[path = "../kernels.rs"]
mod kernels;

pub(super) fn explore(case: Case, time: Duration, outcomes: Arc<Outcomes>) -> u64 {
    let mut config = Config::new();
    config.max_time = Some(time);
    config.failure_persistence = FailurePersistence::None;
    // Otherwise it warns, once per process, that it treats every ordering as `SeqCst`; all of ours are.
    config.silence_warnings = true;

    let executions_max = None;
    let allow_random_data = false;
    let scheduler = DfsScheduler::new(executions_max, allow_random_data);
    let hook = panic::take_hook();
    let executions = Runner::new(scheduler, config).run(move || outcomes.record(kernels::run(case)));
    panic::set_hook(hook);
    executions as u64
}
