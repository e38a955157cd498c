//! Whether anything is armed at all: what a place looks at first, and all that it costs when nothing is.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering::Relaxed};

/// Whether a runtime is in control of some tasks, so that it never is all off.
static CONTROLLED: AtomicBool = AtomicBool::new(false);

/// Nobody has looked at the environment yet.
const UNREAD: u8 = 0;
/// Nothing is armed, and nobody is in control.
const OFF: u8 = 1;
/// Something may be.
const ON: u8 = 2;

static STATE: AtomicU8 = AtomicU8::new(UNREAD);

/// Whether nothing is armed. Relaxed: who arms while others run cannot expect them to see it at once.
#[inline(always)]
pub(crate) fn is_off() -> bool {
    STATE.load(Relaxed) == OFF
}

/// Returns `true` if something may be armed.
pub(crate) fn is_on() -> bool {
    STATE.load(Relaxed) == ON
}

/// Notes that the environment has been read. Nothing is armed then, unless that armed something.
pub(crate) fn was_read() {
    let _ = STATE.compare_exchange(UNREAD, OFF, Relaxed, Relaxed);
}

/// Something is armed.
pub(crate) fn on() {
    STATE.store(ON, Relaxed);
}

/// A runtime is in control of some tasks: places have to ask whose they are.
pub(crate) fn controlled() {
    CONTROLLED.store(true, Relaxed);
    on();
}

/// Nothing is armed any more.
pub(crate) fn off() {
    if !CONTROLLED.load(Relaxed) {
        STATE.store(OFF, Relaxed);
    }
}
