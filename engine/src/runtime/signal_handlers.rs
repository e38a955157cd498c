//! The handlers of signals that an execution sets. Those from before are restored when it is over: the memory and the
//! statics that its handlers use are gone then. In the next execution, a handler that calls the one from before would call
//! itself for ever.
//!
//! **Misses.** Handlers that threads outside the execution set, the signals that a thread blocks, and its stack for handlers.

use libc::{c_int, sigaction};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// `true` if an execution has set one that is still there.
static ANY: AtomicBool = AtomicBool::new(false);

/// The signals whose handler was set, and what they did before.
static BEFORE: Mutex<Vec<(c_int, sigaction)>> = Mutex::new(Vec::new());

/// Notes that an execution sets a handler for this signal, and what the signal did before.
pub fn note_signal_handler(signal: c_int, before: sigaction) {
    super::arena::outside(|| {
        let mut all = BEFORE.lock().unwrap_or_else(PoisonError::into_inner);
        if !all.iter().any(|one| one.0 == signal) {
            all.push((signal, before));
        }
    });
    ANY.store(true, Relaxed);
}

/// Restores the handlers from before.
pub(super) fn restore_signal_handlers() {
    if ANY.load(Relaxed) {
        ANY.store(false, Relaxed);
        let mut all = BEFORE.lock().unwrap_or_else(PoisonError::into_inner);
        for (signal, before) in all.drain(..) {
            // SAFETY: the system has given out this value for this signal.
            unsafe { libc::sigaction(signal, &raw const before, std::ptr::null_mut()) };
        }
    }
}
