//! Data races in executions with stale reads: a read orders only the accesses that precede the store that it read.

use super::auto::auto;
use intermezzo::cell::{ByPointer as _, UnsafeCell};
use intermezzo::sdk::FindingKind;
use intermezzo::sync::Arc;
use intermezzo::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use intermezzo::sync::atomic::{AtomicUsize, fence};
use intermezzo::{Verdict, thread};

struct Shared {
    data: UnsafeCell<u32>,
    first: AtomicUsize,
    second: AtomicUsize,
}

// SAFETY: the engine runs one task at a time, and the tests are about races.
unsafe impl Sync for Shared {}

impl Shared {
    fn new() -> Shared {
        Shared {
            data: UnsafeCell::new(0),
            first: AtomicUsize::new(0),
            second: AtomicUsize::new(0),
        }
    }

    fn write(&self) {
        // SAFETY: as above.
        self.data.with_mut(|data| unsafe { *data = 7 });
    }

    fn read(&self) -> u32 {
        // SAFETY: as above.
        self.data.with(|data| unsafe { *data })
    }
}

#[test]
fn an_older_store_that_was_read_orders_accesses() {
    let report = auto().explore(|| {
        let shared = Shared::new();
        thread::scope(|scope| {
            scope.spawn(|| {
                shared.write();
                shared.first.store(1, Release);
                shared.first.store(0, Relaxed);
            });
            if shared.first.load(Acquire) == 1 {
                assert_eq!(shared.read(), 7);
            }
        });
    });
    assert_eq!(report.verdict(), Verdict::Pass, "{report}");
    assert!(report.weak_memory().is_some(), "{report}");
}

#[test]
fn a_newer_store_that_was_not_read_orders_nothing() {
    let report = auto().explore(|| {
        let shared = Shared::new();
        thread::scope(|scope| {
            scope.spawn(|| {
                shared.write();
                shared.first.store(1, Release);
                shared.second.store(1, Relaxed);
            });
            if shared.second.load(Relaxed) == 1 && shared.first.load(Acquire) == 0 {
                shared.read();
            }
        });
    });
    assert_eq!(report.verdict(), Verdict::Fail, "{report}");
    assert_eq!(report.findings()[0].kind, FindingKind::DataRace, "{report}");
    assert_eq!(report.findings()[0].stale_operations().len(), 1, "{report}");
}

/// The advice does not name newer stores that the task did not read.
#[test]
fn the_help_for_a_race_is_about_the_store_that_was_read() {
    let report = auto().set("minimise", 0).explore(|| {
        let shared = Shared::new();
        let enter = |own: &AtomicUsize, other: &AtomicUsize| {
            own.store(1, Release);
            if other.load(Acquire) == 0 {
                shared.write();
            }
        };
        thread::scope(|scope| {
            scope.spawn(|| enter(&shared.first, &shared.second));
            enter(&shared.second, &shared.first);
        });
    });
    assert_eq!(report.findings()[0].kind, FindingKind::DataRace, "{report}");
    assert!(
        !report.to_string().replace("\n  ", " ").contains("has read"),
        "{report}"
    );
}

#[test]
fn a_fence_after_a_check_of_a_count_acquires() {
    let report = auto().explore(|| {
        let shared = Arc::new(Shared::new());
        let other = Arc::clone(&shared);
        let task = thread::spawn(move || other.write());
        if Arc::strong_count(&shared) == 1 {
            fence(Acquire);
            shared.read();
        }
        task.join().unwrap();
    });
    assert_eq!(report.verdict(), Verdict::Pass, "{report}");
}
