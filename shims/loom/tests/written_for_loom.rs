//! Code written for loom, as its users write it, with each part of its interface.
#![cfg(feature = "futures")]

use loom::cell::UnsafeCell;
use loom::future::AtomicWaker;
use loom::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering::SeqCst};
use loom::sync::{Arc, Condvar, Mutex, Notify, RwLock};
use loom::thread;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Poll;

/// Returns the message of a model that fails; `None` if it passes.
fn failure(model: impl FnOnce()) -> Option<String> {
    let panic = catch_unwind(AssertUnwindSafe(model)).err()?;
    Some(panic.downcast_ref::<String>().cloned().unwrap_or_default())
}

/// Two tasks add one. An update is lost if one is preempted between its load and its store.
fn add_twice() {
    let n = Arc::new(AtomicUsize::new(0));
    let other = Arc::clone(&n);
    let task = thread::spawn(move || other.store(other.load(SeqCst) + 1, SeqCst));
    n.store(n.load(SeqCst) + 1, SeqCst);
    task.join().unwrap();
    assert_eq!(n.load(SeqCst), 2);
}

#[test]
fn an_update_is_lost() {
    let said = failure(|| loom::model(add_twice));
    assert!(said.is_some_and(|said| said.contains("assertion")));
}

/// A value with a spin lock, as loom's users write it.
#[derive(Default)]
struct SpinLock {
    taken: AtomicBool,
    value: UnsafeCell<u32>,
}

// SAFETY: only the task that has set `taken` accesses the value, and only one task at a time has.
unsafe impl Sync for SpinLock {}

impl SpinLock {
    fn add(&self) -> u32 {
        while self.taken.swap(true, SeqCst) {
            loom::hint::spin_loop();
        }
        self.value.with_mut(|value| {
            // SAFETY: this task has set `taken`.
            unsafe { *value += 1 }
        });
        let now = self.value.with(|value| {
            // SAFETY: as above.
            unsafe { *value }
        });
        self.taken.store(false, SeqCst);
        now
    }
}

#[test]
fn a_spin_lock_keeps_a_cell() {
    loom::model(|| {
        let lock = Arc::new(SpinLock::default());
        let other = Arc::clone(&lock);
        let task = thread::spawn(move || other.add());
        let mine = lock.add();
        assert_eq!(mine + task.join().unwrap(), 3);
    });
}

/// A program that omits the lock races, and one that forgets a value leaks it.
#[test]
fn races_and_leaks_are_found() {
    let said = failure(|| {
        loom::model(|| {
            let lock = Arc::new(SpinLock::default());
            let other = Arc::clone(&lock);
            let task = thread::spawn(move || other.value.with(|value| assert!(!value.is_null())));
            lock.value.with_mut(|value| assert!(!value.is_null()));
            task.join().unwrap();
        })
    });
    assert!(said.is_some_and(|said| said.contains("data_race")), "a race");
    let said = failure(|| loom::model(|| std::mem::forget(loom::alloc::Track::new(1))));
    assert!(said.is_some_and(|said| said.contains("leak")), "a leak");
}

#[test]
fn a_small_model_needs_no_bound() {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(0);
    let said = failure(|| builder.check(add_twice));
    assert!(said.is_some_and(|said| said.contains("1 preemption")));
}

loom::lazy_static! {
    /// Initialised again in each execution.
    static ref MADE: AtomicUsize = AtomicUsize::new(7);
}

loom::thread_local! {
    static OWN: Cell<usize> = Cell::new(1);
}

#[test]
fn statics_are_fresh() {
    loom::model(|| {
        assert_eq!((MADE.fetch_add(1, SeqCst), OWN.with(Cell::get)), (7, 1));
        OWN.with(|own| own.set(2));
        let task = thread::spawn(|| (MADE.load(SeqCst), OWN.with(Cell::get)));
        assert_eq!(task.join().unwrap(), (8, 1));
    });
}

#[test]
fn a_lost_wake_up_is_a_deadlock() {
    let said = failure(|| {
        loom::model(|| {
            let shared = Arc::new((Mutex::new(false), Condvar::new(), RwLock::new(0)));
            let other = Arc::clone(&shared);
            let task = thread::spawn(move || {
                other.1.notify_one();
                *other.0.lock().unwrap() = true;
            });
            let mut done = shared.0.lock().unwrap();
            while !*done {
                done = shared.1.wait(done).unwrap();
            }
            drop(done);
            task.join().unwrap();
            assert_eq!(*shared.2.read().unwrap(), 0);
        })
    });
    assert!(said.is_some_and(|said| said.contains("deadlock")));
}

#[test]
fn what_only_loom_has() {
    loom::model(|| {
        let mut n = AtomicUsize::new(1);
        n.with_mut(|n| *n += 1);
        assert_eq!((n.load(SeqCst), n.into_inner()), (2, 2));
        let mut nowhere = AtomicPtr::<u8>::default();
        nowhere.with_mut(|pointer| assert!(pointer.is_null()));
        let told = Arc::new((Notify::new(), AtomicBool::new(false)));
        let other = Arc::clone(&told);
        let task = thread::spawn(move || {
            other.1.store(true, SeqCst);
            other.0.notify();
        });
        while !told.1.load(SeqCst) {
            told.0.wait();
        }
        task.join().unwrap();
        assert_eq!(loom::alloc::Track::new(3).into_inner(), 3);
    });
}

#[test]
fn a_future_is_woken() {
    loom::model(|| {
        let shared = Arc::new((AtomicWaker::new(), AtomicBool::new(false)));
        let other = Arc::clone(&shared);
        let task = thread::spawn(move || {
            other.1.store(true, SeqCst);
            other.0.wake();
        });
        loom::future::block_on(std::future::poll_fn(|context| {
            shared.0.register_by_ref(context.waker());
            match shared.1.load(SeqCst) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        }));
        task.join().unwrap();
    });
}
