//! Orders of effects inside an operation, or without an operation. The expected outcomes follow from std's documentation,
//! and are listed here.

use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::sync::{Arc, Weak};
use intermezzo_explorer::thread::{self, JoinHandle, ThreadId};
use intermezzo_explorer::{Coverage, Environment, Explorer, Reduction, Strategy, quiesce};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::mem::MaybeUninit;
use std::sync::{Arc as Plain, Mutex as PlainMutex};

/// Asserts that every search shows exactly these values.
fn assert_shown<T: Ord + Debug + Clone + Send + 'static, const N: usize>(
    wanted: [T; N],
    test: impl Fn() -> T + Send + Sync + 'static,
) {
    let (wanted, test) = (BTreeSet::from(wanted), Plain::new(test));
    let explorer = || {
        let explorer = Explorer::new().environment(Environment::calm());
        explorer.keep_going(true).minimise(0)
    };
    let searches = [
        ("the reference", explorer().every_operation(true)),
        ("dfs", explorer()),
        ("caching", explorer().reduction(Reduction::Caching)),
        ("source-dpor", explorer().reduction(Reduction::SourceDpor)),
        ("dpor", explorer().reduction(Reduction::Dpor)),
        ("auto", explorer().strategy(Strategy::auto())),
        (
            "dpor by two workers",
            explorer().reduction(Reduction::Dpor).jobs(2),
        ),
    ];
    for (name, explorer) in searches {
        let seen = Plain::new(PlainMutex::new(BTreeSet::new()));
        let (shown, test) = (seen.clone(), test.clone());
        let report = explorer.explore(move || {
            let value = test();
            shown.lock().unwrap().insert(value);
        });
        assert_eq!(*report.coverage(), Coverage::Exhaustive, "{name}: {report}");
        assert!(report.verdict().is_pass(), "{name}: {report}");
        assert_eq!(*seen.lock().unwrap(), wanted, "{name}");
    }
}

#[test]
fn a_weak_handle_may_be_upgraded_before_the_value_exists() {
    assert_shown([false, true], || {
        let mut task = None;
        let _arc = Arc::new_cyclic(|weak: &Weak<u8>| {
            let weak = weak.clone();
            task = Some(thread::spawn(move || weak.upgrade().is_some()));
            1
        });
        task.expect("it was created").join().unwrap()
    });
}

#[test]
fn a_weak_handle_is_dropped_before_the_value_exists_or_later() {
    assert_shown([0, 1], || {
        let (mut task, flag) = (None, AtomicUsize::new(0));
        let arc = Arc::new_cyclic(|weak: &Weak<u8>| {
            let weak = weak.clone();
            task = Some(thread::spawn(move || drop(weak)));
            flag.store(1, SeqCst);
            1
        });
        let count = Arc::weak_count(&arc);
        task.expect("it was created").join().unwrap();
        count
    });
}

/// A value that notes on which thread it is dropped.
struct Noted(Plain<PlainMutex<Vec<ThreadId>>>);

impl Drop for Noted {
    fn drop(&mut self) {
        self.0.lock().unwrap().push(thread::current().id());
    }
}

/// Lets two tasks drop a handle each. Returns `true` if this one dropped the value.
fn drop_both(arc: impl FnOnce(Noted) -> Arc<Noted>) -> bool {
    let noted = Plain::new(PlainMutex::new(Vec::new()));
    let arc = arc(Noted(noted.clone()));
    let other = arc.clone();
    let task = thread::spawn(move || drop(other));
    drop(arc);
    task.join().unwrap();
    let noted = noted.lock().unwrap();
    assert_eq!(noted.len(), 1);
    noted[0] == thread::current().id()
}

#[test]
fn either_task_drops_a_value_whose_memory_existed_first() {
    assert_shown([false, true], || {
        drop_both(|value| {
            let mut arc = Arc::new_uninit();
            Arc::get_mut(&mut arc).unwrap().write(value);
            // SAFETY: the value is there.
            unsafe { arc.assume_init() }
        })
    });
    assert_shown([false, true], || {
        // SAFETY: the value is there.
        drop_both(|value| unsafe { Arc::new(MaybeUninit::new(value)).assume_init() })
    });
    assert_shown([false, true], || {
        drop_both(|value| {
            let pointer = Arc::into_raw(Arc::new(MaybeUninit::new(value)));
            // SAFETY: the value exists, and the other type has the same layout.
            unsafe { Arc::from_raw(pointer.cast()) }
        })
    });
}

#[test]
fn memory_becomes_a_value_before_another_handle_ends_or_later() {
    // If the handle on mere memory is the last, the value is not dropped.
    assert_shown([0, 1], || {
        let noted = Plain::new(PlainMutex::new(Vec::new()));
        let arc = Arc::new(MaybeUninit::new(Noted(noted.clone())));
        let other = arc.clone();
        let task = thread::spawn(move || drop(other));
        // SAFETY: the value is there.
        drop(unsafe { arc.assume_init() });
        task.join().unwrap();
        noted.lock().unwrap().len()
    });
}

