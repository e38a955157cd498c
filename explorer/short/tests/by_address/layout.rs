//! The layout of std's atomics, and that the code relies on which was not written for intermezzo.

use intermezzo_explorer::{Explorer, thread};
use intermezzo_lookalikes::sync::atomic::by_address::{
    AtomicBool, AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicPtr, AtomicU8, AtomicU16,
    AtomicU32, AtomicU64, AtomicUsize,
};
use std::mem::{transmute, zeroed};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic as of_std;
use std::sync::atomic::Ordering::SeqCst;

/// Compares size and alignment with those of std's type, and the value after a transmutation there and back.
macro_rules! as_std {
    ($($name:ident $(<$argument:ty>)? = $value:expr;)*) => {$({
        type Ours = $name$(<$argument>)?;
        type Theirs = of_std::$name$(<$argument>)?;
        assert_eq!(size_of::<Ours>(), size_of::<Theirs>());
        assert_eq!(align_of::<Ours>(), align_of::<Theirs>());
        assert_eq!(size_of::<Option<Ours>>(), size_of::<Option<Theirs>>(), "no value is left over");
        // SAFETY: both are laid out as their value.
        let theirs: Theirs = unsafe { transmute(Ours::new($value)) };
        assert_eq!(theirs.load(SeqCst), $value);
        // SAFETY: as above.
        let ours: Ours = unsafe { transmute(theirs) };
        assert_eq!(ours.load(SeqCst), $value);
        // SAFETY: zeros are a value of each of them.
        let zero: Ours = unsafe { zeroed() };
        assert_eq!(zero.load(SeqCst), Ours::default().into_inner());
        // SAFETY: it is the address of an atomic.
        let seen = unsafe { Ours::from_ptr(ours.as_ptr()) };
        assert!(std::ptr::eq(seen, &ours));
        assert_eq!(seen.swap(zero.load(SeqCst), SeqCst), $value);
        assert_eq!(ours.into_inner(), zero.into_inner());
    })*};
}

fn all_types() {
    as_std! {
        AtomicBool = true;
        AtomicI8 = -7;
        AtomicI16 = -700;
        AtomicI32 = -70_000;
        AtomicI64 = -7 << 40;
        AtomicIsize = -7;
        AtomicU8 = 200;
        AtomicU16 = 60_000;
        AtomicU32 = 1 << 31;
        AtomicU64 = 1 << 63;
        AtomicUsize = 7;
        AtomicPtr<u8> = std::ptr::without_provenance_mut(7);
    }
}

#[test]
fn all_types_are_laid_out_as_std() {
    all_types();
    crate::explored(all_types);
}

#[test]
fn what_is_const_in_std_is_const() {
    const fn rounds(n: AtomicU32, b: AtomicBool) -> (u32, bool) {
        // SAFETY: the address of an atomic.
        let same = unsafe { AtomicU32::from_ptr(n.as_ptr()) };
        let _ = same.as_ptr();
        (n.into_inner(), b.into_inner())
    }
    const ROUNDS: (u32, bool) = rounds(AtomicU32::new(5), AtomicBool::new(true));
    const NONE: *mut u8 = AtomicPtr::new(null_mut()).into_inner();
    #[allow(
        clippy::declare_interior_mutable_const,
        reason = "as std's own constants of this kind"
    )]
    const INIT: AtomicUsize = AtomicUsize::new(3);
    assert_eq!((ROUNDS, NONE, INIT.into_inner()), ((5, true), null_mut(), 3));
}

#[test]
fn they_have_the_auto_traits_of_std() {
    fn has<T: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe>() {}
    has::<AtomicU8>();
    has::<AtomicPtr<u8>>();
    fn is_shared<T: Send + Sync + Unpin + RefUnwindSafe>() {}
    is_shared::<AtomicPtr<std::rc::Rc<u8>>>();
    is_shared::<AtomicPtr<&'static mut u8>>();
}

#[test]
fn an_update_through_pointers_is_lost() {
    /// Adds by an atomic that is made of the number's address.
    fn add(number: &std::cell::UnsafeCell<u64>) {
        // SAFETY: it is accessed by atomics only, while tasks share it.
        let n = unsafe { AtomicU64::from_ptr(number.get()) };
        n.store(n.load(SeqCst) + 1, SeqCst);
    }
    struct Shared(std::cell::UnsafeCell<u64>);
    // SAFETY: as above.
    unsafe impl Sync for Shared {}
    let report = Explorer::new().explore(|| {
        let number = Arc::new(Shared(0.into()));
        let other = thread::spawn({
            let number = number.clone();
            move || add(&number.0)
        });
        add(&number.0);
        other.join().unwrap();
        // SAFETY: no other task is left.
        assert_eq!(unsafe { *number.0.get() }, 2);
    });
    assert!(report.verdict().is_fail(), "{report}");
}

#[test]
fn an_array_of_zeroed_memory_is_an_array_of_atomics() {
    crate::explored(|| {
        // SAFETY: zeros are a value.
        let all: Arc<[AtomicUsize; 300]> = Arc::new(unsafe { zeroed() });
        let other = thread::spawn({
            let all = all.clone();
            move || all[299].fetch_add(1, SeqCst)
        });
        // More than fit the table at first.
        for n in &*all {
            n.fetch_add(1, SeqCst);
        }
        other.join().unwrap();
        assert_eq!(all.iter().map(|n| n.load(SeqCst)).sum::<usize>(), 301);
    });
}
