//! The values that an operation says while it runs, with labels, and its calls back into the test. Both are compared as
//! its result is.
//!
//! CHESS's observations have calls and returns of operations and of callbacks, and labelled values. Here the values and
//! callbacks of an operation, in the order of its own task, are part of the text of its result. Differs: there are no
//! identities of objects, as Rust's values have none.

use crate::result;
use intermezzo_explorer::{current_task, outside};
use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt::Debug;

/// The values and callbacks that the operations under way have said.
#[derive(Default)]
struct Said {
    /// By task: all tasks of an exploration's worker run on its one thread.
    tasks: Vec<(u32, String)>,
    /// The operation of a model, while it is asked. Models are asked between executions and in the middle of them, when
    /// no task runs.
    model: Option<String>,
}

impl Said {
    /// Returns what the operation has said in which the calling task, or a model, is.
    fn of(&mut self, task: Option<u32>) -> Option<&mut String> {
        match &mut self.model {
            Some(said) => Some(said),
            None => {
                let mut tasks = self.tasks.iter_mut();
                tasks.find(|(of, _)| Some(*of) == task).map(|(_, said)| said)
            }
        }
    }
}

thread_local! {
    static SAID: RefCell<Said> = RefCell::default();
}

/// Changes what has been said. It outlives the execution, so what it keeps is not in the execution's memory.
fn with<R>(change: impl FnOnce(&mut Said) -> R) -> R {
    outside(|| SAID.with_borrow_mut(change))
}

/// Adds a value to the result of the operation that the calling task performs. It is compared by its `Debug` text, as
/// results are.
///
/// A label that begins with `_` says that the value is not compared: it is left out. Outside an operation, or in a task
/// that the operation has created, nothing is added.
///
/// ```
/// # use intermezzo_refinement as refinement;
/// use intermezzo_explorer::sync::atomic::{AtomicU32, Ordering::SeqCst};
/// use refinement::{observe, refine};
///
/// let counter = refine(|| AtomicU32::new(0)).op("add", (), |n, ()| {
///     let seen = n.load(SeqCst);
///     observe("seen", &seen);
///     n.store(seen + 1, SeqCst);
/// });
/// let report = counter.threads(2..=2).ops(1..=1).init(0..=0).post(0..=0).run();
/// assert!(report.failure.is_some(), "one at a time, only the first one sees 0: {report}");
/// ```
pub fn observe(label: &str, value: &impl Debug) {
    if !label.starts_with('_') {
        say(|text| {
            text.push_str(label);
            text.push_str(": ");
            result::append(text, value);
        });
    }
}

/// Calls a function of the test from inside of an operation, and adds the call and its result to the operation's result:
/// the order of the callbacks, their arguments and their results are compared. Labels that begin with `_` are left out.
///
/// ```
/// # use intermezzo_refinement as refinement;
/// use intermezzo_explorer::sync::Mutex;
/// use refinement::{callback, refine};
///
/// let map = refine(|| Mutex::new(0)).op("update", (), |n, ()| {
///     let mut n = n.lock().unwrap();
///     *n = callback("double", &*n, || *n * 2 + 1);
/// });
/// assert!(map.scenarios(5).run().failure.is_none());
/// ```
pub fn callback<R: Debug>(name: &str, argument: &impl Debug, call: impl FnOnce() -> R) -> R {
    let is_told = !name.starts_with('_');
    if is_told {
        say(|text| {
            text.push_str(name);
            text.push('(');
            result::append(text, argument);
            text.push(')');
        });
    }
    let returned = call();
    if is_told {
        say(|text| {
            text.push_str(name);
            text.push_str(" returns ");
            result::append(text, &returned);
        });
    }
    returned
}

fn say(write: impl FnOnce(&mut String)) {
    // While a model is asked, the engine must not be.
    let task = match with(|said| said.model.is_some()) {
        true => None,
        false => current_task(),
    };
    if with(|said| said.of(task).is_none()) {
        return;
    }
    // A type's own `Debug` may do anything.
    let mut text = String::new();
    write(&mut text);
    with(|said| {
        let Some(said) = said.of(task) else { return };
        let comma = if said.is_empty() { "" } else { ", " };
        said.push_str(comma);
        said.push_str(&text);
    });
}

/// Forgets what an abandoned execution has said, and a model that panicked.
pub(crate) fn begin_execution() {
    with(|said| {
        said.tasks.clear();
        said.model = None;
    });
}

/// Runs an operation of the calling task, and then `finish` with its result and what it said.
pub(crate) fn listening<R>(run: impl FnOnce() -> R, finish: impl FnOnce(R, &str)) {
    let Some(task) = current_task() else {
        return finish(run(), "");
    };
    with(|said| {
        said.tasks.retain(|(of, _)| *of != task);
        said.tasks.push((task, String::new()));
    });
    let result = run();
    let said = with(|said| {
        let at = said.tasks.iter().position(|(of, _)| *of == task);
        at.map(|at| said.tasks.swap_remove(at).1)
    });
    let said = said.unwrap_or_default();
    finish(result, &in_brackets(&said));
    outside(|| drop(said));
}

/// Asks a model for the meaning of an operation. Returns the answer, and what the model said.
pub(crate) fn asking<R>(ask: impl FnOnce() -> R) -> (R, String) {
    with(|said| said.model = Some(String::new()));
    let answer = ask();
    let said = with(|said| said.model.take()).unwrap_or_default();
    (answer, in_brackets(&said).into_owned())
}

/// Returns what an operation said as a part of its result; nothing if it said nothing.
fn in_brackets(said: &str) -> Cow<'static, str> {
    match said {
        "" => Cow::Borrowed(""),
        said => Cow::Owned(format!(" [{said}]")),
    }
}
