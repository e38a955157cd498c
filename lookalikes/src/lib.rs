//! The look-alikes of `std`: same names, same signatures, controlled inside an exploration and `std`
//! itself outside one.
//!
//! A look-alike is a front end of the runtime: it announces each visible operation, waits for permission, performs it
//! on plain data, and reports the effect. Every function is `#[track_caller]`, so that events carry the test's own
//! source places.

pub mod alloc;
#[cfg(feature = "unmodified")]
#[doc(hidden)]
pub mod assembly;
mod block;
#[cfg(all(feature = "unmodified", target_os = "linux", target_env = "gnu"))]
#[doc(hidden)]
pub mod c_io;
#[cfg(all(feature = "unmodified", target_os = "linux", target_env = "gnu"))]
mod c_library;
#[cfg(all(feature = "unmodified", target_os = "linux", target_env = "gnu"))]
#[doc(hidden)]
pub mod c_random;
#[cfg(all(
    feature = "unmodified",
    target_os = "linux",
    target_env = "gnu",
    target_pointer_width = "64",
    target_endian = "little"
))]
#[doc(hidden)]
pub mod c_semaphores;
/// Elsewhere a semaphore has another form.
#[cfg(all(
    feature = "unmodified",
    target_os = "linux",
    target_env = "gnu",
    not(all(target_pointer_width = "64", target_endian = "little"))
))]
#[doc(hidden)]
pub mod c_semaphores {
    pub fn take_over() {}
}
#[cfg(all(feature = "unmodified", target_os = "linux", target_env = "gnu"))]
#[doc(hidden)]
pub mod c_threads;
#[cfg(all(feature = "unmodified", target_os = "linux", target_env = "gnu"))]
#[doc(hidden)]
pub mod c_time;
pub mod cell;
pub mod collections;
#[cfg(all(feature = "unmodified", target_os = "linux", target_env = "gnu"))]
#[doc(hidden)]
pub mod futex;
pub mod future;
mod gated;
pub mod hash;
pub mod hint;
mod name;
mod operation;
#[doc(hidden)]
#[cfg(feature = "unmodified")]
pub mod panic_hook;
mod point;
mod preemption;
pub mod primitive;
#[doc(hidden)]
#[cfg(feature = "unmodified")]
pub mod process;
pub mod ptr;
pub mod rand;
#[doc(hidden)]
#[cfg(feature = "unmodified")]
pub mod streams;
pub mod sync;
mod system_time;
pub mod task;
pub mod thread;
pub mod time;
mod traits;
#[cfg(all(feature = "unmodified", target_os = "linux", target_env = "gnu"))]
mod waits_at;

/// The directory of the sources. Generic code of theirs is compiled into the crates that use it.
#[cfg(feature = "unmodified")]
pub const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src");

/// The directory of those that pass on to std what they are asked for, and have no state of their own.
#[cfg(feature = "unmodified")]
pub const TRANSPARENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/collections");

/// The standard library, for macros: in a crate that is tested unmodified, `std` has the look-alikes laid over it.
#[doc(hidden)]
pub use std as real_std;

pub use block::atomically;
pub use name::{Nameable, name};
pub use operation::Operations;
pub use point::{quiesce, schedule_point};
pub use preemption::{preemptions_off, preemptions_on, preemptions_preferred};

use intermezzo_engine::runtime::{Access, Engine, Site, Withdrawn};
use intermezzo_engine::schedule::Choice;
use intermezzo_sdk::SyncVarOp;
use std::any::Any;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Chooses a value from 0 to `n - 1`, each of which is explored; 0 outside an exploration.
///
/// ```
/// # use intermezzo_explorer as intermezzo;
/// use intermezzo::Explorer;
///
/// let report = Explorer::new().explore(|| assert!(intermezzo::choose(4) < 4));
/// assert_eq!(report.executions(), 4);
/// ```
///
/// # Panics
/// Outside an exploration, if `n` is 0. Inside one that is a finding.
#[track_caller]
pub fn choose(n: usize) -> usize {
    let site = Site::caller();
    let Some(engine) = Engine::current() else {
        assert!(n > 0, "choose(0): there is nothing to choose from");
        return 0;
    };
    let Ok(alternatives @ 1..) = u32::try_from(n) else {
        engine.misuse(format!("choose({n}) at {site}: give 1 to {}", u32::MAX));
    };
    engine.choose_value(alternatives, site) as usize
}

/// Chooses `false` or `true`, each of which is explored; `false` outside an exploration.
///
/// ```
/// # use intermezzo_explorer as intermezzo;
/// use intermezzo::Explorer;
///
/// assert_eq!(Explorer::new().explore(|| _ = intermezzo::any_bool()).executions(), 2);
/// ```
#[track_caller]
pub fn any_bool() -> bool {
    choose(2) == 1
}

