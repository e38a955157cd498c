//! State that belongs to a task or to an execution: thread-locals, cells, wakers, random sources.

use ::rand::Rng;
use intermezzo_explorer::cell::{Cell, UnsafeCell};
use intermezzo_explorer::future::{block_on, pending, poll_fn};
use intermezzo_explorer::sync::atomic::{AtomicU32, Ordering::SeqCst};
use intermezzo_explorer::sync::{Condvar, Mutex};
use intermezzo_explorer::task::Poll;
use intermezzo_explorer::thread::thread_local;
use intermezzo_explorer::{Coverage, Environment, Explorer, Reduction, Report, future, rand, task, thread};
use intermezzo_sdk::{Context, DataVarAccess, Interests, Monitor};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex as StdMutex};

fn explore(test: impl Fn() + Send + Sync) -> Report {
    Explorer::new().environment(Environment::calm()).explore(test)
}

#[track_caller]
fn passes(report: &Report) -> u64 {
    assert!(report.verdict().is_pass(), "{report}");
    assert_eq!(*report.coverage(), Coverage::Exhaustive);
    report.executions()
}

#[track_caller]
fn only_finding(report: &Report) -> (String, &str) {
    let [finding] = report.findings() else {
        panic!("one finding, not {}: {report}", report.findings().len())
    };
    (finding.kind.as_str().to_string(), &finding.message)
}

thread_local! {
    static COUNT: Cell<u32> = const { Cell::new(0) };
    static KEPT: std::cell::RefCell<Vec<Noisy>> = const { std::cell::RefCell::new(Vec::new()) };
}

/// Uses thread-locals when it is dropped.
struct Noisy;

impl Drop for Noisy {
    fn drop(&mut self) {
        COUNT.set(COUNT.get() + 1);
        // If the destructor of `KEPT` runs this, `KEPT` cannot be reached.
        let _ = KEPT.try_with(|kept| kept.borrow().len());
    }
}

#[test]
fn thread_locals_are_fresh_in_each_task_of_each_execution() {
    let raced = Arc::new(StdMutex::new(0));
    let seen = raced.clone();
    let executions = passes(&explore(move || {
        let shared = AtomicU32::new(0);
        let work = || {
            assert_eq!(COUNT.replace(1), 0);
            shared.fetch_add(1, SeqCst);
            KEPT.with_borrow_mut(|kept| kept.push(Noisy));
            assert_eq!(COUNT.get(), 1);
        };
        thread::scope(|s| {
            s.spawn(work);
            s.spawn(work);
        });
        work();
        *seen.lock().unwrap() += 1;
    }));
    assert_eq!((executions, *raced.lock().unwrap()), (2, 2));
}

#[test]
fn leftovers_may_use_thread_locals_when_they_are_dropped() {
    struct Kept(UnsafeCell<Vec<Noisy>>);
    // SAFETY: used by one task.
    unsafe impl Sync for Kept {}
    static KEPT_FOR_EVER: Kept = Kept(UnsafeCell::new(Vec::new()));
    let report = explore(|| {
        // SAFETY: the first task alone uses it.
        unsafe { (*KEPT_FOR_EVER.0.get()).push(Noisy) };
        let (mutex, condvar) = (Mutex::new(()), Condvar::new());
        drop(thread::spawn(|| Noisy));
        std::mem::forget(thread::spawn(|| Noisy));
        let noisy = Noisy;
        thread::scope(|s| {
            s.spawn(|| drop(condvar.wait(mutex.lock().unwrap())));
            s.spawn(move || drop(noisy));
        });
    });
    let (kind, message) = only_finding(&report);
    assert_eq!(kind, "deadlock", "{message}");
    // The runtime still works: the next execution with the same thread-locals passes.
    passes(&explore(|| drop(Noisy)));
}

