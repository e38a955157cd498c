//! Synchronisation primitives of the test's own, and schedule points that the test announces.

use intermezzo_explorer::primitive::{Primitive, State};
use intermezzo_explorer::sync::atomic::AtomicUsize;
use intermezzo_explorer::sync::mpsc::channel;
use intermezzo_explorer::sync::{Arc, Mutex};
use intermezzo_explorer::{
    Coverage, Environment, Explorer, Reduction, Report, name, quiesce, schedule_point, thread,
};
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

/// Returns the results of all executions, which are the same with every search. Asserts the number of traces.
fn seen<T: Ord + Clone + std::fmt::Debug + Send>(
    traces: u64,
    test: impl Fn() -> T + Send + Sync,
) -> BTreeSet<T> {
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
fn a_lock_made_of_a_primitive_excludes_and_has_the_executions_of_a_lock() {
    // As many orders as for a mutex: any of the three may come first, second and third.
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
fn a_lock_that_is_not_released_makes_others_wait_for_ever() {
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
    let seen = seen(4, || {
        let lock = Lock::new();
        thread::scope(|scope| {
            let task = scope.spawn(|| {
                let taken = lock.lock_within(Duration::from_millis(5));
                if taken {
                    lock.unlock();
                }
                taken
            });
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
    let report = explorer()
        .reduction(Reduction::Dpor)
        .keep_going(true)
        .explore(|| {
            assert!(LOCK.0.read(Relaxed, |held| !held.0));
            thread::spawn(|| LOCK.lock()).join().unwrap();
            thread::spawn(|| LOCK.unlock());
            LOCK.lock();
        });
    assert!(report.verdict().is_pass(), "{report}");
}

#[test]
fn an_operation_that_panics_still_has_its_effect() {
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
            // The lock is held, so its gate is closed.
            assert!(!lock.lock_within(Duration::from_millis(1)));
            held
        })
    });
    assert_eq!(seen, [false, true].into());
}

#[test]
fn operations_inside_of_an_operation_are_refused() {
    // Another task needs the same primitive at the same time, or none does.
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
        assert!(!report.findings().is_empty());
        for finding in report.findings() {
            assert_eq!(finding.kind.to_string(), "misuse", "{report}");
            assert!(finding.message.contains("has to happen as a whole"), "{report}");
        }
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
fn tasks_that_wait_at_the_end_are_unwound() {
    struct Unlocks(Arc<Lock>);
    impl Drop for Unlocks {
        fn drop(&mut self) {
            self.0.unlock();
        }
    }
    // Tasks that wait are unwound, and their destructors use the lock.
    let report = explorer()
        .keep_going(true)
        .set("stack", "forgotten=0")
        .explore(|| {
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
fn announced_points_are_reported_as_such() {
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
fn quiet_is_when_each_other_task_has_ended_or_waits() {
    // The receiver has received all messages, and waits for more. No later step of it can be observed.
    let seen = seen_by_caching(|| {
        let (sender, receiver) = channel();
        let sum = std::sync::Arc::new(Unseen::new(0));
        let theirs = sum.clone();
        let task = thread::spawn(move || {
            for n in receiver {
                theirs.fetch_add(n, SeqCst);
            }
        });
        sender.send(1).unwrap();
        thread::spawn(|| schedule_point());
        sender.send(2).unwrap();
        quiesce();
        let seen = sum.load(SeqCst);
        assert!(!task.is_finished());
        drop(sender);
        quiesce();
        assert!(task.is_finished());
        seen
    });
    assert_eq!(seen, [3].into());
}

#[test]
fn tasks_that_wait_for_quiet_continue_together_in_any_order() {
    let seen = seen_by_caching(|| {
        let order = Arc::new(Plain::new(Vec::new()));
        let tasks = [1, 2].map(|task| {
            let order = order.clone();
            thread::spawn(move || {
                quiesce();
                order.lock().unwrap().push(task);
                quiesce();
                order.lock().unwrap().len()
            })
        });
        let lengths = tasks.map(|task| task.join().unwrap());
        // Both have passed the first wait when either passes the second.
        assert_eq!(lengths, [2, 2]);
        order.lock().unwrap().clone()
    });
    assert_eq!(seen, [vec![1, 2], vec![2, 1]].into());
}

#[test]
fn waits_with_a_limit_end_before_quiet_and_loops_that_wait_do_not() {
    let seen = seen_by_caching(|| {
        let (flag, late) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (theirs, set) = (flag.clone(), late.clone());
        thread::spawn(move || {
            while theirs.load(SeqCst) == 0 {
                thread::yield_now();
            }
        });
        let waits = thread::spawn(move || {
            thread::park_timeout(Duration::MAX);
            set.store(1, SeqCst);
        });
        quiesce();
        assert!(waits.is_finished());
        let seen = late.load(SeqCst);
        flag.store(1, SeqCst);
        quiesce();
        seen
    });
    assert_eq!(seen, [1].into());
}

#[test]
fn a_reduction_that_gives_way_for_quiet_says_so() {
    let report = explorer().reduction(Reduction::Dpor).explore(|| {
        thread::spawn(schedule_point);
        quiesce();
    });
    let notes = report.notes();
    let note = notes
        .iter()
        .find(|note| note.contains("took over"))
        .expect("a note");
    assert!(note.contains("caching") && note.contains("quiesce"), "{note}");
}

#[test]
fn an_unfinished_wait_for_quiet_is_unwound() {
    for forgotten_bytes in [0, 1 << 20] {
        let report = explorer()
            .set("stack", format!("forgotten={forgotten_bytes}"))
            .explore(|| {
                thread::spawn(|| {
                    quiesce();
                    unreachable!("the test has failed");
                });
                panic!("the test's own");
            });
        let found = only_finding(&report);
        assert!(found.starts_with("panic: "), "{found}");
    }
}

/// Returns the results of all executions, which are the same with every search, and if every operation is a schedule point.
fn seen_by_caching<T: Ord + Clone + std::fmt::Debug + Send>(
    test: impl Fn() -> T + Send + Sync,
) -> BTreeSet<T> {
    let explore = |explorer: Explorer| {
        let seen = Arc::new(Plain::new(BTreeSet::new()));
        let report = explorer.keep_going(true).minimise(0).explore(|| {
            let saw = test();
            seen.lock().unwrap().insert(saw);
        });
        assert_eq!(*report.coverage(), Coverage::Exhaustive, "{report}");
        assert!(report.verdict().is_pass(), "{report}");
        (seen.lock().unwrap().clone(), report.traces())
    };
    let wanted = explore(explorer());
    assert_eq!(explore(explorer().reduction(Reduction::Caching)), wanted);
    assert_eq!(explore(explorer().reduction(Reduction::Dpor)), wanted);
    assert_eq!(
        explore(explorer().environment(Environment::default())).0,
        wanted.0
    );
    wanted.0
}

#[test]
fn a_wait_with_a_limit_may_come_before_the_operation_that_closes_its_gate() {
    let seen = seen(2, || {
        let lock = Lock::new();
        thread::scope(|scope| {
            let task = scope.spawn(|| lock.lock_within(Duration::from_millis(5)));
            // Takes the lock if it is free.
            let taken = lock
                .0
                .change(SeqCst, |held| !std::mem::replace(&mut held.0, true));
            (task.join().unwrap(), taken)
        })
    });
    assert_eq!(seen, [(false, true), (true, false)].into());
}
