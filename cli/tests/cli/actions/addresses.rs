//! Addresses that stay known when the memory was freed, in tests with little concurrency.

#![cfg(test)]

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::Mutex;
use std::thread;

static SEEN: Mutex<Vec<usize>> = Mutex::new(Vec::new());

/// Asserts that a block is at an address that was not seen before.
fn is_new() {
    let block = Box::new([1_u64; 5]);
    let address = (&raw const *block).addr();
    let mut seen = SEEN.lock().unwrap();
    assert!(!seen.contains(&address), "the address was seen before");
    seen.push(address);
}

/// The thread has ended in the only execution that is run.
#[test]
fn beside_a_thread() {
    let other = thread::spawn(|| ());
    is_new();
    is_new();
    other.join().unwrap();
}

#[test]
fn after_a_thread() {
    thread::spawn(|| ()).join().unwrap();
    is_new();
    is_new();
}

#[test]
fn before_a_thread_and_in_it() {
    is_new();
    thread::spawn(is_new).join().unwrap();
}

/// The weak exchange must fail, and then memory must be used again.
#[test]
fn only_after_a_weak_failure() {
    let taken = AtomicU32::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            if taken.compare_exchange_weak(0, 1, SeqCst, SeqCst).is_err() {
                is_new();
                is_new();
            }
        });
    });
}
