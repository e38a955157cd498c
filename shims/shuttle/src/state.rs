//! The state of the execution that runs on this thread: all its tasks run there, in turns.

use crate::labels::{ChildLabelFn, Labels};
#[allow(deprecated, reason = "shuttle still has it")]
use crate::tag::Tag;
use crate::task_id::TaskId;
use crate::teardown::Teardown;
use intermezzo::thread::{current, number_of};
use intermezzo::{choose, is_exploring};
use rand::rngs::StdRng;
use rand::{RngCore, SeedableRng};
use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

/// The source of a test's random numbers.
#[derive(Clone, Debug, Default)]
pub(crate) enum Data {
    /// Each is a choice.
    #[default]
    Chosen,
    /// They are the same in each execution.
    Fixed(Box<StdRng>),
    /// There are none: a search for every schedule cannot run every number.
    Refused,
}

impl Data {
    /// Returns numbers that are the same in each execution.
    pub(crate) fn fixed() -> Data {
        Data::Fixed(Box::new(StdRng::seed_from_u64(0)))
    }
}

/// The number of values of each of the choices that make a random number.
pub(crate) const CHUNK: u32 = 1 << 16;

/// The number of choices that make a random number of 64 bits.
pub(crate) const CHUNKS: u32 = 4;

/// What a run notes of its last execution, for its failure: executions run on another thread.
#[derive(Default)]
pub(crate) struct Noted {
    /// `true` if the execution is being torn down.
    is_torn_down: AtomicBool,
    /// The payloads of panics that are literals.
    literals: Mutex<Vec<&'static str>>,
}

impl Noted {
    pub(crate) fn is_torn_down(&self) -> bool {
        self.is_torn_down.load(Relaxed)
    }

    pub(crate) fn set_torn_down(&self, is_torn_down: bool) {
        self.is_torn_down.store(is_torn_down, Relaxed);
    }

    /// Returns the literal with this text that a panic of the execution had as its payload, if one had.
    pub(crate) fn literal(&self, text: &str) -> Option<&'static str> {
        let literals = self.literals.lock().unwrap_or_else(PoisonError::into_inner);
        literals.iter().copied().find(|&literal| literal == text)
    }
}

#[derive(Default)]
pub(crate) struct State {
    pub(crate) noted: Arc<Noted>,
    labels: BTreeMap<TaskId, Labels>,
    #[allow(deprecated, reason = "shuttle still has it")]
    tags: BTreeMap<TaskId, Arc<dyn Tag>>,
    /// The task as which its labels and its tag are dropped, by the test's own body.
    dropped_as: Option<TaskId>,
    data: Data,
    /// The tasks that have not ended and for which the execution waits.
    attached: usize,
    /// The test's own body, if it waits for those tasks to end.
    waiting: Option<intermezzo::thread::Thread>,
    /// The teardown of the tasks for which the execution does not wait.
    pub(crate) teardown: Teardown,
}

thread_local! {
    // It may hold values of the test, whose destructors must not run when the thread ends.
    static STATE: ManuallyDrop<RefCell<State>> = ManuallyDrop::default();
}

pub(crate) fn with<R>(f: impl FnOnce(&mut State) -> R) -> R {
    STATE.with(|state| f(&mut state.borrow_mut()))
}

/// Returns the calling task, if it is one of an execution.
pub(crate) fn task() -> Option<TaskId> {
    if !is_exploring() {
        return None;
    }
    let dropped_as = with(|state| state.dropped_as);
    dropped_as.or_else(|| number_of(&current()).map(|task| TaskId(task as usize)))
}

/// Returns the calling task.
///
/// # Panics
/// Outside an execution.
pub(crate) fn me() -> TaskId {
    task().expect("`ExecutionState` is not set: this is outside a test of shuttle")
}

/// Begins an execution.
pub(crate) fn begin(data: Data, noted: &Arc<Noted>) {
    noted.set_torn_down(false);
    noted.literals.lock().unwrap_or_else(PoisonError::into_inner).clear();
    // What the last one left is dropped outside of the borrow: it may be code of the test.
    let before = STATE.with(|state| {
        state.replace(State {
            data,
            noted: noted.clone(),
            ..State::default()
        })
    });
    drop(before);
}

