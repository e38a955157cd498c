//! Ordinary code with a bug in each module of `bugs`, and the same code without it in `fixed`.

#![allow(static_mut_refs)]

use std::cell::UnsafeCell;
use std::collections::HashMap;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering::*};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

/// Runs a function in two threads.
pub fn both<T: Send + Sync + 'static>(shared: Arc<T>, f: fn(&T)) {
    let other = thread::spawn({
        let shared = shared.clone();
        move || f(&shared)
    });
    f(&shared);
    other.join().unwrap();
}

#[derive(Default)]
pub struct Cell(UnsafeCell<u64>, Mutex<()>);
unsafe impl Sync for Cell {}

#[derive(Default)]
pub struct Cache {
    known: Mutex<HashMap<u32, u32>>,
    computed: AtomicUsize,
}

#[derive(Default)]
pub struct Flag {
    set: Mutex<bool>,
    changed: Condvar,
}

/// A message that one thread leaves for another.
#[derive(Default)]
pub struct Message {
    number: AtomicUsize,
    is_there: AtomicBool,
}

/// Two threads, each of which says that it wants to go first.
#[derive(Default)]
pub struct Wishes([AtomicBool; 2]);

/// A value with a count of its users.
pub struct Counted(*mut AtomicUsize);
unsafe impl Send for Counted {}
unsafe impl Sync for Counted {}

impl Counted {
    pub fn of_two() -> Counted {
        Counted(Box::into_raw(Box::new(AtomicUsize::new(2))))
    }
    fn count(&self) -> &AtomicUsize {
        unsafe { &*self.0 }
    }
    fn free(&self) {
        drop(unsafe { Box::from_raw(self.0) });
    }
}

/// The value that was put there last.
#[derive(Default)]
pub struct Slot(AtomicPtr<String>);

impl Slot {
    fn free(&self, old: *mut String) {
        if !old.is_null() {
            drop(unsafe { Box::from_raw(old) });
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.free(self.0.swap(null_mut(), SeqCst));
    }
}

#[cfg(test)]
mod bugs {
    use super::*;

    #[test]
    fn lost_update() {
        let n = Arc::new(AtomicUsize::new(0));
        both(n.clone(), |n| n.store(n.load(SeqCst) + 1, SeqCst));
        assert_eq!(n.load(SeqCst), 2);
    }

    #[test]
    fn check_then_act() {
        let cache = Arc::new(Cache::default());
        both(cache.clone(), |cache| {
            if !cache.known.lock().unwrap().contains_key(&3) {
                cache.computed.fetch_add(1, SeqCst);
                cache.known.lock().unwrap().insert(3, 9);
            }
        });
        assert_eq!(cache.computed.load(SeqCst), 1);
    }

    #[test]
    fn crossed_locks() {
        let locks = Arc::new((Mutex::new(0), Mutex::new(0)));
        let other = thread::spawn({
            let locks = locks.clone();
            move || *locks.0.lock().unwrap() += *locks.1.lock().unwrap()
        });
        *locks.1.lock().unwrap() += *locks.0.lock().unwrap();
        other.join().unwrap();
    }

    #[test]
    fn crossed_locks_of_parking_lot() {
        let locks = Arc::new((parking_lot::Mutex::new(()), parking_lot::Mutex::new(())));
        let other = thread::spawn({
            let locks = locks.clone();
            move || {
                let _first = locks.0.lock();
                let _second = locks.1.lock();
            }
        });
        let _first = locks.1.lock();
        let _second = locks.0.lock();
        drop((_first, _second));
        other.join().unwrap();
    }

    #[test]
    fn unsafe_cell() {
        both(Arc::new(Cell::default()), |cell| unsafe { *cell.0.get() += 1 });
    }

    #[test]
    fn static_mut() {
        static mut N: u32 = 0;
        both(Arc::new(()), |()| unsafe { N += 1 });
    }

    #[test]
    fn lost_wake_up() {
        let flag = Arc::new(Flag::default());
        let setter = thread::spawn({
            let flag = flag.clone();
            move || {
                *flag.set.lock().unwrap() = true;
                flag.changed.notify_one();
            }
        });
        let is_set = *flag.set.lock().unwrap();
        if !is_set {
            // The bug: the flag may have been set in between.
            let set = flag.set.lock().unwrap();
            drop(flag.changed.wait(set).unwrap());
        }
        setter.join().unwrap();
    }

    #[test]
    fn use_after_free() {
        both(Arc::new(Counted::of_two()), |value| {
            value.count().fetch_sub(1, SeqCst);
            // The bug: the other user may have freed it.
            if value.count().load(SeqCst) == 0 {
                value.free();
            }
        });
    }

    #[test]
    fn leak() {
        both(Arc::new(Slot::default()), |slot| {
            let new = Box::into_raw(Box::new("a value".to_owned()));
            let old = slot.0.load(SeqCst);
            // The bug: another value may have been put there in the meantime.
            slot.0.store(new, SeqCst);
            slot.free(old);
        });
    }

