//! Synchronisation primitives of the test's own, and schedule points that it announces.

use intermezzo_explorer::cell::Cell;
use intermezzo_explorer::primitive::{Primitive, State};
use intermezzo_explorer::sync::{Arc, Mutex};
use intermezzo_explorer::{Coverage, Environment, Explorer, Reduction, Report, name, schedule_point, thread};
use std::collections::BTreeSet;
use std::sync::Mutex as Plain;
use std::sync::atomic::AtomicUsize as Unseen;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::time::Duration;

/// A lock of the test's own.
struct Lock(Primitive<Held>);

struct Held(bool);

const FREE: u8 = 1;

impl State for Held {
    fn gates(&self) -> u8 {
        if self.0 { 0 } else { FREE }
    }
}

impl Lock {
    const fn new() -> Lock {
        Lock(Primitive::new(Held(false)))
    }

    #[track_caller]
    fn lock(&self) {
        self.0.wait(FREE, Acquire, |held| held.0 = true);
    }

    #[track_caller]
    fn lock_within(&self, limit: Duration) -> bool {
        let taken = self.0.wait_timeout(FREE, limit, Acquire, |held| held.0 = true);
        taken.is_some()
    }

    #[track_caller]
    fn unlock(&self) {
        self.0.change(Release, |held| held.0 = false);
    }
}

fn explorer() -> Explorer {
    Explorer::new().environment(Environment::calm())
}

/// Returns the results of all executions, which are the same by every search. Asserts the number of traces.
fn seen<T: Ord + Clone + std::fmt::Debug + Send>(traces: u64, test: impl Fn() -> T + Send + Sync) -> BTreeSet<T> {
    let explore = |explorer: Explorer| {
        let seen = Arc::new(Plain::new(BTreeSet::new()));
        let report = explorer.keep_going(true).minimise(0).explore(|| {
            let saw = test();
            seen.lock().unwrap().insert(saw);
        });
        assert_eq!(*report.coverage(), Coverage::Exhaustive, "{report}");
        assert!(report.verdict().is_pass(), "{report}");
        (seen.lock().unwrap().clone(), report)
    };
    let (wanted, _) = explore(explorer().every_operation(true));
    for reduction in [
        Reduction::None,
        Reduction::Caching,
        Reduction::SourceDpor,
        Reduction::Dpor,
    ] {
        for jobs in [1, 2] {
            let (found, report) = explore(explorer().reduction(reduction).jobs(jobs));
            assert_eq!(found, wanted, "{reduction:?}, {jobs} jobs");
            assert_eq!(report.traces(), Some(traces), "{reduction:?}, {jobs} jobs");
        }
    }
    wanted
}

fn only_finding(report: &Report) -> String {
    let [finding] = report.findings() else {
        panic!("{report}")
    };
    format!("{}: {}", finding.kind, finding.message)
}

#[test]
fn a_lock_of_ones_own_excludes_others_and_has_the_executions_of_a_lock() {
    // As many orders as there are for a mutex: which of three comes first, second and third.
    let seen = seen(6, || {
        let (lock, order) = (Lock::new(), Plain::new(Vec::new()));
        thread::scope(|scope| {
            for task in 0..3 {
                let (lock, order) = (&lock, &order);
                scope.spawn(move || {
                    lock.lock();
                    order.lock().unwrap().push(task);
                    lock.unlock();
                });
            }
        });
        order.into_inner().unwrap()
    });
    assert_eq!(seen.len(), 6);
}

#[test]
fn reads_commute_and_changes_do_not() {
    let both = |with_change: bool| {
        move || {
            let number = Primitive::new(Number(1));
            thread::scope(|scope| {
                scope.spawn(|| number.read(SeqCst, |number| number.0));
                match with_change {
                    true => number.change(SeqCst, |number| std::mem::replace(&mut number.0, 2)),
                    false => number.read(SeqCst, |number| number.0),
                }
            })
        }
    };
    assert_eq!(seen(1, both(false)), [1].into());
    assert_eq!(seen(2, both(true)), [1].into());
}

struct Number(u8);

impl State for Number {}

#[test]
fn who_keeps_a_lock_of_ones_own_makes_others_wait_for_ever() {
    let report = explorer().explore(|| {
        let lock = Arc::new(Lock::new());
        name(&lock.0, "gatekeeper");
        let theirs = lock.clone();
        let task = thread::spawn(move || theirs.lock());
        lock.lock();
        task.join().unwrap();
    });
    let text = report.to_string();
    assert!(only_finding(&report).starts_with("deadlock: "), "{text}");
    assert!(text.contains("gatekeeper"), "{text}");
}

#[test]
fn a_wait_for_a_gate_may_time_out() {
    let seen = seen(3, || {
        let lock = Lock::new();
        thread::scope(|scope| {
            let task = scope.spawn(|| lock.lock_within(Duration::from_millis(5)));
            lock.lock();
            thread::sleep(Duration::from_millis(9));
            lock.unlock();
            task.join().unwrap()
        })
    });
    assert_eq!(seen, [false, true].into());
}

