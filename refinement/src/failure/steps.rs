//! The failing execution step by step: task, operation and place of each step, and the steps that matter.
//!
//! Steps that matter are accesses of several tasks to one variable of which one writes, the steps between which
//! control passes from one task to another, and the calls and returns of operations.

use crate::run::body::FILE;
use crate::run::record::{Mark, Story, Texts};
use crate::scenario::{Place, Scenario};
use intermezzo_explorer::{FindingEvent, Inspection};
use intermezzo_sdk::SyncVarOp;
use serde::Serialize;
use std::collections::BTreeMap;

/// A step of a failing execution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ToldStep {
    /// The index of its task in [`Failure::columns`](crate::Failure::columns).
    pub column: usize,
    /// The operation to which it belongs, by its place in the scenario.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation: Option<u32>,
    /// `true` if another task accesses the same variable, and one of the two writes.
    pub conflicts: bool,
    /// `true` if it matters: it is shown even if there is no room for all steps.
    pub matters: bool,
    /// The object's state after it, if the test shows that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// The event.
    #[serde(flatten)]
    pub event: FindingEvent,
}

/// An operation of a failing execution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ToldOperation {
    /// The operation with its arguments: `push(1)`.
    pub call: String,
    /// The task that performs it: its number from 1; 0 for operations before and after the tasks.
    pub task: u32,
    /// Its result, as `Debug` shows it; nothing if it did not return.
    pub returned: Option<String>,
    /// The step with which it begins: an index into [`Failure::steps`](crate::Failure::steps). Nothing if it was not
    /// called.
    pub first_step: Option<usize>,
    /// The step with which it ends, if it does.
    pub last_step: Option<usize>,
}

/// The steps in order, and the columns of the tasks.
pub(super) struct Steps {
    pub(super) columns: Vec<String>,
    pub(super) steps: Vec<ToldStep>,
    pub(super) operations: Vec<ToldOperation>,
}

impl Steps {
    /// Creates the steps of these events, with the story's additions.
    pub(super) fn new(
        scenario: &Scenario,
        calls: &[String],
        texts: &Texts,
        events: &[FindingEvent],
        story: &Story,
    ) -> Steps {
        let performers = scenario.performers();
        let mut columns: Vec<String> = Vec::new();
        let mut steps: Vec<ToldStep> = Vec::new();
        let states: BTreeMap<String, &Inspection> = story
            .inspections
            .iter()
            .map(|(event, inspect)| (event.to_string(), inspect))
            .collect();
        for event in events {
            let known = columns.iter().position(|column| *column == event.task);
            let column = known.unwrap_or_else(|| {
                columns.push(event.task.clone());
                columns.len() - 1
            });
            let state = states.get(&event.id).and_then(|inspect| match inspect {
                Inspection::Seen(state) if state.is_empty() => None,
                Inspection::Seen(state) => Some(state.clone()),
                Inspection::Locked => Some("(locked)".into()),
                Inspection::Failed => None,
            });
            steps.push(ToldStep {
                column,
                operation: None,
                conflicts: false,
                matters: false,
                state,
                event: event.clone(),
            });
        }
        let mut operations: Vec<ToldOperation> = calls
            .iter()
            .zip(&performers)
            .map(|(call, &task)| ToldOperation {
                call: call.clone(),
                task,
                returned: None,
                first_step: None,
                last_step: None,
            })
            .collect();
        // Operations of tasks have steps of their own for call and return, around the marks.
        let mut ends: BTreeMap<usize, u32> = BTreeMap::new();
        for (mark, last) in &story.marks {
            let id = last.map(|event| event.to_string());
            let at = id.and_then(|id| steps.iter().position(|step| step.event.id == id));
            match mark {
                Mark::Call(place) => {
                    let own = at.filter(|&at| steps[at].event.op == CALL);
                    own.map(|at| ends.insert(at, place.0));
                    operations[place.index()].first_step = Some(own.unwrap_or(at.map_or(0, |at| at + 1)));
                }
                Mark::Return(place, text) => {
                    let operation = &mut operations[place.index()];
                    operation.returned = Some(texts.text(*text).to_string());
                    let own = at.and_then(|at| {
                        let column = steps[at].column;
                        let later = steps.iter().enumerate().skip(at + 1);
                        let mut own = later.filter(|(_, step)| step.column == column);
                        own.next().filter(|(_, step)| step.event.op == RETURN)
                    });
                    let own = own.map(|(at, _)| at);
                    own.map(|at| ends.insert(at, place.0));
                    operation.last_step = own.or(at.max(operation.first_step));
                }
            }
        }
        let mut told = Steps {
            columns,
            steps,
            operations,
        };
        told.find_operations(&performers, &ends);
        told.find_conflicts();
        told.find_switches();
        told
    }

