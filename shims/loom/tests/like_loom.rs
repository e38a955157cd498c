//! Tests that were written for loom pass and fail as they do there, without any setting.

use loom::cell::{Cell, UnsafeCell};
use loom::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};
use loom::sync::atomic::{AtomicPtr, AtomicUsize};
use loom::sync::{Arc, Notify};
use loom::thread;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;

/// Runs a model that fails, and returns what it panics with.
fn failure(model: impl Fn() + Send + Sync + 'static) -> String {
    failure_of(&loom::model::Builder::new(), model)
}

fn failure_of(builder: &loom::model::Builder, model: impl Fn() + Send + Sync + 'static) -> String {
    let failed = catch_unwind(AssertUnwindSafe(|| builder.check(model)));
    let panic = failed.expect_err("the model passes");
    panic
        .downcast_ref::<String>()
        .expect("a report is a text")
        .clone()
}

/// Returns what the model returns in its executions.
fn outcomes<T: Ord + Clone + Send + 'static>(model: impl Fn() -> T + Send + Sync + 'static) -> BTreeSet<T> {
    let seen = std::sync::Arc::new(Mutex::new(BTreeSet::new()));
    let keep = seen.clone();
    loom::model(move || {
        let outcome = model();
        keep.lock().unwrap().insert(outcome);
    });
    let seen = seen.lock().unwrap();
    seen.clone()
}

/// Two tasks each store, and then load what the other one stores.
fn store_buffer(store: Ordering, load: Ordering) -> (usize, usize) {
    let both = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
    let other = both.clone();
    let task = thread::spawn(move || {
        other.0.store(1, store);
        other.1.load(load)
    });
    both.1.store(1, store);
    let mine = both.0.load(load);
    (task.join().unwrap(), mine)
}

#[test]
fn weak_memory_is_explored_by_default() {
    let sequentially = BTreeSet::from([(0, 1), (1, 0), (1, 1)]);
    let weakly = BTreeSet::from([(0, 0), (0, 1), (1, 0), (1, 1)]);
    assert_eq!(outcomes(|| store_buffer(Release, Acquire)), weakly);
    // Loom has the fourth here as well, which the memory model rules out.
    assert_eq!(outcomes(|| store_buffer(SeqCst, SeqCst)), sequentially);
    let mut bounded = loom::model::Builder::new();
    bounded.preemption_bound = Some(1);
    let said = failure_of(&bounded, || {
        assert_ne!(store_buffer(Relaxed, Relaxed), (0, 0));
    });
    assert!(said.contains("stale"), "{said}");
    assert!(
        said.contains("with sequentially consistent memory no error was found"),
        "{said}"
    );
}

/// Returns the number of executions of three tasks that each exchange a value three times.
fn executions_of_exchanges(order: Ordering) -> u64 {
    let executions = std::sync::Arc::new(AtomicU64::new(0));
    let count = executions.clone();
    loom::model(move || {
        count.fetch_add(1, SeqCst);
        let n = Arc::new(AtomicUsize::new(0));
        let tasks = [1, 2].map(|task| {
            let n = n.clone();
            thread::spawn(move || (0..3).for_each(|_| _ = n.swap(task, order)))
        });
        (0..3).for_each(|_| _ = n.swap(3, order));
        for task in tasks {
            task.join().unwrap();
        }
    });
    executions.load(SeqCst)
}

#[test]
fn weak_memory_takes_no_more_than_256_executions() {
    let sequentially = executions_of_exchanges(SeqCst);
    assert_eq!(sequentially, 1_680, "9! / 3!^3");
    assert_eq!(executions_of_exchanges(AcqRel), sequentially + 256);
}

/// The documentation shows its beginning.
#[test]
fn the_log_has_the_report_of_a_model_that_passes() {
    let run = Command::new(std::env::current_exe().unwrap())
        .args([
            "weak_memory_takes_no_more_than_256_executions",
            "--exact",
            "--nocapture",
        ])
        .env("LOOM_LOG", "info")
        .output();
    let said = String::from_utf8(run.unwrap().stdout).unwrap();
    assert!(said.contains("Completed in 1936 iterations\n"), "{said}");
    let page = include_str!("../../../docs/LOOM.md");
    let (_, shown) = page.split_once("```text\n").unwrap();
    let (shown, _) = shown.split_once("```").unwrap();
    assert!(said.contains(shown), "not {shown} in {said}");
}

