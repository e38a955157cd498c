//! The search that asks a scheduler of the user's at each step.

use super::{Scheduler, Task, TaskId};
use crate::signature::TaskSignature;
use crate::state::{CHUNK, CHUNKS, MAIN};
use intermezzo::Coverage;
use intermezzo::schedule::ChoiceKind;
use intermezzo::search::{ChoicePoint, Needs, Plan, SoFar, Status, Strategy};
use intermezzo::trace::Trace;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// A scheduler that moves to the thread of the exploration.
struct Moved<S: ?Sized>(Box<S>);

// SAFETY: the thread that made it waits until the exploration is over, so only one of the two uses it at a time.
unsafe impl<S: ?Sized> Send for Moved<S> {}

/// A search that asks a scheduler at each step.
pub(crate) struct Asked<S: ?Sized> {
    scheduler: Moved<S>,
    /// The tasks of the execution, by number.
    tasks: Vec<Task>,
    /// The rest of the random number that was drawn, and the number of chunks that it has.
    number: (u64, u32),
    /// Decides what shuttle's schedulers are not asked: which waiter is notified, and which wait ends early.
    random: StdRng,
    executions: u64,
    gives_up: bool,
    /// The panic of the scheduler. The execution is given up then, and the run fails before the next one.
    panic: Option<Box<dyn Any + Send>>,
}

impl<S: ?Sized + Scheduler> Asked<S> {
    pub(crate) fn new(scheduler: Box<S>) -> Asked<S> {
        Asked {
            scheduler: Moved(scheduler),
            tasks: Vec::new(),
            number: (0, 0),
            random: StdRng::seed_from_u64(0),
            executions: 0,
            gives_up: false,
            panic: None,
        }
    }

    /// Adds the tasks that were created since the last step.
    fn add_tasks(&mut self, point: &ChoicePoint<'_>) {
        for (number, task) in point.created_tasks().iter().enumerate().skip(self.tasks.len()) {
            let parent = task.parent as usize;
            let signature = TaskSignature::new(
                &task.pending.access.site.to_string(),
                self.tasks[parent].signature.signature_hash(),
                task.ordinal,
            );
            let name = task.name.as_deref().map(str::to_owned);
            self.tasks
                .push(Task::new(TaskId(number), Some(TaskId(parent)), name, signature));
        }
    }

    /// Returns the alternative with the task that the scheduler chooses.
    fn task(&mut self, point: &ChoicePoint<'_>) -> Option<u32> {
        self.add_tasks(point);
        let mut order = Vec::with_capacity(point.alternatives as usize);
        point.for_each_task(|task| order.push(task.0 as usize));
        let mut numbers = order.clone();
        numbers.sort_unstable();
        let runnable: Vec<&Task> = numbers.iter().map(|&number| &self.tasks[number]).collect();
        let running = point.running.0 as usize;
        let is_yielding = point.tasks[running].yielded;
        let chosen = self
            .scheduler
            .0
            .next_task(&runnable, Some(TaskId(running)), is_yielding);
        let Some(TaskId(chosen)) = chosen else {
            self.gives_up = true;
            return None;
        };
        let at = order.iter().position(|&number| number == chosen);
        let at = at.unwrap_or_else(|| panic!("the scheduler chose task {chosen}, which cannot run"));
        Some(at as u32)
    }

    /// Returns the alternative to take.
    fn answer(&mut self, point: &ChoicePoint<'_>) -> Option<u32> {
        match point.kind {
            ChoiceKind::Task => self.task(point),
            ChoiceKind::Value if point.alternatives == CHUNK => {
                if self.number.1 == 0 {
                    self.number = (self.scheduler.0.next_u64(), CHUNKS);
                }
                let (number, left) = self.number;
                self.number = (number.rotate_left(CHUNK.trailing_zeros()), left - 1);
                Some((self.number.0 % u64::from(CHUNK)) as u32)
            }
            ChoiceKind::Value | ChoiceKind::Waiter => Some(self.random.gen_range(0..point.alternatives)),
            _ => Some(0),
        }
    }
}

impl<S: ?Sized + Scheduler> Strategy for Asked<S> {
    fn next(&mut self, plan: &mut Plan, _: &Trace) -> bool {
        if let Some(panic) = self.panic.take() {
            resume_unwind(panic);
        }
        // Nothing is repeated: the scheduler is asked at the first steps, too.
        plan.forget();
        self.gives_up = false;
        self.number = (0, 0);
        self.tasks.clear();
        if self.scheduler.0.new_execution().is_none() {
            return false;
        }
        self.executions += 1;
        let body = Task::new(
            TaskId(0),
            None,
            Some(MAIN.to_owned()),
            TaskSignature::new("", 0, 0),
        );
        // The body's first step is no choice of the engine's.
        self.gives_up = self.scheduler.0.next_task(&[&body], None, false).is_none();
        self.tasks.push(body);
        true
    }

    fn choose(&mut self, point: &ChoicePoint<'_>) -> Option<u32> {
        if self.gives_up {
            return None;
        }
        // It is asked on the stack of a task, which its panic must not unwind.
        let answer = catch_unwind(AssertUnwindSafe(|| self.answer(point)));
        answer.unwrap_or_else(|panic| {
            self.panic = Some(panic);
            self.gives_up = true;
            None
        })
    }

    fn gives_up(&mut self) -> bool {
        self.gives_up
    }

    fn coverage(&self, _: bool) -> Coverage {
        Coverage::Sampled {
            executions: self.executions,
        }
    }

    fn status(&self, _: &SoFar<'_>) -> Status {
        Status::named("shuttle")
    }

    fn needs(&self) -> Needs {
        Needs {
            every_step: true,
            ..Needs::default()
        }
    }
}