/// Drops the labels and tags of the execution's tasks, each as its task, in the order in which the tasks were created.
pub(crate) fn drop_labels() {
    while let Some((task, labels, tag)) = with(|state| {
        let tasks = [state.labels.keys().next(), state.tags.keys().next()];
        let task = *tasks.into_iter().flatten().min()?;
        state.dropped_as = Some(task);
        Some((task, state.labels.remove(&task), state.tags.remove(&task)))
    }) {
        drop(labels);
        drop(tag);
        let _ = task;
    }
    with(|state| state.dropped_as = None);
}

/// Returns the next random number.
pub(crate) fn next_u64() -> u64 {
    let fixed = with(|state| match &mut state.data {
        Data::Chosen => None,
        Data::Fixed(numbers) => Some(Some(numbers.next_u64())),
        Data::Refused => Some(None),
    });
    match fixed {
        Some(Some(number)) => number,
        Some(None) => panic!(
            "requested random data from DFS scheduler: create it by `DfsScheduler::new` with `allow_random_data = true`"
        ),
        None => (0..CHUNKS).fold(0, |number, _| {
            number * u64::from(CHUNK) + choose(CHUNK as usize) as u64
        }),
    }
}

/// Calls `f` with the labels of a task.
pub(crate) fn with_labels<R>(task: TaskId, f: impl FnOnce(&mut Labels) -> R) -> R {
    // `f` is the test's: it may look at other labels.
    let mut labels = with(|state| state.labels.remove(&task)).unwrap_or_default();
    let result = f(&mut labels);
    with(|state| state.labels.insert(task, labels));
    result
}

/// Sets a task's tag, and returns the one before.
#[allow(deprecated, reason = "shuttle still has it")]
pub(crate) fn set_tag(task: TaskId, tag: Arc<dyn Tag>) -> Option<Arc<dyn Tag>> {
    with(|state| state.tags.insert(task, tag))
}

/// Returns a task's tag.
#[allow(deprecated, reason = "shuttle still has it")]
pub(crate) fn tag(task: TaskId) -> Option<Arc<dyn Tag>> {
    with(|state| state.tags.get(&task).cloned())
}

/// Notes that the calling task has created one: it has the same labels and tag.
pub(crate) fn created(child: &intermezzo::thread::Thread) {
    let (Some(parent), Some(child)) = (task(), number_of(child)) else {
        return;
    };
    let child = TaskId(child as usize);
    let labels = with(|state| {
        if let Some(tag) = state.tags.get(&parent).cloned() {
            state.tags.insert(child, tag);
        }
        state.labels.get(&parent).cloned()
    });
    let Some(mut labels) = labels else { return };
    if let Some(ChildLabelFn(change)) = labels.get().cloned() {
        change(child, &mut labels);
    }
    with(|state| state.labels.insert(child, labels));
}

/// A task for which the execution waits, for as long as it runs.
pub(crate) struct Attached(());

impl Attached {
    pub(crate) fn new() -> Attached {
        with(|state| state.attached += 1);
        Attached(())
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        let waiting = with(|state| {
            state.attached = state.attached.saturating_sub(1);
            state.waiting.take_if(|_| state.attached == 0)
        });
        if let Some(body) = waiting {
            body.unpark();
        }
    }
}

/// Waits until the tasks have ended for which the execution waits.
pub(crate) fn wait_for_attached() {
    while with(|state| {
        let is_waiting = state.attached > 0;
        state.waiting = is_waiting.then(current);
        is_waiting
    }) {
        intermezzo::thread::park();
    }
}

/// Notes the payload of a panic that comes out of the test's code. A failure has the same one if it is a literal.
pub(crate) fn note_payload(payload: &(dyn Any + Send)) {
    if let Some(&literal) = payload.downcast_ref::<&'static str>() {
        let noted = with(|state| state.noted.clone());
        let mut literals = noted.literals.lock().unwrap_or_else(PoisonError::into_inner);
        literals.push(literal);
    }
}
