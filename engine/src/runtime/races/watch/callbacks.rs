//! The functions that code calls before its accesses, if it was compiled with LLVM's pass for the thread sanitizer:
//! `__tsan_read8` and its siblings, as LLVM's `ThreadSanitizer.cpp` names them.
//!
//! With glibc, the functions of C that copy, fill and compare memory are here as well (`memcpy` and its siblings), for the
//! accesses of code that was compiled without the pass.
//!
//! Each reads its return address and its caller's frame pointer, and continues in a function of this module. That
//! returns at once if no execution runs, or if intermezzo's own code made the call.

use super::super::super::arena;
use super::super::super::listen::Does;
use super::places::{Frame, is_ours};
use super::{WATCHED, seen};
use std::arch::naked_asm;
use std::ffi::{c_int, c_void};
use std::sync::atomic::Ordering::Relaxed;

/// The bit of a kind of access that is set for writes; the other bits are its size.
const WRITES: u32 = 1 << 8;

/// Handles an access that is about to happen.
extern "C" fn access(address: usize, returns_to: usize, pointer: usize, kind: u32) {
    if arena::is_open() && !is_ours(returns_to) {
        let does = if kind & WRITES == 0 {
            Does::Read
        } else {
            Does::Write
        };
        let size = (kind & (WRITES - 1)) as usize;
        seen(address, size, does, Frame { pointer, returns_to });
    }
}

/// Defines functions for accesses of a size.
macro_rules! accesses {
    ($($name:ident: $kind:expr;)*) => {$(
        /// The call before an access.
        ///
        /// # Safety
        /// The caller keeps a frame pointer.
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        pub(super) unsafe extern "C" fn $name(_: usize) {
            #[cfg(target_arch = "x86_64")]
            naked_asm!(
                "mov rsi, [rsp]",
                "mov rdx, rbp",
                "mov ecx, {kind}",
                "jmp {access}",
                kind = const $kind,
                access = sym access,
            );
            #[cfg(target_arch = "aarch64")]
            naked_asm!(
                "mov x1, x30",
                "mov x2, x29",
                "mov w3, {kind}",
                "b {access}",
                kind = const $kind,
                access = sym access,
            );
        }
    )*};
}

accesses! {
    __tsan_read1: 1;
    __tsan_read2: 2;
    __tsan_read4: 4;
    __tsan_read8: 8;
    __tsan_read16: 16;
    __tsan_write1: WRITES | 1;
    __tsan_write2: WRITES | 2;
    __tsan_write4: WRITES | 4;
    __tsan_write8: WRITES | 8;
    __tsan_write16: WRITES | 16;
    __tsan_unaligned_read2: 2;
    __tsan_unaligned_read4: 4;
    __tsan_unaligned_read8: 8;
    __tsan_unaligned_read16: 16;
    __tsan_unaligned_write2: WRITES | 2;
    __tsan_unaligned_write4: WRITES | 4;
    __tsan_unaligned_write8: WRITES | 8;
    __tsan_unaligned_write16: WRITES | 16;
    __tsan_read_write1: WRITES | 1;
    __tsan_read_write2: WRITES | 2;
    __tsan_read_write4: WRITES | 4;
    __tsan_read_write8: WRITES | 8;
    __tsan_read_write16: WRITES | 16;
    __tsan_unaligned_read_write2: WRITES | 2;
    __tsan_unaligned_read_write4: WRITES | 4;
    __tsan_unaligned_read_write8: WRITES | 8;
    __tsan_unaligned_read_write16: WRITES | 16;
    // Accesses to volatile memory are accesses like any other.
    __tsan_volatile_read1: 1;
    __tsan_volatile_read2: 2;
    __tsan_volatile_read4: 4;
    __tsan_volatile_read8: 8;
    __tsan_volatile_read16: 16;
    __tsan_volatile_write1: WRITES | 1;
    __tsan_volatile_write2: WRITES | 2;
    __tsan_volatile_write4: WRITES | 4;
    __tsan_volatile_write8: WRITES | 8;
    __tsan_volatile_write16: WRITES | 16;
    __tsan_unaligned_volatile_read2: 2;
    __tsan_unaligned_volatile_read4: 4;
    __tsan_unaligned_volatile_read8: 8;
    __tsan_unaligned_volatile_read16: 16;
    __tsan_unaligned_volatile_write2: WRITES | 2;
    __tsan_unaligned_volatile_write4: WRITES | 4;
    __tsan_unaligned_volatile_write8: WRITES | 8;
    __tsan_unaligned_volatile_write16: WRITES | 16;
    // The pointer to a virtual table, in C++.
    __tsan_vptr_read: size_of::<usize>() as u32;
    __tsan_vptr_update: WRITES | size_of::<usize>() as u32;
}