#[test]
fn a_static_is_fresh_in_every_execution() {
    static LOCK: Lock = Lock::new();
    let report = explorer().reduction(Reduction::Dpor).keep_going(true).explore(|| {
        assert!(LOCK.0.read(Relaxed, |held| !held.0));
        thread::spawn(|| LOCK.lock()).join().unwrap();
        thread::spawn(|| LOCK.unlock());
        LOCK.lock();
    });
    assert!(report.verdict().is_pass(), "{report}");
}

#[test]
fn an_operation_that_panics_has_happened_all_the_same() {
    let seen = seen(2, || {
        let lock = Lock::new();
        thread::scope(|scope| {
            let task = scope.spawn(|| {
                lock.0.change(SeqCst, |held| {
                    held.0 = true;
                    std::panic::resume_unwind(Box::new(()));
                })
            });
            let held = lock.0.read(SeqCst, |held| held.0);
            assert!(task.join().is_err());
            // It is held, so its gate is closed.
            assert!(!lock.lock_within(Duration::from_millis(1)));
            held
        })
    });
    assert_eq!(seen, [false, true].into());
}

#[test]
fn operations_inside_of_an_operation_are_refused() {
    // Another task needs the same primitive meanwhile, or none does.
    for others in [0, 1] {
        let report = explorer().keep_going(true).explore(move || {
            let (lock, other) = (Lock::new(), Mutex::new(0));
            thread::scope(|scope| {
                for _ in 0..others {
                    scope.spawn(|| lock.lock());
                }
                let task = scope.spawn(|| *other.lock().unwrap() += 1);
                lock.0.change(SeqCst, |_| *other.lock().unwrap() += 1);
                _ = task.join();
            });
        });
        let found = only_finding(&report);
        assert!(found.starts_with("misuse: "), "{found}");
        assert!(found.contains("has to happen as a whole"), "{found}");
    }
}

#[test]
fn it_works_outside_of_explorations_and_with_uncontrolled_threads() {
    let lock = Arc::new(Lock::new());
    lock.lock();
    assert!(!lock.lock_within(Duration::from_millis(1)));
    let theirs = lock.clone();
    let thread = std::thread::spawn(move || theirs.lock());
    lock.unlock();
    thread.join().unwrap();
    schedule_point();

    // A thread that is not controlled opens the gate.
    let report = explorer().executions(3).explore(|| {
        let lock = Arc::new(Lock::new());
        lock.lock();
        let theirs = lock.clone();
        let thread = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(20));
            theirs.unlock();
        });
        lock.lock();
        thread.join().unwrap();
    });
    assert!(report.verdict().is_pass(), "{report}");
}

#[test]
fn what_waits_when_the_execution_ends_is_cleared_away() {
    struct Unlocks(Arc<Lock>);
    impl Drop for Unlocks {
        fn drop(&mut self) {
            self.0.unlock();
        }
    }
    // Tasks that wait are unwound, and their destructors use the lock.
    let report = explorer().keep_going(true).forgotten_bytes(0).explore(|| {
        let lock = Arc::new(Lock::new());
        lock.lock();
        for _ in 0..2 {
            let theirs = Unlocks(lock.clone());
            thread::spawn(move || theirs.0.lock());
        }
        panic!("the test's own");
    });
    assert_eq!(report.findings().len(), 1, "{report}");
    assert_eq!(report.findings()[0].kind.to_string(), "panic", "{report}");
}

#[test]
fn announced_points_are_tried_in_every_order() {
    let test = || {
        let hits = Unseen::new(0);
        let hit = || {
            schedule_point();
            let before = hits.load(Relaxed);
            schedule_point();
            hits.store(before + 1, Relaxed);
        };
        thread::scope(|scope| {
            scope.spawn(hit);
            hit();
        });
        hits.into_inner()
    };
    // Two and two points: six orders.
    assert_eq!(seen(6, test), [1, 2].into());
}

#[test]
fn announced_points_are_told_as_such() {
    let report = explorer().explore(|| {
        let seen = Arc::new(Unseen::new(0));
        let theirs = seen.clone();
        let task = thread::spawn(move || {
            schedule_point();
            theirs.store(1, Relaxed);
        });
        schedule_point();
        assert_eq!(seen.load(Relaxed), 0, "too late");
        task.join().unwrap();
    });
    let text = report.to_string();
    assert!(text.contains("schedule point"), "{text}");
}

#[test]
fn orderings_decide_what_a_lock_orders() {
    let races = |release: std::sync::atomic::Ordering| {
        let report = explorer().monitors("data-race").explore(move || {
            let (lock, cell) = (Arc::new(Lock::new()), Arc::new(Shared(Cell::new(0))));
            let (their_lock, their_cell) = (lock.clone(), cell.clone());
            let add = move |lock: &Lock, cell: &Shared| {
                lock.lock();
                cell.0.set(cell.0.get() + 1);
                lock.0.change(release, |held| held.0 = false);
            };
            let task = thread::spawn(move || add(&their_lock, &their_cell));
            add(&lock, &cell);
            task.join().unwrap();
        });
        report.findings().iter().any(|finding| finding.kind.to_string().contains("race"))
    };
    assert!(!races(Release));
    assert!(races(Relaxed));
}

/// A cell that tasks share.
struct Shared(Cell<u32>);

// SAFETY: one task runs at a time.
unsafe impl Sync for Shared {}
