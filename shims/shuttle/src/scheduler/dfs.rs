//! `DfsScheduler`: every schedule, depth first.

use super::{DataSource, Kind, RandomDataSource, Schedule, Scheduler, Search, Task, TaskId};
use crate::state::Data;
use intermezzo::StrategyKind;

/// Runs every schedule.
#[derive(Debug)]
pub struct DfsScheduler {
    left: Option<usize>,
    allow_random_data: bool,
    data: RandomDataSource,
    /// The choices of the last execution, as far as the next one repeats them: the number taken, and `true` if it was the
    /// last one.
    path: Vec<(usize, bool)>,
    /// The number of choices that the execution has made.
    made: usize,
    has_begun: bool,
}

impl DfsScheduler {
    /// Returns a scheduler of every schedule, or of that many. With `allow_random_data` a test may draw random numbers, which
    /// are the same in each execution.
    pub fn new(max_iterations: Option<usize>, allow_random_data: bool) -> DfsScheduler {
        DfsScheduler {
            left: max_iterations,
            allow_random_data,
            data: RandomDataSource::initialize(0),
            path: Vec::new(),
            made: 0,
            has_begun: false,
        }
    }
}

impl Scheduler for DfsScheduler {
    fn new_execution(&mut self) -> Option<Schedule> {
        if let Some(left) = &mut self.left {
            *left = left.checked_sub(1)?;
        }
        if self.has_begun {
            while self.path.pop_if(|&mut (_, is_last)| is_last).is_some() {}
            self.path.last_mut()?.0 += 1;
        }
        (self.has_begun, self.made) = (true, 0);
        self.data = RandomDataSource::initialize(0);
        Some(Schedule::new(0))
    }

    fn next_task(&mut self, runnable_tasks: &[&Task], _: Option<TaskId>, _: bool) -> Option<TaskId> {
        if self.made == self.path.len() {
            self.path.push((0, false));
        }
        let (at, is_last) = &mut self.path[self.made];
        *is_last = *at + 1 == runnable_tasks.len();
        self.made += 1;
        runnable_tasks.get(*at).map(|task| task.id())
    }

    fn next_u64(&mut self) -> u64 {
        assert!(
            self.allow_random_data,
            "requested random data from DFS scheduler: create it by `DfsScheduler::new` with `allow_random_data = true`"
        );
        self.data.next_u64()
    }

    fn search(&self) -> Search {
        Search(Kind::Ours {
            kind: StrategyKind::DFS,
            executions: self.left,
            seed: 0,
            data: match self.allow_random_data {
                true => Data::fixed(),
                false => Data::Refused,
            },
        })
    }
}
