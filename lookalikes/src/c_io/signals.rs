//! C's functions that set handlers of signals. Those that an execution sets are taken back before the next one begins.

use super::takes_steps;
use crate::c_library::{Function, functions};
use intermezzo_engine::runtime::{Engine, note_signal_handler};
use libc::{c_int, sighandler_t};
use std::mem::MaybeUninit;

/// Makes the linker take the functions from here.
pub(super) fn take_over() {
    use std::hint::black_box;
    black_box(sigaction as unsafe extern "C" fn(_, _, _) -> _);
    black_box(signal as unsafe extern "C" fn(_, _) -> _);
}

/// Notes what this signal does, because an execution is about to change it.
fn note(engine: Engine, signal: c_int) {
    static SYSTEM: Function = Function::named(c"sigaction");
    if !takes_steps(engine) {
        return;
    }
    let mut before = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: this is its type. The place for the result is there, and is read only if it was written.
    unsafe {
        let system: unsafe extern "C" fn(c_int, *const libc::sigaction, *mut libc::sigaction) -> c_int =
            std::mem::transmute(SYSTEM.address());
        if system(signal, std::ptr::null(), before.as_mut_ptr()) == 0 {
            note_signal_handler(signal, before.assume_init());
        }
    }
}

functions! {
    /// Sets or tells what a signal does.
    fn sigaction(
        signal: c_int, new: *const libc::sigaction, before: *mut libc::sigaction
    ) -> c_int: |engine| {
        if !new.is_null() {
            note(engine, signal);
        }
        None
    };

    /// Sets what a signal does.
    fn signal(signal: c_int, handler: sighandler_t) -> sighandler_t: |engine| {
        let _ = handler;
        note(engine, signal);
        None
    };
}
