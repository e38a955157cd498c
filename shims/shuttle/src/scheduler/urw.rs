//! `UrwRandomScheduler`: random walks that are uniform over all orders (URW, Zhao et al., ASPLOS 2025).
//!
//! Differs, where it is asked step by step: tasks are recognised by their signatures, and those of one signature have the
//! mean of their numbers of steps.

use super::{DataSource, Kind, RandomDataSource, Schedule, Scheduler, Search, Task, TaskId, seed_or};
use crate::state::Data;
use intermezzo::StrategyKind;
use intermezzo::search::Interesting;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::collections::HashMap;

/// The steps of tasks of one signature: their sum, and the number of tasks.
#[derive(Clone, Copy, Debug, Default)]
struct Steps {
    all: u64,
    tasks: u64,
}

/// Draws executions by random walks that are uniform over all orders.
#[derive(Debug)]
pub struct UrwRandomScheduler {
    seed: u64,
    left: usize,
    random: StdRng,
    data: RandomDataSource,
    /// The steps of the tasks, by their signatures, in the executions so far.
    known: HashMap<u64, Steps>,
    /// The signatures of the execution's tasks, and the steps that they have taken.
    taken: HashMap<TaskId, (u64, u64)>,
}

impl UrwRandomScheduler {
    /// Returns a scheduler of that many executions, which are the same in each run.
    pub fn new(max_iterations: usize) -> UrwRandomScheduler {
        UrwRandomScheduler::new_from_seed(0, max_iterations)
    }

    /// Returns a scheduler of that many executions with this seed. `SHUTTLE_RANDOM_SEED` overrides it.
    pub fn new_from_seed(seed: u64, max_iterations: usize) -> UrwRandomScheduler {
        let seed = seed_or(seed);
        UrwRandomScheduler {
            seed,
            left: max_iterations,
            random: StdRng::seed_from_u64(seed),
            data: RandomDataSource::initialize(seed),
            known: HashMap::new(),
            taken: HashMap::new(),
        }
    }

    /// Returns the number of steps that a task has left, as far as is known; at least 1.
    fn left_of(&self, task: &Task) -> u64 {
        let taken = self.taken.get(&task.id()).map_or(0, |&(_, taken)| taken);
        let known = self.known.get(&task.signature.signature_hash());
        let mean = known.map_or(1, |steps| steps.all / steps.tasks.max(1));
        mean.saturating_sub(taken).max(1)
    }
}

impl Scheduler for UrwRandomScheduler {
    fn new_execution(&mut self) -> Option<Schedule> {
        for (signature, taken) in std::mem::take(&mut self.taken).into_values() {
            let steps = self.known.entry(signature).or_default();
            steps.all += taken;
            steps.tasks += 1;
        }
        self.left = self.left.checked_sub(1)?;
        Some(Schedule::new(self.data.reinitialize()))
    }

    fn next_task(&mut self, runnable_tasks: &[&Task], _: Option<TaskId>, _: bool) -> Option<TaskId> {
        let weights: Vec<u64> = runnable_tasks.iter().map(|task| self.left_of(task)).collect();
        let mut at = self.random.gen_range(0..weights.iter().sum());
        let mut chosen = None;
        for (task, weight) in runnable_tasks.iter().zip(weights) {
            if at < weight {
                chosen = Some(task);
                break;
            }
            at -= weight;
        }
        let chosen = chosen?;
        let signature = chosen.signature.signature_hash();
        self.taken.entry(chosen.id()).or_insert((signature, 0)).1 += 1;
        Some(chosen.id())
    }

    fn next_u64(&mut self) -> u64 {
        self.data.next_u64()
    }

    fn search(&self) -> Search {
        Search(Kind::Ours {
            kind: StrategyKind::Surw(Interesting::All),
            executions: Some(self.left),
            seed: self.seed,
            data: Data::Chosen,
        })
    }
}
