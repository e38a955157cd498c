//! `AnnotationScheduler`: in shuttle it writes an annotated schedule. Here nothing is written: reports have the execution in
//! words, and `INTERMEZZO_RECORD` records it event by event.

use super::{Schedule, Scheduler, Search, Task, TaskId};

/// Does what another scheduler does.
#[derive(Debug)]
pub struct AnnotationScheduler<S: ?Sized + Scheduler>(Box<S>);

impl<S: Scheduler> AnnotationScheduler<S> {
    /// Returns a scheduler that does what this one does.
    pub fn new(inner: S) -> AnnotationScheduler<S> {
        AnnotationScheduler(Box::new(inner))
    }
}

impl<S: Scheduler> Scheduler for AnnotationScheduler<S> {
    fn new_execution(&mut self) -> Option<Schedule> {
        self.0.new_execution()
    }

    fn next_task(
        &mut self,
        runnable_tasks: &[&Task],
        current_task: Option<TaskId>,
        is_yielding: bool,
    ) -> Option<TaskId> {
        self.0.next_task(runnable_tasks, current_task, is_yielding)
    }

    fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    fn search(&self) -> Search {
        self.0.search()
    }
}
