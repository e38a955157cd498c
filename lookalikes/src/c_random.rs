//! C's functions for random numbers of the system.
//!
//! Hashers take their seeds from them, and generators too. In a program that links this crate's versions instead of the C
//! library's, they give the numbers of [`rng`](crate::rand::rng) inside an execution: the same in each one, and in every
//! process. All other code gets the system's.
//!
//! **Misses.** The files `/dev/random` and `/dev/urandom`, instructions of the processor, and C's `arc4random`.

use crate::c_library::functions;
use crate::rand::rng;
use libc::{c_int, c_uint, c_void, size_t, ssize_t};
use rand::Rng;

/// Makes the linker take the functions from here.
pub fn take_over() {
    use std::hint::black_box;
    black_box(getrandom as unsafe extern "C" fn(_, _, _) -> _);
    black_box(getentropy as unsafe extern "C" fn(_, _) -> _);
}

/// Fills memory with random bytes.
///
/// # Safety
/// The memory can be written.
pub(crate) unsafe fn fill(into: *mut c_void, size: usize) {
    // SAFETY: as the caller says. All bytes are valid, and the memory may not have been written before.
    let bytes = unsafe {
        into.write_bytes(0, size);
        std::slice::from_raw_parts_mut(into.cast::<u8>(), size)
    };
    rng().fill_bytes(bytes);
}

functions! {
    /// Fills memory with random bytes, and returns their number.
    fn getrandom(into: *mut c_void, size: size_t, flags: c_uint) -> ssize_t: |_engine| {
        let _ = flags;
        (!into.is_null() && size > 0).then(|| {
            // SAFETY: as the caller says.
            unsafe { fill(into, size) };
            size as ssize_t
        })
    };

    /// Fills memory with random bytes.
    fn getentropy(into: *mut c_void, size: size_t) -> c_int: |_engine| {
        // The system gives no more at a time.
        (!into.is_null() && (1..=256).contains(&size)).then(|| {
            // SAFETY: as the caller says.
            unsafe { fill(into, size) };
            0
        })
    };
}
