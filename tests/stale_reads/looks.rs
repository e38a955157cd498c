//! Looks that are relaxed loads in std: at the number of handles, at the end of a task, and at poison.

use super::auto::{auto, not_explored};
use intermezzo::sync::atomic::{AtomicBool, Ordering::SeqCst};
use intermezzo::sync::{Arc, Mutex, Weak};
use intermezzo::thread::ScopedJoinHandle;
use intermezzo::{Strategy, Verdict, thread};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Returns `true` if it is seen that a task has ended, or left a lock by a panic.
type SeesIt = fn(&ScopedJoinHandle<'_, ()>, &Mutex<()>) -> bool;

/// Has a task do something before it ends, or before it leaves a poisoned lock, and looks at that.
fn look_at_another(sees_it: SeesIt) {
    let (lock, done) = (Mutex::new(()), AtomicBool::new(false));
    thread::scope(|scope| {
        let task = scope.spawn(|| {
            done.store(true, SeqCst);
            let _ = catch_unwind(AssertUnwindSafe(|| {
                let _held = lock.lock();
                resume_unwind(Box::new(()));
            }));
        });
        if sees_it(&task, &lock) {
            assert!(done.load(SeqCst), "it is not done");
        }
    });
}

#[test]
fn looks_at_the_end_of_a_task_and_at_poison_are_relaxed_ones() {
    let looks: [SeesIt; 2] = [|task, _| task.is_finished(), |_, lock| lock.is_poisoned()];
    for sees_it in looks {
        let report = auto().explore(move || look_at_another(sees_it));
        assert_eq!(report.verdict(), Verdict::Fail, "{report}");
        assert!(
            report.findings()[0].schedule.environment.stale_reads > 0,
            "{report}"
        );
    }
}

/// Has a task do something before it drops the last handle, and looks in another task how many are left.
fn look_at_handles(none_is_left: fn(&Weak<()>) -> bool) {
    let (last, done) = (Arc::new(()), AtomicBool::new(false));
    let weak = Arc::downgrade(&last);
    let done = &done;
    thread::scope(|scope| {
        scope.spawn(move || {
            done.store(true, SeqCst);
            drop(last);
        });
        if none_is_left(&weak) {
            assert!(done.load(SeqCst), "it is not done");
        }
    });
}

#[test]
fn a_look_at_the_number_of_handles_is_a_relaxed_one() {
    let looks: [fn(&Weak<()>) -> bool; 2] =
        [|weak| weak.upgrade().is_none(), |weak| weak.strong_count() == 0];
    for none_is_left in looks {
        let report = auto().explore(move || look_at_handles(none_is_left));
        assert_eq!(report.verdict(), Verdict::Fail, "{report}");
        assert!(
            report.findings()[0].schedule.environment.stale_reads > 0,
            "{report}"
        );
        // Another search says that it does not look there.
        let named = auto().strategy(Strategy::dfs());
        let report = named.explore(move || look_at_handles(none_is_left));
        assert_eq!(not_explored(&report), Some("sc"), "{report}");
    }
    // This one knows what the others did.
    let report = auto().explore(|| {
        let (mut own, done) = (Arc::new(()), AtomicBool::new(false));
        let (other, done) = (own.clone(), &done);
        thread::scope(|scope| {
            scope.spawn(move || {
                done.store(true, SeqCst);
                drop(other);
            });
            if Arc::get_mut(&mut own).is_some() {
                assert!(done.load(SeqCst), "it is not done");
            }
        });
    });
    assert_eq!(report.verdict(), Verdict::Pass, "{report}");
}
