//! `shuttle::PortfolioRunner`: runs a test under several schedulers at once.

use crate::scheduler::{Kind, Schedule, Scheduler, Search, Task, TaskId};
use crate::{Config, Runner};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// Runs a test under several schedulers at once, each on a thread of its own.
pub struct PortfolioRunner {
    schedulers: Vec<Box<dyn Scheduler + Send>>,
    stop_on_first_failure: bool,
    config: Config,
}

impl PortfolioRunner {
    /// Returns a runner without schedulers. With `stop_on_first_failure` the others stop as soon as one has failed.
    pub fn new(stop_on_first_failure: bool, config: Config) -> PortfolioRunner {
        PortfolioRunner {
            schedulers: Vec::new(),
            stop_on_first_failure,
            config,
        }
    }

    /// Adds a scheduler.
    pub fn add(&mut self, scheduler: impl Scheduler + Send + 'static) {
        self.schedulers.push(Box::new(scheduler));
    }

    /// Runs the test under each scheduler.
    ///
    /// # Panics
    /// If an execution of any of them fails. The report, with the schedule, is printed on stderr.
    pub fn run<F: Fn() + Send + Sync + 'static>(self, f: F) {
        let f = Arc::new(f);
        let failed = Arc::new(AtomicBool::new(false));
        let first = Mutex::new(None);
        thread::scope(|scope| {
            for scheduler in self.schedulers {
                let stoppable = Stoppable {
                    scheduler,
                    stop: self.stop_on_first_failure.then(|| failed.clone()),
                };
                let (config, f, failed, first) = (self.config.clone(), f.clone(), failed.clone(), &first);
                scope.spawn(move || {
                    let runner = Runner::new(stoppable, config);
                    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| runner.run(move || f()))) {
                        failed.store(true, SeqCst);
                        first
                            .lock()
                            .unwrap_or_else(PoisonError::into_inner)
                            .get_or_insert(panic);
                    }
                });
            }
        });
        if let Some(panic) = first.into_inner().unwrap_or_else(PoisonError::into_inner) {
            resume_unwind(panic);
        }
    }
}

impl fmt::Debug for PortfolioRunner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PortfolioRunner")
            .field("schedulers", &self.schedulers.len())
            .finish_non_exhaustive()
    }
}

/// A scheduler that stops when another has found a failure.
struct Stoppable {
    scheduler: Box<dyn Scheduler + Send>,
    /// `true` in it if another has; `None` if that does not stop this one.
    stop: Option<Arc<AtomicBool>>,
}

impl Stoppable {
    fn is_stopped(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| stop.load(SeqCst))
    }
}

impl Scheduler for Stoppable {
    fn new_execution(&mut self) -> Option<Schedule> {
        if self.is_stopped() {
            return None;
        }
        self.scheduler.new_execution()
    }

    fn next_task(
        &mut self,
        runnable_tasks: &[&Task],
        current_task: Option<TaskId>,
        is_yielding: bool,
    ) -> Option<TaskId> {
        if self.is_stopped() {
            return None;
        }
        self.scheduler
            .next_task(runnable_tasks, current_task, is_yielding)
    }

    fn next_u64(&mut self) -> u64 {
        self.scheduler.next_u64()
    }

    fn search(&self) -> Search {
        match self.stop {
            // The engine's own searches cannot be stopped.
            Some(_) => Search(Kind::Asked),
            None => self.scheduler.search(),
        }
    }
}
