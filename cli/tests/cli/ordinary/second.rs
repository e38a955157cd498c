//! More ordinary code: panics, the harness, parking, spinning, and detached threads.

// a panic in a thread poisons a lock
#[test]
fn bug_poison() {
    let lock = Arc::new(Mutex::new(vec![1]));
    let flag = Arc::new(AtomicBool::new(false));
    let t = {
        let (lock, flag) = (lock.clone(), flag.clone());
        thread::spawn(move || {
            let mut items = lock.lock().unwrap();
            if flag.load(SeqCst) {
                items.clear();
            }
            let _first = items[0];
        })
    };
    flag.store(true, SeqCst);
    let _ = t.join();
    assert!(lock.lock().is_ok());
}
#[test]
fn ok_poison() {
    let lock = Arc::new(Mutex::new(vec![1]));
    let flag = Arc::new(AtomicBool::new(false));
    let t = {
        let (lock, flag) = (lock.clone(), flag.clone());
        thread::spawn(move || {
            let mut items = lock.lock().unwrap();
            if flag.load(SeqCst) {
                items.clear();
            }
            let _first = items[0];
        })
    };
    flag.store(true, SeqCst);
    let _ = t.join();
    let _len = lock.lock().unwrap_or_else(|e| e.into_inner()).len();
}

// AB-BA
#[test]
fn bug_ab_ba() {
    let (a, b) = (Mutex::new(1), Mutex::new(2));
    thread::scope(|s| {
        s.spawn(|| {
            let a = a.lock().unwrap();
            let b = b.lock().unwrap();
            let _ = *a + *b;
        });
        let b = b.lock().unwrap();
        let a = a.lock().unwrap();
        let _ = *a + *b;
    });
}
#[test]
fn ok_ab_ba() {
    let (a, b) = (Mutex::new(1), Mutex::new(2));
    thread::scope(|s| {
        s.spawn(|| {
            let a = a.lock().unwrap();
            let b = b.lock().unwrap();
            let _ = *a + *b;
        });
        let a = a.lock().unwrap();
        let b = b.lock().unwrap();
        let _ = *a + *b;
    });
}

// should_panic
#[test]
#[should_panic(expected = "twice")]
fn bug_should_panic() {
    // It panics only in some orders.
    let n = AtomicUsize::new(0);
    let seen = thread::scope(|s| {
        let a = s.spawn(|| n.load(SeqCst));
        n.store(1, SeqCst);
        a.join().unwrap()
    });
    assert!(seen == 0, "twice");
}
#[test]
#[should_panic(expected = "twice")]
fn ok_should_panic() {
    let n = AtomicUsize::new(0);
    thread::scope(|s| {
        s.spawn(|| n.fetch_add(1, SeqCst));
        s.spawn(|| n.fetch_add(1, SeqCst));
    });
    assert!(n.load(SeqCst) != 2, "twice");
}

// Result
#[test]
fn bug_result() -> Result<(), String> {
    let lock = Mutex::new(0);
    thread::scope(|s| {
        s.spawn(|| *lock.lock().unwrap() = 1);
        match *lock.lock().unwrap() {
            0 => Ok(()),
            n => Err(format!("it is {n}")),
        }
    })
}
#[test]
fn ok_result() -> Result<(), Box<dyn std::error::Error>> {
    let lock = Mutex::new("0".to_string());
    thread::scope(|s| {
        s.spawn(|| *lock.lock().unwrap() = "1".into());
        let n: i32 = lock.lock().unwrap().parse()?;
        assert!(n < 2);
        Ok(())
    })
}

// ignore
#[test]
#[ignore = "not yet"]
fn ignored() {
    panic!("it runs only when asked for");
}

// process::exit in a thread
#[test]
fn bug_process_exit() {
    let flag = Arc::new(AtomicBool::new(false));
    let t = {
        let flag = flag.clone();
        thread::spawn(move || {
            if flag.load(SeqCst) {
                std::process::exit(0);
            }
        })
    };
    flag.store(true, SeqCst);
    t.join().unwrap();
}
#[test]
fn ok_process_exit() {
    let flag = Arc::new(AtomicBool::new(false));
    let t = {
        let flag = flag.clone();
        thread::spawn(move || {
            if flag.load(SeqCst) && std::env::args().count() == 0 {
                std::process::exit(0);
            }
        })
    };
    flag.store(true, SeqCst);
    t.join().unwrap();
}

// park and unpark: the flag is set after
#[test]
fn bug_park() {
    let flag = Arc::new(AtomicBool::new(false));
    let main = thread::current();
    let t = {
        let flag = flag.clone();
        thread::spawn(move || {
            main.unpark();
            flag.store(true, SeqCst);
        })
    };
    thread::park();
    assert!(flag.load(SeqCst));
    t.join().unwrap();
}
#[test]
fn ok_park() {
    let flag = Arc::new(AtomicBool::new(false));
    let main = thread::current();
    let t = {
        let flag = flag.clone();
        thread::spawn(move || {
            flag.store(true, SeqCst);
            main.unpark();
        })
    };
    while !flag.load(SeqCst) {
        thread::park();
    }
    t.join().unwrap();
}

// a reference cell in a thread-local, borrowed twice by a callback
thread_local! {
    static STACK: RefCell<Vec<usize>> = RefCell::new(vec![]);
}
#[test]
fn bug_thread_local_is_not_shared() {
    STACK.with_borrow_mut(|s| s.push(1));
    let t = thread::spawn(|| STACK.with_borrow(|s| s.len()));
    assert_eq!(t.join().unwrap(), 1);
}
#[test]
fn ok_thread_local_is_not_shared() {
    STACK.with_borrow_mut(|s| s.push(1));
    let t = thread::spawn(|| STACK.with_borrow(|s| s.len()));
    assert_eq!(t.join().unwrap(), 0);
}

