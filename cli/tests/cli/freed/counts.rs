//! Counts of an `Arc` that are used in freed memory. Each `unsafe` breaks its contract on purpose: that has to be found.

use std::mem::ManuallyDrop;
use std::sync::{Arc, Weak};

#[test]
fn a_handle_is_dropped_twice() {
    let value = Arc::into_raw(Arc::new(1));
    unsafe { drop(Arc::from_raw(value)) };
    unsafe { drop(Arc::from_raw(value)) };
}

#[test]
fn a_handle_is_dropped_twice_beside_a_thread() {
    let other = std::thread::spawn(|| ());
    let value = Arc::into_raw(Arc::new(1));
    unsafe { drop(Arc::from_raw(value)) };
    unsafe { drop(Arc::from_raw(value)) };
    other.join().unwrap();
}

#[test]
fn handles_are_counted() {
    let value = Arc::into_raw(Arc::new(1));
    unsafe { drop(Arc::from_raw(value)) };
    let again = ManuallyDrop::new(unsafe { Arc::from_raw(value) });
    assert!(Arc::strong_count(&again) > 0);
}

#[test]
fn a_weak_handle_is_dropped_twice() {
    let value = Arc::new(1);
    let weak = Arc::downgrade(&value).into_raw();
    unsafe { drop(Weak::from_raw(weak)) };
    drop(value);
    unsafe { drop(Weak::from_raw(weak)) };
}

#[test]
fn a_handle_is_dropped_twice_beside_a_weak_one() {
    let other = std::thread::spawn(|| ());
    let value = Arc::new(1);
    let weak = Arc::downgrade(&value);
    let value = Arc::into_raw(value);
    unsafe { drop(Arc::from_raw(value)) };
    unsafe { drop(Arc::from_raw(value)) };
    other.join().unwrap();
    drop(weak);
}

#[test]
fn a_handle_is_cloned_beside_a_weak_one() {
    let other = std::thread::spawn(|| ());
    let value = Arc::new(1);
    let weak = Arc::downgrade(&value);
    let value = Arc::into_raw(value);
    unsafe { drop(Arc::from_raw(value)) };
    unsafe { Arc::increment_strong_count(value) };
    other.join().unwrap();
    drop(weak);
}

/// The number of handles may change between the check and the clone.
#[test]
fn a_handle_is_cloned_after_a_check() {
    let value = Arc::new(1);
    let weak = Arc::downgrade(&value);
    let other = std::thread::spawn(move || {
        if weak.strong_count() > 0 {
            unsafe { Arc::increment_strong_count(weak.as_ptr()) };
            drop(unsafe { Arc::from_raw(weak.as_ptr()) });
        }
    });
    drop(value);
    other.join().unwrap();
}