#[test]
fn a_panic_in_a_destructor_of_a_thread_local_is_a_finding() {
    struct Panics(&'static str);
    impl Drop for Panics {
        fn drop(&mut self) {
            panic!("dropping {}", self.0);
        }
    }
    thread_local! {
        static FIRST: Panics = const { Panics("first") };
        static SECOND: Panics = const { Panics("second") };
    }
    let report = explore(|| {
        let thread = thread::spawn(|| FIRST.with(|_| SECOND.with(|_| ())));
        assert!(thread.join().is_ok());
    });
    let (kind, message) = only_finding(&report);
    assert_eq!(kind, "panic");
    // Both were dropped; the later panic is the one reported.
    assert!(message.contains("dropping first"), "{message}");
}

/// A cell that claims to be shared properly.
struct Shared<T>(T);
// SAFETY: only as far as the tests use it properly.
unsafe impl<T> Sync for Shared<T> {}

#[test]
fn cells_in_statics_are_fresh() {
    static CELL: Shared<Cell<u32>> = Shared(Cell::new(5));
    let executions = passes(&explore(|| {
        assert_eq!(CELL.0.replace(6), 5);
        let n = AtomicU32::new(0);
        thread::scope(|s| {
            s.spawn(|| n.store(1, SeqCst));
            s.spawn(|| n.store(2, SeqCst));
        });
    }));
    assert_eq!(executions, 2);
}

#[test]
fn a_cell_carried_from_one_execution_to_the_next_is_found() {
    let carried = Shared(Cell::new(0));
    let carried = &carried;
    let report = explore(move || {
        let carried = carried;
        carried.0.set(carried.0.get() + 1);
        let n = AtomicU32::new(0);
        thread::scope(|s| {
            s.spawn(|| n.store(1, SeqCst));
            s.spawn(|| n.store(2, SeqCst));
        });
    });
    let (kind, message) = only_finding(&report);
    assert_eq!(kind, "misuse");
    assert!(
        message.starts_with("the cell used at explorer/short/tests/task_state.rs:"),
        "{message}"
    );
}

/// Records location, size and kind of each access to data.
struct Accesses(Arc<StdMutex<Vec<(u32, u32, bool)>>>);

impl Monitor for Accesses {
    fn name(&self) -> &str {
        "accesses"
    }
    fn interests(&self) -> Interests {
        Interests::DATA_ACCESSES
    }
    fn reduction_compatible(&self) -> bool {
        true
    }
    fn on_data_var_access(&mut self, access: &DataVarAccess, _: &mut Context<'_>) {
        self.0
            .lock()
            .unwrap()
            .push((access.location.0, access.size, access.is_write));
    }
}

#[test]
fn accesses_to_cells_are_published() {
    let accesses = Arc::new(StdMutex::new(Vec::new()));
    let report = Explorer::new().monitor(Accesses(accesses.clone())).explore(|| {
        let (cell, raw, other) = (Cell::new(1u32), UnsafeCell::new([0u8; 3]), Cell::new(2));
        cell.get();
        cell.set(2);
        raw.get();
        cell.update(|n| n + 1);
        cell.swap(&other);
        cell.as_ptr();
    });
    passes(&report);
    let (read, write) = ((0, 4, false), (0, 4, true));
    assert_eq!(
        *accesses.lock().unwrap(),
        [read, write, (1, 3, false), read, write, write, (2, 4, true)]
    );
}

#[test]
fn a_waker_that_is_never_called_is_a_deadlock() {
    let report = explore(|| block_on(pending::<()>()));
    let (kind, message) = only_finding(&report);
    assert_eq!(kind, "deadlock");
    let site = "explorer/short/tests/task_state.rs:";
    assert!(
        message.starts_with(&format!(
            "no task can continue: main waits to be unparked at {site}"
        )),
        "{message}"
    );
}

#[test]
fn a_task_that_wakes_itself_again_and_again_gives_way() {
    let by_waker = || {
        let flag = Arc::new(AtomicU32::new(0));
        let theirs = flag.clone();
        let task = thread::spawn(move || theirs.store(1, SeqCst));
        block_on(poll_fn(|context| {
            if flag.load(SeqCst) == 1 {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            Poll::Pending
        }));
        task.join().unwrap();
    };
    let by_token = || {
        let flag = Arc::new(AtomicU32::new(0));
        let theirs = flag.clone();
        let task = thread::spawn(move || theirs.store(1, SeqCst));
        while flag.load(SeqCst) == 0 {
            thread::current().unpark();
            thread::park();
        }
        task.join().unwrap();
    };
    // An executor that was woken does not park: it polls again at once, as that of the crate futures does.
    let without_park = || {
        let flag = Arc::new(AtomicU32::new(0));
        let theirs = flag.clone();
        let task = thread::spawn(move || theirs.store(1, SeqCst));
        let woken = AtomicU32::new(0);
        while flag.load(SeqCst) == 0 {
            woken.store(1, SeqCst);
            thread::current().unpark();
            while woken.swap(0, SeqCst) == 0 {
                thread::park();
            }
        }
        task.join().unwrap();
    };
    for test in [by_waker as fn(), by_token, without_park] {
        for reduction in [
            Reduction::None,
            Reduction::Caching,
            Reduction::SourceDpor,
            Reduction::Dpor,
        ] {
            let calm = Explorer::new().environment(Environment::calm());
            let report = calm.reduction(reduction).explore(test);
            assert!(report.verdict().is_pass(), "{reduction:?}: {report}");
        }
    }
}

#[test]
fn a_task_that_wakes_itself_a_few_times_leaves_no_schedule_out() {
    let report = explore(|| {
        let flag = Arc::new(AtomicU32::new(0));
        let theirs = flag.clone();
        let task = thread::spawn(move || theirs.store(1, SeqCst));
        let mut polls = 0;
        block_on(poll_fn(|context| {
            polls += 1;
            flag.fetch_add(2, SeqCst);
            // It wakes itself eight times, and adds in between.
            if polls == 9 {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            Poll::Pending
        }));
        task.join().unwrap();
    });
    passes(&report);
}

#[test]
fn a_lost_wake_up_is_found() {
    // The flag is read before the waker is left: a setter in between wakes no task.
    let report = explore(|| {
        let shared = Arc::new((AtomicU32::new(0), Mutex::new(None::<task::Waker>)));
        let setter = shared.clone();
        thread::spawn(move || {
            setter.0.store(1, SeqCst);
            if let Some(waker) = setter.1.lock().unwrap().take() {
                waker.wake();
            }
        });
        block_on(poll_fn(|context| {
            if shared.0.load(SeqCst) == 1 {
                return Poll::Ready(());
            }
            *shared.1.lock().unwrap() = Some(context.waker().clone());
            Poll::Pending
        }));
    });
    assert_eq!(only_finding(&report).0, "deadlock");
}

#[test]
fn spawned_futures_run_and_are_awaited() {
    let body = || {
        let shared = Arc::new(AtomicU32::new(0));
        let add = |n: u32| {
            let shared = shared.clone();
            future::spawn(async move {
                shared.fetch_add(n, SeqCst);
                task::yield_now().await;
                n
            })
        };
        let sum = block_on(async {
            let (one, two) = (add(1), add(2));
            one.await.unwrap() + two.await.unwrap()
        });
        assert_eq!((sum, shared.load(SeqCst)), (3, 3));
    };
    passes(&Explorer::new().environment(Environment::calm()).explore(|| {
        let sum = block_on(async { task::spawn(async { 1 }).await.unwrap() + 1 });
        assert_eq!(sum, 2);
    }));
    let report = Explorer::new()
        .environment(Environment::calm())
        .preemptions(1)
        .explore(body);
    assert!(report.verdict().is_pass(), "{report}");
    body();
}

#[test]
fn a_panic_of_a_spawned_future_goes_to_who_awaits_it() {
    let awaited = || {
        let failing = future::spawn(async { panic!("in a future") });
        let error = block_on(failing).unwrap_err();
        assert_eq!(*error.downcast::<&str>().unwrap(), "in a future");
    };
    passes(&explore(awaited));
    awaited();
    let report = explore(|| drop(future::spawn(async { panic!("unseen") })));
    let (kind, message) = only_finding(&report);
    assert_eq!(kind, "panic");
    assert!(message.contains("unseen"), "{message}");
}

#[test]
fn finished_futures_say_so() {
    passes(&explore(|| {
        let spawned = future::spawn(async {});
        while !spawned.is_finished() {
            thread::yield_now();
        }
        block_on(spawned).unwrap();
    }));
}

/// Returns the numbers of each source, by the name of the task that made it.
fn drawn(seed: u64) -> BTreeMap<String, u64> {
    let drawn = StdMutex::new(BTreeMap::new());
    let environment = Environment {
        seed,
        ..Environment::calm()
    };
    let report = Explorer::new().environment(environment).explore(|| {
        let draw = |name: &str| {
            let number = rand::rng().next_u64();
            let before = drawn.lock().unwrap().insert(name.to_string(), number);
            assert!(
                before.is_none_or(|before| before == number),
                "{name} drew another number"
            );
        };
        let n = AtomicU32::new(0);
        draw("main");
        draw("main again");
        thread::scope(|s| {
            let both = |name: &'static str| {
                let (n, draw) = (&n, &draw);
                move || {
                    n.fetch_add(1, SeqCst);
                    s.spawn(move || draw(&format!("{name}.1")));
                    draw(name);
                }
            };
            s.spawn(both("1"));
            s.spawn(both("2"));
        });
    });
    assert_eq!(passes(&report), 2);
    drawn.into_inner().unwrap()
}

#[test]
fn random_numbers_depend_on_seed_and_lineage_only() {
    let numbers = drawn(0);
    assert_eq!(numbers, drawn(0));
    // The same in every process and version: a schedule that was recorded must replay.
    assert_eq!(numbers["main"], 4_526_510_421_850_589_242);
    let mut all: Vec<u64> = (0..3).flat_map(|seed| drawn(seed).into_values()).collect();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 3 * 6, "no two sources are alike");
}

#[test]
fn random_numbers_outside_begin_anew_on_each_thread() {
    let draw = || [rand::rng().next_u64(), rand::rng().next_u64()];
    let [one, two] =
        [std::thread::spawn(draw), std::thread::spawn(draw)].map(|thread| thread.join().unwrap());
    assert_eq!(one, two);
    assert_ne!(one[0], one[1]);
    let mut bytes = [0; 13];
    rand::rng().fill_bytes(&mut bytes);
    assert_ne!(bytes, [0; 13]);
}
