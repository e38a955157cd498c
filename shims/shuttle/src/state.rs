//! The state of the execution that runs on this thread: all its tasks run there, in turns.

use crate::labels::{ChildLabelFn, Labels, TaskName};
use crate::left::Teardown;
use crate::signature::TaskSignature;
use crate::spans;
#[allow(deprecated, reason = "shuttle still has it")]
use crate::tag::Tag;
use crate::task_id::TaskId;
use intermezzo::choose;
use intermezzo::thread::{current, own_number};
use rand::rngs::StdRng;
use rand::{RngCore, SeedableRng};
use std::any::Any;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::mem::ManuallyDrop;
use std::panic::Location;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use tracing::{Level, debug, enabled};

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

/// The name of the task of the test's own body.
pub(crate) const MAIN: &str = "main-thread";

/// The number of values of each of the choices that make a random number.
pub(crate) const CHUNK: u32 = 1 << 16;

/// The number of choices that make a random number of 64 bits.
pub(crate) const CHUNKS: u32 = 4;

/// The notes of a run about its last execution, for its failure: executions run on another thread.
#[derive(Default)]
pub(crate) struct Noted {
    /// `true` if the execution is being torn down.
    is_torn_down: AtomicBool,
    /// `true` once an execution has had a second task.
    has_concurrency: AtomicBool,
    /// The payloads of panics that are literals.
    literals: Mutex<Vec<&'static str>>,
}

impl Noted {
    pub(crate) fn is_torn_down(&self) -> bool {
        self.is_torn_down.load(Relaxed)
    }

