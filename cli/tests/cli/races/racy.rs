//! An ordinary crate, with tests that have data races. `fine.rs` follows this file in the library.

#![allow(static_mut_refs)]
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
use std::sync::{Arc, Mutex};
use std::thread;

pub struct Shared {
    cell: UnsafeCell<u64>,
    ready: AtomicBool,
    n: AtomicUsize,
    lock: Mutex<u64>,
}
unsafe impl Sync for Shared {}
pub fn new() -> Arc<Shared> {
    Arc::new(Shared {
        cell: UnsafeCell::new(0),
        ready: AtomicBool::new(false),
        n: AtomicUsize::new(0),
        lock: Mutex::new(0),
    })
}
pub struct Ptr(*mut u64);
unsafe impl Send for Ptr {}
impl Ptr {
    fn get(&self) -> *mut u64 {
        self.0
    }
}

#[cfg(test)]
mod racy {
    use super::*;
    #[test]
    fn cell() {
        let s = new();
        let t = {
            let s = s.clone();
            thread::spawn(move || unsafe {
                *s.cell.get() += 1;
            })
        };
        unsafe { *s.cell.get() += 1 };
        t.join().unwrap();
    }
    #[test]
    fn relaxed() {
        let s = new();
        let t = {
            let s = s.clone();
            thread::spawn(move || {
                unsafe { *s.cell.get() += 1 };
                s.ready.store(true, Relaxed);
            })
        };
        if s.ready.load(Relaxed) {
            assert_eq!(unsafe { *s.cell.get() }, 1);
        }
        t.join().unwrap();
    }
    #[test]
    fn static_mut() {
        static mut X: u32 = 0;
        let t = thread::spawn(|| unsafe { X += 1 });
        unsafe { X += 1 }
        t.join().unwrap();
    }
    #[test]
    fn vec_element() {
        let mut v = vec![0u64; 4];
        let p = Ptr(&mut v[2]);
        let t = thread::spawn(move || unsafe { p.get().write(1) });
        v[2] = 5;
        t.join().unwrap();
    }
    #[test]
    fn scoped() {
        let mut x = 0u64;
        let p = Ptr(&mut x);
        thread::scope(|s| {
            s.spawn(move || unsafe { *p.get() += 1 });
            x += 1;
        });
        assert!(x > 0);
    }
}

