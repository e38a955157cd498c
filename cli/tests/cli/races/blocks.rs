//! Tests of an ordinary crate in which the allocator writes memory: zeros, or the content of a block that moves.

#[cfg(test)]
mod racy_blocks {
    use std::alloc::{Layout, alloc_zeroed};
    use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::*};
    use std::thread;

    /// Publishes a block by a relaxed store, and calls `read` with it if the other thread has published it.
    fn published<T>(make: impl FnOnce() -> *mut T + Send, read: impl FnOnce(*mut T)) {
        let there = AtomicPtr::new(std::ptr::null_mut());
        thread::scope(|scope| {
            scope.spawn(|| there.store(make(), Relaxed));
            let pointer = there.load(Relaxed);
            if !pointer.is_null() {
                read(pointer);
            }
        });
    }
    static KEPT: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());
    /// Keeps a block from being a leak.
    fn keep<T>(pointer: *mut T) -> *mut T {
        KEPT.store(pointer.cast(), Relaxed);
        pointer
    }
    #[test]
    fn zeros_of_a_vec() {
        published(
            || keep(vec![0u8; 8].leak().as_mut_ptr()),
            |zeros| assert_eq!(unsafe { *zeros }, 0),
        );
    }
    #[test]
    fn zeros_of_a_boxed_slice() {
        published(
            || keep(Box::leak(vec![0u64; 3000].into_boxed_slice()).as_mut_ptr()),
            |zeros| assert_eq!(unsafe { *zeros.add(2999) }, 0),
        );
    }
    #[test]
    fn zeros_of_the_allocator() {
        published(
            || keep(unsafe { alloc_zeroed(Layout::new::<[u16; 3]>()) }.cast::<u16>()),
            |zeros| assert_eq!(unsafe { *zeros.add(2) }, 0),
        );
    }
    #[test]
    fn zeros_next_to_a_value() {
        published(
            || {
                let mut block = vec![0u8; 16];
                block[0] = 1;
                keep(block.leak().as_mut_ptr())
            },
            |zeros| assert_eq!(unsafe { *zeros.add(1) }, 0),
        );
    }
    #[test]
    fn zeros_that_are_written_elsewhere() {
        published(
            || keep(vec![0u32; 5].leak().as_mut_ptr()),
            |zeros| unsafe { *zeros.add(4) = 1 },
        );
    }
    #[test]
    fn zeros_read_atomically() {
        published(
            || keep(vec![0usize; 3].leak().as_mut_ptr()),
            |zeros| assert_eq!(unsafe { AtomicUsize::from_ptr(zeros.add(1)) }.load(SeqCst), 0),
        );
    }
    #[test]
    fn zeros_that_are_dropped_too_early() {
        let there = AtomicPtr::new(std::ptr::null_mut());
        thread::scope(|scope| {
            scope.spawn(|| there.store(Box::into_raw(vec![0u64; 2].into_boxed_slice()).cast::<u64>(), Relaxed));
            let pointer = there.load(Relaxed);
            if !pointer.is_null() {
                drop(unsafe { Vec::from_raw_parts(pointer, 2, 2) });
            }
        });
        let pointer = there.into_inner();
        std::hint::black_box(keep(pointer));
    }
    /// Returns a vector that has moved to another block.
    fn moved(mut block: Vec<u64>) -> *mut u64 {
        // The block cannot grow where it is.
        let between = keep(Box::leak(Box::new(0u64)));
        block.reserve_exact(100);
        drop(unsafe { Box::from_raw(between) });
        keep(block.leak().as_mut_ptr())
    }
    #[test]
    fn values_that_were_moved() {
        published(
            || moved(vec![1, 2, 3]),
            |values| assert_eq!(unsafe { *values.add(1) }, 2),
        );
    }
    #[test]
    fn zeros_that_were_moved() {
        published(
            || moved(vec![0; 3]),
            |values| assert_eq!(unsafe { *values.add(1) }, 0),
        );
    }
    #[test]
    fn zeros_that_grow_in_place() {
        published(
            || {
                let mut block = vec![0u64; 1000];
                block.reserve_exact(10);
                keep(block.leak().as_mut_ptr())
            },
            |values| assert_eq!(unsafe { *values.add(999) }, 0),
        );
    }
}

#[cfg(test)]
mod fine_blocks {
    use std::collections::HashMap;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::*};
    use std::thread;

    /// Publishes a block by a releasing store, and calls `read` with it if the other thread has published it.
    fn published<T>(make: impl FnOnce() -> Vec<T> + Send, read: impl FnOnce(*mut T)) {
        let (there, mut length) = (AtomicPtr::new(std::ptr::null_mut()), AtomicUsize::new(0));
        thread::scope(|scope| {
            scope.spawn(|| {
                let block = make().into_boxed_slice();
                length.store(block.len(), Relaxed);
                there.store(Box::into_raw(block).cast::<T>(), Release);
            });
            let pointer = there.load(Acquire);
            if !pointer.is_null() {
                read(pointer);
            }
        });
        let length = *length.get_mut();
        drop(unsafe { Vec::from_raw_parts(there.into_inner(), length, length) });
    }
    #[test]
    fn zeros_of_a_vec() {
        published(|| vec![0u8; 8], |zeros| assert_eq!(unsafe { *zeros }, 0));
    }
    #[test]
    fn zeros_that_are_written_elsewhere() {
        published(|| vec![0u32; 5], |zeros| unsafe { *zeros.add(4) = 1 });
    }
    #[test]
    fn zeros_read_atomically() {
        published(
            || vec![0usize; 3],
            |zeros| assert_eq!(unsafe { AtomicUsize::from_ptr(zeros.add(1)) }.load(Relaxed), 0),
        );
    }
    #[test]
    fn values_that_were_moved() {
        published(
            || {
                let mut block = vec![1u64, 2, 3];
                let between = Box::new(0u64);
                block.reserve_exact(100);
                drop(between);
                block
            },
            |values| assert_eq!(unsafe { *values.add(1) }, 2),
        );
    }
    #[test]
    fn zeros_by_a_lock() {
        let there = Mutex::new(Vec::new());
        thread::scope(|scope| {
            scope.spawn(|| *there.lock().unwrap() = vec![0u64; 600]);
            assert!(there.lock().unwrap().get(599).is_none_or(|zero| *zero == 0));
        });
    }
    #[test]
    fn zeros_before_the_threads() {
        let zeros = vec![0u64; 600];
        thread::scope(|scope| {
            scope.spawn(|| assert_eq!(zeros[599], 0));
            scope.spawn(|| assert_eq!(zeros[599], 0));
        });
    }
    #[test]
    fn a_map() {
        let there = Mutex::new(None);
        thread::scope(|scope| {
            scope.spawn(|| *there.lock().unwrap() = Some(HashMap::from([(1, 2), (3, 4)])));
            let map = there.lock().unwrap().take();
            assert!(map.is_none_or(|map| map[&3] == 4));
        });
    }
    /// None of it but one page is used, so neither the test nor its executions take much memory.
    #[test]
    fn a_large_block() {
        published(|| vec![0u8; 1 << 30], |zeros| assert_eq!(unsafe { *zeros.add(1 << 29) }, 0));
    }
}
