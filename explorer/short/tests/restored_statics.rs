//! Statics whose bytes are restored before each execution are objects in place. This is a setting of the whole process,
//! so these tests have one of their own.

use intermezzo_engine::runtime::{set_statics_restored, statics_are_restored};
use intermezzo_explorer::sync::Mutex as Lock;
use intermezzo_explorer::sync::atomic::AtomicUsize as Embedded;
use intermezzo_explorer::{Explorer, Report, thread};
use intermezzo_lookalikes::sync::atomic::by_address::AtomicUsize as ByAddress;
use std::mem::MaybeUninit;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Mutex, OnceLock};

/// Executions run one at a time, as they do with a front end that restores statics.
static ALONE: Mutex<()> = Mutex::new(());

/// The bytes of a static.
struct Bytes {
    address: usize,
    bytes: Vec<MaybeUninit<u8>>,
}

impl Bytes {
    /// Keeps the bytes that a static has now.
    fn of<T>(of: &'static T) -> Bytes {
        let address = std::ptr::from_ref(of).expose_provenance();
        // SAFETY: the bytes of a value; no other task runs.
        let bytes =
            unsafe { std::slice::from_raw_parts(std::ptr::with_exposed_provenance(address), size_of::<T>()) };
        Bytes {
            address,
            bytes: bytes.to_vec(),
        }
    }

    fn restore(&self) {
        let place = std::ptr::with_exposed_provenance_mut::<MaybeUninit<u8>>(self.address);
        // SAFETY: the static is writable, since it has interior mutability, and no other task runs.
        unsafe { place.copy_from_nonoverlapping(self.bytes.as_ptr(), self.bytes.len()) };
    }
}

/// Explores the test, and restores these statics at the beginning of each execution.
fn explore(statics: &[Bytes], test: impl Fn() + Send + Sync) -> Report {
    set_statics_restored();
    assert!(statics_are_restored());
    Explorer::new().explore(|| {
        statics.iter().for_each(Bytes::restore);
        test();
    })
}

/// `true` if the report says that an object was used before the execution.
fn is_carried(report: &Report) -> bool {
    report
        .to_string()
        .contains("already used before this execution began")
}

#[test]
fn statics_are_used_in_place() {
    let _alone = ALONE.lock();
    static BY_ADDRESS: ByAddress = ByAddress::new(5);
    static EMBEDDED: Embedded = Embedded::new(6);
    static LOCK: Lock<u32> = Lock::new(7);
    let statics = [Bytes::of(&BY_ADDRESS), Bytes::of(&EMBEDDED), Bytes::of(&LOCK)];
    for _ in 0..2 {
        let report = explore(&statics, || {
            let other = thread::spawn(|| {
                BY_ADDRESS.fetch_add(1, SeqCst);
                EMBEDDED.fetch_add(1, SeqCst);
                *LOCK.lock().unwrap() += 1;
            });
            BY_ADDRESS.fetch_add(1, SeqCst);
            // SAFETY: another task runs only at a schedule point.
            let in_place = unsafe { *BY_ADDRESS.as_ptr() };
            assert!([6, 7].contains(&in_place), "it has no replica");
            EMBEDDED.fetch_add(1, SeqCst);
            *LOCK.lock().unwrap() += 1;
            other.join().unwrap();
            assert_eq!(
                (
                    BY_ADDRESS.load(SeqCst),
                    EMBEDDED.load(SeqCst),
                    *LOCK.lock().unwrap()
                ),
                (7, 8, 9)
            );
        });
        assert!(report.verdict().is_pass(), "{report}");
        assert!(report.executions() > 5, "{report}");
    }
    assert_eq!(BY_ADDRESS.load(SeqCst), 7, "as the last execution left it");
}

#[test]
fn a_static_that_was_used_outside_is_no_carried_object() {
    let _alone = ALONE.lock();
    set_statics_restored();
    static BY_ADDRESS: ByAddress = ByAddress::new(0);
    static EMBEDDED: Embedded = Embedded::new(0);
    BY_ADDRESS.fetch_add(3, SeqCst);
    EMBEDDED.fetch_add(4, SeqCst);
    // Its word says that it was used outside, in every execution.
    let report = explore(&[Bytes::of(&BY_ADDRESS), Bytes::of(&EMBEDDED)], || {
        let other = thread::spawn(|| EMBEDDED.fetch_add(1, SeqCst) + BY_ADDRESS.fetch_add(1, SeqCst));
        EMBEDDED.fetch_add(1, SeqCst);
        BY_ADDRESS.fetch_add(1, SeqCst);
        other.join().unwrap();
        assert_eq!((BY_ADDRESS.load(SeqCst), EMBEDDED.load(SeqCst)), (5, 6));
    });
    assert!(report.verdict().is_pass(), "{report}");
}

#[test]
fn an_object_elsewhere_that_was_used_outside_is_carried() {
    let _alone = ALONE.lock();
    set_statics_restored();
    let n = Embedded::new(0);
    n.fetch_add(1, SeqCst);
    let report = explore(&[], move || _ = n.fetch_add(1, SeqCst));
    assert!(is_carried(&report), "{report}");
}

#[test]
fn a_static_that_is_not_restored_is_carried() {
    let _alone = ALONE.lock();
    static EMBEDDED: Embedded = Embedded::new(0);
    let report = explore(&[], || {
        let other = thread::spawn(|| EMBEDDED.fetch_add(1, SeqCst));
        EMBEDDED.fetch_add(1, SeqCst);
        other.join().unwrap();
    });
    assert!(is_carried(&report), "{report}");
}

#[test]
fn an_object_that_is_put_into_a_static_is_in_place() {
    let _alone = ALONE.lock();
    static LATE: OnceLock<(ByAddress, Embedded)> = OnceLock::new();
    let report = explore(&[Bytes::of(&LATE)], || {
        let (by_address, embedded) = LATE.get_or_init(|| (ByAddress::new(1), Embedded::new(2)));
        let other = thread::spawn(|| {
            let (by_address, embedded) = LATE.get().unwrap();
            by_address.fetch_add(1, SeqCst);
            embedded.fetch_add(1, SeqCst);
        });
        by_address.fetch_add(1, SeqCst);
        embedded.fetch_add(1, SeqCst);
        other.join().unwrap();
        assert_eq!((by_address.load(SeqCst), embedded.load(SeqCst)), (3, 4));
    });
    assert!(report.verdict().is_pass(), "{report}");
}
