//! The types that atomics hold.

use std::sync::atomic::Ordering;

mod sealed {
    pub trait Sealed {}
}

/// A type that an atomic can hold: the integers, `bool`, and raw pointers.
pub trait Primitive: Copy + PartialEq + sealed::Sealed {
    /// `true` if the value is an address, which means nothing to a reader and differs between processes.
    #[doc(hidden)]
    const IS_POINTER: bool;

    /// Returns the value's bits, for the record.
    #[doc(hidden)]
    fn bits(self) -> u64;

    /// Returns the value with these bits, which are those of a value of this type.
    #[doc(hidden)]
    fn of_bits(bits: u64) -> Self;

    /// Loads through std's own atomic.
    ///
    /// # Safety
    /// `place` is valid, and all concurrent accesses to it are atomic.
    #[doc(hidden)]
    unsafe fn std_load(place: *mut Self, order: Ordering) -> Self;

    /// Stores through std's own atomic.
    ///
    /// # Safety
    /// As for `std_load`.
    #[doc(hidden)]
    unsafe fn std_store(place: *mut Self, value: Self, order: Ordering);

    /// Swaps through std's own atomic.
    ///
    /// # Safety
    /// As for `std_load`.
    #[doc(hidden)]
    unsafe fn std_swap(place: *mut Self, value: Self, order: Ordering) -> Self;

    /// Compares and exchanges through std's own atomic.
    ///
    /// # Safety
    /// As for `std_load`.
    #[doc(hidden)]
    unsafe fn std_exchange(
        place: *mut Self,
        current: Self,
        new: Self,
        success: Ordering,
        failure: Ordering,
        weak: bool,
    ) -> Result<Self, Self>;

    /// Loads the value for a task.
    ///
    /// # Safety
    /// As for `std_load`.
    #[doc(hidden)]
    unsafe fn look(place: *mut Self) -> Self;

    /// Stores a value for a task.
    ///
    /// # Safety
    /// As for `std_load`.
    #[doc(hidden)]
    unsafe fn put(place: *mut Self, value: Self);

    /// Compares and exchanges for a task.
    ///
    /// # Safety
    /// As for `std_load`.
    #[doc(hidden)]
    unsafe fn replace(place: *mut Self, current: Self, new: Self) -> Result<Self, Self>;
}

/// An integer that an atomic can hold.
pub trait Integer: Primitive + Ord {
    #[doc(hidden)]
    fn add(self, other: Self) -> Self;
    #[doc(hidden)]
    fn sub(self, other: Self) -> Self;
}

/// A type of bits that an atomic can combine: the integers and `bool`.
pub trait Bitwise: Primitive {
    #[doc(hidden)]
    fn and(self, other: Self) -> Self;
    #[doc(hidden)]
    fn or(self, other: Self) -> Self;
    #[doc(hidden)]
    fn xor(self, other: Self) -> Self;
    #[doc(hidden)]
    fn not(self) -> Self;
}

/// Defines the accesses of tasks to the values of a type without parameters.
///
/// In unmodified code they are calls: they are compiled with the layer over std, and so not among the operations on
/// std's atomics that are watched there.
macro_rules! accesses {
    ($value:ty $(, $public:vis)?) => {
        #[cfg_attr(feature = "unmodified", inline(never))]
        #[cfg_attr(not(feature = "unmodified"), inline(always))]
        $($public)? unsafe fn look(place: *mut $value) -> $value {
            // SAFETY: as the caller says.
            unsafe { <$value>::std_load(place, Ordering::Acquire) }
        }
        #[cfg_attr(feature = "unmodified", inline(never))]
        #[cfg_attr(not(feature = "unmodified"), inline(always))]
        $($public)? unsafe fn put(place: *mut $value, value: $value) {
            // SAFETY: as the caller says.
            unsafe { <$value>::std_store(place, value, Ordering::Release) };
        }
        #[cfg_attr(feature = "unmodified", inline(never))]
        #[cfg_attr(not(feature = "unmodified"), inline(always))]
        $($public)? unsafe fn replace(
            place: *mut $value,
            current: $value,
            new: $value,
        ) -> Result<$value, $value> {
            // SAFETY: as the caller says.
            unsafe {
                <$value>::std_exchange(place, current, new, Ordering::AcqRel, Ordering::Acquire, false)
            }
        }
    };
}

/// The accesses of tasks to pointers.
mod pointer {
    use super::{Ordering, Primitive};

    accesses!(*mut (), pub(super));
}