    #[test]
    fn leak_of_a_cycle() {
        #[derive(Default)]
        struct Node(Mutex<Option<Arc<Node>>>);
        both(Arc::new(Node::default()), |node| {
            let next = Arc::new(Node::default());
            *node.0.lock().unwrap() = Some(next.clone());
            *next.0.lock().unwrap() = Some(next.clone());
        });
    }

    #[test]
    fn relaxed_message() {
        let message = Arc::new(Message::default());
        let sender = thread::spawn({
            let message = message.clone();
            move || {
                message.number.store(7, Relaxed);
                message.is_there.store(true, Relaxed);
            }
        });
        if message.is_there.load(Acquire) {
            assert_eq!(message.number.load(Relaxed), 7);
        }
        sender.join().unwrap();
    }

    #[test]
    fn wishes_that_are_not_seen() {
        let wishes = Arc::new(Wishes::default());
        let first = |wishes: &Wishes, own: usize| {
            wishes.0[own].store(true, Release);
            !wishes.0[1 - own].load(Acquire)
        };
        let other = thread::spawn({
            let wishes = wishes.clone();
            move || first(&wishes, 0)
        });
        let is_first = first(&wishes, 1);
        assert!(!(is_first && other.join().unwrap()), "both go first");
    }
}

#[cfg(test)]
mod fixed {
    use super::*;

    #[test]
    fn lost_update() {
        let n = Arc::new(AtomicUsize::new(0));
        both(n.clone(), |n| {
            n.fetch_add(1, SeqCst);
        });
        assert_eq!(n.load(SeqCst), 2);
    }

    #[test]
    fn check_then_act() {
        let cache = Arc::new(Cache::default());
        both(cache.clone(), |cache| {
            cache.known.lock().unwrap().entry(3).or_insert_with(|| {
                cache.computed.fetch_add(1, SeqCst);
                9
            });
        });
        assert_eq!(cache.computed.load(SeqCst), 1);
    }

    #[test]
    fn crossed_locks() {
        let locks = Arc::new((Mutex::new(0), Mutex::new(0)));
        both(locks, |locks| {
            let mut first = locks.0.lock().unwrap();
            *first += *locks.1.lock().unwrap();
        });
    }

    #[test]
    fn crossed_locks_of_parking_lot() {
        let locks = Arc::new((parking_lot::Mutex::new(()), parking_lot::Mutex::new(())));
        both(locks, |locks| {
            let _first = locks.0.lock();
            let _second = locks.1.lock();
        });
    }

    #[test]
    fn unsafe_cell() {
        both(Arc::new(Cell::default()), |cell| {
            let _held = cell.1.lock().unwrap();
            unsafe { *cell.0.get() += 1 };
        });
    }

    #[test]
    fn static_mut() {
        static LOCK: Mutex<()> = Mutex::new(());
        static mut N: u32 = 0;
        both(Arc::new(()), |()| {
            let _held = LOCK.lock().unwrap();
            unsafe { N += 1 };
        });
    }

    #[test]
    fn lost_wake_up() {
        let flag = Arc::new(Flag::default());
        let setter = thread::spawn({
            let flag = flag.clone();
            move || {
                *flag.set.lock().unwrap() = true;
                flag.changed.notify_one();
            }
        });
        let mut set = flag.set.lock().unwrap();
        while !*set {
            set = flag.changed.wait(set).unwrap();
        }
        drop(set);
        setter.join().unwrap();
    }

    #[test]
    fn use_after_free() {
        both(Arc::new(Counted::of_two()), |value| {
            if value.count().fetch_sub(1, SeqCst) == 1 {
                value.free();
            }
        });
    }

    #[test]
    fn leak() {
        both(Arc::new(Slot::default()), |slot| {
            let new = Box::into_raw(Box::new("a value".to_owned()));
            slot.free(slot.0.swap(new, SeqCst));
        });
    }

    #[test]
    fn leak_of_a_cycle() {
        #[derive(Default)]
        struct Node(Mutex<Option<Arc<Node>>>);
        both(Arc::new(Node::default()), |node| {
            let next = Arc::new(Node::default());
            *next.0.lock().unwrap() = Some(Arc::default());
            *node.0.lock().unwrap() = Some(next);
        });
    }

    #[test]
    fn relaxed_message() {
        let message = Arc::new(Message::default());
        let sender = thread::spawn({
            let message = message.clone();
            move || {
                message.number.store(7, Relaxed);
                message.is_there.store(true, Release);
            }
        });
        if message.is_there.load(Acquire) {
            assert_eq!(message.number.load(Relaxed), 7);
        }
        sender.join().unwrap();
    }

    #[test]
    fn wishes_that_are_not_seen() {
        let wishes = Arc::new(Wishes::default());
        let first = |wishes: &Wishes, own: usize| {
            wishes.0[own].store(true, SeqCst);
            !wishes.0[1 - own].load(SeqCst)
        };
        let other = thread::spawn({
            let wishes = wishes.clone();
            move || first(&wishes, 0)
        });
        let is_first = first(&wishes, 1);
        assert!(!(is_first && other.join().unwrap()), "both go first");
    }
}
