//! Panics of tasks, noted where they happen.
//!
//! While some exploration runs, a panic hook takes note of message and place of a task's panic, and
//! prints nothing; panics elsewhere go to the hook that was there before. It is put back when the
//! last exploration ends.

use super::Engine;
use std::panic::{self, PanicHookInfo};
use std::sync::{Mutex, PoisonError, RwLock};

type Hook = Box<dyn Fn(&PanicHookInfo<'_>) + Send + Sync>;

/// How many explorations want the hook.
static USERS: Mutex<usize> = Mutex::new(0);

/// The hook that was there before; kept as it is, so that putting it back adds no layer.
static BEFORE: RwLock<Option<Hook>> = RwLock::new(None);

/// Notes tasks' panics while it lives.
pub(crate) struct Guard;

impl Guard {
    pub(crate) fn new() -> Guard {
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

fn note(info: &PanicHookInfo<'_>) {
    if let Some(engine) = Engine::current() {
        let place = info
            .location()
            .map(|at| format!("{}:{}:{}", at.file(), at.line(), at.column()));
        engine.note_panic(
            info.payload_as_str()
                .unwrap_or("a value that is no text")
                .to_owned(),
            place,
        );
    } else if let Some(before) = &*BEFORE.read().unwrap_or_else(PoisonError::into_inner) {
        before(info);
    }
}