/// Detaches a task that returns a value with a destructor. Returns `true` if this task dropped it.
fn detach(
    body: impl FnOnce(Noted) -> Noted + Send + 'static,
    detach: impl FnOnce(JoinHandle<Noted>),
) -> bool {
    let noted = Plain::new(PlainMutex::new(Vec::new()));
    let value = Noted(noted.clone());
    let task = thread::spawn(move || body(value));
    detach(task);
    quiesce();
    let noted = noted.lock().unwrap();
    assert_eq!(noted.len(), 1);
    noted[0] == thread::current().id()
}

#[test]
fn a_result_is_dropped_by_its_task_or_with_the_handle() {
    assert_shown([false, true], || detach(|value| value, drop));
    let flag = || Plain::new(AtomicUsize::new(0));
    assert_shown([false, true], move || {
        let (flag, other) = (flag(), AtomicUsize::new(0));
        let body = move |value| {
            flag.store(1, SeqCst);
            value
        };
        detach(body, |task| {
            other.store(1, SeqCst);
            drop(task);
        })
    });
    // A task that was found ended has given up its result.
    assert_shown([(false, false), (false, true), (true, true)], || {
        let mut ended = false;
        let dropped = detach(
            |value| value,
            |task| {
                ended = task.is_finished();
                drop(task);
            },
        );
        (ended, dropped)
    });
    // The last store comes before the end of the task, which may come later than the load.
    assert_shown([(0, false), (0, true), (1, false), (1, true)], || {
        let flag = Plain::new(AtomicUsize::new(0));
        let (theirs, mut loaded) = (flag.clone(), 0);
        let body = move |value| {
            theirs.store(1, SeqCst);
            value
        };
        let dropped = detach(body, |task| {
            loaded = flag.load(SeqCst);
            drop(task);
        });
        (loaded, dropped)
    });
}

#[test]
fn a_scope_waits_until_results_are_dropped() {
    assert_shown([false, true], || {
        let noted = Plain::new(PlainMutex::new(Vec::new()));
        let borrowed = AtomicUsize::new(0);
        struct Borrows<'a>(
            #[allow(dead_code, reason = "its destructor")] Noted,
            &'a AtomicUsize,
        );
        impl Drop for Borrows<'_> {
            fn drop(&mut self) {
                let Borrows(_, borrowed) = self;
                borrowed.store(1, SeqCst);
            }
        }
        thread::scope(|scope| {
            let value = Borrows(Noted(noted.clone()), &borrowed);
            drop(scope.spawn(|| value));
        });
        assert_eq!(borrowed.load(SeqCst), 1);
        let noted = noted.lock().unwrap();
        noted[0] == thread::current().id()
    });
}

#[test]
fn a_result_that_is_joined_costs_nothing() {
    let report = Explorer::new().explore(|| {
        let tasks = [0, 1].map(|n| thread::spawn(move || vec![n]));
        let _ = tasks.map(|task| task.join().unwrap());
    });
    assert_eq!(report.executions(), 1);
}

thread::thread_local! {
    static USED: Cell<bool> = const { Cell::new(false) };
    static NAMED: RefCell<Option<Named>> = const { RefCell::new(None) };
}

#[test]
fn a_task_with_thread_locals_drops_its_result_or_leaves_it_to_the_handle() {
    let body = |value| {
        USED.set(true);
        value
    };
    assert_shown([false, true], move || detach(body, drop));
}

/// The threads by which the result and the thread-local value of a task were dropped, in this order or the other one.
#[test]
fn a_result_and_a_thread_local_are_dropped_in_both_orders() {
    let test = || {
        let noted = Plain::new(PlainMutex::new(Vec::new()));
        let flag = Plain::new(AtomicUsize::new(0));
        let (result, kept) = (
            Named("result", noted.clone(), flag.clone()),
            Named("kept", noted.clone(), flag.clone()),
        );
        let task = thread::spawn(move || {
            NAMED.with_borrow_mut(|named| *named = Some(kept));
            result
        });
        drop(task);
        quiesce();
        let noted = noted.lock().unwrap();
        noted.join(" ")
    };
    assert_shown(
        ["kept main's result", "main's result kept", "result kept"].map(String::from),
        test,
    );
}

/// A value that notes its name when it is dropped, and if the main task does that.
struct Named(&'static str, Plain<PlainMutex<Vec<String>>>, Plain<AtomicUsize>);

impl Drop for Named {
    fn drop(&mut self) {
        self.2.fetch_add(1, SeqCst);
        let by = match thread::current().name() {
            Some(_) => "main's ",
            None => "",
        };
        self.1.lock().unwrap().push(format!("{by}{}", self.0));
    }
}

#[test]
fn a_scope_waits_for_ever_for_a_result_whose_handle_was_leaked() {
    // std's scope does so, too, because the packet with the result is never dropped.
    let report = Explorer::new().explore(|| {
        let borrowed = AtomicUsize::new(0);
        thread::scope(|scope| std::mem::forget(scope.spawn(|| borrowed.store(1, SeqCst))));
    });
    assert_eq!(*report.findings()[0].kind.as_str(), *"deadlock", "{report}");
}
