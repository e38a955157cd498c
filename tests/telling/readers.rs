//! The text names the holder of a reader-writer lock for which a writer waits.

use intermezzo::sync::{Mutex, RwLock, mpsc};
use intermezzo::{Environment, Explorer, thread};

/// Returns the message of the first finding.
fn blocked(test: fn()) -> String {
    let report = Explorer::new().environment(Environment::calm()).explore(test);
    report.findings()[0].message.clone()
}

/// Returns the task that holds the lock, according to a message.
fn holder(message: &str) -> Option<&str> {
    message.split_once("held by ")?.1.split_once(" since")?.0.into()
}

#[test]
fn a_task_that_reads_is_named() {
    let message = blocked(|| {
        let (lock, journal) = (Mutex::new(0), RwLock::new(0));
        thread::scope(|scope| {
            scope.spawn(|| drop((journal.read(), lock.lock())));
            let held = lock.lock();
            drop((journal.write(), held));
        });
    });
    assert!(
        message.contains("main waits to lock rwlock") && message.contains("held by task 1 since tests/"),
        "{message}"
    );
}

#[test]
fn a_reader_that_wants_to_write_waits_for_itself() {
    let message = blocked(|| {
        let journal = RwLock::new(0);
        thread::scope(|scope| {
            scope.spawn(|| drop(journal.read()));
            let _read = journal.read();
            drop(journal.write());
        });
    });
    assert!(
        message.contains("which it holds itself since tests/"),
        "{message}"
    );
}

/// A forgotten guard may belong to a task that has ended. That task is named if no other task reads.
#[test]
fn a_reader_that_has_not_ended_is_named_first() {
    let ended = blocked(|| {
        let journal = RwLock::new(0);
        thread::scope(|scope| {
            scope.spawn(|| std::mem::forget(journal.read()));
        });
        drop(journal.write());
    });
    assert_eq!(holder(&ended), Some("task 1"), "{ended}");
    let both = blocked(|| {
        let (lock, journal) = (Mutex::new(0), RwLock::new(0));
        thread::scope(|scope| {
            scope.spawn(|| std::mem::forget(journal.read()));
        });
        thread::scope(|scope| {
            let held = lock.lock();
            scope.spawn(|| drop((journal.read(), lock.lock())));
            drop((journal.write(), held));
        });
    });
    assert!(both.contains("held by task 2 since tests/"), "{both}");
}

/// A value that is sent to another task although its type does not allow it. Some crates' guards allow it.
struct Passed<T>(T);

// SAFETY: the look-alikes run one task at a time, on one OS thread, and their guards belong to no thread.
unsafe impl<T> Send for Passed<T> {}

/// The events do not show which of two guards a task has dropped.
#[test]
fn no_reader_is_named_if_a_guard_went_to_another_task() {
    let message = blocked(|| {
        let journal = RwLock::new(0);
        let (give, take) = mpsc::channel();
        thread::scope(|scope| {
            scope.spawn(move || drop(take.recv()));
            give.send(Passed(journal.read())).unwrap();
            drop(give);
            std::mem::forget(journal.read());
        });
        drop(journal.write());
    });
    assert!(message.contains("waits to lock rwlock"), "{message}");
    assert_eq!(holder(&message), None, "{message}");
}

/// Guards need not be dropped in reverse order.
#[test]
fn the_place_is_that_of_the_guard_that_is_held() {
    let message = blocked(|| {
        let journal = RwLock::new(0);
        let first = journal.read();
        let second = journal.read();
        drop(first);
        std::mem::forget(second);
        drop(journal.write());
    });
    let at = |name: &str| {
        let text = include_str!("readers.rs");
        let line = text
            .lines()
            .position(|line| line.contains(&format!("let {name} = journal.read")));
        format!("since tests/telling/readers.rs:{}:", line.unwrap() + 1)
    };
    assert!(message.contains(&at("second")), "{message}");
}

/// Two tasks wait for a third, which has ended: the order in which they take their locks does not matter.
#[test]
fn a_holder_that_has_ended_leads_to_no_advice_on_lock_order() {
    let report = Explorer::new().environment(Environment::calm()).explore(|| {
        let journal = RwLock::new(0);
        thread::scope(|scope| {
            scope.spawn(|| std::mem::forget(journal.read()));
        });
        thread::scope(|scope| {
            scope.spawn(|| drop(journal.write()));
            drop(journal.write());
        });
    });
    let text = report.to_string();
    assert!(
        report.verdict().is_fail() && !text.contains("in the same order"),
        "{text}"
    );
}
