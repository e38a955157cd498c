//! Tasks that a front end holds and withdraws.

use super::OnDrop;
use intermezzo_explorer::sync::Mutex;
use intermezzo_explorer::sync::mpsc::channel;
use intermezzo_explorer::{
    Explorer, Reduction, end_withdrawal, hold, is_withdrawal, quiesce, thread, withdraw,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// Calls a function as the code of a task that may be withdrawn. Returns `true` if it was.
fn until_withdrawn(f: impl FnOnce()) -> bool {
    let result = catch_unwind(AssertUnwindSafe(f));
    let was_withdrawn = end_withdrawal();
    was_withdrawn && is_withdrawal(&*result.unwrap_err())
}

#[test]
fn a_withdrawn_task_unwinds_from_its_wait_and_poisons_nothing() {
    let report = Explorer::new().reduction(Reduction::None).explore(|| {
        let lock = Arc::new(Mutex::new(0));
        let (sender, receiver) = channel::<()>();
        let held = lock.clone();
        let task = thread::spawn(move || {
            let inside = held.clone();
            until_withdrawn(move || {
                let _changes = OnDrop(|| *inside.lock().unwrap() += 1);
                let _held = held.lock().unwrap();
                receiver.recv().unwrap();
            })
        });
        quiesce();
        assert!(hold(1));
        // A task that is held continues for nothing.
        sender.send(()).unwrap();
        quiesce();
        assert!(lock.try_lock().is_err());
        withdraw(1);
        assert!(task.join().unwrap());
        // The destructor took the lock after the guard had released it.
        assert_eq!(*lock.lock().unwrap(), 1);
    });
    assert!(report.verdict().is_pass(), "{report}");
}

#[test]
fn a_task_that_catches_its_withdrawal_is_unwound_again() {
    let went_on = AtomicUsize::new(0);
    let report = Explorer::new().reduction(Reduction::None).explore(|| {
        let lock = Mutex::new(());
        thread::scope(|scope| {
            let task = scope.spawn(|| {
                until_withdrawn(|| {
                    let caught = catch_unwind(AssertUnwindSafe(|| {
                        loop {
                            drop(lock.lock());
                        }
                    }));
                    assert!(caught.is_err());
                    drop(lock.lock());
                    went_on.fetch_add(1, SeqCst);
                })
            });
            while !hold(1) {
                thread::yield_now();
            }
            withdraw(1);
            assert!(task.join().unwrap());
        });
    });
    assert!(report.verdict().is_pass(), "{report}");
    assert_eq!(went_on.load(SeqCst), 0);
}

#[test]
fn tasks_that_end_or_unwind_are_not_held_and_no_reduction_is_used() {
    let report = Explorer::new().explore(|| {
        assert!(!hold(0), "it is the calling one");
        thread::spawn(|| ()).join().unwrap();
        assert!(!hold(1), "it has ended");
        let lock = Arc::new(Mutex::new(()));
        let waits = lock.clone();
        let held = lock.lock().unwrap();
        thread::spawn(move || until_withdrawn(|| drop(waits.lock())));
        quiesce();
        assert!(hold(2));
        drop(held);
        withdraw(2);
    });
    assert!(report.verdict().is_pass(), "{report}");
    let text = report.to_string();
    assert!(text.contains("reduction: none from here on"), "{text}");
}

#[test]
fn only_a_task_that_is_held_can_be_withdrawn() {
    let not_held = |test: fn()| {
        let report = Explorer::new().reduction(Reduction::None).explore(test);
        let finding = &report.findings()[0];
        assert!(finding.message.contains("task 1 is not held"), "{report}");
    };
    // It waits for a lock.
    not_held(|| {
        let lock = Arc::new(Mutex::new(()));
        let _held = lock.lock().unwrap();
        let theirs = lock.clone();
        thread::spawn(move || drop(theirs.lock()));
        quiesce();
        withdraw(1);
    });
    // It has ended.
    not_held(|| {
        thread::spawn(|| ()).join().unwrap();
        assert!(!hold(1));
        withdraw(1);
    });
    // It was withdrawn.
    not_held(|| {
        let (sender, receiver) = channel::<()>();
        thread::spawn(move || until_withdrawn(move || receiver.recv().unwrap()));
        quiesce();
        assert!(hold(1));
        withdraw(1);
        withdraw(1);
        drop(sender);
    });
}
