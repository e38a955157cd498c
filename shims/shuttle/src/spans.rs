//! The spans of tasks, in the logs of a test that has a subscriber: `execution{i=3}:step{task=worker(2)}`, and inside of it
//! the spans that the task has entered.
//!
//! To a subscriber all tasks are one thread, the one of the execution. So the spans of a task are exited when another one
//! continues, and entered again afterwards. The default subscriber that a task has set is exchanged in the same way.
//!
//! Differs: none of this is done if nothing below `error` is logged, because it takes time at each switch.

use intermezzo::on_switch;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::mem::ManuallyDrop;
use tracing::dispatcher::{self, DefaultGuard, Dispatch};
use tracing::error_span;
use tracing::field::Empty;
use tracing::level_filters::LevelFilter;
use tracing::span::{Id, Span};

/// The most spans that a task is thought to have entered. A subscriber may not heed that one is exited.
const DEEPEST: usize = 1 << 10;

/// The spans of the tasks of an execution.
struct Spans {
    execution: Span,
    /// The subscriber of the run.
    subscriber: Dispatch,
    records_steps: bool,
    running: u32,
    tasks: BTreeMap<u32, OfTask>,
    /// The default subscriber of the running task, for as long as it runs.
    default: Option<DefaultGuard>,
}

/// The spans of a task.
#[derive(Default)]
struct OfTask {
    /// Its own span, until it ends.
    step: Option<Span>,
    /// The number of times that it began or continued.
    steps: u64,
    /// While it does not run: its default subscriber, unless that is the one of the run.
    default: Option<Dispatch>,
    /// While it does not run: the spans that it has entered in that one, the innermost first, and in the one of the run.
    entered: [Vec<Id>; 2],
}

thread_local! {
    // Spans of a failed execution are left open: the thread ends, and a subscriber may need it when they are closed.
    static SPANS: ManuallyDrop<RefCell<Option<Spans>>> = ManuallyDrop::default();
}

/// Exits the spans that are entered, and returns them, the innermost first.
fn exit_all(subscriber: &Dispatch) -> Vec<Id> {
    let mut exited = Vec::new();
    while exited.len() < DEEPEST
        && let Some(id) = subscriber.current_span().id().cloned()
    {
        subscriber.exit(&id);
        exited.push(id);
    }
    exited
}

/// Enters spans that were exited.
fn enter_again(subscriber: &Dispatch, exited: Vec<Id>) {
    exited.iter().rev().for_each(|id| subscriber.enter(id));
}

impl Spans {
    /// Exits the spans of the running task.
    fn leave(&mut self) {
        // Not inside of `get_default`: there a subscriber may have no current span.
        let default = dispatcher::get_default(Clone::clone);
        let entered = [exit_all(&default), exit_all(&self.subscriber)];
        if let Some(task) = self.tasks.get_mut(&self.running) {
            (task.default, task.entered) = (Some(default), entered);
        }
    }

    /// Enters the spans of a task that begins or continues.
    fn enter(&mut self, number: u32) {
        self.running = number;
        let task = self.tasks.entry(number).or_default();
        task.steps += 1;
        let default = task.default.take().unwrap_or_else(|| self.subscriber.clone());
        // One after the other: the end of the last one restores what was there before it.
        self.default = None;
        self.default = Some(dispatcher::set_default(&default));
        let [in_default, entered] = std::mem::take(&mut task.entered);
        enter_again(&self.subscriber, entered);
        enter_again(&default, in_default);
        if let Some(step) = task.step.as_ref().filter(|_| self.records_steps) {
            step.record("i", task.steps);
        }
    }
}

fn with(f: impl FnOnce(&mut Spans)) {
    SPANS.with(|spans| {
        if let Some(spans) = &mut *spans.borrow_mut() {
            f(spans);
        }
    });
}

fn switch(task: u32) {
    with(|spans| {
        if task != spans.running {
            spans.leave();
            spans.enter(task);
        }
    });
}

/// Returns `true` if spans are to be kept in a run that begins now.
pub(crate) fn are_logged() -> bool {
    LevelFilter::current() > LevelFilter::ERROR
}

/// Begins an execution, whose number this is. Called by the task of the test's own body.
pub(crate) fn begin(subscriber: &Dispatch, number: usize, records_steps: bool) {
    let before = SPANS.with(|spans| spans.take());
    drop(before);
    exit_all(subscriber);
    let spans = Spans {
        execution: error_span!(parent: None, "execution", i = number),
        subscriber: subscriber.clone(),
        records_steps,
        running: 0,
        tasks: BTreeMap::from([(0, OfTask::default())]),
        default: None,
    };
    SPANS.with(|own| own.replace(Some(spans)));
    on_switch(switch);
}

/// Enters the own span of the calling task, which has this number and this name.
pub(crate) fn begin_task(number: u32, name: impl FnOnce() -> String) {
    let execution = SPANS.with(|spans| spans.borrow().as_ref().map(|spans| spans.execution.clone()));
    let Some(execution) = execution else { return };
    let step = error_span!(parent: &execution, "step", task = name(), i = Empty);
    with(|spans| {
        if let Some(id) = step.id() {
            spans.subscriber.enter(&id);
        }
        let task = spans.tasks.entry(number).or_default();
        task.step = Some(step);
    });
}

/// Closes the own span of a task, whose code has ended.
pub(crate) fn end_task(number: u32) {
    let mut step = None;
    with(|spans| {
        exit_all(&spans.subscriber);
        step = spans.tasks.get_mut(&number).and_then(|task| task.step.take());
    });
    // Its end is told while nothing is borrowed.
    drop(step);
}