/// Continues in a function that has a pointer to the caller's [`Frame`] as its last argument, in this register.
macro_rules! continue_in {
    ($function:path, $x86_64:literal, $aarch64:literal) => {{
        #[cfg(target_arch = "x86_64")]
        std::arch::naked_asm!(
            // The frame pointer and the return address are next to each other, as in any frame.
            "push rbp",
            "mov rbp, rsp",
            concat!("mov ", $x86_64, ", rsp"),
            "call {function}",
            "pop rbp",
            "ret",
            function = sym $function,
        );
        #[cfg(target_arch = "aarch64")]
        std::arch::naked_asm!(
            "stp x29, x30, [sp, #-16]!",
            "mov x29, sp",
            concat!("mov ", $aarch64, ", sp"),
            "bl {function}",
            "ldp x29, x30, [sp], #16",
            "ret",
            function = sym $function,
        );
    }};
}
pub(super) use continue_in;

/// Handles an access to a range of bytes that is about to happen.
#[inline]
fn range(address: *const c_void, size: usize, does: Does, frame: *const Frame) {
    if arena::is_open() && WATCHED.load(Relaxed) {
        // SAFETY: `continue_in` has put it there.
        let frame = unsafe { *frame };
        if !is_ours(frame.returns_to) {
            seen(address.addr(), size, does, frame);
        }
    }
}

unsafe extern "C" fn read_range(address: *const c_void, size: usize, frame: *const Frame) {
    range(address, size, Does::Read, frame);
}

unsafe extern "C" fn write_range(address: *const c_void, size: usize, frame: *const Frame) {
    range(address, size, Does::Write, frame);
}

unsafe extern "C" fn copy(
    to: *mut c_void,
    from: *const c_void,
    size: usize,
    frame: *const Frame,
) -> *mut c_void {
    range(from, size, Does::Read, frame);
    range(to, size, Does::Write, frame);
    // SAFETY: as the caller says. The two may overlap if they do for `memmove`.
    unsafe { system::memmove(to, from, size) }
}

unsafe extern "C" fn set(to: *mut c_void, byte: c_int, size: usize, frame: *const Frame) -> *mut c_void {
    range(to, size, Does::Write, frame);
    // SAFETY: as the caller says.
    unsafe { system::memset(to, byte, size) }
}

#[cfg(target_env = "gnu")]
unsafe extern "C" fn compare(
    one: *const c_void,
    other: *const c_void,
    size: usize,
    frame: *const Frame,
) -> c_int {
    range(one, size, Does::Read, frame);
    range(other, size, Does::Read, frame);
    // SAFETY: as the caller says.
    unsafe { system::memcmp(one, other, size) }
}

/// Defines functions for accesses to ranges of bytes.
macro_rules! ranges {
    ($($name:ident($($type:ty),*) $(-> $result:ty)? = $function:ident, $x86_64:literal, $aarch64:literal;)*) => {$(
        /// The call before an access, or the access itself.
        ///
        /// # Safety
        /// The caller keeps a frame pointer, and may access the memory.
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        pub(super) unsafe extern "C" fn $name($(_: $type),*) $(-> $result)? {
            continue_in!($function, $x86_64, $aarch64);
        }
    )*};
}

ranges! {
    __tsan_read_range(*const c_void, usize) = read_range, "rdx", "x2";
    __tsan_write_range(*const c_void, usize) = write_range, "rdx", "x2";
    __tsan_memcpy(*mut c_void, *const c_void, usize) -> *mut c_void = copy, "rcx", "x3";
    __tsan_memmove(*mut c_void, *const c_void, usize) -> *mut c_void = copy, "rcx", "x3";
    __tsan_memset(*mut c_void, c_int, usize) -> *mut c_void = set, "rcx", "x3";
}

