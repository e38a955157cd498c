//! Limits that no operation of the tables shows: a pass names them.

use intermezzo_explorer::sync::{Arc, RwLock};
use intermezzo_explorer::{Explorer, Limit, Reduction, thread};
use std::any::Any;
use std::panic::{catch_unwind, resume_unwind};

/// Returns `true` if a pass of the test names this limit, with each reduction.
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
    // A task that joins has it.
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