#[test]
fn loads_without_synchronisation_race_with_stores() {
    let said = failure(|| {
        let n = Arc::new(AtomicUsize::new(0));
        let stored = n.clone();
        let task = thread::spawn(move || stored.store(1, SeqCst));
        // SAFETY: it is not: the other task stores.
        unsafe { n.unsync_load() };
        task.join().unwrap();
    });
    assert!(said.contains("data_race"), "{said}");
    for end in ["main reads it at", "task 1 writes it atomically at"] {
        assert!(said.contains(end), "{end}: {said}");
    }
    assert!(said.matches("like_loom.rs").count() >= 2, "{said}");
    loom::model(|| {
        let n = Arc::new(AtomicUsize::new(0));
        let stored = n.clone();
        let task = thread::spawn(move || {
            stored.store(1, Relaxed);
            // SAFETY: nothing else stores.
            unsafe { stored.unsync_load() }
        });
        let loaded = n.load(Relaxed);
        assert!(loaded <= task.join().unwrap());
        // SAFETY: the task has ended.
        assert_eq!(unsafe { n.unsync_load() }, 1);
    });
}

loom::lazy_static! {
    static ref COUNT: AtomicUsize = AtomicUsize::new(0);
}

#[test]
fn statics_end_with_the_models_closure() {
    let said = failure(|| {
        thread::spawn(|| COUNT.fetch_add(1, SeqCst));
    });
    let words = "attempted to access lazy_static during shutdown";
    assert!(said.contains(words), "{said}");
    // The use comes first, unless it is preempted.
    let said = failure(|| {
        let used = Arc::new(Notify::new());
        let told = used.clone();
        thread::spawn(move || {
            told.notify();
            COUNT.fetch_add(1, SeqCst);
        });
        used.wait();
        COUNT.fetch_add(1, SeqCst);
    });
    assert!(said.contains(words), "{said}");
    loom::model(|| {
        let task = thread::spawn(|| COUNT.fetch_add(1, SeqCst));
        COUNT.fetch_add(1, SeqCst);
        task.join().unwrap();
        assert_eq!(COUNT.load(SeqCst), 2);
    });
}

#[test]
fn an_execution_with_too_many_branches_fails() {
    let mut builder = loom::model::Builder::new();
    builder.max_branches = 2;
    let yields = || (0..3).for_each(|_| thread::yield_now());
    let said = failure_of(&builder, yields);
    assert!(
        said.starts_with("the model exceeded its maximum number of branches, 2"),
        "{said}"
    );
    assert!(said.contains("(`max_branches`, LOOM_MAX_BRANCHES)"), "{said}");
    loom::model(yields);
}

#[test]
fn a_wait_may_return_without_cause() {
    let said = failure(|| {
        let both = Arc::new((Notify::new(), AtomicUsize::new(0)));
        let told = both.clone();
        let task = thread::spawn(move || {
            told.0.wait();
            assert_eq!(told.1.load(SeqCst), 2, "it was not told");
        });
        both.1.store(1, SeqCst);
        both.1.store(2, SeqCst);
        both.0.notify();
        task.join().unwrap();
    });
    assert!(said.contains("it was not told"), "{said}");
}

#[test]
fn only_threads_that_were_given_a_name_have_one() {
    loom::model(|| {
        assert_eq!(thread::current().name(), None);
        let unnamed = thread::spawn(|| thread::current().name().map(str::to_owned));
        let named = thread::Builder::new().name("reader".into());
        let named = named
            .spawn(|| thread::current().name().map(str::to_owned))
            .unwrap();
        assert_eq!(unnamed.join().unwrap(), None);
        assert_eq!(named.join().unwrap().as_deref(), Some("reader"));
    });
}