/// Defines C's functions for ranges of bytes: `$name`, which is `$function` if memory is watched, and else the C
/// library's `$real`.
#[cfg(target_env = "gnu")]
macro_rules! functions_of_c {
    ($($name:ident($($type:ty),*) -> $result:ty = $function:ident, $real:ident;)*) => {$(
        /// C's function of this name.
        ///
        /// # Safety
        /// As for C's function. If memory is watched, the caller keeps a frame pointer.
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        pub(super) unsafe extern "C" fn $name($(_: $type),*) -> $result {
            // Programs call these functions often, so the usual case is decided here. The addresses come from a table,
            // because the linker of a shared library may need that.
            #[cfg(target_arch = "x86_64")]
            naked_asm!(
                "mov r11, [rip + {watched}@GOTPCREL]",
                "cmp byte ptr [r11], 0",
                "jne 2f",
                "mov r11, [rip + {real}@GOTPCREL]",
                "jmp [r11]",
                "2:",
                "push rbp",
                "mov rbp, rsp",
                "mov rcx, rsp",
                "call {function}",
                "pop rbp",
                "ret",
                watched = sym WATCHED,
                real = sym system::$real::ADDRESS,
                function = sym $function,
            );
            #[cfg(target_arch = "aarch64")]
            continue_in!($function, "rcx", "x3");
        }
    )*};
}

// Code that was compiled without the calls, such as functions of std that every program shares, also copies and fills
// memory by these functions. A comparison is a call of C's function in code that was compiled with them, too.
#[cfg(target_env = "gnu")]
functions_of_c! {
    memcpy(*mut c_void, *const c_void, usize) -> *mut c_void = copy, memmove;
    memmove(*mut c_void, *const c_void, usize) -> *mut c_void = copy, memmove;
    memset(*mut c_void, c_int, usize) -> *mut c_void = set, memset;
    memcmp(*const c_void, *const c_void, usize) -> c_int = compare, memcmp;
    bcmp(*const c_void, *const c_void, usize) -> c_int = compare, memcmp;
}

/// The C library's own functions, where ours have taken their names.
#[cfg(target_env = "gnu")]
mod system {
    use std::ffi::{CStr, c_int, c_void};
    use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

    /// Defines functions that call those of the C library.
    macro_rules! functions {
        ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {$(
            /// # Safety
            /// As for the C library's function of this name.
            #[inline]
            pub(super) unsafe fn $name($($argument: $type),*) -> $result {
                // SAFETY: it is the address of a function of this type.
                let function: unsafe extern "C" fn($($type),*) -> $result =
                    unsafe { std::mem::transmute($name::ADDRESS.load(Relaxed)) };
                // SAFETY: as the caller says.
                unsafe { function($($argument),*) }
            }

            pub(super) mod $name {
                use super::*;

                /// The function's address, or at first that of a function that finds it.
                pub(in super::super) static ADDRESS: AtomicPtr<c_void> = AtomicPtr::new(find as *mut c_void);

                unsafe extern "C" fn find($($argument: $type),*) -> $result {
                    let name = concat!(stringify!($name), "\0").as_bytes();
                    ADDRESS.store(address_of(CStr::from_bytes_with_nul(name).unwrap_or_default()), Relaxed);
                    // SAFETY: as the caller says.
                    unsafe { super::$name($($argument),*) }
                }
            }
        )*};
    }

    functions! {
        memmove(to: *mut c_void, from: *const c_void, size: usize) -> *mut c_void;
        memset(to: *mut c_void, byte: c_int, size: usize) -> *mut c_void;
        memcmp(one: *const c_void, other: *const c_void, size: usize) -> c_int;
    }

    /// Returns the address of a function of the C library.
    #[cold]
    fn address_of(name: &CStr) -> *mut c_void {
        // SAFETY: a name that ends with a zero.
        let address = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
        if address.is_null() {
            std::process::abort();
        }
        address
    }
}

/// The C library's functions.
#[cfg(not(target_env = "gnu"))]
use libc as system;

/// Defines functions that have nothing to do.
macro_rules! nothing {
    ($($name:ident($($type:ty)?);)*) => {$(
        /// A call that needs no action.
        #[unsafe(no_mangle)]
        pub(super) extern "C" fn $name($(_: $type)?) {}
    )*};
}

nothing! {
    __tsan_init();
    __tsan_func_entry(*const c_void);
    __tsan_func_exit();
    __tsan_ignore_thread_begin();
    __tsan_ignore_thread_end();
}

/// Makes the linker take all these functions from this module.
pub(super) fn keep() {
    std::hint::black_box(__tsan_init as extern "C" fn());
}
