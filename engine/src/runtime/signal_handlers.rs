//! The signal handlers that an execution sets. The previous ones are restored when it is over, because the memory and
//! the statics that its handlers use are gone then. Also, in the next execution, a handler that calls the previous one
//! would call itself for ever.
//!
//! **Misses.** Handlers that threads outside the execution set, the signals that a thread blocks, and its alternate
//! signal stack.

use libc::{c_int, sigaction};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// `true` if an execution has set a handler that has not been replaced again.
static ANY: AtomicBool = AtomicBool::new(false);

/// The signals whose handler was set, and their previous actions.
static BEFORE: Mutex<Vec<(c_int, sigaction)>> = Mutex::new(Vec::new());

/// Notes that an execution sets a handler for this signal, and the signal's previous action.
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
            // SAFETY: the system returned this value for this signal.
            unsafe { libc::sigaction(signal, &raw const before, std::ptr::null_mut()) };
        }
    }
}
