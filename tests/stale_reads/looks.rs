//! Reasons to explore weak memory, and a limit of it: checks that are relaxed loads in std (of the number of handles, the
//! end of a task, poison, and locks that are held), and fences of x86.

use super::auto::{auto, not_explored};
use intermezzo::sync::atomic::{
    AtomicBool,
    Ordering::{Relaxed, SeqCst},
    compiler_fence,
};
use intermezzo::sync::{Arc, Mutex, RwLock, Weak};
use intermezzo::thread::ScopedJoinHandle;
use intermezzo::{Limit, Strategy, Verdict, thread};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

#[test]
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
fn a_pass_that_relies_on_x86_says_so() {
    let report = auto().explore(|| {
        let vars = [AtomicBool::new(false), AtomicBool::new(false)];
        let side = |own: usize| {
            vars[own].store(true, Relaxed);
            AtomicBool::new(false).swap(true, SeqCst);
            compiler_fence(SeqCst);
            vars[1 - own].load(Relaxed)
        };
        thread::scope(|scope| {
            let other = scope.spawn(|| side(0));
            let seen = side(1);
            assert!(other.join().unwrap() || seen);
        });
    });
    assert_eq!(report.verdict(), Verdict::Pass, "{report}");
    assert!(report.limits().contains(&Limit::CompilerFences), "{report}");
}

/// A check that returns `true` if a task has ended, or has poisoned a lock.
type SeesIt = fn(&ScopedJoinHandle<'_, ()>, &Mutex<()>) -> bool;

/// A task stores before it ends or poisons a lock, and another one loads after a check has seen that.
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

type OnLocks<R> = fn(&Mutex<()>, &RwLock<()>) -> R;

#[test]
fn a_check_of_a_held_lock_is_relaxed() {
    let holds: [OnLocks<()>; 2] = [
        |mutex, _| std::mem::forget(mutex.lock()),
        |_, lock| std::mem::forget(lock.write()),
    ];
    let is_held: [OnLocks<bool>; 2] = [
        |mutex, _| mutex.try_lock().is_err(),
        |_, lock| lock.try_read().is_err(),
    ];
    for (holds, is_held) in holds.into_iter().zip(is_held) {
        let report = auto().explore(move || {
            let (locks, done) = ((Mutex::new(()), RwLock::new(())), AtomicBool::new(false));
            thread::scope(|scope| {
                scope.spawn(|| {
                    done.store(true, SeqCst);
                    holds(&locks.0, &locks.1);
                });
                if is_held(&locks.0, &locks.1) {
                    assert!(done.load(SeqCst), "it is not done");
                }
            });
        });
        assert_eq!(report.verdict(), Verdict::Fail, "{report}");
        assert!(
            report.findings()[0].schedule.environment.stale_reads > 0,
            "{report}"
        );
    }
}

#[test]
fn checks_of_the_end_of_a_task_and_of_poison_are_relaxed() {
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

/// A task stores before it drops the last handle, and another one loads after it has checked the number of handles.
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
fn a_check_of_the_number_of_handles_is_relaxed() {
    let looks: [fn(&Weak<()>) -> bool; 2] =
        [|weak| weak.upgrade().is_none(), |weak| weak.strong_count() == 0];
    for none_is_left in looks {
        let report = auto().explore(move || look_at_handles(none_is_left));
        assert_eq!(report.verdict(), Verdict::Fail, "{report}");
        assert!(
            report.findings()[0].schedule.environment.stale_reads > 0,
            "{report}"
        );
        // Another search names this as a limit.
        let named = auto().strategy(Strategy::dfs());
        let report = named.explore(move || look_at_handles(none_is_left));
        assert_eq!(not_explored(&report), Some("sc"), "{report}");
    }
    // This task is ordered after the others.
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
