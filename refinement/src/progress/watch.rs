//! The state of an execution, for the search that directs it: the current operation of each task, and the task that is
//! stuck.

use crate::locks::held;
use crate::run::record::{Mark, Record};
use crate::scenario::{Place, Scenario};
use crate::settings::Progress;
use intermezzo_explorer::search::Operation;
use intermezzo_sdk as sdk;
use sdk::{Context, Execution, FindingKind, Interests, Monitor, SyncVarAccess, SyncVarOp, TaskId};
use std::sync::{Arc, Mutex};

/// The monitor's name.
pub(super) const NAME: &str = "progress";

/// An operation that cannot return.
pub(super) struct Failed {
    /// The property that it violates, and the case.
    pub(super) broken: String,
    pub(super) why: String,
    /// The task of the operation.
    pub(super) task: TaskId,
    /// Its next operation, if that is known.
    pub(super) next: Option<Operation>,
    /// The number of events when that was determined.
    pub(super) events: usize,
    /// The number of events at the moment from which it was tested.
    pub(super) moment: usize,
}

/// The state of an execution.
pub(super) struct Watch {
    progress: Progress,
    /// Each operation as text, and its task, by place.
    calls: Vec<String>,
    performers: Vec<u32>,
    /// The number of operations of each task, by its number in the scenario.
    lengths: Vec<u32>,
    /// The tasks that are inside operations.
    inside: Vec<(TaskId, Place)>,
    /// The number of operations of each task that have returned, by its number in the scenario.
    returned: Vec<u32>,
    /// Events so far.
    pub(super) events: usize,
    /// The number of runs of one task alone, of all but one, or in turns, in all executions.
    pub(super) solo_runs: u64,
    /// The first operation that cannot return.
    pub(super) failed: Option<Failed>,
}

impl Watch {
    /// Creates the state before anything has happened.
    pub(super) fn new(progress: Progress, scenario: &Scenario, names: &[String]) -> Watch {
        let tasks = scenario.tasks.iter().map(|task| task.len() as u32);
        let lengths: Vec<u32> = std::iter::once(0).chain(tasks).collect();
        Watch {
            progress,
            calls: scenario.describe(names).calls().map(str::to_owned).collect(),
            performers: scenario.performers(),
            inside: Vec::new(),
            returned: vec![0; lengths.len()],
            lengths,
            events: 0,
            solo_runs: 0,
            failed: None,
        }
    }

    /// Returns the demanded progress.
    pub(super) fn progress(&self) -> Progress {
        self.progress
    }

    /// Resets the state when an execution begins.
    fn begin(&mut self) {
        self.inside.clear();
        self.returned.fill(0);
        self.events = 0;
    }

    fn hear(&mut self, access: &SyncVarAccess) {
        self.events += 1;
        let (task, place) = (access.event.task, Place(access.written as u32));
        let known = place.index() < self.calls.len();
        match access.op {
            SyncVarOp::OperationCall if known => self.inside.push((task, place)),
            SyncVarOp::OperationReturn if known => {
                self.inside.retain(|inside| *inside != (task, place));
                self.returned[self.performers[place.index()] as usize] += 1;
            }
            _ => {}
        }
    }

    /// Returns the tasks that are inside operations.
    pub(super) fn inside(&self) -> impl Iterator<Item = TaskId> + '_ {
        self.inside.iter().map(|&(task, _)| task)
    }

    /// Returns the operation that the task is inside.
    pub(super) fn operation(&self, task: TaskId) -> Option<Place> {
        let found = self.inside.iter().find(|(other, _)| *other == task);
        found.map(|&(_, place)| place)
    }

    /// Returns the number of operations that have returned.
    pub(super) fn returned(&self) -> u32 {
        self.returned.iter().sum()
    }

    /// `true` if every operation of the tasks has returned, except those of the task that is stopped inside this one.
    pub(super) fn all_returned_but(&self, stopped: Option<Place>) -> bool {
        let stopped = stopped.map(|place| self.performers[place.index()]);
        let tasks = self.returned.iter().zip(&self.lengths).zip(0..);
        tasks
            .filter(|(_, number)| Some(*number) != stopped)
            .all(|((returned, length), _)| returned == length)
    }

    /// Describes an operation and its task: `pop()` of task 2.
    pub(super) fn name(&self, place: Place) -> String {
        let call = &self.calls[place.index()];
        match self.performers[place.index()] {
            0 => format!("`{call}`, before or after the tasks,"),
            task => format!("`{call}` of task {task}"),
        }
    }

    /// Records that an operation is stuck; `why` names the case. Only the first one counts.
    pub(super) fn fail(&mut self, task: TaskId, next: Option<Operation>, moment: usize, why: String) {
        if self.failed.is_none() {
            self.failed = Some(Failed {
                broken: format!("not {}", self.progress),
                why,
                task,
                next,
                events: self.events,
                moment: moment.min(self.events),
            });
        }
    }
}

/// A monitor that updates the state, and reports the search's finding.
pub(super) struct Progressing {
    watch: Arc<Mutex<Watch>>,
}

impl Progressing {
    pub(super) fn new(watch: Arc<Mutex<Watch>>) -> Progressing {
        Progressing { watch }
    }
}

impl Monitor for Progressing {
    fn name(&self) -> &str {
        NAME
    }
    fn interests(&self) -> Interests {
        Interests::SYNC_ACCESSES
    }
    fn reduction_compatible(&self) -> bool {
        // The point where a task stops is not the same on every execution of a trace.
        false
    }
    fn on_execution_begin(&mut self, _: &Execution<'_>) {
        held(&self.watch).begin();
    }
    fn on_sync_var_access(&mut self, access: &SyncVarAccess, _: &mut Context<'_>) {
        held(&self.watch).hear(access);
    }
    fn on_execution_end(&mut self, execution: &Execution<'_>, cx: &mut Context<'_>) {
        let mut watch = held(&self.watch);
        let stuck = !execution.complete && cx.enabled().is_empty();
        let waiting = match stuck {
            true => Record::with(|record| (!record.panicked).then(|| pending(&record.marks)).flatten()),
            false => None,
        };
        if let Some(place) = waiting {
            // Operations before and after the tasks are performed by the first of all tasks.
            let inside = watch.inside.iter().find(|(_, inside)| *inside == place);
            let task = inside.map_or(TaskId(0), |&(task, _)| task);
            let why = format!("{} waits, and no task can continue", watch.name(place));
            let events = watch.events;
            watch.fail(task, None, events, why);
        }
        if let Some(failed) = &watch.failed {
            let message = format!("{}: {}", failed.broken, failed.why);
            cx.report(sdk::MonitorFinding::new(FindingKind::Refinement, message));
        }
    }
}

/// Returns the first operation that was called and has not returned.
fn pending(marks: &[Mark]) -> Option<Place> {
    let returned = |place: &Place| {
        marks
            .iter()
            .any(|mark| matches!(mark, Mark::Return(other, _) if other == place))
    };
    let called = marks.iter().filter_map(|mark| match mark {
        Mark::Call(place) => Some(*place),
        Mark::Return(..) => None,
    });
    called.into_iter().find(|place| !returned(place))
}
