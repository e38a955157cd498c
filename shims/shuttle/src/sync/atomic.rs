//! `shuttle::sync::atomic`: std's atomics. All accesses are sequentially consistent.

pub use intermezzo::sync::atomic::{
    AtomicBool, AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicPtr, AtomicU8, AtomicU16,
    AtomicU32, AtomicU64, AtomicUsize, Ordering, compiler_fence, fence,
};

use super::wide::WideAtomic;

/// `shuttle::sync::atomic::AtomicI128`
pub type AtomicI128 = WideAtomic<i128>;
/// `shuttle::sync::atomic::AtomicU128`
pub type AtomicU128 = WideAtomic<u128>;
