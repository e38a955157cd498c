//! Locks, cells and semaphores.

use crate::both;
use std::sync::Arc;
use std::thread;

mod parking_lot {
    use super::*;
    use ::parking_lot::{Condvar, Mutex, RwLock};

    #[test]
    fn mutex() {
        let lock = Mutex::new(0);
        let add = || *lock.lock() += 1;
        both(add, add);
        assert_eq!(lock.into_inner(), 2);
    }

    #[test]
    fn condvar() {
        let pair = Arc::new((Mutex::new(false), Condvar::new()));
        let task = thread::spawn({
            let pair = pair.clone();
            move || {
                *pair.0.lock() = true;
                pair.1.notify_one();
            }
        });
        let mut ready = pair.0.lock();
        while !*ready {
            pair.1.wait(&mut ready);
        }
        drop(ready);
        task.join().unwrap();
    }

    #[test]
    fn rwlock() {
        let lock = RwLock::new(0);
        let (seen, ()) = both(|| *lock.read(), || *lock.write() = 1);
        assert!(seen <= 1);
    }
}

mod lock_api {
    use super::*;
    use ::lock_api::RawMutex;
    use std::sync::atomic::{AtomicBool, Ordering};

    struct Spin(AtomicBool);

    // SAFETY: one caller at a time gets it.
    unsafe impl RawMutex for Spin {
        #[allow(clippy::declare_interior_mutable_const)]
        const INIT: Spin = Spin(AtomicBool::new(false));
        type Guard = ();

        fn lock(&self) {
            while self.try_lock().is_none() {
                std::hint::spin_loop();
            }
        }

        fn try_lock(&self) -> Option<()> {
            let exchanged = self
                .0
                .compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed);
            exchanged.is_ok().then_some(())
        }

        unsafe fn unlock(&self, _: ()) {
            self.0.store(false, Ordering::Release);
        }

        fn is_locked(&self) -> bool {
            self.0.load(Ordering::Relaxed)
        }
    }

    #[test]
    fn a_lock_of_ones_own() {
        let lock = ::lock_api::Mutex::<Spin, u32>::new(0);
        let add = || *lock.lock() += 1;
        both(add, add);
        assert_eq!(lock.into_inner(), 2);
    }
}

mod spin {
    use super::*;

    #[test]
    fn mutex() {
        let lock = ::spin::Mutex::new(0);
        let add = || *lock.lock() += 1;
        both(add, add);
        assert_eq!(lock.into_inner(), 2);
    }

    #[test]
    fn rwlock() {
        let lock = ::spin::RwLock::new(0);
        let (seen, ()) = both(|| *lock.read(), || *lock.write() = 1);
        assert!(seen <= 1);
    }
}

mod crossbeam_utils {
    use super::*;
    use ::crossbeam_utils::atomic::AtomicCell;
    use ::crossbeam_utils::sync::{Parker, ShardedLock, WaitGroup};

    #[test]
    fn sharded_lock() {
        let lock = ShardedLock::new(0);
        let (seen, ()) = both(|| *lock.read().unwrap(), || *lock.write().unwrap() = 1);
        assert!(seen <= 1);
    }

    #[test]
    fn parker() {
        let parker = Parker::new();
        let unparker = parker.unparker().clone();
        both(move || unparker.unpark(), || parker.park());
    }

    #[test]
    fn wait_group() {
        let group = WaitGroup::new();
        let other = group.clone();
        both(move || drop(other), move || group.wait());
    }

    #[test]
    fn atomic_cell_with_a_lock() {
        let cell = AtomicCell::new([0_u64; 3]);
        let (seen, ()) = both(|| cell.load(), || cell.store([1; 3]));
        assert!(seen == [0; 3] || seen == [1; 3]);
    }
}

mod async_lock {
    use super::*;
    use ::async_lock::{Mutex, Semaphore};
    use ::futures_lite::future::block_on;

    #[test]
    fn mutex() {
        let lock = Mutex::new(0);
        let add = || block_on(async { *lock.lock().await += 1 });
        both(add, add);
        assert_eq!(lock.into_inner(), 2);
    }

    #[test]
    fn semaphore() {
        let semaphore = Semaphore::new(1);
        let take = || drop(block_on(semaphore.acquire()));
        both(take, take);
        assert!(semaphore.try_acquire().is_some());
    }
}

mod maitake_sync {
    use super::*;
    use ::futures_lite::future::block_on;
    use ::maitake_sync::{Mutex, WaitCell};

    #[test]
    fn mutex() {
        let lock = Mutex::new(0);
        let add = || block_on(async { *lock.lock().await += 1 });
        both(add, add);
        assert_eq!(block_on(async { *lock.lock().await }), 2);
    }

    #[test]
    fn wait_cell() {
        let cell = WaitCell::new();
        both(|| _ = cell.close(), || _ = block_on(cell.wait()));
    }
}

mod atomic_refcell {
    use super::*;
    use ::atomic_refcell::AtomicRefCell;

    #[test]
    fn borrows() {
        let cell = AtomicRefCell::new(0);
        let add = || match cell.try_borrow_mut() {
            Ok(mut value) => *value += 1,
            Err(_) => {}
        };
        both(add, add);
        assert!((1..=2).contains(&cell.into_inner()));
    }
}

mod try_lock {
    use super::*;
    use ::try_lock::TryLock;

    #[test]
    fn a_lock_that_nobody_waits_for() {
        let lock = TryLock::new(0);
        let add = || lock.try_lock().map(|mut n| *n += 1).is_some();
        let (other, own) = both(add, add);
        assert!(other || own);
        assert_eq!(lock.into_inner(), u32::from(other) + u32::from(own));
    }
}

mod no_deadlocks {
    use super::*;
    use ::no_deadlocks::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    #[test]
    fn what_was_done_under_a_lock_is_seen() {
        let lock = Mutex::new(AtomicUsize::new(0));
        let add = || {
            let Ok(value) = lock.try_lock() else { return 0 };
            value.store(value.load(Relaxed) + 1, Relaxed);
            1
        };
        let (other, own) = both(add, add);
        assert_eq!(lock.into_inner().unwrap().into_inner(), other + own);
    }
}
