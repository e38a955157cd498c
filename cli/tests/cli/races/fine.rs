//! Tests without data races. This file follows `racy.rs` in the library.

#[cfg(test)]
mod fine {
    use super::*;
    #[test]
    fn published() {
        let s = new();
        let t = {
            let s = s.clone();
            thread::spawn(move || {
                unsafe { *s.cell.get() += 1 };
                s.ready.store(true, Release);
            })
        };
        if s.ready.load(Acquire) {
            assert_eq!(unsafe { *s.cell.get() }, 1);
        }
        t.join().unwrap();
        assert_eq!(unsafe { *s.cell.get() }, 1);
    }
    #[test]
    fn locked() {
        let s = new();
        let t = {
            let s = s.clone();
            thread::spawn(move || {
                s.n.fetch_add(1, SeqCst);
                *s.lock.lock().unwrap() += 1;
            })
        };
        s.n.fetch_add(1, SeqCst);
        *s.lock.lock().unwrap() += 1;
        t.join().unwrap();
        let v: Vec<u64> = (0..10).collect();
        assert_eq!(v.len(), 10);
    }
    struct Counted(u64);
    impl Drop for Counted {
        fn drop(&mut self) {
            self.0 += 1;
        }
    }
    #[test]
    fn dropped() {
        let a = Arc::new(Counted(1));
        let t = {
            let a = a.clone();
            thread::spawn(move || {
                assert_eq!(a.0, 1);
            })
        };
        assert_eq!(a.0, 1);
        drop(a);
        t.join().unwrap();
    }
}

