//! Panics of tasks and of monitors, noted where they happen.
//!
//! While some exploration runs, a panic hook takes note of message and place of a task's panic, and
//! prints nothing; panics elsewhere go to the hook that was there before. It is put back when the
//! last exploration ends.

use super::Engine;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::{Mutex, PoisonError, RwLock};

type Hook = Box<dyn Fn(&PanicHookInfo<'_>) + Send + Sync>;

/// The number of explorations want the hook.
static USERS: Mutex<usize> = Mutex::new(0);

/// The hook that was there before; kept as it is, so that putting it back adds no layer.
static BEFORE: RwLock<Option<Hook>> = RwLock::new(None);

/// Notes tasks' panics while it lives.
pub struct Guard;

impl Guard {
    /// Installs the panic hook until the guard is dropped.
    pub fn install() -> Guard {
        let mut users = USERS.lock().unwrap_or_else(PoisonError::into_inner);
        *users += 1;
        let mut before = BEFORE.write().unwrap_or_else(PoisonError::into_inner);
        // A panicking thread may not change the hook; then places go unnoted, and nothing else.
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
        if *users == 0 && !std::thread::panicking() {
            // Not under the lock: a panic elsewhere may hold the hook while it waits for this lock.
            let before = BEFORE.write().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(before) = before {
                panic::set_hook(before);
            }
        }
    }
}

thread_local! {
    /// How many calls of [`caught`] are under way.
    static CATCHING: Cell<u32> = const { Cell::new(0) };
    /// `true` if `NOTED` holds something.
    static IS_NOTED: Cell<bool> = const { Cell::new(false) };
    /// The last panic within [`caught`], in words.
    static NOTED: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs what is no part of the test, and may panic; the error says with which words and where it did.
#[inline]
pub(super) fn caught(f: impl FnOnce()) -> Result<(), String> {
    if IS_NOTED.get() {
        // A panic that was caught by the code that raised it.
        noted();
    }
    let before = CATCHING.get();
    CATCHING.set(before + 1);
    let outcome = catch_unwind(AssertUnwindSafe(f));
    CATCHING.set(before);
    match outcome {
        Ok(()) => Ok(()),
        Err(panic) => Err(words(panic)),
    }
}

#[cold]
fn words(panic: Box<dyn Any + Send>) -> String {
    // Dropping it may panic again.
    std::mem::forget(panic);
    noted().unwrap_or_else(|| "without a message".into())
}

#[cold]
fn noted() -> Option<String> {
    IS_NOTED.set(false);
    NOTED.take()
}

fn note(info: &PanicHookInfo<'_>) {
    let text = || {
        info.payload_as_str()
            .unwrap_or("a value that is no text")
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
