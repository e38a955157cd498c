//! C's function that makes a thread. Such a thread is not controlled, and the atomics that it uses have no room for a sign that
//! tells it of an execution. So the call is noted, and a pass does not say that every schedule was run.

use crate::c_library::functions;
use libc::{c_int, c_void, pthread_attr_t, pthread_t};

/// Makes the linker take the function from here.
pub(crate) fn take_over() {
    std::hint::black_box(pthread_create as unsafe extern "C" fn(_, _, _, _) -> _);
}

functions! {
    /// Makes a thread.
    fn pthread_create(
        thread: *mut pthread_t, attributes: *const pthread_attr_t,
        begin: extern "C" fn(*mut c_void) -> *mut c_void, argument: *mut c_void
    ) -> c_int: |engine, system| {
        // SAFETY: the arguments are the caller's.
        let result = unsafe { system(thread, attributes, begin, argument) };
        // The stack may be one that no thread can have. std is asked to make such a thread for its error.
        if result == 0 && !engine.in_teardown() {
            engine.makes_outsider();
        }
        Some(result)
    };
}
