//! Scoped threads.

use super::subject::sync::Mutex;
use super::subject::sync::atomic::{AtomicU32, Ordering::SeqCst};
use super::subject::thread;
use crate::{message_of, panic_text};

fn threads_borrow() {
    let mut numbers = vec![1, 2, 3];
    let sum = AtomicU32::new(0);
    let length = thread::scope(|s| {
        s.spawn(|| sum.fetch_add(numbers.iter().sum(), SeqCst));
        s.spawn(|| sum.fetch_add(10, SeqCst));
        numbers.len()
    });
    numbers.push(4);
    assert_eq!((length, sum.into_inner(), numbers.len()), (3, 16, 4));
}

fn threads_borrow_mutably() {
    let (mut a, mut b) = (1, 2);
    thread::scope(|s| {
        s.spawn(|| a += 1);
        s.spawn(|| b += 1);
    });
    assert_eq!((a, b), (2, 3));
}

fn results_are_joined() {
    let text = String::from("borrowed");
    let borrowed = thread::scope(|s| s.spawn(|| text.as_str()).join().unwrap());
    assert_eq!(borrowed, "borrowed");
}

fn threads_spawn_threads() {
    let count = AtomicU32::new(0);
    thread::scope(|s| {
        s.spawn(|| {
            s.spawn(|| {
                s.spawn(|| count.fetch_add(100, SeqCst));
                count.fetch_add(10, SeqCst)
            });
            count.fetch_add(1, SeqCst)
        });
    });
    assert_eq!(count.into_inner(), 111);
}

fn scopes_nest() {
    let count = AtomicU32::new(0);
    thread::scope(|outer| {
        outer.spawn(|| {
            thread::scope(|inner| {
                inner.spawn(|| count.fetch_add(1, SeqCst));
            });
            assert_eq!(count.load(SeqCst), 1);
        });
    });
}

fn a_panic_that_nobody_joins_panics_the_scope() {
    let ended = AtomicU32::new(0);
    let message = message_of(|| {
        thread::scope(|s| {
            s.spawn(|| panic!("unseen"));
            s.spawn(|| ended.fetch_add(1, SeqCst));
        });
    });
    assert_eq!(
        (message.as_str(), ended.into_inner()),
        ("a scoped thread panicked", 1)
    );
}

fn a_panic_that_is_joined_does_not() {
    let seen = thread::scope(|s| {
        s.spawn(|| panic!("seen"))
            .join()
            .map_err(|panic| panic_text(&*panic))
    });
    assert_eq!(seen, Err("seen".into()));
}

fn the_panic_of_the_body_comes_first() {
    let ended = AtomicU32::new(0);
    let message = message_of(|| {
        thread::scope(|s| {
            s.spawn(|| ended.fetch_add(1, SeqCst));
            s.spawn(|| panic!("of a thread"));
            panic!("of the body");
        })
    });
    assert_eq!((message.as_str(), ended.into_inner()), ("of the body", 1));
}

fn the_scope_outlasts_destructors_of_results() {
    struct Counts<'a>(&'a Mutex<u32>);
    impl Drop for Counts<'_> {
        fn drop(&mut self) {
            *self.0.lock().unwrap() += 1;
        }
    }
    let count = Mutex::new(0);
    thread::scope(|s| {
        s.spawn(|| Counts(&count));
        s.spawn(|| Counts(&count));
    });
    assert_eq!(count.into_inner().unwrap(), 2);
}

fn handles() {
    thread::scope(|s| {
        let thread = s.spawn(|| thread::current().id());
        assert_eq!(format!("{thread:?}"), "ScopedJoinHandle { .. }");
        assert!(format!("{s:?}").starts_with("Scope {"));
        let id = thread.thread().id();
        while !thread.is_finished() {
            thread::yield_now();
        }
        assert_eq!(thread.join().unwrap(), id);
    });
}

fn parked_in_a_scope() {
    thread::scope(|s| {
        let parked = s.spawn(thread::park);
        parked.thread().unpark();
    });
}

cases! {
    threads_borrow threads_borrow_mutably results_are_joined threads_spawn_threads scopes_nest
    a_panic_that_nobody_joins_panics_the_scope a_panic_that_is_joined_does_not the_panic_of_the_body_comes_first
    the_scope_outlasts_destructors_of_results handles parked_in_a_scope
}
