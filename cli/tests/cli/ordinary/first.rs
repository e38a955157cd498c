//! Ordinary code: tests with a bug (`bug_*`), each with a counterpart without it (`ok_*`).

#![allow(dead_code, unused_imports)]

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
use std::sync::mpsc::{self, channel, sync_channel};
use std::sync::{Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock};
use std::thread;
use std::time::{Duration, Instant};

// A lost update.
#[test]
fn bug_lost_update() {
    let n = Arc::new(AtomicUsize::new(0));
    let handles: Vec<_> = (0..2)
        .map(|_| {
            let n = n.clone();
            thread::spawn(move || {
                let v = n.load(SeqCst);
                n.store(v + 1, SeqCst);
            })
        })
        .collect();
    for handle in handles {
        handle.join().unwrap();
    }
    assert_eq!(n.load(SeqCst), 2);
}
#[test]
fn ok_lost_update() {
    let n = Arc::new(AtomicUsize::new(0));
    let handles: Vec<_> = (0..2)
        .map(|_| {
            let n = n.clone();
            thread::spawn(move || {
                n.fetch_add(1, SeqCst);
            })
        })
        .collect();
    for handle in handles {
        handle.join().unwrap();
    }
    assert_eq!(n.load(SeqCst), 2);
}

// The test assumes an order between two senders of a channel.
#[test]
fn bug_mpsc_order() {
    let (tx, rx) = channel();
    let tx2 = tx.clone();
    let a = thread::spawn(move || tx.send(1).unwrap());
    let b = thread::spawn(move || tx2.send(2).unwrap());
    let got: Vec<i32> = rx.iter().collect();
    a.join().unwrap();
    b.join().unwrap();
    assert_eq!(got, [1, 2]);
}
#[test]
fn ok_mpsc_order() {
    let (tx, rx) = channel();
    let tx2 = tx.clone();
    let a = thread::spawn(move || tx.send(1).unwrap());
    let b = thread::spawn(move || tx2.send(2).unwrap());
    let mut got: Vec<i32> = rx.iter().collect();
    a.join().unwrap();
    b.join().unwrap();
    got.sort();
    assert_eq!(got, [1, 2]);
}

// Both ends of a sync_channel wait for each other.
#[test]
fn bug_sync_channel() {
    let (tx, rx) = sync_channel(1);
    let (back, ack) = sync_channel(0);
    let worker = thread::spawn(move || {
        for item in rx {
            back.send(item * 2).unwrap();
        }
    });
    for n in 0..3 {
        tx.send(n).unwrap();
    }
    drop(tx);
    assert_eq!(ack.iter().sum::<i32>(), 6);
    worker.join().unwrap();
}
#[test]
fn ok_sync_channel() {
    let (tx, rx) = sync_channel(1);
    let (back, ack) = sync_channel(0);
    let worker = thread::spawn(move || {
        for item in rx {
            back.send(item * 2).unwrap();
        }
    });
    let mut sum = 0;
    for n in 0..3 {
        tx.send(n).unwrap();
        sum += ack.recv().unwrap();
    }
    drop(tx);
    assert_eq!(sum, 6);
    worker.join().unwrap();
}

// recv_timeout
#[test]
fn ok_recv_timeout() {
    let (tx, rx) = channel();
    let worker = thread::spawn(move || {
        thread::sleep(Duration::from_millis(10));
        let _ = tx.send(7);
    });
    match rx.recv_timeout(Duration::from_millis(20)) {
        Ok(n) => assert_eq!(n, 7),
        Err(mpsc::RecvTimeoutError::Timeout) => {}
        Err(mpsc::RecvTimeoutError::Disconnected) => panic!(),
    }
    worker.join().unwrap();
}

// scoped threads: check-then-act under a lock
#[test]
fn bug_scoped_check() {
    let balance = Mutex::new(10);
    thread::scope(|s| {
        for _ in 0..2 {
            s.spawn(|| {
                let enough = *balance.lock().unwrap() >= 10;
                if enough {
                    *balance.lock().unwrap() -= 10;
                }
            });
        }
    });
    assert!(*balance.lock().unwrap() >= 0);
}
#[test]
fn ok_scoped_check() {
    let balance = Mutex::new(10);
    thread::scope(|s| {
        for _ in 0..2 {
            s.spawn(|| {
                let mut balance = balance.lock().unwrap();
                if *balance >= 10 {
                    *balance -= 10;
                }
            });
        }
    });
    assert!(*balance.lock().unwrap() >= 0);
}

