//! Programs whose speed is compared: `STD` is std, or intermezzo.

#[cfg(test)]
mod tests {
    use STD::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::SeqCst};
    use STD::sync::{Barrier, Condvar, Mutex, OnceLock, RwLock, mpsc};
    use STD::thread;
    use std::ptr::null_mut;

    /// Three tasks send two messages each.
    #[test]
    fn messages() {
        let (sender, receiver) = mpsc::channel();
        thread::scope(|scope| {
            for task in 0..3 {
                let sender = sender.clone();
                scope.spawn(move || {
                    sender.send(task).unwrap();
                    sender.send(task + 3).unwrap();
                });
            }
            drop(sender);
            assert_eq!(receiver.iter().sum::<i32>(), 15);
        });
    }

    /// Three tasks add to a number under a lock, four times each.
    #[test]
    fn counters() {
        let count = Mutex::new(0);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for _ in 0..4 {
                        *count.lock().unwrap() += 1;
                    }
                });
            }
        });
        assert_eq!(count.into_inner().unwrap(), 12);
    }

    struct Node {
        value: usize,
        next: *mut Node,
    }

    /// Treiber's stack, whose nodes are freed at the end.
    #[derive(Default)]
    struct Stack {
        head: AtomicPtr<Node>,
        pushed: AtomicUsize,
    }

    impl Stack {
        fn push(&self, value: usize) {
            let node = Box::into_raw(Box::new(Node { value, next: null_mut() }));
            let mut head = self.head.load(SeqCst);
            loop {
                unsafe { (*node).next = head };
                match self.head.compare_exchange(head, node, SeqCst, SeqCst) {
                    Ok(_) => break,
                    Err(now) => head = now,
                }
            }
            self.pushed.fetch_add(1, SeqCst);
        }
    }

    impl Drop for Stack {
        fn drop(&mut self) {
            let mut node = *self.head.get_mut();
            let mut sum = 0;
            while !node.is_null() {
                let first = unsafe { Box::from_raw(node) };
                (node, sum) = (first.next, sum + first.value);
            }
            assert_eq!(sum, 21);
        }
    }

    /// Three tasks push two values each onto a lock-free stack.
    #[test]
    fn stack() {
        let stack = Stack::default();
        thread::scope(|scope| {
            for task in 0..3 {
                let stack = &stack;
                scope.spawn(move || {
                    stack.push(task + 1);
                    stack.push(task + 4);
                });
            }
        });
        assert_eq!(stack.pushed.load(SeqCst), 6);
    }

    /// A producer and a consumer share a queue of one place.
    #[test]
    fn queue() {
        let (place, changed) = (Mutex::new(None), Condvar::new());
        thread::scope(|scope| {
            scope.spawn(|| {
                for item in 0..5 {
                    let place = place.lock().unwrap();
                    let mut place = changed.wait_while(place, |place| place.is_some()).unwrap();
                    *place = Some(item);
                    changed.notify_all();
                }
            });
            for item in 0..5 {
                let place = place.lock().unwrap();
                let mut place = changed.wait_while(place, |place| place.is_none()).unwrap();
                assert_eq!(place.take(), Some(item));
                changed.notify_all();
            }
        });
    }

    /// Two tasks read what a third one writes, under a lock.
    #[test]
    fn readers() {
        let pair = RwLock::new((0, 0));
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for _ in 0..3 {
                        let pair = pair.read().unwrap();
                        assert_eq!(pair.0, pair.1);
                    }
                });
            }
            for n in 1..4 {
                *pair.write().unwrap() = (n, n);
            }
        });
    }

    /// Three tasks meet twice, and one of them makes a value for all.
    #[test]
    fn meetings() {
        let (barrier, value) = (Barrier::new(3), OnceLock::new());
        thread::scope(|scope| {
            for task in 0..3 {
                let (barrier, value) = (&barrier, &value);
                scope.spawn(move || {
                    barrier.wait();
                    let made = *value.get_or_init(|| task);
                    barrier.wait();
                    assert_eq!(value.get(), Some(&made));
                });
            }
        });
    }
}
