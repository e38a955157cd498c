//! Structures that go wrong if freed memory is used again.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering::Relaxed, Ordering::SeqCst};
use std::thread;

/// A stack of nodes that are freed as soon as they are popped.
struct Stack(AtomicPtr<Node>);

struct Node {
    next: *mut Node,
}

impl Stack {
    fn push(&self) {
        let mut next = self.0.load(SeqCst);
        let node = Box::into_raw(Box::new(Node { next }));
        while let Err(found) = self.0.compare_exchange(next, node, SeqCst, SeqCst) {
            next = found;
            unsafe { (*node).next = next };
        }
    }

    fn pop(&self) -> bool {
        loop {
            let node = self.0.load(SeqCst);
            if node.is_null() {
                return false;
            }
            let next = unsafe { (*node).next };
            if self.0.compare_exchange(node, next, SeqCst, SeqCst).is_ok() {
                drop(unsafe { Box::from_raw(node) });
                return true;
            }
        }
    }
}

mod plain {
    use super::*;

    #[test]
    fn a_node_comes_out_once() {
        let stack = Stack(AtomicPtr::new(null_mut()));
        stack.push();
        stack.push();
        thread::scope(|scope| {
            scope.spawn(|| stack.pop());
            scope.spawn(|| {
                if stack.pop() && stack.pop() {
                    stack.push();
                }
            });
        });
        let mut left = 0;
        while stack.pop() {
            left += 1;
            assert!(left < 2, "there was one at most");
        }
    }
}

mod watched {
    use super::*;

    #[test]
    fn memory_goes_from_thread_to_thread() {
        let work = |n: u32| {
            let values = Box::new((n, AtomicU32::new(n)));
            values.1.fetch_add(values.0, SeqCst);
            let more = vec![*values];
            assert_eq!(more[0].1.load(SeqCst), 2 * n);
        };
        thread::scope(|scope| {
            scope.spawn(|| work(1));
            scope.spawn(|| work(2));
        });
    }

    #[test]
    fn zeros_go_from_thread_to_thread() {
        let work = |n: u64| {
            drop(vec![0u64; 1]);
            assert_eq!(*Box::new(n), n);
        };
        thread::scope(|scope| {
            scope.spawn(|| work(1));
            scope.spawn(|| work(2));
        });
    }

    #[test]
    fn zeros_in_memory_that_is_used_again() {
        let shared = AtomicPtr::new(std::ptr::null_mut());
        thread::scope(|scope| {
            scope.spawn(|| {
                let first = Box::new([1u64; 2]);
                let address = (&raw const *first).addr();
                drop(first);
                let zeros = vec![0u64; 2];
                if zeros.as_ptr().addr() == address {
                    shared.store(zeros.leak().as_mut_ptr(), Relaxed);
                }
            });
            let zeros = shared.load(Relaxed);
            if !zeros.is_null() {
                assert_eq!(unsafe { *zeros.add(1) }, 0);
            }
        });
    }

    #[test]
    fn a_stale_pointer_is_followed() {
        let shared = AtomicPtr::new(Box::into_raw(Box::new(1)));
        thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let stale = shared.load(SeqCst);
                shared.load(SeqCst);
                unsafe { *stale }
            });
            drop(unsafe { Box::from_raw(shared.load(SeqCst)) });
            let other = Box::new(2);
            reader.join().unwrap();
            assert_eq!(*other, 2);
        });
    }
}
