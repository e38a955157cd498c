//! Limits that no operation of the tables shows. A pass names them.

use intermezzo_explorer::sync::{Arc, Mutex, RwLock};
use intermezzo_explorer::{Explorer, Limit, Reduction, thread};
use std::any::Any;
use std::panic::{catch_unwind, resume_unwind};

/// `true` if a pass of the test names this limit, with each reduction.
fn is_named(limit: &Limit, test: impl Fn() + Copy + Send + Sync + 'static) -> bool {
    let named = [Reduction::None, Reduction::Caching, Reduction::Dpor].map(|reduction| {
        let report = Explorer::new().reduction(reduction).explore(test);
        assert!(report.verdict().is_pass(), "{report}");
        report.limits().contains(limit)
    });
    assert_eq!(named, [named[0]; 3]);
    named[0]
}

#[test]
fn a_pass_names_the_payload_that_another_task_might_drop() {
    let panics = |payload: fn() -> Box<dyn Any + Send>| {
        is_named(&Limit::Payloads, move || {
            let body = || {
                thread::scope(|scope| {
                    scope.spawn(|| resume_unwind(payload()));
                })
            };
            assert!(catch_unwind(body).is_err());
        })
    };
    assert!(panics(|| Box::new(vec![1])));
    assert!(!panics(|| Box::new("none")));
    assert!(!panics(|| Box::new(String::from("none"))));
    // A task that joins gets the payload.
    let joins = || {
        let task = thread::spawn(|| resume_unwind(Box::new(vec![1])));
        let _: Result<(), _> = task.join();
    };
    assert!(!is_named(&Limit::Payloads, joins));
}

#[test]
fn a_pass_names_the_readers_that_a_waiting_writer_would_keep_out() {
    let with_writer = |read: fn(&RwLock<u8>)| {
        is_named(&Limit::WaitingWriters, move || {
            let lock = Arc::new(RwLock::new(0));
            let theirs = lock.clone();
            let writer = thread::spawn(move || *theirs.write().unwrap() += 1);
            read(&lock);
            writer.join().unwrap();
        })
    };
    assert!(with_writer(|lock| {
        let first = lock.read().unwrap();
        assert_eq!(*first, *lock.read().unwrap());
    }));
    assert!(with_writer(|lock| drop(lock.try_read())));
    assert!(!with_writer(|lock| {
        let _ = *lock.read().unwrap();
        let _ = *lock.read().unwrap();
    }));
    let without_writer = || {
        let lock = RwLock::new(0);
        let first = lock.read().unwrap();
        assert_eq!(*first, *lock.read().unwrap());
    };
    assert!(!is_named(&Limit::WaitingWriters, without_writer));
}

#[test]
fn a_pass_names_the_readers_that_a_waiting_writer_would_keep_out_from_a_reader_that_waits() {
    // One reader waits for a lock that the other one holds, the other one for the writer, and the writer for the first
    // reader.
    let with_lock = |holds_both: bool| {
        is_named(&Limit::WaitingWriters, move || {
            let (lock, other) = (RwLock::new(0), Mutex::new(()));
            thread::scope(|scope| {
                scope.spawn(|| *lock.write().unwrap() += 1);
                scope.spawn(|| {
                    let _other = other.lock().unwrap();
                    let _ = *lock.read().unwrap();
                });
                let read = lock.read().unwrap();
                if !holds_both {
                    drop(read);
                }
                let _other = other.lock().unwrap();
            });
        })
    };
    assert!(with_lock(true));
    assert!(!with_lock(false));
    // The task that it waits for reads another lock.
    let waits_for_other = || {
        let locks = [RwLock::new(0), RwLock::new(0)];
        thread::scope(|scope| {
            scope.spawn(|| *locks[0].write().unwrap() += 1);
            let reader = scope.spawn(|| drop(locks[1].read()));
            let _read = locks[0].read().unwrap();
            reader.join().unwrap();
        });
    };
    assert!(!is_named(&Limit::WaitingWriters, waits_for_other));
}
