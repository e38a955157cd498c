//! The observations of tasks, collected execution by execution.

use intermezzo_sdk::{Context, Execution, Interests, Monitor};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

/// The observations of an execution, task by task.
pub(crate) type Records = Vec<Vec<u8>>;

/// The observations of all executions: those in which every task ended, and others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcomes {
    pub(crate) complete: BTreeSet<Records>,
    pub(crate) stuck: BTreeSet<Records>,
}

std::thread_local! {
    /// The records of the current execution on this worker.
    static RECORDS: RefCell<Records> = const { RefCell::new(Vec::new()) };
}

/// Adds an observation of a task.
pub(crate) fn record(task: usize, value: u8) {
    RECORDS.with_borrow_mut(|records| {
        if records.len() <= task {
            records.resize(task + 1, Vec::new());
        }
        records[task].push(value);
    });
}

/// A monitor that takes the records at the end of each execution, before its objects are dropped.
pub(crate) struct Take(pub(crate) Arc<Mutex<Outcomes>>);

impl Monitor for Take {
    fn name(&self) -> &str {
        "take"
    }
    fn interests(&self) -> Interests {
        Interests::NONE
    }
    fn reduction_compatible(&self) -> bool {
        true
    }
    fn on_execution_begin(&mut self, _: &Execution<'_>) {
        RECORDS.take();
    }
    fn on_execution_end(&mut self, execution: &Execution<'_>, _: &mut Context<'_>) {
        let records = RECORDS.take();
        let mut outcomes = self.0.lock().unwrap();
        if execution.complete {
            outcomes.complete.insert(records);
        } else {
            outcomes.stuck.insert(records);
        }
    }
}
