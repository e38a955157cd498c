//! Weak exchanges, with and without another attempt after a failure.

#![cfg(test)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread;

#[test]
fn a_failure_is_taken_for_a_loss() {
    let taken = Arc::new(AtomicBool::new(false));
    let take = |taken: &AtomicBool| taken.compare_exchange_weak(false, true, SeqCst, SeqCst).is_ok();
    let other = taken.clone();
    let other = thread::spawn(move || take(&other));
    let one = take(&taken);
    assert!(one != other.join().unwrap(), "one of them takes it");
}

#[test]
fn a_failure_is_followed_by_another_attempt() {
    let count = Arc::new(AtomicUsize::new(0));
    let add = |count: &AtomicUsize| {
        let mut now = count.load(SeqCst);
        while let Err(newer) = count.compare_exchange_weak(now, now + 1, SeqCst, SeqCst) {
            now = newer;
        }
    };
    let other = count.clone();
    let other = thread::spawn(move || add(&other));
    add(&count);
    other.join().unwrap();
    assert_eq!(count.load(SeqCst), 2);
}

#[test]
fn there_are_many_failures() {
    let counts: Arc<[AtomicUsize; 2]> = Arc::default();
    let add = |counts: &[AtomicUsize; 2]| {
        for count in counts {
            let mut now = count.load(SeqCst);
            while let Err(newer) = count.compare_exchange_weak(now, now + 1, SeqCst, SeqCst) {
                now = newer;
            }
        }
    };
    let spawned = || {
        let counts = counts.clone();
        thread::spawn(move || add(&counts))
    };
    let others = [spawned(), spawned()];
    add(&counts);
    others.map(|other| other.join().unwrap());
    assert_eq!(counts.each_ref().map(|count| count.load(SeqCst)), [3, 3]);
}

#[test]
fn there_is_one_task() {
    let taken = AtomicBool::new(false);
    let took = taken.compare_exchange_weak(false, true, SeqCst, SeqCst);
    assert!(took.is_ok());
}

#[test]
fn nothing_is_weak() {
    let count = Arc::new(AtomicUsize::new(0));
    let other = count.clone();
    let other = thread::spawn(move || _ = other.fetch_add(1, SeqCst));
    count.fetch_add(1, SeqCst);
    other.join().unwrap();
}
