//! The turning point of a failing execution.

use super::{Finding, FindingDetail, FindingEvent};
use intermezzo_engine::serial::Serialize;

/// The step of a failing execution from which on every order of the tasks fails. Each continuation of the execution's
/// beginning was run to find it, except states that were reached before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TurningPoint {
    /// The finding, by its index in the report's list, from 0.
    pub finding: usize,
    /// The first event of that step, as `task.index`: the first of the execution if none passes.
    pub from: String,
    /// The number of the schedule's choices up to that step: 0 if none passes.
    pub choices: usize,
    /// The difference to the nearest execution that passes, as far as it is an order of two operations that is enough: no
    /// execution with the same beginning and this order fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passes_if: Option<Reversal>,
}

/// Two operations of the failing execution that come in the other order in one that passes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reversal {
    /// The event that comes first in the passing execution, as `task.index`. An operation for which a task waits in the
    /// failing one would have been its task's next event.
    pub first: String,
    /// The event that it comes before, likewise.
    pub before: String,
}

impl TurningPoint {
    /// `true` if it, or the difference to a passing execution, has this event.
    pub(crate) fn has(&self, event: &str) -> bool {
        let reversed = self.passes_if.iter();
        let mut ids = reversed.flat_map(|Reversal { first, before }| [first, before]);
        self.from == event || ids.any(|id| id == event)
    }
}

impl Finding {
    /// Returns the operations for which tasks wait, as the events that they would have been.
    pub(crate) fn waiting_events(&self) -> Vec<FindingEvent> {
        let waiting = match &self.detail {
            FindingDetail::Blocked { waiting, .. } | FindingDetail::Panic { waiting, .. } => &waiting[..],
            _ => &[],
        };
        let event = |task: &super::WaitingTask| {
            let last = self.events.iter().rev().find(|event| event.task == task.task)?;
            let (number, index) = last.id.rsplit_once('.')?;
            let index: u64 = index.parse().ok()?;
            Some(FindingEvent {
                id: format!("{number}.{}", index + 1),
                task: task.task.clone(),
                op: task.op.clone(),
                effect: None,
                from: None,
                newer: Vec::new(),
                order: None,
                var: task.var.clone(),
                read: None,
                written: None,
                site: task.site.clone(),
                preempts: false,
                concerned: false,
            })
        };
        waiting.iter().filter_map(event).collect()
    }
}
