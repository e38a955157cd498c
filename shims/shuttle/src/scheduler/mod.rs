//! `shuttle::scheduler`: the trait of schedulers, and those that shuttle has.
//!
//! A scheduler that is used as it is becomes a search of intermezzo's (`Scheduler::search`). Inside another scheduler it is
//! asked step by step, as in shuttle.

mod annotation;
mod asked;
mod data;
mod dfs;
mod nondeterminism;
mod pct;
mod random;
mod replay;
mod round_robin;
mod schedule;
mod urw;

pub use crate::task::Task;
pub use crate::task_id::TaskId;
pub use annotation::AnnotationScheduler;
pub use data::{DataSource, RandomDataSource};
pub use dfs::DfsScheduler;
pub use nondeterminism::UncontrolledNondeterminismCheckScheduler;
pub use pct::PctScheduler;
pub use random::RandomScheduler;
pub use replay::ReplayScheduler;
pub use round_robin::RoundRobinScheduler;
pub use schedule::{Schedule, ScheduleStep};
pub use urw::UrwRandomScheduler;

pub(crate) use asked::Asked;

use crate::state::Data;
use intermezzo::StrategyKind;

/// Chooses the task that goes next, and random numbers.
pub trait Scheduler {
    /// Begins an execution. Returns `None` if there is none left.
    fn new_execution(&mut self) -> Option<Schedule>;

    /// Returns the task that goes next, one of those that can run. Returns `None` to give the execution up.
    ///
    /// `current_task` took the last step; it is `None` at the beginning. `is_yielding` is `true` if it has yielded since.
    fn next_task(
        &mut self,
        runnable_tasks: &[&Task],
        current_task: Option<TaskId>,
        is_yielding: bool,
    ) -> Option<TaskId>;

    /// Returns a random number.
    fn next_u64(&mut self) -> u64;

    /// Returns the search that does what this scheduler does.
    #[doc(hidden)]
    fn search(&self) -> Search {
        Search(Kind::Asked)
    }
}

impl Scheduler for Box<dyn Scheduler + Send> {
    fn new_execution(&mut self) -> Option<Schedule> {
        (**self).new_execution()
    }

    fn next_task(
        &mut self,
        runnable_tasks: &[&Task],
        current_task: Option<TaskId>,
        is_yielding: bool,
    ) -> Option<TaskId> {
        (**self).next_task(runnable_tasks, current_task, is_yielding)
    }

    fn next_u64(&mut self) -> u64 {
        (**self).next_u64()
    }

    fn search(&self) -> Search {
        (**self).search()
    }
}

/// The search of a run.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct Search(pub(crate) Kind);

/// The kinds of searches.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// The scheduler is asked at each step.
    Asked,
    /// The same, and a test with a single task fails.
    AskedOfSeveral,
    /// The same, by one that looks for what executions leave to others.
    Twice,
    /// A search of intermezzo's.
    Ours {
        kind: StrategyKind,
        /// The most executions.
        executions: Option<usize>,
        seed: u64,
        /// The test's random numbers.
        data: Data,
    },
    /// The execution of a schedule.
    Replay(Box<intermezzo::Schedule>),
}

/// Returns the seed of the environment, or this one.
pub(crate) fn seed_or(seed: u64) -> u64 {
    match std::env::var("SHUTTLE_RANDOM_SEED") {
        Ok(text) => text
            .parse()
            .unwrap_or_else(|_| panic!("SHUTTLE_RANDOM_SEED={text}: give a number below 2^64")),
        Err(_) => seed,
    }
}
