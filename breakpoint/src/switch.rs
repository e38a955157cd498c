//! The switch that says if anything is armed: the first check of a place, and its only cost when nothing is.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering::Relaxed};

/// `true` if a runtime controls some tasks, so that the switch is never off.
static CONTROLLED: AtomicBool = AtomicBool::new(false);

/// The environment has not been read yet.
const UNREAD: u8 = 0;
/// Nothing is armed, and no runtime is in control.
const OFF: u8 = 1;
/// Something may be armed.
const ON: u8 = 2;

static STATE: AtomicU8 = AtomicU8::new(UNREAD);

/// `true` if nothing is armed. Relaxed: a thread that arms while others run cannot expect them to see it at once.
#[inline(always)]
pub(crate) fn is_off() -> bool {
    STATE.load(Relaxed) == OFF
}

/// Returns `true` if something may be armed.
pub(crate) fn is_on() -> bool {
    STATE.load(Relaxed) == ON
}

/// Notes that the environment has been read. If that armed nothing, nothing is armed.
pub(crate) fn was_read() {
    let _ = STATE.compare_exchange(UNREAD, OFF, Relaxed, Relaxed);
}

/// Notes that something is armed.
pub(crate) fn on() {
    STATE.store(ON, Relaxed);
}

/// Notes that a runtime controls some tasks. Each place must then determine its task.
pub(crate) fn controlled() {
    CONTROLLED.store(true, Relaxed);
    on();
}

/// Notes that nothing is armed any more.
pub(crate) fn off() {
    if !CONTROLLED.load(Relaxed) {
        STATE.store(OFF, Relaxed);
    }
}
