//! Atomics with the size, the alignment and the bits of std's, for code that was not written for intermezzo.
//!
//! Such code transmutes atomics, reads them out of zeroed memory, makes references to them of pointers, or checks their
//! sizes. An atomic of this module has no room for an identity, so the engine finds its variable by its address: see
//! `engine/src/runtime/by_address.rs` for what that means.
//!
//! Differs from the ordinary ones: a pointer from `as_ptr` leads to the atomic itself, also in a static of which the
//! execution uses a copy; and `into_inner` is not published as an access, because it moves the atomic.

use super::{Atomic, Primitive};
use intermezzo_engine::runtime::ByAddress;
use std::mem::ManuallyDrop;
use std::sync::atomic as std_atomic;

/// `std::sync::atomic::AtomicBool`
pub type AtomicBool = Atomic<bool, ByAddress<std_atomic::AtomicBool>>;
/// `std::sync::atomic::AtomicI8`
pub type AtomicI8 = Atomic<i8, ByAddress<std_atomic::AtomicI8>>;
/// `std::sync::atomic::AtomicI16`
pub type AtomicI16 = Atomic<i16, ByAddress<std_atomic::AtomicI16>>;
/// `std::sync::atomic::AtomicI32`
pub type AtomicI32 = Atomic<i32, ByAddress<std_atomic::AtomicI32>>;
/// `std::sync::atomic::AtomicI64`
pub type AtomicI64 = Atomic<i64, ByAddress<std_atomic::AtomicI64>>;
/// `std::sync::atomic::AtomicIsize`
pub type AtomicIsize = Atomic<isize, ByAddress<std_atomic::AtomicIsize>>;
/// `std::sync::atomic::AtomicU8`
pub type AtomicU8 = Atomic<u8, ByAddress<std_atomic::AtomicU8>>;
/// `std::sync::atomic::AtomicU16`
pub type AtomicU16 = Atomic<u16, ByAddress<std_atomic::AtomicU16>>;
/// `std::sync::atomic::AtomicU32`
pub type AtomicU32 = Atomic<u32, ByAddress<std_atomic::AtomicU32>>;
/// `std::sync::atomic::AtomicU64`
pub type AtomicU64 = Atomic<u64, ByAddress<std_atomic::AtomicU64>>;
/// `std::sync::atomic::AtomicUsize`
pub type AtomicUsize = Atomic<usize, ByAddress<std_atomic::AtomicUsize>>;
/// `std::sync::atomic::AtomicPtr`
pub type AtomicPtr<T> = Atomic<*mut T, ByAddress<std_atomic::AtomicPtr<T>>>;

/// Checks that these types have the layout of std's.
macro_rules! are_laid_out_as_std {
    ($($name:ident $(<$argument:ty>)?),*) => {$(
        const _: () = assert!(
            size_of::<$name$(<$argument>)?>() == size_of::<std_atomic::$name$(<$argument>)?>()
                && align_of::<$name$(<$argument>)?>() == align_of::<std_atomic::$name$(<$argument>)?>()
        );
    )*};
}

are_laid_out_as_std! {
    AtomicBool, AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicU8, AtomicU16, AtomicU32, AtomicU64,
    AtomicUsize, AtomicPtr<u8>
}

impl<T: Primitive, A> Atomic<T, ByAddress<A>> {
    /// Returns the value.
    #[inline]
    pub const fn into_inner(self) -> T {
        // A generic type might have a destructor, which a constant cannot run. This one has none.
        let atomic = ManuallyDrop::new(self);
        // SAFETY: an atomic of this kind has the layout of its value.
        unsafe { *(&raw const atomic).cast() }
    }

    /// Returns a pointer to the value.
    #[inline]
    pub const fn as_ptr(&self) -> *mut T {
        self.value_in_place()
    }

    /// Returns the atomic at this address.
    ///
    /// # Safety
    /// As for std's.
    #[inline]
    pub const unsafe fn from_ptr<'a>(value: *mut T) -> &'a Atomic<T, ByAddress<A>> {
        // SAFETY: an atomic of this kind has the layout of its value, and the rest is as the caller says.
        unsafe { &*value.cast() }
    }
}
