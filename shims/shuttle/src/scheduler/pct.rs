//! `PctScheduler`: random priorities that change a few times (PCT, Burckhardt et al., ASPLOS 2010).
//!
//! Differs, where it is asked step by step, as at depth 1: the number of steps, from which the changes are drawn, is
//! the largest so far; a task that yields gets the lowest priority.

use super::{DataSource, Kind, RandomDataSource, Schedule, Scheduler, Search, Task, TaskId, seed_or};
use crate::state::Data;
use intermezzo::StrategyKind;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::collections::{BTreeSet, HashMap};

/// Draws executions by priorities of tasks, for bugs of a depth.
#[derive(Debug)]
pub struct PctScheduler {
    seed: u64,
    depth: usize,
    left: usize,
    random: StdRng,
    data: RandomDataSource,
    /// The task with the highest priority goes first.
    priorities: HashMap<TaskId, i64>,
    /// The next lowest priority.
    lowest: i64,
    /// The steps at which the running task gets the lowest priority.
    changes: BTreeSet<usize>,
    steps: usize,
    most_steps: usize,
}

impl PctScheduler {
    /// Returns a scheduler of that many executions, which are the same in each run.
    ///
    /// # Panics
    /// If the depth is 0.
    pub fn new(max_depth: usize, max_iterations: usize) -> PctScheduler {
        PctScheduler::new_from_seed(0, max_depth, max_iterations)
    }

    /// Returns a scheduler of that many executions with this seed. `SHUTTLE_RANDOM_SEED` overrides it.
    ///
    /// # Panics
    /// If the depth is 0.
    pub fn new_from_seed(seed: u64, max_depth: usize, max_iterations: usize) -> PctScheduler {
        assert!(max_depth > 0, "a bug has at least depth 1");
        let seed = seed_or(seed);
        PctScheduler {
            seed,
            depth: max_depth,
            left: max_iterations,
            random: StdRng::seed_from_u64(seed),
            data: RandomDataSource::initialize(seed),
            priorities: HashMap::new(),
            lowest: -1,
            changes: BTreeSet::new(),
            steps: 0,
            most_steps: 0,
        }
    }

    fn demote(&mut self, task: TaskId) {
        self.priorities.insert(task, self.lowest);
        self.lowest -= 1;
    }
}

impl Scheduler for PctScheduler {
    fn new_execution(&mut self) -> Option<Schedule> {
        self.left = self.left.checked_sub(1)?;
        self.priorities.clear();
        (self.lowest, self.steps) = (-1, 0);
        let most = self.most_steps.max(1);
        let changes = (1..self.depth).map(|_| self.random.gen_range(0..most));
        self.changes = changes.collect();
        Some(Schedule::new(self.data.reinitialize()))
    }

    fn next_task(
        &mut self,
        runnable_tasks: &[&Task],
        current_task: Option<TaskId>,
        is_yielding: bool,
    ) -> Option<TaskId> {
        if let Some(current) = current_task
            && (is_yielding || self.changes.contains(&self.steps))
        {
            self.demote(current);
        }
        // Only where there is a choice can a change make a difference.
        self.steps += usize::from(runnable_tasks.len() > 1);
        self.most_steps = self.most_steps.max(self.steps);
        let random = &mut self.random;
        let of = |task: &&Task| {
            let priority = self.priorities.entry(task.id());
            (
                *priority.or_insert_with(|| random.gen_range(0..i64::MAX)),
                task.id(),
            )
        };
        let mut all: Vec<(i64, TaskId)> = runnable_tasks.iter().map(of).collect();
        all.sort_unstable();
        all.last().map(|&(_, task)| task)
    }

    fn next_u64(&mut self) -> u64 {
        self.data.next_u64()
    }

    fn search(&self) -> Search {
        if self.depth == 1 {
            // No task loses its priority, so there is nothing to learn. The search would draw its first executions otherwise.
            return Search(Kind::AskedOfSeveral);
        }
        Search(Kind::Ours {
            kind: StrategyKind::Pct(self.depth as u32),
            executions: Some(self.left),
            seed: self.seed,
            data: Data::Chosen,
        })
    }
}
