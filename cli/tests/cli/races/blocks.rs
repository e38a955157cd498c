//! Tests of an ordinary crate in which the allocator writes memory: zeros, or the content of a block that moves.

#[cfg(test)]
mod racy_blocks {
    use std::alloc::{Layout, alloc_zeroed};
    use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::*};
    use std::thread;

    /// Fills memory by code of this crate: std's own functions may be compiled already, without the calls of the pass.
    pub(super) fn fill<T>(memory: &mut [T], byte: u8) {
        unsafe { std::ptr::write_bytes(memory.as_mut_ptr(), byte, memory.len()) }
    }
    pub(super) fn ones<T>(length: usize) -> Vec<T> {
        let mut values = Vec::with_capacity(length);
        unsafe {
            std::ptr::write_bytes(values.as_mut_ptr(), 1, length);
            values.set_len(length);
        }
        values
    }
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
    /// A block of several chunks of 4 KiB, which do not begin where it begins.
    const SIZE: usize = 20_001;
    const PLACES: [usize; 6] = [0, 1, 4095, 4096, 10_000, SIZE - 1];
    #[test]
    fn a_fill_of_a_block() {
        published(
            || keep(ones::<u8>(SIZE).leak().as_mut_ptr()),
            |bytes| PLACES.iter().for_each(|&at| assert_eq!(unsafe { *bytes.add(at) }, 1)),
        );
    }
    #[test]
    fn a_fill_of_the_last_byte() {
        published(
            || keep(ones::<u8>(SIZE).leak().as_mut_ptr()),
            |bytes| unsafe { *bytes.add(SIZE - 1) = 2 },
        );
    }
    #[test]
    fn a_fill_of_the_middle() {
        published(
            || keep(ones::<u8>(SIZE).leak().as_mut_ptr()),
            |bytes| assert_eq!(unsafe { *bytes.add(SIZE / 2) }, 1),
        );
    }
    #[test]
    fn a_copy_of_a_block() {
        published(
            || keep(ones::<u8>(SIZE).leak().as_mut_ptr()),
            |bytes| drop(unsafe { std::slice::from_raw_parts(bytes, SIZE) }.to_vec()),
        );
    }
    #[test]
    fn a_fill_after_an_access_in_the_middle() {
        published(
            || {
                let mut bytes = vec![0u8; SIZE];
                bytes[SIZE / 2] = 1;
                fill(&mut bytes, 2);
                keep(bytes.leak().as_mut_ptr())
            },
            |bytes| assert_eq!(unsafe { *bytes.add(SIZE - 1) }, 2),
        );
    }
    #[test]
    fn a_fill_of_memory_with_an_atomic() {
        published(
            || keep(ones::<usize>(3000).leak().as_mut_ptr()),
            |words| _ = unsafe { AtomicUsize::from_ptr(words.add(1777)) }.fetch_add(1, SeqCst),
        );
    }
    #[test]
    fn fills_of_overlapping_halves() {
        let mut bytes = vec![0u8; SIZE];
        let begin = AtomicPtr::new(bytes.as_mut_ptr());
        let fill = |from: usize| {
            let half = unsafe { begin.load(Relaxed).add(from) };
            fill(unsafe { std::slice::from_raw_parts_mut(half, SIZE / 2 + 1) }, 1);
        };
        thread::scope(|scope| {
            scope.spawn(|| fill(0));
            scope.spawn(|| fill(SIZE / 2));
        });
    }
    /// The second task is ordered after the first, but the third is not.
    #[test]
    fn a_fill_beside_ordered_fills() {
        use std::sync::atomic::AtomicBool;
        let (mut bytes, is_there) = (vec![0u8; SIZE], AtomicBool::new(false));
        let begin = AtomicPtr::new(bytes.as_mut_ptr());
        let all = || unsafe { std::slice::from_raw_parts_mut(begin.load(Relaxed), SIZE) };
        thread::scope(|scope| {
            scope.spawn(|| {
                fill(all(), 1);
                is_there.store(true, Release);
            });
            scope.spawn(|| {
                if is_there.load(Acquire) {
                    fill(all(), 2);
                }
            });
            scope.spawn(|| {
                if is_there.load(Relaxed) {
                    std::hint::black_box(unsafe { *begin.load(Relaxed).add(SIZE - 1) });
                }
            });
        });
    }
    /// Frees a block while another thread may read its byte there.
    fn freed_beside_a_read(at: usize) {
        let bytes = AtomicPtr::new(Box::into_raw(ones::<u8>(SIZE).into_boxed_slice()).cast::<u8>());
        thread::scope(|scope| {
            scope.spawn(|| std::hint::black_box(unsafe { *bytes.load(Relaxed).add(at) }));
            drop(unsafe { Vec::from_raw_parts(bytes.load(Relaxed), SIZE, SIZE) });
        });
    }
    #[test]
    fn the_middle_is_freed_during_a_read() {
        freed_beside_a_read(SIZE / 2);
    }
    #[test]
    fn the_last_byte_is_freed_during_a_read() {
        freed_beside_a_read(SIZE - 1);
    }
    #[test]
    fn the_rest_is_given_back_during_a_read() {
        let mut bytes = ones::<u8>(SIZE);
        let begin = AtomicPtr::new(bytes.as_mut_ptr());
        thread::scope(|scope| {
            scope.spawn(|| std::hint::black_box(unsafe { *begin.load(Relaxed).add(SIZE / 2) }));
            bytes.truncate(100);
            bytes.shrink_to_fit();
        });
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
    use super::racy_blocks::{fill, ones};
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
    const SIZE: usize = 20_001;
    #[test]
    fn a_fill_of_a_block() {
        published(
            || ones::<u8>(SIZE),
            |bytes| {
                assert_eq!(unsafe { *bytes.add(SIZE - 1) }, 1);
                drop(unsafe { std::slice::from_raw_parts(bytes, SIZE) }.to_vec());
                unsafe { *bytes.add(SIZE / 2) = 3 };
            },
        );
    }
    #[test]
    fn a_fill_of_memory_with_atomics() {
        published(
            || ones::<usize>(3000),
            |words| {
                for at in [1777, 1778, 2999] {
                    unsafe { AtomicUsize::from_ptr(words.add(at)) }.fetch_add(1, Relaxed);
                }
            },
        );
    }
    #[test]
    fn fills_of_halves() {
        let mut bytes = vec![0u8; SIZE];
        let (first, second) = bytes.split_at_mut(SIZE / 2);
        thread::scope(|scope| {
            scope.spawn(|| fill(first, 1));
            scope.spawn(|| fill(second, 2));
        });
        assert_eq!(bytes[SIZE / 2 - 1..=SIZE / 2], [1, 2]);
    }
    #[test]
    fn fills_under_a_lock() {
        let bytes = Mutex::new(vec![0u8; SIZE]);
        thread::scope(|scope| {
            for number in 1..3 {
                let bytes = &bytes;
                scope.spawn(move || {
                    let mut bytes = bytes.lock().unwrap();
                    fill(&mut bytes, number);
                    bytes[SIZE / 2] = 3;
                    let other = bytes.clone();
                    bytes.copy_from_slice(&other);
                    bytes.copy_within(0..5000, 10_000);
                });
            }
        });
    }
    /// Each block is freed by the thread that has not allocated it, and another one grows or shrinks.
    #[test]
    fn blocks_that_others_free() {
        let (first, second) = (Mutex::new(None), Mutex::new(None));
        let exchange = |own: &Mutex<Option<Vec<u8>>>, other: &Mutex<Option<Vec<u8>>>, size: usize| {
            *own.lock().unwrap() = Some(ones::<u8>(SIZE));
            if let Some(mut bytes) = other.lock().unwrap().take() {
                bytes.resize(size, 2);
                bytes.shrink_to_fit();
                assert_eq!(bytes[size - 1], if size > SIZE { 2 } else { 1 });
            }
        };
        thread::scope(|scope| {
            scope.spawn(|| exchange(&first, &second, 2 * SIZE));
            scope.spawn(|| exchange(&second, &first, SIZE / 2));
        });
    }
    /// None of it but one page is used, so neither the test nor its executions take much memory.
    #[test]
    fn a_large_block() {
        published(|| vec![0u8; 1 << 30], |zeros| assert_eq!(unsafe { *zeros.add(1 << 29) }, 0));
    }
}
