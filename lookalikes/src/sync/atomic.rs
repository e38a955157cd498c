//! `std::sync::atomic`: one generic type, with std's names as aliases.
//!
//! Not provided: `from_ptr`, because a controlled atomic is larger than its value, and everything that is not stable in
//! std (such as 128 bits). For code that was not written for intermezzo, `by_address` has atomics with std's layout.

mod access;
#[doc(hidden)]
pub mod by_address;
mod ops;
mod primitive;

pub use ops::Atomic;
pub(crate) use ops::check_load;
pub use primitive::Primitive;
pub use std::sync::atomic::Ordering;

use intermezzo_engine::runtime::{Access, Engine, Site};
use intermezzo_sdk::{MemoryOrder, SyncVar, SyncVarOp};

/// `std::sync::atomic::AtomicBool`
pub type AtomicBool = Atomic<bool>;
/// `std::sync::atomic::AtomicI8`
pub type AtomicI8 = Atomic<i8>;
/// `std::sync::atomic::AtomicI16`
pub type AtomicI16 = Atomic<i16>;
/// `std::sync::atomic::AtomicI32`
pub type AtomicI32 = Atomic<i32>;
/// `std::sync::atomic::AtomicI64`
pub type AtomicI64 = Atomic<i64>;
/// `std::sync::atomic::AtomicIsize`
pub type AtomicIsize = Atomic<isize>;
/// `std::sync::atomic::AtomicU8`
pub type AtomicU8 = Atomic<u8>;
/// `std::sync::atomic::AtomicU16`
pub type AtomicU16 = Atomic<u16>;
/// `std::sync::atomic::AtomicU32`
pub type AtomicU32 = Atomic<u32>;
/// `std::sync::atomic::AtomicU64`
pub type AtomicU64 = Atomic<u64>;
/// `std::sync::atomic::AtomicUsize`
pub type AtomicUsize = Atomic<usize>;
/// `std::sync::atomic::AtomicPtr`
pub type AtomicPtr<T> = Atomic<*mut T>;

/// Issues an atomic fence: `std::sync::atomic::fence`.
///
/// # Panics
/// If the ordering is `Relaxed`.
#[track_caller]
pub fn fence(order: Ordering) {
    assert!(
        order != Ordering::Relaxed,
        "there is no such thing as a relaxed fence"
    );
    match Engine::current() {
        Some(engine) => {
            let mut access = Access {
                op: SyncVarOp::Fence,
                order: memory_order(order),
                var: SyncVar::NONE.0,
                site: Site::caller(),
            };
            if engine.has_memory_model() {
                access.order = engine.raised(access);
            }
            engine.point(access);
            // Under sequential consistency a fence commutes with everything: an event, but no schedule point.
            engine.commit(access, 0, 0);
        }
        None => std::sync::atomic::fence(order),
    }
}

/// Issues a compiler fence: `std::sync::atomic::compiler_fence`.
///
/// On x86 every read-modify-write of an atomic is a full fence of the processor, and code that wants one often has this
/// compiler fence right after an operation with `SeqCst`, because the two are faster than [`fence`]. Under a memory model the
/// two are a fence here, too, if the code is compiled for x86. Otherwise a compiler fence orders nothing between tasks.
///
/// # Panics
/// If the ordering is `Relaxed`.
#[track_caller]
pub fn compiler_fence(order: Ordering) {
    std::sync::atomic::compiler_fence(order);
    if cfg!(any(target_arch = "x86", target_arch = "x86_64"))
        && order == Ordering::SeqCst
        && Engine::current()
            .is_some_and(|engine| engine.has_memory_model() && engine.relies_on_compiler_fence())
    {
        fence(order);
    }
}

/// `std::sync::atomic::spin_loop_hint`
#[deprecated(since = "1.51.0", note = "use hint::spin_loop instead")]
#[track_caller]
pub fn spin_loop_hint() {
    crate::hint::spin_loop();
}

#[inline]
pub(crate) fn memory_order(order: Ordering) -> MemoryOrder {
    match order {
        Ordering::Relaxed => MemoryOrder::Relaxed,
        Ordering::Acquire => MemoryOrder::Acquire,
        Ordering::Release => MemoryOrder::Release,
        Ordering::AcqRel => MemoryOrder::AcqRel,
        _ => MemoryOrder::SeqCst,
    }
}
