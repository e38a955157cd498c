//! Panics of a plugin, which are caught, recorded with their place, and not printed.
//!
//! A plugin has its own copy of `std`, with its own panic hook: the hook that is set here is not that of the program under
//! test. If both are one program (in a monitor's own unit tests), it passes on panics that are not a callback's.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    static CATCHING: Cell<bool> = const { Cell::new(false) };
    static NOTED: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Calls a function.
///
/// # Errors
/// If it panicked: the message and the place.
pub(super) fn caught<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |panic| {
            if !CATCHING.get() {
                return before(panic);
            }
            let payload = panic.payload_as_str().unwrap_or("a panic that is not text");
            let place = panic.location().map(|place| format!(" ({place})"));
            NOTED.set(Some(format!("{payload}{}", place.unwrap_or_default())));
        }));
    });
    let outside = CATCHING.replace(true);
    let called = catch_unwind(AssertUnwindSafe(call));
    CATCHING.set(outside);
    called.map_err(|payload| {
        // Dropping a payload may panic in turn.
        std::mem::forget(payload);
        NOTED.take().unwrap_or_else(|| "a panic without a message".into())
    })
}