/// Sends a message to the monitors. Does nothing outside an exploration.
pub fn event(text: &str) {
    if let Some(engine) = Engine::current() {
        engine.user_event(text);
    }
}

/// Gives the calling task's last visible operation an attribute with this name and value, for the monitors. Does
/// nothing outside an exploration.
pub fn attribute(name: &str, value: &str) {
    if let Some(engine) = Engine::current() {
        engine.attribute(name, value);
    }
}

/// Says in which state the program is after the calling task's last visible operation: whatever the test takes for it, as
/// `(head, tail)`. The monitor `statistics` counts the different ones, by their hashes, and the new ones of each execution.
/// Does nothing outside an exploration.
pub fn state(state: &(impl Hash + ?Sized)) {
    if let Some(engine) = Engine::current() {
        // Its keys are the same in every process.
        let mut hasher = DefaultHasher::new();
        state.hash(&mut hasher);
        engine.attribute("state", &format!("{:016x}", hasher.finish()));
    }
}

/// A schedule point, before which nothing is done. For drop-ins of tools that have schedule points where the order of
/// visible operations makes no difference.
#[doc(hidden)]
#[track_caller]
pub fn point() {
    if let Some(engine) = Engine::current() {
        let access = Access::nowhere(SyncVarOp::Yield, Site::caller());
        engine.enter(access);
        engine.commit(access, 0, 0);
    }
}

/// Holds a task of the execution: it takes no further step unless it is withdrawn. Returns `false` if it has ended, unwinds,
/// or is the calling one. For drop-ins of tools that end tasks before the execution's end.
#[doc(hidden)]
#[track_caller]
pub fn hold(task: u32) -> bool {
    Engine::current().is_some_and(|engine| engine.hold(task, Site::caller()))
}

/// Unwinds a task that is held, as its next step. For the same drop-ins. Panics if it is not held.
#[doc(hidden)]
#[track_caller]
pub fn withdraw(task: u32) {
    if let Some(engine) = Engine::current() {
        engine.withdraw(task, Site::caller());
    }
}

/// Lets the calling task, whose own code has ended, continue as if it had not been withdrawn. Returns `true` if it was.
#[doc(hidden)]
pub fn end_withdrawal() -> bool {
    Engine::current().is_some_and(Engine::end_withdrawal)
}

/// Returns `true` if this is the payload that unwinds a task that was withdrawn.
#[doc(hidden)]
pub fn is_withdrawal(payload: &(dyn Any + Send)) -> bool {
    payload.is::<Withdrawn>()
}

/// Returns the number of the current task; `None` outside an exploration.
#[doc(hidden)]
pub fn current_task() -> Option<u32> {
    Engine::current().map(Engine::task)
}

/// Returns the number of steps that the execution has taken; `None` outside an exploration. For drop-ins of other tools: it
/// depends on the schedule, also where nothing else does.
#[doc(hidden)]
pub fn steps() -> Option<u64> {
    Engine::current().map(Engine::steps)
}

/// Counts the steps of the execution from here on, for the limit of steps. For the same drop-ins.
#[doc(hidden)]
pub fn reset_step_count() {
    if let Some(engine) = Engine::current() {
        engine.reset_step_count();
    }
}

/// Calls a function with the number of the task whenever one begins, or continues after another one, until the execution
/// ends. To the function it looks as if it were outside of the execution. For drop-ins whose tasks have something that
/// belongs to the system's thread.
#[doc(hidden)]
pub fn on_switch(call: fn(u32)) {
    if let Some(engine) = Engine::current() {
        engine.on_switch(call);
    }
}

/// Returns the decisions of the execution so far: its schedule up to now. `None` outside an exploration.
///
/// It is for a test that writes down how it came to something. What it does must not depend on them, because they differ
/// between executions of one trace.
///
/// ```
/// # use intermezzo_explorer as intermezzo;
/// use intermezzo::Explorer;
///
/// let report = Explorer::new().explore(|| {
///     intermezzo::choose(3);
///     let choices = intermezzo::choices().unwrap();
///     assert!(choices.len() == 1 && choices[0].alternatives == 3);
/// });
/// assert!(report.verdict().is_pass());
/// ```
pub fn choices() -> Option<Vec<Choice>> {
    Engine::current().map(Engine::choices)
}

/// Returns `true` if the caller is inside an exploration.
///
/// ```
/// # use intermezzo_explorer as intermezzo;
/// use intermezzo::Explorer;
///
/// assert!(!intermezzo::is_exploring());
/// assert!(Explorer::new().explore(|| assert!(intermezzo::is_exploring())).verdict().is_pass());
/// ```
pub fn is_exploring() -> bool {
    Engine::current().is_some()
}
