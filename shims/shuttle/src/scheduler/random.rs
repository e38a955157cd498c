//! `RandomScheduler`: each choice is uniform over the tasks that can run.

use super::{DataSource, Kind, RandomDataSource, Schedule, Scheduler, Search, Task, TaskId, seed_or};
use crate::state::Data;
use intermezzo::StrategyKind;
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;

/// Draws executions by random walks.
#[derive(Debug)]
pub struct RandomScheduler {
    seed: u64,
    left: usize,
    random: StdRng,
    data: RandomDataSource,
}

impl RandomScheduler {
    /// Returns a scheduler of that many executions, which are the same in each run.
    pub fn new(max_iterations: usize) -> RandomScheduler {
        RandomScheduler::new_from_seed(0, max_iterations)
    }

    /// Returns a scheduler of that many executions with this seed. `SHUTTLE_RANDOM_SEED` overrides it.
    pub fn new_from_seed(seed: u64, max_iterations: usize) -> RandomScheduler {
        let seed = seed_or(seed);
        RandomScheduler {
            seed,
            left: max_iterations,
            random: StdRng::seed_from_u64(seed),
            data: RandomDataSource::initialize(seed),
        }
    }
}

impl Scheduler for RandomScheduler {
    fn new_execution(&mut self) -> Option<Schedule> {
        self.left = self.left.checked_sub(1)?;
        Some(Schedule::new(self.data.reinitialize()))
    }

    fn next_task(&mut self, runnable_tasks: &[&Task], _: Option<TaskId>, _: bool) -> Option<TaskId> {
        runnable_tasks.choose(&mut self.random).map(|task| task.id())
    }

    fn next_u64(&mut self) -> u64 {
        self.data.next_u64()
    }

    fn search(&self) -> Search {
        Search(Kind::Ours {
            kind: StrategyKind::Random,
            executions: Some(self.left),
            seed: self.seed,
            data: Data::Chosen,
        })
    }
}
