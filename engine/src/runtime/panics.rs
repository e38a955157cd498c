//! Panics of tasks and of monitors, noted where they happen.
//!
//! While an exploration runs, a panic hook notes the message and the place of a task's panic, and prints nothing. Other
//! panics go to the previous hook. The previous hook is restored when the last exploration ends.

use super::{Engine, arena};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError, RwLock};

type Hook = Box<dyn Fn(&PanicHookInfo<'_>) + Send + Sync>;

/// The number of explorations that need the hook.
static USERS: Mutex<usize> = Mutex::new(0);

/// The previous hook; kept as it is, so that restoring it adds no layer.
static BEFORE: RwLock<Option<Hook>> = RwLock::new(None);

/// A guard that notes tasks' panics while it lives.
pub struct Guard;

impl Guard {
    /// Installs the panic hook until the guard is dropped.
    pub fn install() -> Guard {
        let mut users = USERS.lock().unwrap_or_else(PoisonError::into_inner);
        *users += 1;
        let mut before = BEFORE.write().unwrap_or_else(PoisonError::into_inner);
        // A panicking thread may not change the hook; then only the places of panics are unknown.
        if before.is_none() && !std::thread::panicking() {
            *before = Some(panic::take_hook());
            panic::set_hook(Box::new(note));
        }
        Guard
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let mut users = USERS.lock().unwrap_or_else(PoisonError::into_inner);
        *users -= 1;
        if *users == 0 && !std::thread::panicking() && IN_HOOKS.load(Relaxed) == 0 {
            // The lock is released before the hook is set: a panic elsewhere may hold the hook's lock while it waits
            // for this one.
            let before = BEFORE.write().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(before) = before {
                panic::set_hook(before);
            }
        }
    }
}

/// The number of hooks of tests that are running, or during which an execution ended. While there are any, the hook
/// cannot be changed, because std holds its lock.
static IN_HOOKS: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// The number of calls of [`caught`] in progress.
    static CATCHING: Cell<u32> = const { Cell::new(0) };
    /// `true` if `NOTED` holds something.
    static IS_NOTED: Cell<bool> = const { Cell::new(false) };
    /// The last panic within [`caught`], as text.
    static NOTED: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs a function that is not part of the test, and may panic: one of a monitor, or of a user's own search. It may be
/// called in the middle of a step. So no engine is current in the meantime, and look-alikes that it uses do what std
/// does.
///
/// # Errors
/// It panicked. The error is the message of the panic, after its place if that is known.
#[inline]
pub fn caught(f: impl FnOnce()) -> Result<(), String> {
    match Engine::current() {
        Some(engine) => caught_inside(|| engine.outside(f)),
        None => caught_inside(f),
    }
}

/// Runs a function of the test that is not part of a task, and may panic. It uses look-alikes as the current task.
///
/// # Errors
/// As for [`caught`].
#[inline]
pub(super) fn caught_inside(f: impl FnOnce()) -> Result<(), String> {
    if IS_NOTED.get() {
        // That panic was caught by the code that raised it.
        noted();
    }
    CATCHING.set(CATCHING.get() + 1);
    let outcome = catch_unwind(AssertUnwindSafe(f));
    CATCHING.set(CATCHING.get() - 1);
    match outcome {
        Ok(()) => Ok(()),
        Err(panic) => Err(words(panic)),
    }
}

#[cold]
fn words(panic: Box<dyn Any + Send>) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    // Outside of an exploration it was not noted, and its place is unknown.
    let text = noted().or_else(|| text.map(str::to_owned));
    // Dropping it may panic again.
    std::mem::forget(panic);
    text.unwrap_or_else(|| "without a message".into())
}

#[cold]
fn noted() -> Option<String> {
    IS_NOTED.set(false);
    NOTED.take()
}

fn note(info: &PanicHookInfo<'_>) {
    // The note outlives the execution.
    arena::outside(|| note_outside(info));
    #[cfg(feature = "unmodified")]
    call_hook_of_test(info);
}