#[test]
fn a_forgotten_handle_is_a_leak() {
    let said = failure(|| std::mem::forget(Arc::new(UnsafeCell::new(0))));
    assert!(said.contains("leak"), "{said}");
}

/// A task makes a value and gives out a pointer to it; another one that finds the pointer uses the value.
fn published<T: 'static>(order: Ordering, make: fn() -> T, using: fn(&T)) -> impl Fn() + Send + Sync {
    move || {
        let place = Arc::new(AtomicPtr::new(std::ptr::null_mut::<T>()));
        let published = place.clone();
        let task = thread::spawn(move || published.store(Box::into_raw(Box::new(make())), order));
        // SAFETY: what was published is dropped below, by the task that uses it.
        if let Some(value) = unsafe { place.load(Acquire).as_ref() } {
            using(value);
        }
        task.join().unwrap();
        // SAFETY: it comes from a box, and nothing uses it any more.
        drop(unsafe { Box::from_raw(place.load(Acquire)) });
    }
}

#[test]
fn making_a_cell_is_a_write() {
    // SAFETY: in the execution in which it races, it is made before.
    let read = |cell: &UnsafeCell<u8>| assert_eq!(cell.with(|value| unsafe { *value }), 1);
    let said = failure(published(Relaxed, || UnsafeCell::new(1), read));
    assert!(said.contains("data_race"), "{said}");
    loom::model(published(Release, || UnsafeCell::new(1), read));
    // SAFETY: as above.
    let write = |cell: &UnsafeCell<u8>| cell.with_mut(|value| unsafe { *value = 2 });
    let said = failure(published(Relaxed, UnsafeCell::default, write));
    assert!(said.contains("data_race"), "{said}");
    loom::model(published(Release, UnsafeCell::default, write));
    let get = |cell: &Cell<u8>| assert_eq!(cell.get(), 1);
    let said = failure(published(Relaxed, || Cell::new(1), get));
    assert!(said.contains("data_race"), "{said}");
    loom::model(published(Release, || Cell::new(1), get));
}

#[test]
fn making_an_atomic_is_a_write() {
    let uses: [fn(&AtomicUsize); 5] = [
        |n| assert_eq!(n.load(Acquire), 0),
        |n| n.store(1, Release),
        |n| _ = n.fetch_add(1, AcqRel),
        |n| _ = n.compare_exchange(3, 4, SeqCst, SeqCst),
        |n| _ = n.compare_exchange(0, 4, SeqCst, SeqCst),
    ];
    for (using, at) in uses.into_iter().zip(0..) {
        let makes: [fn() -> AtomicUsize; 3] = [
            || AtomicUsize::new(0),
            AtomicUsize::default,
            || std::mem::take(&mut AtomicUsize::from(0)),
        ];
        for make in makes {
            let said = failure(published(Relaxed, make, using));
            assert!(said.contains("data_race"), "use {at}: {said}");
            loom::model(published(Release, make, using));
        }
    }
}

/// An atomic that is made before the other threads exist, or by one that hands it on, is used by all without a race.
#[test]
fn atomics_that_are_handed_on_do_not_race() {
    loom::lazy_static! {
        static ref MADE: AtomicUsize = AtomicUsize::new(0);
    }
    loom::model(|| {
        let first = Arc::new(AtomicUsize::new(0));
        let handed_on = Arc::new(loom::sync::Mutex::new(None));
        let task = {
            let (first, handed_on) = (first.clone(), handed_on.clone());
            thread::spawn(move || {
                first.store(1, Relaxed);
                MADE.fetch_add(1, Relaxed);
                let made = Arc::new(AtomicUsize::new(1));
                *handed_on.lock().unwrap() = Some(made.clone());
                made.fetch_add(1, Relaxed);
                let moved = std::mem::replace(&mut AtomicUsize::new(2), AtomicUsize::new(3));
                thread::spawn(move || moved.load(Relaxed)).join().unwrap()
            })
        };
        first.load(Relaxed);
        MADE.load(Relaxed);
        if let Some(made) = handed_on.lock().unwrap().take() {
            made.fetch_add(1, Relaxed);
        }
        assert_eq!(task.join().unwrap(), 2);
    });
}