    pub(crate) fn has_concurrency(&self) -> bool {
        self.has_concurrency.load(Relaxed)
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
    /// The task that drops labels and tags, and the one as which it does so.
    dropped_as: Option<(TaskId, TaskId)>,
    /// The tasks that are known to have been created.
    known: BTreeSet<TaskId>,
    /// The tasks whose functions have returned.
    ended: BTreeSet<TaskId>,
    /// The hash of each task's signature, and the number of tasks that it has created, if the test's subscriber is told.
    signatures: BTreeMap<TaskId, (u64, u32)>,
    data: Data,
    /// The tasks that have not ended and for which the execution waits.
    attached: usize,
    /// The test's own body, if it waits for those tasks to end.
    waiting: Option<intermezzo::thread::Thread>,
    /// The teardown of the tasks for which the execution does not wait.
    pub(crate) teardown: Teardown,
}

impl State {
    /// Returns `true` if something is left that the execution drops at its end.
    pub(crate) fn is_to_be_torn_down(&self) -> bool {
        self.teardown.has_left() || !self.labels.is_empty() || !self.tags.is_empty()
    }
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
    let task = TaskId(own_number()? as usize);
    let dropped_as = with(|state| state.dropped_as);
    Some(match dropped_as {
        Some((dropping, dropped_as)) if dropping == task => dropped_as,
        _ => task,
    })
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
    noted
        .literals
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clear();
    // What the last one left is dropped outside of the borrow: it may be code of the test.
    let before = STATE.with(|state| {
        state.replace(State {
            data,
            noted: noted.clone(),
            ..State::default()
        })
    });
    drop(before);
    tell_creation(TaskId(0), &TaskSignature::new("", 0, 0));
}

/// Drops the labels and tags of the execution's tasks, each as its task, in the order in which the tasks were created.
pub(crate) fn drop_labels() {
    let Some(dropping) = task() else { return };
    while let Some(of_task) = with(|state| {
        let tasks = [state.labels.keys().next(), state.tags.keys().next()];
        let task = *tasks.into_iter().flatten().min()?;
        state.dropped_as = Some((dropping, task));
        Some((state.labels.remove(&task), state.tags.remove(&task)))
    }) {
        drop(of_task);
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

/// Returns the name that a task has in logs.
pub(crate) fn display_name(task: TaskId) -> String {
    let label = with(|state| state.labels.get(&task)?.get::<TaskName>().cloned());
    match label {
        Some(name) => format!("{}({task})", String::from(name)),
        None if task == TaskId(0) => format!("{MAIN}({task})"),
        None => format!("task-{task}"),
    }
}

/// Begins the calling task, which was created so.
pub(crate) fn begin_task(creation: Option<Creation>) {
    let number = own_number();
    creation.into_iter().for_each(|creation| creation.note(number));
    name_in_logs();
    intermezzo::point();
}

/// Names the calling task in logs, until its function has returned.
pub(crate) fn name_in_logs() {
    if let Some(task) = task() {
        spans::begin_task(task.0 as u32, || display_name(task));
    }
}

/// Notes that the function of the calling task has returned.
pub(crate) fn note_end() {
    if let Some(task) = task() {
        with(|state| state.ended.insert(task));
        spans::end_task(task.0 as u32);
    }
}

/// Returns `true` if the function of a task has returned.
pub(crate) fn has_ended(task: TaskId) -> bool {
    with(|state| state.ended.contains(&task))
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

/// The creation of a task, as its creator and it know it.
#[derive(Clone)]
pub(crate) struct Creation {
    parent: TaskId,
    name: Option<TaskName>,
    place: &'static Location<'static>,
}

impl Creation {
    /// Returns the creation of a task by the calling one, at the place of the call.
    #[track_caller]
    pub(crate) fn new(name: Option<TaskName>) -> Option<Creation> {
        Some(Creation {
            parent: task()?,
            name,
            place: Location::caller(),
        })
    }

    /// Notes it: the task has its creator's labels and tag. Both of them do so, because either may be the first.
    pub(crate) fn note(&self, child: Option<u32>) {
        let Some(child) = child.map(|child| TaskId(child as usize)) else {
            return;
        };
        let labels = with(|state| {
            if !state.known.insert(child) {
                return None;
            }
            state.noted.has_concurrency.store(true, Relaxed);
            if let Some(tag) = state.tags.get(&self.parent).cloned() {
                state.tags.insert(child, tag);
            }
            Some(state.labels.get(&self.parent).cloned())
        });
        let Some(labels) = labels else { return };
        if let Some(mut labels) = labels {
            if let Some(ChildLabelFn(change)) = labels.get().cloned() {
                change(child, &mut labels);
            }
            with(|state| state.labels.insert(child, labels));
        }
        if let Some(name) = self.name.clone() {
            with_labels(child, |labels| labels.insert(name));
        }
        if !enabled!(target: TOLD_BY, Level::DEBUG) {
            return;
        }
        let signature = with(|state| {
            let parent = state.signatures.entry(self.parent).or_default();
            parent.1 += 1;
            let signature = TaskSignature::new(&self.place.to_string(), parent.0, parent.1);
            state.signatures.insert(child, (signature.signature_hash(), 0));
            signature
        });
        tell_creation(child, &signature);
    }
}

/// The module of shuttle's that tells of new tasks.
const TOLD_BY: &str = "shuttle_engine::runtime::task";

/// Tells the test's subscriber of a new task.
fn tell_creation(task: TaskId, signature: &TaskSignature) {
    debug!(
        target: TOLD_BY,
        task_id = ?task.0,
        signature = signature.signature_hash(),
        static_create_location = signature.static_create_location_hash(),
        "task created"
    );
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
        } else if with(|state| state.attached == 0) {
            tear_down_later();
        }
    }
}

/// Tears the execution down after the last task for which it waits, if the test's own body has ended without need to.
fn tear_down_later() {
    let later = with(|state| match state.is_to_be_torn_down() {
        true => state.teardown.later.take(),
        false => None,
    });
    if let Some((tear_down, patience)) = later {
        // A task of its own: the calling one may be left itself.
        drop(intermezzo::thread::spawn(move || tear_down(patience)));
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