// condvar with an `if`
struct Queue {
    items: Mutex<VecDeque<i32>>,
    some: Condvar,
}
impl Queue {
    fn new() -> Self {
        Queue { items: Mutex::new(VecDeque::new()), some: Condvar::new() }
    }
    fn push(&self, n: i32) {
        self.items.lock().unwrap().push_back(n);
        self.some.notify_all();
    }
    fn pop_if(&self) -> i32 {
        let mut items = self.items.lock().unwrap();
        if items.is_empty() {
            items = self.some.wait(items).unwrap();
        }
        items.pop_front().unwrap()
    }
    fn pop(&self) -> i32 {
        let items = self.items.lock().unwrap();
        let mut items = self.some.wait_while(items, |i| i.is_empty()).unwrap();
        items.pop_front().unwrap()
    }
}
#[test]
fn bug_condvar_if() {
    let q = Queue::new();
    thread::scope(|s| {
        s.spawn(|| q.pop_if());
        s.spawn(|| q.pop_if());
        q.push(1);
        q.push(2);
    });
}
#[test]
fn ok_condvar_if() {
    let q = Queue::new();
    thread::scope(|s| {
        s.spawn(|| q.pop());
        s.spawn(|| q.pop());
        q.push(1);
        q.push(2);
    });
}

// lost wake-up
#[test]
fn bug_lost_wakeup() {
    let pair = Arc::new((Mutex::new(()), Condvar::new(), AtomicBool::new(false)));
    let other = pair.clone();
    let t = thread::spawn(move || {
        other.2.store(true, SeqCst);
        other.1.notify_one();
    });
    if !pair.2.load(SeqCst) {
        let guard = pair.0.lock().unwrap();
        drop(pair.1.wait(guard).unwrap());
    }
    t.join().unwrap();
}
#[test]
fn ok_lost_wakeup() {
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let other = pair.clone();
    let t = thread::spawn(move || {
        *other.0.lock().unwrap() = true;
        other.1.notify_one();
    });
    let mut ready = pair.0.lock().unwrap();
    while !*ready {
        ready = pair.1.wait(ready).unwrap();
    }
    drop(ready);
    t.join().unwrap();
}

// A time-out of `wait_timeout` is taken for a failure.
#[test]
fn bug_wait_timeout() {
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let other = pair.clone();
    let t = thread::spawn(move || {
        *other.0.lock().unwrap() = true;
        other.1.notify_one();
    });
    let ready = pair.0.lock().unwrap();
    // The flag may have been set before: then nothing notifies, and the wait times out.
    let (ready, timed_out) = pair.1.wait_timeout(ready, Duration::from_secs(1)).unwrap();
    assert!(!timed_out.timed_out());
    drop(ready);
    t.join().unwrap();
}
#[test]
fn ok_wait_timeout() {
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let other = pair.clone();
    let t = thread::spawn(move || {
        *other.0.lock().unwrap() = true;
        other.1.notify_one();
    });
    let ready = pair.0.lock().unwrap();
    let (ready, timed_out) =
        pair.1.wait_timeout_while(ready, Duration::from_secs(1), |ready| !*ready).unwrap();
    assert!(*ready || timed_out.timed_out());
    drop(ready);
    t.join().unwrap();
}

// A read lock is upgraded in two steps.
#[test]
fn bug_rwlock_upgrade() {
    let map = RwLock::new(HashMap::new());
    let made = AtomicUsize::new(0);
    thread::scope(|s| {
        for _ in 0..2 {
            s.spawn(|| {
                if map.read().unwrap().get("k").is_none() {
                    made.fetch_add(1, SeqCst);
                    map.write().unwrap().insert("k", 1);
                }
            });
        }
    });
    assert_eq!(made.into_inner(), 1);
}
#[test]
fn ok_rwlock_upgrade() {
    let map = RwLock::new(HashMap::new());
    let made = AtomicUsize::new(0);
    thread::scope(|s| {
        for _ in 0..2 {
            s.spawn(|| {
                if map.read().unwrap().get("k").is_none() {
                    map.write().unwrap().entry("k").or_insert_with(|| made.fetch_add(1, SeqCst));
                }
            });
        }
    });
    assert_eq!(made.into_inner(), 1);
}

