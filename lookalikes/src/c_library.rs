//! Functions of the C library that this crate has in its place, and that it calls itself.

use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

/// A function of the C library, by its name.
pub(crate) struct Function {
    name: &'static CStr,
    /// Its address, once it was looked up.
    found: AtomicPtr<c_void>,
}

impl Function {
    pub(crate) const fn named(name: &'static CStr) -> Function {
        Function {
            name,
            found: AtomicPtr::new(std::ptr::null_mut()),
        }
    }

    /// Returns the address of the library's own function, rather than of ours with the same name.
    #[inline]
    pub(crate) fn address(&self) -> *mut c_void {
        match self.found.load(Relaxed) {
            found if found.is_null() => self.look_up(),
            found => found,
        }
    }

    #[cold]
    fn look_up(&self) -> *mut c_void {
        // SAFETY: a name that ends with a zero.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        assert!(!found.is_null(), "the C library has no function {:?}", self.name);
        self.found.store(found, Relaxed);
        found
    }
}