#[cfg(test)]
mod also_racy {
    use std::cell::UnsafeCell;
    use std::collections::HashMap;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*, fence};
    use std::sync::{Arc, Mutex, OnceLock};
    use std::thread;

    struct Plain<T>(UnsafeCell<T>);
    unsafe impl<T> Sync for Plain<T> {}
    unsafe impl<T> Send for Plain<T> {}
    impl<T> Plain<T> {
        const fn new(value: T) -> Self {
            Plain(UnsafeCell::new(value))
        }
        fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
            f(unsafe { &mut *self.0.get() })
        }
    }
    /// A type of this crate. So generic code is compiled for it in this crate, and not in the overlays.
    #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    struct Own(u64);

    fn both<T: 'static>(value: T, f: fn(&mut T)) -> T {
        let shared = Arc::new(Plain::new(value));
        let task = {
            let shared = shared.clone();
            thread::spawn(move || shared.with(f))
        };
        shared.with(f);
        task.join().unwrap();
        Arc::into_inner(shared).unwrap().0.into_inner()
    }
    #[test]
    fn vec_push() {
        assert!(both(Vec::with_capacity(9), |v| v.push(Own(1))).len() <= 2);
    }
    #[test]
    fn map_insert() {
        assert!(both(HashMap::new(), |m| drop(m.insert(Own(1), "one"))).len() <= 2);
    }
    #[test]
    fn box_replaced() {
        assert_eq!(*both(Box::new(Own(1)), |b| **b = Own(2)), Own(2));
    }
    #[test]
    fn bytes_copied() {
        assert_eq!(
            both([0u8; 300], |b| {
                let copy = std::hint::black_box([1; 300]);
                *b = copy
            })[5],
            1
        );
    }
    #[test]
    fn option_taken() {
        assert!(both(Some(Own(1)), |o| drop(o.take())).is_none());
    }
    #[test]
    fn sorted() {
        assert_eq!(both(vec![Own(3), Own(2), Own(1)], |v| v.sort())[0], Own(1));
    }
    #[test]
    fn overlapping() {
        // One thread writes eight bytes, and the other one writes one of them.
        let words = Arc::new(Plain::new([0u64; 2]));
        let task = {
            let words = words.clone();
            thread::spawn(move || words.with(|w| unsafe { (&raw mut w[1]).cast::<u8>().add(5).write(1) }))
        };
        words.with(|w| w[1] = 7);
        task.join().unwrap();
    }
    #[test]
    fn half_locked() {
        static LOCK: Mutex<()> = Mutex::new(());
        static DATA: Plain<u64> = Plain::new(0);
        let task = thread::spawn(|| {
            let _held = LOCK.lock();
            DATA.with(|d| *d += 1)
        });
        DATA.with(|d| *d += 1);
        task.join().unwrap();
    }
    #[test]
    fn after_the_guard() {
        let data = Arc::new(Mutex::new(0u64));
        let task = {
            let data = data.clone();
            thread::spawn(move || *data.lock().unwrap() += 1)
        };
        let leaked = {
            let mut guard = data.lock().unwrap();
            &raw mut *guard
        };
        unsafe { *leaked += 1 };
        task.join().unwrap();
    }
    #[test]
    fn inside_of_once() {
        static NAME: OnceLock<u32> = OnceLock::new();
        static DATA: Plain<u64> = Plain::new(0);
        let task = thread::spawn(|| {
            *NAME.get_or_init(|| {
                DATA.with(|d| *d += 1);
                1
            })
        });
        DATA.with(|d| *d += 1);
        task.join().unwrap();
    }
    struct Counted {
        count: AtomicUsize,
        data: Plain<u64>,
    }
    struct Handle(*mut Counted);
    unsafe impl Send for Handle {}
    impl Drop for Handle {
        fn drop(&mut self) {
            unsafe {
                // The bug: the last owner lacks an Acquire.
                if (*self.0).count.fetch_sub(1, Release) == 1 {
                    drop(Box::from_raw(self.0));
                }
            }
        }
    }
    impl Drop for Counted {
        fn drop(&mut self) {
            self.data.with(|d| *d += 1)
        }
    }
    #[test]
    fn dropped_too_early() {
        let counted = Box::into_raw(Box::new(Counted {
            count: AtomicUsize::new(2),
            data: Plain::new(0),
        }));
        let (mine, other) = (Handle(counted), Handle(counted));
        let task = thread::spawn(move || {
            let other = other;
            unsafe { (*other.0).data.with(|d| *d += 3) };
            drop(other)
        });
        drop(mine);
        task.join().unwrap();
    }
    #[test]
    fn freed_during_a_read() {
        type Shared = (AtomicUsize, u64);
        struct Owner(*mut Shared);
        unsafe impl Send for Owner {}
        impl Owner {
            fn use_and_release(self) {
                assert!(unsafe { std::ptr::read_volatile(&raw const (*self.0).1) } > 0);
                // The bug: Relaxed orders nothing.
                if unsafe { (*self.0).0.fetch_sub(1, Relaxed) } == 1 {
                    drop(unsafe { Box::from_raw(self.0) });
                }
            }
        }
        let shared = Box::into_raw(Box::new((AtomicUsize::new(2), 7)));
        let (mine, other) = (Owner(shared), Owner(shared));
        let task = thread::spawn(move || other.use_and_release());
        mine.use_and_release();
        task.join().unwrap();
    }
    #[test]
    fn grown_during_a_read() {
        let mut list = vec![1u64; 4];
        let first = crate::Ptr(list.as_mut_ptr());
        let task = thread::spawn(move || assert!(unsafe { std::ptr::read_volatile(first.get()) } > 0));
        list.reserve_exact(100);
        task.join().unwrap();
    }
    #[test]
    fn a_fence_is_missing() {
        let data = Arc::new((AtomicBool::new(false), Plain::new([0u64; 4])));
        let task = {
            let data = data.clone();
            thread::spawn(move || {
                data.1.with(|n| n[2] = 3);
                fence(Release);
                data.0.store(true, Relaxed);
            })
        };
        if data.0.load(Relaxed) {
            assert_eq!(data.1.with(|n| n[2]), 3);
        }
        task.join().unwrap();
    }
    #[test]
    fn an_atomic_as_plain() {
        let n = Arc::new(AtomicUsize::new(0));
        n.store(0, SeqCst);
        let task = {
            let n = n.clone();
            thread::spawn(move || n.fetch_add(1, SeqCst))
        };
        let _ = unsafe { *n.as_ptr() } + 1;
        unsafe { *n.as_ptr() = 5 };
        task.join().unwrap();
    }
    #[test]
    fn dropped_by_another() {
        // The bug: the value is dropped by a thread that is not ordered after its use.
        let data = Arc::new(Plain::new(vec![1u8, 2, 3]));
        let pointer = Plain::new(data.0.get());
        let task = thread::spawn(move || {
            let pointer = pointer;
            unsafe { (&mut **pointer.0.get())[1] = 5 }
        });
        data.with(|v| v[1] = 3);
        task.join().unwrap();
    }
}