fn note_outside(info: &PanicHookInfo<'_>) {
    let text = || {
        info.payload_as_str()
            .unwrap_or("a value that is not text")
            .to_owned()
    };
    let place = info
        .location()
        .map(|at| format!("{}:{}:{}", at.file(), at.line(), at.column()));
    if CATCHING.get() > 0 {
        let at = place.map(|place| format!("at {place}: ")).unwrap_or_default();
        NOTED.set(Some(format!("{at}{}", text())));
        IS_NOTED.set(true);
    } else if let Some(engine) = Engine::current() {
        engine.note_panic(text(), place);
    } else if let Some(before) = &*BEFORE.read().unwrap_or_else(PoisonError::into_inner) {
        before(info);
    }
}

#[cfg(feature = "unmodified")]
pub(super) use of_test::{HookOfTest, call_hook_of_test};
#[cfg(feature = "unmodified")]
pub use of_test::{panic_at, set_hook, take_hook};

#[cfg(feature = "unmodified")]
mod of_test {
    //! The panic hooks of tests that were not written for intermezzo. A hook that a test sets belongs to the execution.
    //! The process keeps the engine's hook, which calls the test's hook as well. The test's hook is forgotten at the
    //! end of the execution, as it would be at the end of the process.

    use super::super::{Engine, arena};
    use super::{Hook, PanicHookInfo, panic};
    use std::sync::{Arc, OnceLock};

    /// A hook that is in use while it is called.
    pub(in super::super) type HookOfTest = Arc<Hook>;

    /// Panics with this message, at this place in the source: the harness of a test reports an error at the test's
    /// place.
    pub fn panic_at(message: String, place: &str) -> ! {
        arena::outside(|| {
            if let Some(engine) = Engine::current() {
                engine.note_panic(message.clone(), Some(place.to_owned()));
            }
        });
        panic::resume_unwind(Box::new(message))
    }

    /// The step that a panic takes before it calls a hook of a test.
    static BEFORE_CALL: OnceLock<fn()> = OnceLock::new();

    /// Sets the panic hook: `std::panic::set_hook`. A panic takes the step `before_call` before it calls the hook. It is the
    /// same function each time.
    pub fn set_hook(hook: Hook, before_call: fn()) {
        match Engine::current() {
            Some(engine) => {
                BEFORE_CALL.get_or_init(|| before_call);
                let hook = Arc::new(hook);
                drop(engine.with(|rt| rt.end.hook.replace(hook)));
            }
            None => panic::set_hook(hook),
        }
    }

    /// Takes the panic hook: `std::panic::take_hook`. In an execution, the default one does nothing.
    pub fn take_hook() -> Hook {
        let Some(engine) = Engine::current() else {
            return panic::take_hook();
        };
        match engine.with(|rt| rt.end.hook.take()) {
            Some(hook) => Box::new(move |info| hook(info)),
            None => Box::new(|_| {}),
        }
    }

    /// Calls the hook that the test has set, if the test's own code panics. Aborts if that code is such a hook, as std
    /// does: std recognises such a panic only if no other task has run since the hook was called.
    pub(in super::super) fn call_hook_of_test(info: &PanicHookInfo<'_>) {
        if !arena::test_runs() {
            return;
        }
        let Some(engine) = Engine::current() else { return };
        let task = engine.task();
        if engine.with(|rt| rt.end.in_hook.contains(task) && !rt.end.teardown) {
            std::process::abort();
        }
        if !engine.with(|rt| rt.end.hook.is_some()) {
            return;
        }
        engine.with(|rt| rt.end.in_hook.insert(task));
        // If this does not return, std holds its lock of hooks for ever.
        super::IN_HOOKS.fetch_add(1, super::Relaxed);
        if let Some(before_call) = BEFORE_CALL.get() {
            before_call();
        }
        // Another task may have replaced the hook in the step.
        let hook = engine.with(|rt| rt.end.hook.clone());
        if let Some(hook) = hook {
            hook(info);
        }
        engine.with(|rt| rt.end.in_hook.remove(task));
        super::IN_HOOKS.fetch_sub(1, super::Relaxed);
    }
}