    /// Assigns steps to operations, where these are the calls and returns of tasks.
    fn find_operations(&mut self, performers: &[u32], ends: &BTreeMap<usize, u32>) {
        let mut inside: Vec<Option<u32>> = vec![None; self.columns.len()];
        let mut named = vec![false; self.columns.len()];
        for (at, step) in self.steps.iter_mut().enumerate() {
            if let Some(&place) = ends.get(&at).filter(|_| step.event.op == CALL) {
                inside[step.column] = Some(place);
                if !named[step.column] {
                    self.columns[step.column] = format!("task {}", performers[place as usize]);
                    named[step.column] = true;
                }
            }
            step.operation = inside[step.column];
            if step.event.op == RETURN {
                inside[step.column] = None;
            }
        }
        for (operation, place) in self.operations.iter().zip(0..) {
            if let (0, Some(first)) = (operation.task, operation.first_step) {
                let last = operation.last_step.unwrap_or(self.steps.len().saturating_sub(1));
                let own = self.steps.iter_mut().take(last + 1).skip(first);
                own.filter(|step| step.event.id.starts_with("0."))
                    .for_each(|step| step.operation = Some(place));
            }
        }
    }

    fn find_conflicts(&mut self) {
        let mut users: BTreeMap<&str, Vec<(usize, bool)>> = BTreeMap::new();
        for step in self.steps.iter().filter(|step| is_access(step)) {
            let users = users.entry(&step.event.var).or_default();
            let user = (step.column, writes(&step.event));
            if !users.contains(&user) {
                users.push(user);
            }
        }
        let conflicts: Vec<bool> = self
            .steps
            .iter()
            .map(|step| {
                let wrote = writes(&step.event);
                let others = users.get(step.event.var.as_str()).into_iter().flatten();
                let mut others = others.filter(|(column, _)| *column != step.column);
                is_access(step) && others.any(|(_, writes)| *writes || wrote)
            })
            .collect();
        for (step, conflicts) in self.steps.iter_mut().zip(conflicts) {
            step.conflicts = conflicts;
            step.matters = conflicts || matches!(step.event.op.as_str(), CALL | RETURN);
        }
    }

    /// Marks the last step before control passes to another task, and the first after.
    fn find_switches(&mut self) {
        let own: Vec<usize> = (0..self.steps.len())
            .filter(|&at| is_own(&self.steps[at]))
            .collect();
        for pair in own.windows(2) {
            if self.steps[pair[0]].column != self.steps[pair[1]].column {
                for &at in pair {
                    self.steps[at].matters = true;
                }
            }
        }
        // A single task has no conflicts, and all of its steps are of interest.
        if own
            .windows(2)
            .all(|pair| self.steps[pair[0]].column == self.steps[pair[1]].column)
        {
            own.iter().for_each(|&at| self.steps[at].matters = true);
        }
    }

    /// Returns the steps of tasks, which have columns.
    pub(super) fn of_tasks(&self) -> impl Iterator<Item = &ToldStep> {
        self.steps.iter().filter(|step| is_own(step))
    }
}

pub(super) const CALL: &str = "call";
pub(super) const RETURN: &str = "return";

/// `true` if the step belongs to the test's code: not the beginning or the end of a task, and not a step of the first task,
/// which creates the others. If one operation runs at a time, the wait of a task for its turn does not count either.
fn is_own(step: &ToldStep) -> bool {
    let is_life = matches!(step.event.op.as_str(), "begin" | "end" | "spawn" | "join");
    let is_mark = matches!(step.event.op.as_str(), CALL | RETURN);
    let is_turn = !is_mark && step.event.site.starts_with(FILE);
    !is_life && !is_turn && !step.event.id.starts_with("0.")
}

fn is_access(step: &ToldStep) -> bool {
    let is_mark = matches!(step.event.op.as_str(), CALL | RETURN);
    is_own(step) && !is_mark && !step.event.var.is_empty()
}

fn writes(event: &FindingEvent) -> bool {
    let op = SyncVarOp::ALL.into_iter().find(|op| op.name() == event.op);
    op.is_none_or(SyncVarOp::is_write)
}

/// Returns the place of a step's operation, if it has one.
pub(super) fn place_of(step: &ToldStep) -> Option<Place> {
    step.operation.map(Place)
}
