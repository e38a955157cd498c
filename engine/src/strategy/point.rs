//! A choice to be made, as searches see it.

use super::Operation;
use crate::record::{Event, Task, TaskSet, Vars};
use crate::schedule::ChoiceKind;
use crate::strategy::Candidates;
use crate::trace::{Key, Trace};
use intermezzo_sdk::{SyncVar, TaskId};

/// A choice to be made.
pub struct ChoicePoint<'a> {
    /// What it decides.
    pub kind: ChoiceKind,
    /// Whether every alternative but 0 is a preemption.
    pub preempts: bool,
    /// How many alternatives there are: at least 2, but for a search that is always asked. Alternative 0 is the
    /// default.
    pub alternatives: u32,
    /// How many choices the execution has made.
    pub choices: usize,
    /// Whether fairness is at work: which tasks may go then depends on more than where they stand.
    pub fair: bool,
    /// How many steps the execution has taken.
    pub step: u64,
    /// How often it has changed from one task to another.
    pub context_switches: u64,
    /// The task that took the last step.
    pub running: TaskId,
    /// The alternatives.
    pub candidates: Candidates<'a>,
    /// The events so far.
    pub events: &'a [Event],
    /// The steps so far.
    pub trace: &'a Trace,
    /// How many tasks the execution has created; there may be entries of earlier executions beyond.
    pub created: u32,
    /// The tasks, by number.
    pub tasks: &'a [Task],
    /// The variables, by number.
    pub vars: &'a Vars,
    /// The tasks whose next operation is possible.
    pub enabled: &'a TaskSet,
    pub(crate) expired: &'a TaskSet,
}

impl ChoicePoint<'_> {
    /// What the execution has been up to here.
    pub fn trace(&self) -> &Trace {
        self.trace
    }

    /// How often a task has yielded.
    pub fn yields(&self, task: u32) -> u32 {
        self.tasks[task as usize].yields
    }

    /// The tasks of the execution.
    pub fn created_tasks(&self) -> &[Task] {
        &self.tasks[..self.created as usize]
    }

    /// Whether the task's next operation is possible.
    pub fn is_enabled(&self, task: u32) -> bool {
        self.enabled.contains(task)
    }

    /// If the task of this alternative would go on unasked, because its time is up or for no reason: what it waits
    /// for, which may yet wake it otherwise.
    pub fn waits_for(&self, task: u32) -> Option<Key> {
        if self.enabled.contains(task) && !self.expired.contains(task) {
            return None;
        }
        let access = self.tasks[task as usize].pending.access;
        Some(Key::of(access.op, access.var))
    }

    /// The task that goes next if this alternative is taken; `None` if the choice is not about tasks.
    pub fn task(&self, alternative: u32) -> Option<TaskId> {
        self.candidates.task(alternative)
    }

    /// Goes through the tasks behind the alternatives in order, if the choice is about tasks.
    #[inline(always)]
    pub fn for_each_task(&self, each: impl FnMut(TaskId)) {
        self.candidates.for_each(each);
    }

    /// What that task does next; `None` if the choice is not about tasks.
    pub fn operation(&self, alternative: u32) -> Option<Operation> {
        self.pending(self.task(alternative)?)
    }

    /// What a task does when it goes on, be it among the alternatives or not; `None` if there is no such task.
    pub fn pending(&self, task: TaskId) -> Option<Operation> {
        let access = self.tasks.get(task.0 as usize)?.pending.access;
        Some(Operation {
            task,
            op: access.op,
            var: SyncVar(access.var),
            site: access.site,
        })
    }
}