// The standard library has one atomic type per primitive and no trait over them: a macro is the only way
// to name them all.
macro_rules! primitive {
    ($($value:ty => $atomic:ty, [$($generic:tt)*], $pointer:tt, |$bits:ident| $to_bits:expr, |$from:ident| $of_bits:expr;)*) => {$(
        impl<$($generic)*> sealed::Sealed for $value {}

        impl<$($generic)*> Primitive for $value {
            const IS_POINTER: bool = $pointer;
            #[inline]
            fn bits(self) -> u64 {
                let $bits = self;
                $to_bits
            }
            fn of_bits(bits: u64) -> Self {
                let $from = bits;
                $of_bits
            }
            #[inline]
            unsafe fn std_load(place: *mut Self, order: Ordering) -> Self {
                // SAFETY: as the caller says.
                unsafe { <$atomic>::from_ptr(place) }.load(order)
            }
            #[inline]
            unsafe fn std_store(place: *mut Self, value: Self, order: Ordering) {
                // SAFETY: as the caller says.
                unsafe { <$atomic>::from_ptr(place) }.store(value, order);
            }
            #[inline]
            unsafe fn std_swap(place: *mut Self, value: Self, order: Ordering) -> Self {
                // SAFETY: as the caller says.
                unsafe { <$atomic>::from_ptr(place) }.swap(value, order)
            }
            #[inline]
            unsafe fn std_exchange(
                place: *mut Self,
                current: Self,
                new: Self,
                success: Ordering,
                failure: Ordering,
                weak: bool,
            ) -> Result<Self, Self> {
                // SAFETY: as the caller says.
                let atomic = unsafe { <$atomic>::from_ptr(place) };
                if weak {
                    atomic.compare_exchange_weak(current, new, success, failure)
                } else {
                    atomic.compare_exchange(current, new, success, failure)
                }
            }
            primitive!(@accesses $value, $pointer);
        }
    )*};
    (@accesses $value:ty, false) => {
        accesses!($value);
    };
    (@accesses $value:ty, true) => {
        #[inline(always)]
        unsafe fn look(place: *mut Self) -> Self {
            // SAFETY: as the caller says.
            unsafe { pointer::look(place.cast()) }.cast()
        }
        #[inline(always)]
        unsafe fn put(place: *mut Self, value: Self) {
            // SAFETY: as the caller says.
            unsafe { pointer::put(place.cast(), value.cast()) };
        }
        #[inline(always)]
        unsafe fn replace(place: *mut Self, current: Self, new: Self) -> Result<Self, Self> {
            // SAFETY: as the caller says.
            match unsafe { pointer::replace(place.cast(), current.cast(), new.cast()) } {
                Ok(before) => Ok(before.cast()),
                Err(before) => Err(before.cast()),
            }
        }
    };
}

primitive! {
    bool => std::sync::atomic::AtomicBool, [], false, |v| u64::from(v), |bits| bits != 0;
    i8 => std::sync::atomic::AtomicI8, [], false, |v| v as u64, |bits| bits as Self;
    i16 => std::sync::atomic::AtomicI16, [], false, |v| v as u64, |bits| bits as Self;
    i32 => std::sync::atomic::AtomicI32, [], false, |v| v as u64, |bits| bits as Self;
    i64 => std::sync::atomic::AtomicI64, [], false, |v| v as u64, |bits| bits as Self;
    isize => std::sync::atomic::AtomicIsize, [], false, |v| v as u64, |bits| bits as Self;
    u8 => std::sync::atomic::AtomicU8, [], false, |v| u64::from(v), |bits| bits as Self;
    u16 => std::sync::atomic::AtomicU16, [], false, |v| u64::from(v), |bits| bits as Self;
    u32 => std::sync::atomic::AtomicU32, [], false, |v| u64::from(v), |bits| bits as Self;
    u64 => std::sync::atomic::AtomicU64, [], false, |v| v, |bits| bits;
    usize => std::sync::atomic::AtomicUsize, [], false, |v| v as u64, |bits| bits as Self;
    *mut T => std::sync::atomic::AtomicPtr<T>, [T], true, |v| v.expose_provenance() as u64, |bits| std::ptr::with_exposed_provenance_mut(bits as usize);
}

macro_rules! integer {
    ($($value:ty)*) => {$(
        impl Integer for $value {
            #[inline]
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline]
            fn sub(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
        }
    )*};
}

integer! { i8 i16 i32 i64 isize u8 u16 u32 u64 usize }

macro_rules! bitwise {
    ($($value:ty)*) => {$(
        impl Bitwise for $value {
            #[inline]
            fn and(self, other: Self) -> Self {
                self & other
            }
            #[inline]
            fn or(self, other: Self) -> Self {
                self | other
            }
            #[inline]
            fn xor(self, other: Self) -> Self {
                self ^ other
            }
            #[inline]
            fn not(self) -> Self {
                !self
            }
        }
    )*};
}

bitwise! { bool i8 i16 i32 i64 isize u8 u16 u32 u64 usize }
