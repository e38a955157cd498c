//! The size of an exploration: executions, tasks, steps, switches, operations.
//!
//! **What is computed.** An *event* is a visible operation; a *step* is one that has a schedule point, where another
//! task might have continued: creation, beginning and end of tasks have none. A *switch* is a step of another task
//! than the one before. A *preemption* is a `status` of `preempted`.
//!
//! States are those that the test reports by `intermezzo::state`: the values of an attribute of that name. States that
//! occur only in executions that a reduction leaves out are not seen.
//!
//! **Reduction compatible** in that it has no verdict: it reports a summary at the end, as a warning.

use crate::arguments;
use intermezzo_sdk::{
    Context, EventAttribute, Execution, FindingKind, Interests, Monitor, MonitorFinding, SchedulePoint,
    SyncVarAccess, TaskId,
};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

const NAME: &str = "statistics";

/// The attribute of an event by which the test reports its state.
const STATE: &str = "state";

/// Counts events. See the [module](self).
#[derive(Debug, Default)]
pub struct Statistics {
    tasks: BTreeSet<TaskId>,
    last: Option<TaskId>,
    /// The counts of the current execution.
    events: u64,
    steps: u64,
    switches: u64,
    preemptions: u64,
    new_states: u64,
    /// The states that the test has said it was in, in all executions.
    states: HashSet<String>,
    summary: SharedSummary,
}

/// The counts so far. They can be read while the engine owns the monitor.
#[derive(Clone, Debug, Default)]
pub struct SharedSummary(Arc<Mutex<Summary>>);

impl SharedSummary {
    /// Returns the counts so far.
    pub fn get(&self) -> Summary {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Counts of executions that have ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Executions.
    pub executions: u64,
    /// Of those, the ones in which every task ended.
    pub complete: u64,
    /// Most tasks in one execution.
    pub max_tasks: u64,
    /// Visible operations.
    pub events: u64,
    /// Most of them in one execution.
    pub max_events: u64,
    /// Visible operations with a schedule point.
    pub steps: u64,
    /// Most of them in one execution.
    pub max_steps: u64,
    /// Steps of another task than the one before.
    pub switches: u64,
    /// Most of them in one execution.
    pub max_switches: u64,
    /// Switches away from a task that could have continued.
    pub preemptions: u64,
    /// Most of them in one execution.
    pub max_preemptions: u64,
    /// Different states that the test has said it was in.
    pub states: u64,
    /// Most of them in one execution that no execution before it had.
    pub max_new_states: u64,
    /// The last execution that had such a state, from 1; 0 for none.
    pub last_new_state: u64,
    /// The number of times that each operation occurred, by its name.
    pub operations: BTreeMap<&'static str, u64>,
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "executions: {}, complete: {}; most tasks: {}; events: {}, most in one execution: {}; steps: {}, most: {}; \
             switches of task: {}, most: {}; preemptions: {}, most: {}; operations:",
            self.executions,
            self.complete,
            self.max_tasks,
            self.events,
            self.max_events,
            self.steps,
            self.max_steps,
            self.switches,
            self.max_switches,
            self.preemptions,
            self.max_preemptions,
        )?;
        for (at, (name, count)) in self.operations.iter().enumerate() {
            write!(f, "{} {name} {count}", if at > 0 { "," } else { "" })?;
        }
        if self.states > 0 {
            write!(
                f,
                "; states: {}, most new ones in one execution: {}, last new one in execution {}",
                self.states, self.max_new_states, self.last_new_state
            )?;
        }
        Ok(())
    }
}

impl Statistics {
    /// Creates a counter with counts of 0.
    pub fn new() -> Statistics {
        Statistics::default()
    }

    /// Creates the monitor. It takes no arguments.
    ///
    /// # Errors
    /// If there are any.
    pub fn with_arguments(arguments: &str) -> Result<Statistics, String> {
        arguments::with(Statistics::new(), NAME, &[], arguments)
    }

    /// Returns a handle on the counts, now and later.
    pub fn summary(&self) -> SharedSummary {
        self.summary.clone()
    }
}

impl Monitor for Statistics {
    fn name(&self) -> &str {
        NAME
    }

    fn interests(&self) -> Interests {
        Interests::SYNC_ACCESSES | Interests::SCHEDULE_POINTS | Interests::ATTRIBUTES
    }

    fn reduction_compatible(&self) -> bool {
        true
    }

    fn follows_stale_reads(&self) -> bool {
        true
    }

    fn on_execution_begin(&mut self, _: &Execution<'_>) {
        self.tasks.clear();
        // The test's own body runs first.
        self.last = Some(TaskId(0));
        (self.events, self.steps, self.switches, self.preemptions) = (0, 0, 0, 0);
        self.new_states = 0;
    }

    fn on_schedule_point(&mut self, next: &SchedulePoint, _: &mut Context<'_>) {
        let task = next.event.task;
        self.steps += 1;
        self.switches += u64::from(self.last.is_some_and(|last| last != task));
        self.last = Some(task);
    }

    fn on_sync_var_access(&mut self, access: &SyncVarAccess, _: &mut Context<'_>) {
        self.tasks.insert(access.event.task);
        self.events += 1;
        let mut summary = self.summary.0.lock().unwrap_or_else(PoisonError::into_inner);
        *summary.operations.entry(access.op.name()).or_default() += 1;
    }

    fn on_event_attribute(&mut self, attribute: &EventAttribute<'_>, _: &mut Context<'_>) {
        self.preemptions += u64::from((attribute.name, attribute.value) == ("status", "preempted"));
        if attribute.name == STATE && !self.states.contains(attribute.value) {
            self.states.insert(attribute.value.to_owned());
            self.new_states += 1;
        }
    }

    fn on_execution_end(&mut self, execution: &Execution<'_>, _: &mut Context<'_>) {
        let mut summary = self.summary.0.lock().unwrap_or_else(PoisonError::into_inner);
        summary.executions += 1;
        if self.new_states > 0 {
            summary.states = self.states.len() as u64;
            summary.max_new_states = summary.max_new_states.max(self.new_states);
            summary.last_new_state = summary.executions;
        }
        summary.complete += u64::from(execution.complete);
        summary.max_tasks = summary.max_tasks.max(self.tasks.len() as u64);
        summary.events += self.events;
        summary.max_events = summary.max_events.max(self.events);
        summary.steps += self.steps;
        summary.max_steps = summary.max_steps.max(self.steps);
        summary.switches += self.switches;
        summary.max_switches = summary.max_switches.max(self.switches);
        summary.preemptions += self.preemptions;
        summary.max_preemptions = summary.max_preemptions.max(self.preemptions);
    }

    fn on_shutdown(&mut self, cx: &mut Context<'_>) {
        let message = self.summary.get().to_string();
        cx.report(MonitorFinding::new(FindingKind::Plugin(NAME.into()), message).warning());
    }
}
