//! `UncontrolledNondeterminismCheckScheduler`: each execution is repeated, and must do the same.

use super::{Kind, Schedule, Scheduler, Search, Task, TaskId};

/// A decision of an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Decision {
    /// The tasks that could run, the one that did, and `true` if the running one yielded.
    Task(Vec<TaskId>, Option<TaskId>, bool),
    /// This random number.
    Random(u64),
}

/// Runs each execution of another scheduler twice, and panics if the test does not do the same.
#[derive(Debug)]
pub struct UncontrolledNondeterminismCheckScheduler<S: Scheduler> {
    inner: S,
    schedule: Schedule,
    /// The decisions of the execution that is repeated.
    before: Vec<Decision>,
    /// The number of decisions that the repetition has made; `None` if the execution is the first of the two.
    repeated: Option<usize>,
}

impl<S: Scheduler> UncontrolledNondeterminismCheckScheduler<S> {
    /// Returns a scheduler that repeats the executions of this one.
    pub fn new(scheduler: S) -> UncontrolledNondeterminismCheckScheduler<S> {
        UncontrolledNondeterminismCheckScheduler {
            inner: scheduler,
            schedule: Schedule::default(),
            before: Vec::new(),
            // So that the first execution is one of the other scheduler's.
            repeated: Some(0),
        }
    }

    /// Returns the decision at which the repetition is.
    fn expected(&mut self) -> Option<Decision> {
        let at = self.repeated.as_mut()?;
        *at += 1;
        let expected = self.before.get(*at - 1).cloned();
        assert!(
            expected.is_some(),
            "possible nondeterminism: current execution should have ended, as it did the first time"
        );
        expected
    }
}

impl<S: Scheduler> Scheduler for UncontrolledNondeterminismCheckScheduler<S> {
    fn new_execution(&mut self) -> Option<Schedule> {
        match self.repeated {
            Some(repeated) => {
                assert!(
                    repeated == self.before.len(),
                    "possible nondeterminism: current execution ended earlier than expected"
                );
                self.before.clear();
                self.repeated = None;
                self.schedule = self.inner.new_execution()?;
            }
            None => self.repeated = Some(0),
        }
        Some(self.schedule.clone())
    }

    fn next_task(
        &mut self,
        runnable_tasks: &[&Task],
        current_task: Option<TaskId>,
        is_yielding: bool,
    ) -> Option<TaskId> {
        let tasks: Vec<TaskId> = runnable_tasks.iter().map(|task| task.id()).collect();
        let Some(expected) = self.expected() else {
            let taken = self.inner.next_task(runnable_tasks, current_task, is_yielding);
            self.before.push(Decision::Task(tasks, taken, is_yielding));
            return taken;
        };
        let Decision::Task(before, taken, yielded) = expected else {
            panic!(
                "possible nondeterminism: next step was context switch, but recording expected random number generation"
            );
        };
        assert!(
            yielded == is_yielding,
            "possible nondeterminism: `next_task` was called with `is_yielding` {is_yielding}, and with {yielded} the first time"
        );
        assert!(
            before == tasks,
            "possible nondeterminism: set of runnable tasks is different than expected (expected {before:?} but got {tasks:?})"
        );
        taken
    }

    fn search(&self) -> Search {
        Search(Kind::Twice)
    }

    fn next_u64(&mut self) -> u64 {
        match self.expected() {
            None => {
                let number = self.inner.next_u64();
                self.before.push(Decision::Random(number));
                number
            }
            Some(Decision::Random(number)) => number,
            Some(Decision::Task(..)) => {
                panic!(
                    "possible nondeterminism: next step was random number generation, but recording expected context switch"
                )
            }
        }
    }
}
