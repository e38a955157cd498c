//! Objects of std that are used in freed memory. Each `unsafe` breaks its contract on purpose: that has to be found.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::SeqCst};
use std::sync::{Condvar, Mutex, Once, OnceLock, RwLock};

/// Uses a value after its memory was freed.
fn too_late<T>(value: T, used: impl FnOnce(&T)) {
    let value = Box::into_raw(Box::new(value));
    unsafe { drop(Box::from_raw(value)) };
    used(unsafe { &*value });
}

#[test]
fn mutex() {
    too_late(Mutex::new(0), |lock| *lock.lock().unwrap() += 1);
}

#[test]
fn mutex_beside_a_thread() {
    let other = std::thread::spawn(|| ());
    too_late(Mutex::new(0), |lock| *lock.lock().unwrap() += 1);
    other.join().unwrap();
}

#[test]
fn rw_lock() {
    too_late(RwLock::new(0), |lock| _ = *lock.read().unwrap());
}

#[test]
fn condvar() {
    too_late(Condvar::new(), |waited| waited.notify_all());
}

#[test]
fn once() {
    too_late(Once::new(), |once| once.call_once(|| ()));
}

#[test]
fn once_lock() {
    too_late(OnceLock::new(), |value| _ = value.get_or_init(|| 1));
}

#[test]
fn atomic_u32() {
    too_late(AtomicU32::new(0), |value| value.store(1, SeqCst));
}

#[test]
fn atomic_usize() {
    too_late(AtomicUsize::new(0), |value| _ = value.fetch_add(1, SeqCst));
}
