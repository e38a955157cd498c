//! A choice to be made, for searches.

use super::Operation;
use crate::record::{Event, Task, TaskSet, Vars};
use crate::schedule::ChoiceKind;
use crate::strategy::Candidates;
use crate::trace::{Key, Trace};
use intermezzo_sdk::{SyncVar, TaskId};

/// A task that fairness holds back in favour of another one, although it is an alternative.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hold {
    /// The task that is held back.
    pub task: u32,
    /// The enabled task in whose favour it is held back; `None` if there is another reason.
    pub awaited: Option<u32>,
    /// The steps of `task` that ended with a yield that counts, from the first such step of any task after which
    /// `awaited` was enabled.
    pub yields: Vec<u32>,
}

/// A choice to be made.
pub struct ChoicePoint<'a> {
    /// The kind of decision.
    pub kind: ChoiceKind,
    /// `true` if every alternative but 0 is a preemption.
    pub preempts: bool,
    /// The number of alternatives: at least 2, except for a search that needs every step. Alternative 0 is the default.
    pub alternatives: u32,
    /// The number of choices that the execution has made.
    pub choices: usize,
    /// `true` if fairness is active: then the alternatives depend on more than the positions of the tasks.
    pub fair: bool,
    /// `true` if the order of steps that commute may matter. This is so if fairness holds back an enabled task at this
    /// point. It is also so if no task could continue, time has passed, and that ended the wait of the task that ran
    /// last while another task can go, too. Only meaningful at points that choose a task.
    pub order_matters: bool,
    /// The alternatives that fairness holds back. Empty unless the strategy needs them
    /// ([`Needs::all_listed`](super::Needs::all_listed)).
    pub holds: &'a [Hold],
    /// The number of steps the execution has taken.
    pub step: u64,
    /// The number of context switches so far.
    pub context_switches: u64,
    /// The task that took the last step.
    pub running: TaskId,
    /// The alternatives.
    pub candidates: Candidates<'a>,
    /// The events so far.
    pub events: &'a [Event],
    /// The steps so far.
    pub trace: &'a Trace,
    /// The number of tasks that the execution has created; `tasks` may have entries of earlier executions beyond.
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
    /// Returns `true` if every alternative but 0 preempts a task in a region in which its preemptions are preferred.
    pub fn is_preferred(&self) -> bool {
        self.preempts && self.tasks[self.running.0 as usize].preferred
    }

    /// Returns the steps of the execution so far.
    pub fn trace(&self) -> &Trace {
        self.trace
    }

    /// Returns the number of times a task has yielded.
    pub fn yields(&self, task: u32) -> u32 {
        self.tasks[task as usize].yields
    }

    /// Returns the tasks of the execution.
    pub fn created_tasks(&self) -> &[Task] {
        &self.tasks[..self.created as usize]
    }

    /// Returns `true` if the task's next operation is possible.
    #[inline]
    pub fn is_enabled(&self, task: u32) -> bool {
        self.enabled.contains(task)
    }

    /// Returns the key that this task waits for, if it would continue by a time-out. Its gate may still open first.
    pub fn waits_for(&self, task: u32) -> Option<Key> {
        if self.enabled.contains(task) && !self.expired.contains(task) {
            return None;
        }
        let access = self.tasks[task as usize].pending.access;
        Some(Key::of(access.op, access.var))
    }

    /// Returns the task that goes next if this alternative is taken; `None` if the choice is not about tasks.
    pub fn task(&self, alternative: u32) -> Option<TaskId> {
        self.candidates.task(alternative)
    }

    /// Calls `each` with the task behind each alternative in order, if the choice is about tasks.
    #[inline(always)]
    pub fn for_each_task(&self, each: impl FnMut(TaskId)) {
        self.candidates.for_each(each);
    }

    /// Returns the next operation of that task; `None` if the choice is not about tasks.
    pub fn operation(&self, alternative: u32) -> Option<Operation> {
        self.pending(self.task(alternative)?)
    }

    /// Returns the next operation of a task, whether or not it is among the alternatives; `None` if there is no such
    /// task.
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
