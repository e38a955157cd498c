//! Every atomic type, every method.

use super::subject::sync::atomic::{
    AtomicBool, AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicPtr, AtomicU8, AtomicU16,
    AtomicU32, AtomicU64, AtomicUsize, Ordering, compiler_fence, fence,
};
use super::subject::thread;
use crate::message_of;
use Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use std::hint::black_box;
use std::ptr::{from_mut, null_mut};
use std::sync::Arc;

/// Runs the body once per integer type, with `A` and `I` standing for the atomic and its integer.
macro_rules! for_each_integer {
    (|$atomic:ident, $integer:ident| $body:block) => {
        for_each_integer! { @each $atomic $integer $body
            AtomicI8 i8, AtomicI16 i16, AtomicI32 i32, AtomicI64 i64, AtomicIsize isize,
            AtomicU8 u8, AtomicU16 u16, AtomicU32 u32, AtomicU64 u64, AtomicUsize usize }
    };
    (@each $atomic:ident $integer:ident $body:block) => {};
    (@each $atomic:ident $integer:ident $body:block $std:ident $primitive:ident $(, $($rest:tt)*)?) => {{
        type $atomic = $std;
        type $integer = $primitive;
        $body
    }
    for_each_integer! { @each $atomic $integer $body $($($rest)*)? }};
}

fn arithmetic_wraps() {
    for_each_integer!(|A, I| {
        let a = A::new(I::MAX);
        assert_eq!(a.fetch_add(1, SeqCst), I::MAX);
        assert_eq!(a.load(Acquire), I::MIN);
        assert_eq!(a.fetch_sub(1, AcqRel), I::MIN);
        assert_eq!(a.load(Relaxed), I::MAX);
        assert_eq!(a.fetch_add(I::MAX, Relaxed), I::MAX);
        assert_eq!(a.into_inner(), I::MAX.wrapping_add(I::MAX));
    });
}

fn least_and_greatest() {
    for_each_integer!(|A, I| {
        let a = A::new(5);
        assert_eq!(a.fetch_max(3, SeqCst), 5);
        assert_eq!(a.fetch_max(I::MAX, SeqCst), 5);
        assert_eq!(a.fetch_min(I::MIN, SeqCst), I::MAX);
        assert_eq!(a.fetch_min(0, SeqCst), I::MIN);
        assert_eq!(a.load(SeqCst), I::MIN);
    });
}

fn bits() {
    for_each_integer!(|A, I| {
        let a = A::new(0b0110);
        assert_eq!(a.fetch_and(0b0011, SeqCst), 0b0110);
        assert_eq!(a.fetch_or(0b1000, SeqCst), 0b0010);
        assert_eq!(a.fetch_xor(0b1111, SeqCst), 0b1010);
        assert_eq!(a.fetch_nand(0b0100, SeqCst), 0b0101);
        assert_eq!(a.load(SeqCst), !(0b0101 & 0b0100 as I));
    });
}

fn exchanges() {
    for_each_integer!(|A, I| {
        let a = A::new(1);
        assert_eq!(a.swap(2, SeqCst), 1);
        assert_eq!(a.compare_exchange(2, 3, AcqRel, Acquire), Ok(2));
        assert_eq!(a.compare_exchange(2, 4, SeqCst, SeqCst), Err(3));
        assert_eq!(a.compare_exchange_weak(9, 4, Release, Relaxed), Err(3));
        while a.compare_exchange_weak(3, 4, SeqCst, SeqCst).is_err() {}
        #[allow(deprecated, reason = "std has it too")]
        {
            assert_eq!(a.compare_and_swap(4, 5, SeqCst), 4);
            assert_eq!(a.compare_and_swap(4, 6, Relaxed), 5);
        }
        a.store(7, Release);
        assert_eq!(a.load(SeqCst), 7 as I);
    });
}

fn updates() {
    for_each_integer!(|A, I| {
        let a = A::new(7);
        #[allow(deprecated, reason = "a name that many programs use")]
        {
            assert_eq!(a.fetch_update(SeqCst, SeqCst, |n| n.checked_add(1)), Ok(7));
            assert_eq!(a.fetch_update(SeqCst, SeqCst, |_| None), Err(8));
        }
        assert_eq!(a.try_update(AcqRel, Acquire, |n| n.checked_mul(2)), Ok(8));
        assert_eq!(a.try_update(AcqRel, Acquire, |n| n.checked_add(I::MAX)), Err(16));
        assert_eq!(a.update(Relaxed, Relaxed, |n| n - 6), 16);
        assert_eq!(a.load(SeqCst), 10);
    });
}

fn conversions() {
    for_each_integer!(|A, I| {
        let mut a = A::from(3 as I);
        *a.get_mut() += 1;
        assert_eq!(format!("{a:?}"), "4");
        assert_eq!(A::default().into_inner(), 0);
        // SAFETY: no other thread can see it.
        unsafe { *a.as_ptr() += 1 };
        assert_eq!(a.into_inner(), 5);
    });
}

