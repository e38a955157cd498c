//! The record of an execution: its events, and their order.

use crate::record::{Events, Gates, Site};
use crate::trace::{Aside, SoundReduction, Trace};
use intermezzo_sdk::SyncVarOp;

/// The record of an execution.
pub(super) struct ExecutionRecord {
    pub(super) events: Events,
    /// The happens-before order of this execution.
    pub(super) trace: Trace,
    /// The number of steps, and of those by another task than the step before.
    pub(super) steps: u64,
    pub(super) switches: u64,
    /// The step from which the trace is new, and the step from which the strategy is asked even if there is one
    /// alternative.
    pub(super) observe_from: u64,
    pub(super) ask_from: u64,
    /// The accesses of the current step in addition to those to the variables of its events.
    pub(super) extra_footprint: Vec<Aside>,
    /// The gates that let the current step begin.
    pub(super) waited: Option<(u32, Gates)>,
    /// `true` if it was possible only because no other task could continue.
    pub(super) forced_by_idle: bool,
    /// The weakest reduction that operations required for another reason than their kind, and the first such operation.
    pub(super) unsound: Option<(SoundReduction, SyncVarOp, Site)>,
}

impl ExecutionRecord {
    pub(super) fn new(trace: Trace) -> ExecutionRecord {
        ExecutionRecord {
            events: Events::default(),
            trace,
            steps: 0,
            switches: 0,
            observe_from: 0,
            ask_from: 0,
            extra_footprint: Vec::new(),
            waited: None,
            forced_by_idle: false,
            unsound: None,
        }
    }
}
