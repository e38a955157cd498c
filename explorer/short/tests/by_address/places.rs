//! Atomics at addresses that are used for several: those that are moved, those in memory that is used again, and views
//! of the same memory.

use crate::explored;
use intermezzo_explorer::{Explorer, Reduction, Report, thread};
use intermezzo_lookalikes::sync::atomic::by_address::{
    AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize,
};
use std::cell::UnsafeCell;
use std::ptr::{null_mut, without_provenance_mut};
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;

/// Eight bytes that atomics of any type are made of.
#[repr(align(8))]
struct Bytes(UnsafeCell<[u8; 8]>);

// SAFETY: they are accessed by atomics only, while tasks share them.
unsafe impl Sync for Bytes {}

impl Bytes {
    const fn new() -> Bytes {
        Bytes(UnsafeCell::new([0; 8]))
    }
    fn number(&self) -> &AtomicUsize {
        // SAFETY: the bytes are aligned, and long enough.
        unsafe { AtomicUsize::from_ptr(self.0.get().cast()) }
    }
    fn pointer(&self) -> &AtomicPtr<u8> {
        // SAFETY: as above.
        unsafe { AtomicPtr::from_ptr(self.0.get().cast()) }
    }
    fn wide(&self) -> &AtomicU64 {
        // SAFETY: as above.
        unsafe { AtomicU64::from_ptr(self.0.get().cast()) }
    }
    /// Returns a half of the bytes.
    fn half(&self, which: usize) -> &AtomicU32 {
        // SAFETY: as above.
        unsafe { AtomicU32::from_ptr(self.0.get().cast::<u32>().add(which)) }
    }
    fn first(&self) -> &AtomicU8 {
        // SAFETY: as above.
        unsafe { AtomicU8::from_ptr(self.0.get().cast()) }
    }
}

#[test]
fn an_atomic_that_is_moved_is_used_on() {
    explored(|| {
        let n = AtomicUsize::new(0);
        n.fetch_add(1, SeqCst);
        thread::scope(|scope| {
            scope.spawn(|| n.fetch_add(1, SeqCst));
            n.fetch_add(1, SeqCst);
        });
        let n = Arc::new(n);
        let other = thread::spawn({
            let n = n.clone();
            move || n.fetch_add(1, SeqCst)
        });
        n.fetch_add(1, SeqCst);
        other.join().unwrap();
        assert_eq!(n.load(SeqCst), 5);
        assert_eq!(Arc::into_inner(n).unwrap().into_inner(), 5);
    });
}

#[test]
fn memory_is_used_again_by_an_atomic_of_another_type() {
    explored(|| {
        let bytes = Bytes::new();
        thread::scope(|scope| {
            scope.spawn(|| bytes.number().fetch_add(1, SeqCst));
            bytes.number().fetch_add(1, SeqCst);
        });
        assert_eq!(bytes.number().swap(0, SeqCst), 2);
        thread::scope(|scope| {
            scope.spawn(|| bytes.pointer().swap(without_provenance_mut(8), SeqCst).addr());
            bytes.pointer().fetch_byte_add(1, SeqCst);
        });
        assert!([8, 9].contains(&bytes.pointer().load(SeqCst).addr()));
        bytes.pointer().store(null_mut(), SeqCst);
        thread::scope(|scope| {
            scope.spawn(|| bytes.first().fetch_sub(1, SeqCst));
            bytes.first().fetch_sub(1, SeqCst);
        });
        assert_eq!(bytes.number().load(SeqCst), 254);
    });
}

/// Explores two operations at the same time.
fn two(one: fn(&Bytes), other: fn(&Bytes)) -> Report {
    let report = Explorer::new().reduction(Reduction::Dpor).explore(move || {
        let bytes = Bytes::new();
        thread::scope(|scope| {
            scope.spawn(|| one(&bytes));
            other(&bytes);
        });
    });
    assert!(report.verdict().is_pass(), "{report}");
    report
}

#[test]
fn views_of_one_address_are_one_variable() {
    let store = |bytes: &Bytes| bytes.wide().store(1, SeqCst);
    for other in [
        |bytes: &Bytes| _ = bytes.half(0).load(SeqCst),
        |bytes: &Bytes| _ = bytes.first().load(SeqCst),
        |bytes: &Bytes| _ = bytes.number().load(SeqCst),
        |bytes: &Bytes| _ = bytes.pointer().load(SeqCst),
    ] {
        assert_eq!(two(store, other).executions(), 2);
        assert_eq!(two(other, store).executions(), 2);
    }
    // Neighbours are independent, and so are, although they overlap, views of different addresses.
    let halves = two(
        |bytes| bytes.half(0).store(1, SeqCst),
        |bytes| bytes.half(1).store(1, SeqCst),
    );
    assert_eq!(halves.executions(), 1);
    assert_eq!(two(store, |bytes| bytes.half(1).store(1, SeqCst)).executions(), 1);
}

#[test]
fn a_number_that_is_an_address_elsewhere_is_not_shown() {
    let report = Explorer::new().explore(|| {
        let bytes = Bytes::new();
        bytes.number().store(0x00c0_ffee, SeqCst);
        assert!(bytes.pointer().load(SeqCst).is_null());
    });
    assert!(report.verdict().is_fail());
    let json = report.to_json();
    assert!(
        json.contains("atomic 0.1") && !json.contains("pointer 0"),
        "{json}"
    );
    assert!(!json.contains(&0x00c0_ffee.to_string()), "{json}");
}

#[test]
fn statics_are_fresh_in_every_execution() {
    static COUNT: AtomicUsize = AtomicUsize::new(5);
    static PLACE: AtomicPtr<usize> = AtomicPtr::new(null_mut());
    static HALF: Bytes = Bytes::new();
    let test = || {
        assert_eq!(COUNT.load(SeqCst), 5);
        assert!(PLACE.load(SeqCst).is_null());
        let other = thread::spawn(|| {
            COUNT.fetch_add(1, SeqCst);
            PLACE.store(without_provenance_mut(8), SeqCst);
            HALF.half(1).fetch_add(1, SeqCst)
        });
        COUNT.fetch_add(1, SeqCst);
        let before = HALF.half(1).fetch_add(1, SeqCst);
        assert_eq!(other.join().unwrap() + before, 1);
        assert_eq!(COUNT.load(SeqCst), 7);
        assert!(!PLACE.load(SeqCst).is_null());
    };
    // Each worker has its own copy, and so has each exploration.
    std::thread::scope(|scope| {
        for jobs in [1, 2] {
            scope.spawn(move || {
                for _ in 0..2 {
                    let report = Explorer::new()
                        .reduction(Reduction::None)
                        .jobs(jobs)
                        .explore(test);
                    assert!(report.verdict().is_pass(), "{report}");
                    assert_eq!(report.executions(), 10);
                }
            });
        }
    });
    // Their own memory was not written, and is used outside.
    assert_eq!(COUNT.fetch_add(10, SeqCst), 5);
    // What it was at first is still known.
    explored(test);
    assert_eq!(COUNT.load(SeqCst), 15);
}

#[test]
fn a_static_has_one_size() {
    static BYTES: Bytes = Bytes::new();
    let report = Explorer::new().explore(|| {
        BYTES.wide().store(1, SeqCst);
        BYTES.first().store(1, SeqCst);
    });
    assert!(report.to_string().contains("of another size"), "{report}");
}
