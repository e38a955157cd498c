//! `ReplayScheduler`: the execution of a schedule.

use super::{DataSource, Kind, RandomDataSource, Schedule, ScheduleStep, Scheduler, Search, Task, TaskId};
use crate::clock::VectorClock;
use crate::clocks;
use crate::state::CHUNK;
use intermezzo::schedule::{Choice, ChoiceKind};
use std::fs;
use std::io;
use std::path::Path;

/// Runs the execution of a schedule.
#[derive(Debug)]
pub struct ReplayScheduler {
    of: Of,
    /// The number of steps, or of choices, that were made.
    made: usize,
    has_begun: bool,
    /// `true` if the execution may end before the schedule.
    allow_incomplete: bool,
    /// The clock before which the events to be repeated come.
    target: Option<VectorClock>,
    data: RandomDataSource,
}

/// The schedule.
#[derive(Debug)]
enum Of {
    /// The tasks in order.
    Steps(Schedule),
    /// The choices of an execution: the text that a failure shows.
    Choices(Box<intermezzo::Schedule>),
}

impl ReplayScheduler {
    fn of(of: Of) -> ReplayScheduler {
        let seed = match &of {
            Of::Steps(schedule) => schedule.seed,
            Of::Choices(_) => 0,
        };
        ReplayScheduler {
            of,
            made: 0,
            has_begun: false,
            allow_incomplete: false,
            target: None,
            data: RandomDataSource::initialize(seed),
        }
    }

    /// Returns the scheduler of a schedule that a failure has shown.
    ///
    /// # Panics
    /// If the text is none.
    pub fn new_from_encoded(encoded_schedule: &str) -> ReplayScheduler {
        let schedule = intermezzo::Schedule::from_token(encoded_schedule.trim())
            .unwrap_or_else(|error| panic!("invalid schedule: {error}"));
        ReplayScheduler::of(Of::Choices(Box::new(schedule)))
    }

    /// Returns the scheduler of a schedule that a failure has written to a file.
    ///
    /// # Errors
    /// If the file cannot be read.
    ///
    /// # Panics
    /// If it contains no schedule.
    pub fn new_from_file<P: AsRef<Path>>(path: P) -> Result<ReplayScheduler, io::Error> {
        Ok(ReplayScheduler::new_from_encoded(&fs::read_to_string(path)?))
    }

    /// Returns the scheduler of a schedule.
    pub fn new_from_schedule(schedule: Schedule) -> ReplayScheduler {
        ReplayScheduler::of(Of::Steps(schedule))
    }

    /// Lets the execution end before the schedule, and continue after it.
    pub fn set_allow_incomplete(&mut self) {
        self.allow_incomplete = true;
    }

    /// Leaves out the steps of a schedule that do not come before this clock, which is that of a failure, for example. A step
    /// is left out, with its random numbers, if the clock of its task then does not come before this one. So is a step of a
    /// task that cannot run.
    ///
    /// # Panics
    /// Without the feature `vector-clocks`, or if the schedule is the text of a failure, which has no steps of tasks.
    pub fn set_target_clock(&mut self, clock: impl Into<VectorClock>) {
        if !clocks::ARE_KEPT {
            panic!("`set_target_clock` needs the feature `vector-clocks`: without it tasks have no clocks");
        }
        assert!(
            matches!(self.of, Of::Steps(_)),
            "`set_target_clock` needs a schedule of tasks, and this one is the text of a failure"
        );
        self.target = Some(clock.into());
    }

    /// Goes on to the next step of the schedule that comes before the target.
    fn leave_out(&mut self, runnable: &[&Task]) {
        let (Of::Steps(schedule), Some(target)) = (&self.of, &self.target) else {
            return;
        };
        while let Some(step) = schedule.steps.get(self.made) {
            // A number that is drawn is found by `next_u64`, so this one was to be drawn in a step that was left out.
            if let ScheduleStep::Task(task) = *step
                && runnable.iter().any(|runnable| runnable.id() == task)
                && clocks::of(task) <= *target
            {
                return;
            }
            self.made += 1;
        }
    }

    /// Returns the next alternative taken, of that many.
    fn next_choice(&mut self, alternatives: u32) -> Option<u32> {
        let Of::Choices(schedule) = &self.of else {
            return None;
        };
        let choice: &Choice = schedule.choices.get(self.made)?;
        self.made += 1;
        (choice.alternatives == alternatives).then_some(choice.taken)
    }

    /// Ends the execution beyond its schedule.
    fn is_over(&self) -> Option<TaskId> {
        assert!(self.allow_incomplete, "schedule ended early");
        None
    }
}

/// Returns the tasks in the order of a choice's alternatives: the running one, and then the others in cyclic order.
fn alternatives(runnable: &[&Task], current: Option<TaskId>, is_yielding: bool) -> Vec<TaskId> {
    let mut tasks: Vec<TaskId> = runnable.iter().map(|task| task.id()).collect();
    let after = tasks.iter().position(|&task| Some(task) > current).unwrap_or(0);
    tasks.rotate_left(after);
    if let Some(running) = tasks.iter().position(|&task| Some(task) == current)
        && !is_yielding
    {
        tasks[..=running].rotate_right(1);
    }
    tasks
}

impl Scheduler for ReplayScheduler {
    fn new_execution(&mut self) -> Option<Schedule> {
        if std::mem::replace(&mut self.has_begun, true) {
            return None;
        }
        Some(match &self.of {
            Of::Steps(schedule) => schedule.clone(),
            Of::Choices(_) => Schedule::new(0),
        })
    }

    fn next_task(
        &mut self,
        runnable_tasks: &[&Task],
        current_task: Option<TaskId>,
        is_yielding: bool,
    ) -> Option<TaskId> {
        self.leave_out(runnable_tasks);
        let Of::Steps(schedule) = &self.of else {
            if let [only] = runnable_tasks {
                return Some(only.id());
            }
            let tasks = alternatives(runnable_tasks, current_task, is_yielding);
            return match self.next_choice(tasks.len() as u32) {
                Some(taken) => Some(tasks[taken as usize]),
                None => self.is_over(),
            };
        };
        let Some(step) = schedule.steps.get(self.made) else {
            return self.is_over();
        };
        let ScheduleStep::Task(task) = *step else {
            panic!("expected random choice but next schedule step is context switch");
        };
        self.made += 1;
        let is_runnable = runnable_tasks.iter().any(|runnable| runnable.id() == task);
        assert!(
            is_runnable || self.allow_incomplete,
            "scheduled task is not runnable, expected to run {task:?}, but choices were {runnable_tasks:?}"
        );
        is_runnable.then_some(task)
    }

    fn next_u64(&mut self) -> u64 {
        if let Of::Choices(schedule) = &self.of {
            let is_number =
                |choice: &&Choice| choice.kind == ChoiceKind::Value && choice.alternatives == CHUNK;
            let chunks: Vec<u32> = schedule.choices[self.made..]
                .iter()
                .take_while(is_number)
                .take(crate::state::CHUNKS as usize)
                .map(|choice| choice.taken)
                .collect();
            self.made += chunks.len();
            return chunks
                .iter()
                .fold(0, |number, &chunk| number * u64::from(CHUNK) + u64::from(chunk));
        }
        self.made += 1;
        self.data.next_u64()
    }

    fn search(&self) -> Search {
        match &self.of {
            Of::Steps(_) => Search(Kind::Asked),
            Of::Choices(schedule) => Search(Kind::Replay(schedule.clone())),
        }
    }
}
