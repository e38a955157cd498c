//! Programs whose speed is compared: `STD` is std, or intermezzo.

#[cfg(test)]
mod tests {
    use STD::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::SeqCst};
    use STD::sync::{Mutex, mpsc};
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
}