#[cfg(test)]
mod also_fine {
    use std::cell::{Cell, RefCell, UnsafeCell};
    use std::collections::{BTreeMap, HashMap, VecDeque};
    use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering::*, fence};
    use std::sync::{Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock, Weak, mpsc};
    use std::thread;

    struct Plain<T>(UnsafeCell<T>);
    unsafe impl<T: Send> Sync for Plain<T> {}
    impl<T> Plain<T> {
        const fn new(value: T) -> Self {
            Plain(UnsafeCell::new(value))
        }
        fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
            f(unsafe { &mut *self.0.get() })
        }
    }

    #[test]
    fn mutex_of_a_vec() {
        let all = Arc::new(Mutex::new(Vec::new()));
        let tasks: Vec<_> = (0..2)
            .map(|n| {
                let all = all.clone();
                thread::spawn(move || all.lock().unwrap().push(vec![n; 3]))
            })
            .collect();
        for task in tasks {
            task.join().unwrap();
        }
        let mut all = Arc::try_unwrap(all).unwrap().into_inner().unwrap();
        all.sort();
        assert_eq!(all, [[0; 3], [1; 3]]);
    }
    #[test]
    fn mutex_guards_memory_elsewhere() {
        static LOCK: Mutex<()> = Mutex::new(());
        static DATA: Plain<[u64; 3]> = Plain::new([0; 3]);
        let add = || {
            let _held = LOCK.lock().unwrap();
            DATA.with(|data| data[1] += 1);
        };
        let task = thread::spawn(add);
        add();
        task.join().unwrap();
        assert_eq!(DATA.with(|data| data[1]), 2);
    }
    #[test]
    fn rwlock() {
        let map = Arc::new(RwLock::new(HashMap::new()));
        let writer = {
            let map = map.clone();
            thread::spawn(move || map.write().unwrap().insert("one".to_owned(), 1))
        };
        let reader = {
            let map = map.clone();
            thread::spawn(move || map.read().unwrap().get("one").copied())
        };
        let seen = map.read().unwrap().get("one").copied();
        assert!(seen.is_none_or(|one| one == 1));
        writer.join().unwrap();
        assert!(reader.join().unwrap().is_none_or(|one| one == 1));
        assert_eq!(map.read().unwrap()["one"], 1);
    }
    #[test]
    fn condvar() {
        let pair = Arc::new((Mutex::new(VecDeque::new()), Condvar::new()));
        let task = {
            let pair = pair.clone();
            thread::spawn(move || {
                pair.0.lock().unwrap().push_back(Box::new(7));
                pair.1.notify_one();
            })
        };
        let mut queue = pair.0.lock().unwrap();
        while queue.is_empty() {
            queue = pair.1.wait(queue).unwrap();
        }
        assert_eq!(*queue.pop_front().unwrap(), 7);
        drop(queue);
        task.join().unwrap();
    }
    #[test]
    fn once() {
        static ONCE: Once = Once::new();
        static DATA: Plain<Vec<u32>> = Plain::new(Vec::new());
        let init = || {
            ONCE.call_once(|| DATA.with(|data| data.push(5)));
            DATA_len()
        };
        #[allow(non_snake_case)]
        fn DATA_len() -> usize {
            unsafe { (*DATA.0.get()).len() }
        }
        let task = thread::spawn(init);
        assert_eq!(init(), 1);
        assert_eq!(task.join().unwrap(), 1);
    }
    #[test]
    fn once_lock() {
        static NAME: OnceLock<String> = OnceLock::new();
        let get = || NAME.get_or_init(|| "name".to_owned()).len();
        let task = thread::spawn(get);
        assert_eq!(get(), 4);
        assert!(NAME.get().is_some());
        task.join().unwrap();
    }
    #[test]
    fn lazy_lock() {
        static MAP: LazyLock<BTreeMap<u32, String>> =
            LazyLock::new(|| (0..3).map(|n| (n, n.to_string())).collect());
        let task = thread::spawn(|| MAP[&1].len());
        assert_eq!(MAP[&2].len(), 1);
        task.join().unwrap();
    }
    #[test]
    fn channels() {
        let (sender, receiver) = mpsc::channel();
        let tasks: Vec<_> = (0..2)
            .map(|n| {
                let sender = sender.clone();
                thread::spawn(move || {
                    let mut one = Box::new(n);
                    *one += 1;
                    sender.send(one).unwrap();
                })
            })
            .collect();
        drop(sender);
        let mut all: Vec<_> = receiver.iter().map(|one| *one).collect();
        all.sort();
        assert_eq!(all, [1, 2]);
        for task in tasks {
            task.join().unwrap();
        }
    }
    #[test]
    fn a_receive_makes_room() {
        static COUNT: Plain<u32> = Plain::new(0);
        let (sender, receiver) = mpsc::sync_channel(1);
        let task = thread::spawn(move || {
            COUNT.with(|count| *count += 1);
            receiver.recv().unwrap();
            receiver.recv().unwrap();
        });
        sender.send(1).unwrap();
        sender.send(2).unwrap();
        COUNT.with(|count| assert_eq!(*count, 1));
        task.join().unwrap();
    }
    #[test]
    fn bounded_channels() {
        let (sender, receiver) = mpsc::sync_channel(0);
        let task = thread::spawn(move || sender.send(vec![1, 2, 3]).unwrap());
        assert_eq!(receiver.recv().unwrap().len(), 3);
        task.join().unwrap();
        let (sender, receiver) = mpsc::sync_channel::<String>(1);
        let task = thread::spawn(move || {
            sender.send("a".into()).unwrap();
        });
        drop(task);
        drop(receiver.recv());
        // A message that is not received is dropped with its channel.
        let (sender, receiver) = mpsc::channel();
        let task = thread::spawn(move || sender.send(Box::new(Noted::new())).is_ok());
        drop(receiver);
        task.join().unwrap();
    }
    #[test]
    fn barrier() {
        let data = Arc::new((Barrier::new(2), [Plain::new(0), Plain::new(0)]));
        let step = |data: Arc<(Barrier, [Plain<u32>; 2])>, at: usize| {
            data.1[at].with(|own| *own = 1);
            data.0.wait();
            data.1[1 - at].with(|other| *other + 0)
        };
        let task = {
            let data = data.clone();
            thread::spawn(move || step(data, 0))
        };
        assert_eq!(step(data, 1), 1);
        assert_eq!(task.join().unwrap(), 1);
    }
    #[test]
    fn scopes() {
        let mut numbers = vec![1, 2, 3, 4];
        let mut sum = 0;
        let total = AtomicUsize::new(0);
        thread::scope(|scope| {
            let (left, right) = numbers.split_at_mut(2);
            let task = scope.spawn(move || {
                left.iter_mut().for_each(|n| *n *= 2);
                left.len()
            });
            scope.spawn(|| {
                right.iter_mut().for_each(|n| *n *= 3);
                total.fetch_add(1, Relaxed);
            });
            sum += task.join().unwrap();
        });
        assert_eq!((numbers, sum, total.into_inner()), (vec![2, 4, 9, 12], 2, 1));
    }
    #[test]
    fn spawn_and_join() {
        let mut data = Box::new([0u8; 400]);
        data[3] = 1;
        let data = thread::spawn(move || {
            data[4] = data[3] + 1;
            data
        })
        .join()
        .unwrap();
        let name = thread::Builder::new()
            .name("named".into())
            .spawn(|| thread::current().name().map(str::to_owned))
            .unwrap();
        assert_eq!((data[4], name.join().unwrap().as_deref()), (2, Some("named")));
        let failed = thread::spawn(|| {
            if true {
                panic!("{}", "as it should".to_owned())
            }
        });
        assert_eq!(
            failed.join().unwrap_err().downcast_ref::<String>().unwrap(),
            "as it should"
        );
    }
    #[test]
    fn parking() {
        let data = Arc::new((AtomicBool::new(false), Plain::new(0)));
        let task = {
            let data = data.clone();
            thread::spawn(move || {
                while !data.0.load(Acquire) {
                    thread::park();
                }
                data.1.with(|n| *n)
            })
        };
        data.1.with(|n| *n = 3);
        data.0.store(true, Release);
        task.thread().unpark();
        assert_eq!(task.join().unwrap(), 3);
    }
    #[test]
    fn park_alone_orders() {
        static DATA: Plain<u32> = Plain::new(0);
        let main = thread::current();
        let task = thread::spawn(move || {
            DATA.with(|n| *n = 1);
            main.unpark();
        });
        thread::park();
        let _maybe = task.is_finished();
        task.join().unwrap();
        assert_eq!(DATA.with(|n| *n), 1);
    }
    thread_local! {
        static MINE: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
        static COUNT: Cell<u32> = Cell::new(0);
        static NOTED: Noted = Noted::new();
    }
    #[test]
    fn thread_locals() {
        let work = || {
            NOTED.with(|_| ());
            COUNT.set(COUNT.get() + 1);
            MINE.with_borrow_mut(|mine| {
                mine.push(1);
                mine.len()
            })
        };
        let tasks = [thread::spawn(work), thread::spawn(work)];
        assert_eq!(work(), 1);
        for task in tasks {
            assert_eq!(task.join().unwrap(), 1);
        }
    }
    struct Noted {
        at: Box<u32>,
    }
    impl Noted {
        fn new() -> Noted {
            Noted { at: Box::new(0) }
        }
    }
    impl Drop for Noted {
        fn drop(&mut self) {
            *self.at += 1;
        }
    }
    #[test]
    fn arcs() {
        let mut one = Arc::new(Noted::new());
        *Arc::get_mut(&mut one).unwrap().at = 5;
        let weak = Arc::downgrade(&one);
        let task = {
            let one = one.clone();
            thread::spawn(move || {
                let seen = *one.at;
                drop(one);
                seen
            })
        };
        let other = thread::spawn(move || weak.upgrade().map(|one| *one.at));
        if let Some(one) = Arc::get_mut(&mut one) {
            *one.at += 1;
        }
        match Arc::try_unwrap(one) {
            Ok(mut one) => *one.at += 1,
            Err(one) => drop(one),
        }
        assert_eq!(task.join().unwrap(), 5);
        other.join().unwrap();
    }
    #[test]
    fn arcs_made_unique() {
        let one = Arc::new(vec![1, 2]);
        let task = {
            let mut one = one.clone();
            thread::spawn(move || {
                Arc::make_mut(&mut one).push(3);
                one.len()
            })
        };
        let mut mine = one;
        Arc::make_mut(&mut mine)[0] = 7;
        assert_eq!((mine[0], mine.len(), task.join().unwrap()), (7, 2, 3));
        let inner = task_of(mine);
        assert_eq!(inner, Some(2));
    }
    fn task_of(one: Arc<Vec<u32>>) -> Option<usize> {
        let two = one.clone();
        let task = thread::spawn(move || Arc::into_inner(two).map(|one| one.len()));
        let mine = Arc::into_inner(one).map(|one| one.len());
        task.join().unwrap().or(mine)
    }
    #[test]
    fn arcs_in_cycles() {
        struct Node {
            me: Weak<Node>,
            text: Mutex<String>,
        }
        let node = Arc::new_cyclic(|me| Node {
            me: me.clone(),
            text: Mutex::new("a".into()),
        });
        let task = {
            let node = node.me.upgrade().unwrap();
            thread::spawn(move || node.text.lock().unwrap().push('b'))
        };
        node.text.lock().unwrap().push('c');
        task.join().unwrap();
        assert_eq!(node.text.lock().unwrap().len(), 3);
        let slice: Arc<[String]> = Arc::from(vec!["a".to_owned(), "b".to_owned()]);
        let task = {
            let slice = slice.clone();
            thread::spawn(move || slice[0].len())
        };
        drop(slice);
        task.join().unwrap();
    }
    #[test]
    fn fences() {
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
            fence(Acquire);
            assert_eq!(data.1.with(|n| n[2]), 3);
        }
        task.join().unwrap();
    }
    #[test]
    fn stack_of_pointers() {
        struct Node {
            value: Noted,
            next: *mut Node,
        }
        static HEAD: AtomicPtr<Node> = AtomicPtr::new(std::ptr::null_mut());
        let push = |value: u32| {
            let node = Box::into_raw(Box::new(Node {
                value: Noted { at: Box::new(value) },
                next: std::ptr::null_mut(),
            }));
            let mut head = HEAD.load(Relaxed);
            loop {
                unsafe { (*node).next = head };
                match HEAD.compare_exchange_weak(head, node, Release, Relaxed) {
                    Ok(_) => break,
                    Err(now) => head = now,
                }
            }
        };
        let take_all = || {
            let (mut at, mut sum) = (HEAD.swap(std::ptr::null_mut(), Acquire), 0);
            while !at.is_null() {
                let node = unsafe { Box::from_raw(at) };
                sum += *node.value.at;
                at = node.next;
            }
            sum
        };
        let task = thread::spawn(move || push(1));
        push(2);
        let seen = take_all();
        task.join().unwrap();
        assert_eq!(seen + take_all(), 3);
    }
    #[test]
    fn detached() {
        let done = Arc::new((Mutex::new(Noted::new()), Condvar::new()));
        {
            let done = done.clone();
            thread::spawn(move || {
                *done.0.lock().unwrap().at = 1;
                done.1.notify_all();
                Noted::new()
            });
        }
        let guard = done
            .1
            .wait_while(done.0.lock().unwrap(), |noted| *noted.at == 0)
            .unwrap();
        assert_eq!(*guard.at, 1);
    }
    #[test]
    fn formatted() {
        let text = Arc::new(format!("{:?}", (1, "two", [3.0])));
        let task = {
            let text = text.clone();
            thread::spawn(move || text.chars().filter(|c| c.is_ascii_digit()).count())
        };
        assert_eq!(task.join().unwrap(), 3, "{text}");
    }
    /// Returns the values of the atomics in an `Arc` if this is the last handle.
    fn last(all: Arc<[AtomicUsize; 2]>) -> Option<[usize; 2]> {
        Some(Arc::try_unwrap(all).ok()?.map(|n| n.load(Relaxed)))
    }
    #[test]
    fn the_last_owner_reads_what_was_stored() {
        let all = Arc::new([const { AtomicUsize::new(0) }; 2]);
        let task = {
            let all = all.clone();
            thread::spawn(move || {
                all[0].store(1, Relaxed);
                all[1].store(2, Relaxed);
                last(all)
            })
        };
        let own = last(all);
        let others = task.join().unwrap();
        assert!(own.or(others).is_none_or(|all| all == [1, 2]));
        assert!(own.is_none() || others.is_none());
    }
    #[test]
    fn one_owner_reads_and_writes_alone() {
        let mut all = Arc::new([const { AtomicUsize::new(0) }; 2]);
        let task = {
            let all = all.clone();
            thread::spawn(move || all[0].store(1, Relaxed))
        };
        if let Some([one, two]) = Arc::get_mut(&mut all) {
            assert_eq!(one.load(Relaxed), 1);
            *two.get_mut() = 5;
            assert_eq!(two.load(Relaxed), 5);
        }
        task.join().unwrap();
    }
    struct Checked(AtomicUsize, Arc<AtomicUsize>);
    impl Drop for Checked {
        fn drop(&mut self) {
            assert_eq!(self.0.load(Relaxed), 2);
            self.1.fetch_add(1, Relaxed);
        }
    }
    #[test]
    fn the_last_owner_drops_what_was_stored() {
        let dropped = Arc::new(AtomicUsize::new(0));
        let shared = Arc::new(Checked(AtomicUsize::new(0), dropped.clone()));
        let task = {
            let shared = shared.clone();
            thread::spawn(move || shared.0.fetch_add(1, Relaxed))
        };
        shared.0.fetch_add(1, Relaxed);
        drop(shared);
        task.join().unwrap();
        assert_eq!(dropped.load(Relaxed), 1);
    }
    /// An `Arc` that a thread-local, a channel or a result holds is dropped by none of the test's own functions.
    #[test]
    fn owners_that_others_drop() {
        thread_local! {
            static KEPT: RefCell<Vec<Arc<AtomicUsize>>> = const { RefCell::new(Vec::new()) };
        }
        let shared = Arc::new(AtomicUsize::new(0));
        let (sender, receiver) = mpsc::channel();
        sender.send(shared.clone()).unwrap();
        let task = {
            let shared = shared.clone();
            thread::spawn(move || {
                shared.store(1, Relaxed);
                KEPT.with_borrow_mut(|kept| kept.push(shared.clone()));
                drop(receiver);
                shared
            })
        };
        drop((sender, shared));
        drop(task);
    }
    #[test]
    fn stacks_that_are_used_again() {
        fn counted(from: usize) {
            let n = AtomicUsize::new(from);
            let set = AtomicBool::new(false);
            thread::scope(|scope| {
                scope.spawn(|| n.fetch_add(1, Relaxed));
                scope.spawn(|| set.store(true, Relaxed));
            });
            assert!(n.load(Relaxed) == from + 1 && set.load(Relaxed));
        }
        (0..3).for_each(|n| counted(n % 2));
    }
    #[test]
    fn fences_order_relaxed_accesses() {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        static IS_THERE: AtomicBool = AtomicBool::new(false);
        let task = thread::spawn(|| {
            NUMBER.store(7, Relaxed);
            fence(Release);
            IS_THERE.store(true, Relaxed);
        });
        if IS_THERE.load(Relaxed) {
            fence(Acquire);
            assert_eq!(NUMBER.load(Relaxed), 7);
        }
        task.join().unwrap();
    }
    /// The system makes every thread execute a fence, so the other side needs only a compiler fence.
    #[cfg(target_os = "linux")]
    #[test]
    fn the_system_orders_threads() {
        use std::ffi::{c_int, c_long};
        use std::sync::atomic::compiler_fence;
        unsafe extern "C" {
            fn syscall(number: c_long, command: c_int, flags: c_int, processor: c_int) -> c_long;
        }
        #[cfg(target_arch = "x86_64")]
        const MEMBARRIER: c_long = 324;
        #[cfg(target_arch = "aarch64")]
        const MEMBARRIER: c_long = 283;
        static WISHES: [AtomicBool; 2] = [const { AtomicBool::new(false) }; 2];
        let barrier = |command| unsafe { syscall(MEMBARRIER, command, 0, 0) } == 0;
        // Registers the process for the barrier, which not every system has.
        if !barrier(1 << 4) {
            return;
        }
        let task = thread::spawn(|| {
            WISHES[0].store(true, Relaxed);
            compiler_fence(SeqCst);
            WISHES[1].load(Relaxed)
        });
        WISHES[1].store(true, Relaxed);
        barrier(1 << 3);
        let seen = WISHES[0].load(Relaxed);
        assert!(task.join().unwrap() || seen);
    }
}