// A type holds the key of a thread-local by value, as the nodes of the crate mcslock do.
struct Counter {
    key: thread::LocalKey<Cell<usize>>,
}
thread_local! {
    static KEY: Cell<usize> = const { Cell::new(0) };
}
static COUNTERS: [Counter; 2] = [Counter { key: KEY }, Counter { key: KEY }];
#[test]
fn bug_thread_local_key_by_value() {
    COUNTERS[0].key.set(1);
    let t = thread::spawn(|| COUNTERS[0].key.get());
    assert_eq!(t.join().unwrap(), 1);
}
#[test]
fn ok_thread_local_key_by_value() {
    COUNTERS[0].key.set(1);
    let t = thread::spawn(|| COUNTERS[1].key.replace(2) + COUNTERS[0].key.get() + KEY.get());
    assert_eq!((t.join().unwrap(), COUNTERS[1].key.get(), KEY.get()), (4, 1, 1));
}

// The test relies on sleeps for an order.
#[test]
fn bug_sleep_orders() {
    let n = Arc::new(AtomicUsize::new(0));
    let t = {
        let n = n.clone();
        thread::spawn(move || n.store(1, SeqCst))
    };
    thread::sleep(Duration::from_millis(100));
    assert_eq!(n.load(SeqCst), 1);
    t.join().unwrap();
}
#[test]
fn ok_sleep_takes_time() {
    let begin = Instant::now();
    thread::sleep(Duration::from_secs(3600));
    assert!(begin.elapsed() >= Duration::from_secs(3600));
}

// a spin lock without release
struct Spin(AtomicBool);
impl Spin {
    fn lock(&self) {
        while self.0.compare_exchange_weak(false, true, Acquire, Relaxed).is_err() {
            std::hint::spin_loop();
        }
    }
    fn unlock(&self) {
        self.0.store(false, Release);
    }
}
#[test]
fn bug_spin_early_return() {
    let lock = Spin(AtomicBool::new(false));
    let n = AtomicUsize::new(0);
    let step = || {
        lock.lock();
        let v = n.load(Relaxed);
        n.store(v + 1, Relaxed);
        if v == 1 {
            return; // forgets to unlock
        }
        lock.unlock();
    };
    thread::scope(|s| {
        s.spawn(step);
        s.spawn(step);
        step();
    });
}
#[test]
fn ok_spin() {
    let lock = Spin(AtomicBool::new(false));
    let n = AtomicUsize::new(0);
    let step = || {
        lock.lock();
        let v = n.load(Relaxed);
        n.store(v + 1, Relaxed);
        lock.unlock();
    };
    thread::scope(|s| {
        s.spawn(step);
        s.spawn(step);
    });
    assert_eq!(n.into_inner(), 2);
}

// The test returns before a detached thread has done its work.
static DONE: AtomicBool = AtomicBool::new(false);
#[test]
fn bug_detached() {
    thread::spawn(|| DONE.store(true, SeqCst));
    thread::yield_now();
    assert!(DONE.load(SeqCst));
}
#[test]
fn ok_detached() {
    thread::Builder::new().name("worker".into()).stack_size(64 << 10).spawn(|| DONE.store(true, SeqCst)).unwrap().join().unwrap();
    assert!(DONE.load(SeqCst));
}
// A failure of `try_lock` is ignored.
#[test]
fn bug_try_lock() {
    let lock = Mutex::new(0);
    thread::scope(|s| {
        s.spawn(|| *lock.lock().unwrap() += 1);
        *lock.try_lock().expect("it is free") += 1;
    });
}
#[test]
fn ok_try_lock() {
    let lock = Mutex::new(0);
    thread::scope(|s| {
        s.spawn(|| *lock.lock().unwrap() += 1);
        if let Ok(mut n) = lock.try_lock() {
            *n += 1;
        }
    });
    let n = lock.into_inner().unwrap();
    assert!(n == 1 || n == 2);
}
// Arc::try_unwrap, Arc::into_inner
#[test]
fn bug_try_unwrap() {
    let a = Arc::new(Mutex::new(5));
    let b = a.clone();
    let (tx, rx) = channel();
    let t = thread::spawn(move || {
        *b.lock().unwrap() += 1;
        tx.send(()).unwrap();
        // `b` is dropped after the message
        b
    });
    rx.recv().unwrap();
    // the handle is still in the thread's result
    let n = Arc::try_unwrap(a).expect("the only one").into_inner().unwrap();
    assert_eq!(n, 6);
    drop(t.join());
}
#[test]
fn ok_try_unwrap() {
    let a = Arc::new(Mutex::new(5));
    let b = a.clone();
    let t = thread::spawn(move || {
        *b.lock().unwrap() += 1;
    });
    t.join().unwrap();
    let n = Arc::try_unwrap(a).expect("the only one").into_inner().unwrap();
    assert_eq!(n, 6);
}
// A task that works between its pauses does not wait for time.
fn works(pause: fn()) {
    let queue = Mutex::new(Vec::new());
    let (tx, rx) = channel();
    thread::scope(|s| {
        s.spawn(|| {
            for i in 0..3 {
                queue.lock().unwrap().push(i);
                pause();
            }
            tx.send(()).unwrap();
        });
        rx.recv_timeout(Duration::from_secs(1)).unwrap();
    });
}
#[test]
fn ok_work_between_sleeps() {
    works(|| thread::sleep(Duration::from_millis(10)));
}
#[test]
fn ok_work_between_yields() {
    works(thread::yield_now);
}
