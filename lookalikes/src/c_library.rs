//! Functions of the C library that this crate has in its place, and that it calls itself.

use std::ffi::{CStr, c_long, c_void};
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

type SystemCall = unsafe extern "C" fn(c_long, ...) -> c_long;

/// Returns the C library's own `syscall`.
pub(crate) fn system_call() -> SystemCall {
    static SYSTEM: Function = Function::named(c"syscall");
    // SAFETY: this is its type.
    unsafe { std::mem::transmute::<*mut c_void, SystemCall>(SYSTEM.address()) }
}

/// Defines functions of the C library that do something else inside an execution, where `virtually` returns a result. It gets
/// the engine and, if it asks for that, the library's own function.
macro_rules! functions {
    ($(
        $(#[$doc:meta])*
        fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty: |$engine:ident $(, $system:ident)?| $virtually:expr;
    )*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// As for the C library's function of this name.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> $result {
            static SYSTEM: $crate::c_library::Function = $crate::c_library::Function::named(
                // SAFETY: it ends with a zero, and has no other.
                unsafe { std::ffi::CStr::from_bytes_with_nul_unchecked(concat!(stringify!($name), "\0").as_bytes()) },
            );
            // SAFETY: this is its type.
            let system = || unsafe {
                std::mem::transmute::<*mut std::ffi::c_void, unsafe extern "C" fn($($type),*) -> $result>(SYSTEM.address())
            };
            if let Some($engine) = intermezzo_engine::runtime::Engine::of_test() {
                $(let $system = system();)?
                // Nothing may unwind out of a function of C.
                let result: Option<$result> = $engine.keep_from_unwinding(|| $virtually);
                if let Some(result) = result {
                    return result;
                }
            }
            // SAFETY: the arguments are the caller's.
            unsafe { system()($($argument),*) }
        }
    )*};
}
pub(crate) use functions;