fn booleans() {
    let mut a = AtomicBool::new(true);
    assert!(a.fetch_and(false, SeqCst));
    assert!(!a.fetch_or(true, SeqCst));
    assert!(a.fetch_xor(true, SeqCst));
    assert!(!a.fetch_nand(true, SeqCst));
    assert!(a.fetch_nand(true, SeqCst));
    assert!(!a.fetch_not(SeqCst));
    assert!(a.swap(false, SeqCst));
    assert_eq!(a.compare_exchange(true, false, SeqCst, SeqCst), Err(false));
    assert_eq!(a.compare_exchange(false, true, SeqCst, SeqCst), Ok(false));
    assert_eq!(a.try_update(SeqCst, SeqCst, |b| b.then_some(false)), Ok(true));
    assert_eq!(a.try_update(SeqCst, SeqCst, |b| b.then_some(false)), Err(false));
    *a.get_mut() = true;
    assert_eq!(format!("{a:?} {:?}", AtomicBool::default()), "true false");
    assert!(AtomicBool::from(true).into_inner());
}

fn pointers() {
    let mut numbers = [1u32, 2, 3, 4];
    let first = numbers.as_mut_ptr();
    let a = AtomicPtr::new(first);
    assert_eq!(a.load(SeqCst), first);
    assert_eq!(a.swap(null_mut(), SeqCst), first);
    assert_eq!(a.compare_exchange(first, first, SeqCst, SeqCst), Err(null_mut()));
    assert_eq!(
        a.compare_exchange(null_mut(), first, SeqCst, SeqCst),
        Ok(null_mut())
    );
    assert_eq!(a.fetch_ptr_add(2, SeqCst), first);
    assert_eq!(a.fetch_ptr_sub(1, SeqCst), first.wrapping_add(2));
    // SAFETY: one element into the array.
    assert_eq!(unsafe { *a.load(SeqCst) }, 2);
    assert_eq!(a.fetch_byte_add(4, SeqCst), first.wrapping_add(1));
    assert_eq!(a.fetch_byte_sub(8, SeqCst), first.wrapping_add(2));
    assert_eq!(a.fetch_or(1, SeqCst), first);
    assert_eq!(a.fetch_xor(3, SeqCst).addr(), first.addr() | 1);
    assert_eq!(a.fetch_and(!3, SeqCst).addr(), first.addr() | 2);
    assert_eq!(
        a.try_update(SeqCst, SeqCst, |p| Some(p.wrapping_add(3))),
        Ok(first)
    );
    // SAFETY: the last element of the array.
    assert_eq!(unsafe { a.into_inner().read() }, 4);
    assert!(AtomicPtr::<u8>::default().into_inner().is_null());
}

fn pointers_in_text() {
    let mut number = 1u8;
    let pointer = from_mut(&mut number);
    let mut a = AtomicPtr::from(pointer);
    assert_eq!(format!("{a:?}"), format!("{pointer:?}"));
    assert_eq!(format!("{a:p}"), format!("{pointer:p}"));
    *a.get_mut() = null_mut();
    assert!(a.load(SeqCst).is_null());
}

fn impossible_orderings() {
    let a = AtomicU32::new(0);
    // Not literal: the compiler would refuse.
    let [release, acquire, acqrel, relaxed] = black_box([Release, Acquire, AcqRel, Relaxed]);
    assert_eq!(
        message_of(|| a.load(release)),
        "there is no such thing as a release load"
    );
    assert_eq!(
        message_of(|| a.load(acqrel)),
        "there is no such thing as an acquire-release load"
    );
    assert_eq!(
        message_of(|| a.store(1, acquire)),
        "there is no such thing as an acquire store"
    );
    assert_eq!(
        message_of(|| a.store(1, acqrel)),
        "there is no such thing as an acquire-release store"
    );
    for exchange in [AtomicU32::compare_exchange, AtomicU32::compare_exchange_weak] {
        let failing = |order| message_of(|| exchange(&a, 0, 1, SeqCst, order));
        assert_eq!(
            failing(release),
            "there is no such thing as a release failure ordering"
        );
        assert_eq!(
            failing(acqrel),
            "there is no such thing as an acquire-release failure ordering"
        );
    }
    assert_eq!(
        message_of(|| a.try_update(SeqCst, acqrel, Some)),
        "there is no such thing as an acquire-release load"
    );
    assert_eq!(
        message_of(|| fence(relaxed)),
        "there is no such thing as a relaxed fence"
    );
    assert_eq!(
        message_of(|| compiler_fence(relaxed)),
        "there is no such thing as a relaxed fence"
    );
    for order in [Acquire, Release, AcqRel, SeqCst] {
        fence(order);
        compiler_fence(order);
    }
    assert_eq!(a.load(SeqCst), 0);
}

fn counts_are_exact() {
    static TOTAL: AtomicUsize = AtomicUsize::new(40);
    let before = TOTAL.load(SeqCst);
    let local = Arc::new(AtomicI64::new(0));
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let local = local.clone();
            thread::spawn(move || {
                TOTAL.fetch_add(1, Relaxed);
                local.fetch_sub(1, Relaxed);
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!((before, TOTAL.load(SeqCst)), (40, 42));
    assert_eq!(local.load(SeqCst), -2);
}

fn a_zeroed_atomic_is_zero() {
    // SAFETY: an integer may be zero.
    let a: AtomicU64 = unsafe { std::mem::zeroed() };
    assert_eq!(a.fetch_add(1, SeqCst), 0);
    assert_eq!(a.load(SeqCst), 1);
}

cases! {
    arithmetic_wraps least_and_greatest bits exchanges updates conversions booleans pointers pointers_in_text
    impossible_orderings counts_are_exact a_zeroed_atomic_is_zero
}