// A task that holds a read lock deadlocks by itself when it writes.
#[test]
fn bug_rwlock_self() {
    let lock = RwLock::new(1);
    let other = AtomicBool::new(false);
    thread::scope(|s| {
        s.spawn(|| other.store(true, SeqCst));
        if other.load(SeqCst) {
            let read = lock.read().unwrap();
            *lock.write().unwrap() += *read;
        }
    });
}
#[test]
fn ok_rwlock_self() {
    let lock = RwLock::new(1);
    let other = AtomicBool::new(false);
    thread::scope(|s| {
        s.spawn(|| other.store(true, SeqCst));
        if other.load(SeqCst) {
            let read = *lock.read().unwrap();
            *lock.write().unwrap() += read;
        }
    });
}

// In some order, too few threads come to the barrier.
#[test]
fn bug_barrier() {
    let barrier = Barrier::new(2);
    let first = AtomicBool::new(true);
    thread::scope(|s| {
        for _ in 0..2 {
            s.spawn(|| {
                if first.load(SeqCst) {
                    first.store(false, SeqCst);
                    barrier.wait();
                }
            });
        }
    });
}
#[test]
fn ok_barrier() {
    let barrier = Barrier::new(2);
    let leaders = AtomicUsize::new(0);
    thread::scope(|s| {
        for _ in 0..2 {
            s.spawn(|| {
                if barrier.wait().is_leader() {
                    leaders.fetch_add(1, SeqCst);
                }
            });
        }
    });
    assert_eq!(leaders.into_inner(), 1);
}

// The destructor of a thread-local runs after the end of the scope.
static FLUSHED: AtomicUsize = AtomicUsize::new(0);
struct Buffer(Cell<usize>);
impl Drop for Buffer {
    fn drop(&mut self) {
        FLUSHED.fetch_add(self.0.get(), SeqCst);
    }
}
thread_local! {
    static BUFFER: Buffer = const { Buffer(Cell::new(0)) };
}
#[test]
fn bug_thread_local_drop() {
    thread::scope(|s| {
        s.spawn(|| BUFFER.with(|b| b.0.set(3)));
    });
    // A scope does not wait for the destructors.
    assert_eq!(FLUSHED.load(SeqCst), 3);
}
#[test]
fn ok_thread_local_drop() {
    let t = thread::spawn(|| BUFFER.with(|b| b.0.set(3)));
    t.join().unwrap();
    assert_eq!(FLUSHED.load(SeqCst), 3);
}

// OnceLock in a static
static CONFIG: OnceLock<usize> = OnceLock::new();
#[test]
fn bug_once_lock() {
    let t = thread::spawn(|| CONFIG.set(1).is_ok());
    let mine = CONFIG.set(2).is_ok();
    t.join().unwrap();
    assert!(mine);
}
#[test]
fn ok_once_lock() {
    let t = thread::spawn(|| CONFIG.set(1).is_ok());
    let mine = CONFIG.set(2).is_ok();
    assert!(mine ^ t.join().unwrap());
    assert_eq!(*CONFIG.get().unwrap(), if mine { 2 } else { 1 });
}

// LazyLock in a static
static CALLS: AtomicUsize = AtomicUsize::new(0);
static LAZY: LazyLock<Mutex<Vec<usize>>> = LazyLock::new(|| {
    CALLS.fetch_add(1, SeqCst);
    Mutex::new(vec![])
});
#[test]
fn bug_lazy_lock() {
    let t = thread::spawn(|| LAZY.lock().unwrap().push(1));
    LAZY.lock().unwrap().push(2);
    t.join().unwrap();
    assert_eq!(CALLS.load(SeqCst), 1);
    assert_eq!(*LAZY.lock().unwrap(), [2, 1]);
}
#[test]
fn ok_lazy_lock() {
    let t = thread::spawn(|| LAZY.lock().unwrap().push(1));
    LAZY.lock().unwrap().push(2);
    t.join().unwrap();
    assert_eq!(CALLS.load(SeqCst), 1);
    assert_eq!(LAZY.lock().unwrap().len(), 2);
}

// A panic poisons a `Once`.
static INIT: Once = Once::new();
#[test]
fn bug_once_poisoned() {
    let late = AtomicBool::new(false);
    thread::scope(|s| {
        let t = s.spawn(|| {
            INIT.call_once(|| {
                if !late.load(SeqCst) {
                    panic!("too early");
                }
            })
        });
        late.store(true, SeqCst);
        let _ = t.join();
    });
    INIT.call_once(|| {});
}
#[test]
fn ok_once_poisoned() {
    let late = AtomicBool::new(false);
    thread::scope(|s| {
        let t = s.spawn(|| {
            INIT.call_once(|| {
                if !late.load(SeqCst) {
                    panic!("too early");
                }
            })
        });
        late.store(true, SeqCst);
        let _ = t.join();
    });
    INIT.call_once_force(|_| {});
}
