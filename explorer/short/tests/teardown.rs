//! Programs made to break the engine: the state that it clears away, unwinding tasks, and the passing of time.

#[path = "teardown/ends.rs"]
mod ends;
#[path = "teardown/forgotten.rs"]
mod forgotten;
#[path = "teardown/hangs.rs"]
mod hangs;
#[path = "teardown/many_tasks.rs"]
mod many_tasks;
#[path = "teardown/outsiders.rs"]
mod outsiders;
#[path = "teardown/unwinding.rs"]
mod unwinding;
#[path = "teardown/waits.rs"]
mod waits;
#[path = "teardown/withdrawn.rs"]
mod withdrawn;

use intermezzo_explorer::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::sync::{Condvar, Mutex};
use intermezzo_explorer::{Coverage, Environment, Explorer, Limit, Report, choose, thread};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::AtomicUsize as StdAtomicUsize;
use std::sync::{Arc, Mutex as StdMutex};
use std::time::Duration;

/// Runs something when it is dropped.
struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

fn kinds(report: &Report) -> Vec<String> {
    report
        .findings()
        .iter()
        .map(|finding| finding.kind.as_str().into_owned())
        .collect()
}

fn outcomes<T: Ord + Send>(explorer: Explorer, test: impl Fn() -> T + Send + Sync) -> (BTreeSet<T>, Report) {
    let seen = StdMutex::new(BTreeSet::new());
    let report = explorer.keep_going(true).explore(|| {
        let outcome = test();
        seen.lock().unwrap().insert(outcome);
    });
    (seen.into_inner().unwrap(), report)
}

#[test]
fn a_scope_does_not_unwind_past_its_living_children() {
    // The child's destructor needs a lock that the parent holds, and reads the data that it borrows from the parent.
    let seen = Arc::new(StdMutex::new(Vec::new()));
    let report = Explorer::new().set("stack", "forgotten=0").explore({
        let seen = seen.clone();
        move || {
            let data = vec![1, 2, 3];
            let (wanted, blocked) = (Mutex::new(0), Mutex::new(()));
            let _wanted = wanted.lock().unwrap();
            let _blocked = blocked.lock();
            thread::scope(|scope| {
                scope.spawn(|| {
                    let _look = OnDrop(|| {
                        let _wanted = wanted.lock();
                        seen.lock().unwrap().push(data.clone());
                    });
                    let _blocked = blocked.lock();
                });
            });
        }
    });
    assert_eq!(kinds(&report), ["deadlock"], "{report}");
    assert!(seen.lock().unwrap().iter().all(|data| *data == [1, 2, 3]));
}

#[test]
fn clearing_away_ends_whatever_a_task_does() {
    // It once caught a panic, and then polls for something that never comes.
    let polls = || {
        let stop = Arc::new(AtomicBool::new(false));
        thread::spawn(move || {
            assert!(catch_unwind(|| panic!("job")).is_err());
            while !stop.load(SeqCst) {
                thread::yield_now();
            }
        });
        panic!("body");
    };
    assert_eq!(
        kinds(&Explorer::new().set("stack", "forgotten=0").explore(polls)),
        ["panic"]
    );
    // It swallows every panic, its own unwinding too.
    let swallows = || {
        let stop = Arc::new(AtomicBool::new(false));
        thread::spawn(move || {
            while !catch_unwind(AssertUnwindSafe(|| stop.load(SeqCst))).unwrap_or(false) {
                thread::yield_now();
            }
        });
        panic!("body");
    };
    assert_eq!(
        kinds(&Explorer::new().set("stack", "forgotten=0").explore(swallows)),
        ["panic"]
    );
    // Its destructor spins.
    let spins = || {
        let stop = AtomicBool::new(false);
        let lock = Mutex::new(());
        let _held = lock.lock().unwrap();
        let _spin = OnDrop(|| {
            while !stop.load(SeqCst) {
                thread::yield_now();
            }
        });
        let _again = lock.lock().unwrap();
    };
    assert_eq!(
        kinds(&Explorer::new().set("stack", "forgotten=0").explore(spins)),
        ["deadlock"]
    );
}

#[test]
fn a_worker_that_catches_panics_is_dropped_with_a_deadlock() {
    let drops = Arc::new(StdAtomicUsize::new(0));
    let runs = StdAtomicUsize::new(0);
    let report = Explorer::new()
        .set("stack", "forgotten=0")
        .keep_going(true)
        .explore(|| {
            runs.fetch_add(1, SeqCst);
            let drops = drops.clone();
            let job = thread::spawn(move || {
                let _counted = OnDrop(move || {
                    drops.fetch_add(1, SeqCst);
                });
                assert!(catch_unwind(|| panic!("job")).is_err());
                loop {
                    thread::park();
                }
            });
            job.join().unwrap();
        });
    assert_eq!(kinds(&report), ["deadlock"], "{report}");
    assert_eq!(drops.load(SeqCst), runs.load(SeqCst));
}

#[test]
fn only_the_task_that_unwinds_poisons() {
    // Another task's unwinding, begun without a hook, is not this one's.
    let (seen, report) = outcomes(Explorer::new().environment(Environment::calm()), || {
        let x = Arc::new(AtomicUsize::new(0));
        let lock = Mutex::new(());
        let y = x.clone();
        let other = thread::spawn(move || {
            let _slow = OnDrop(|| {
                y.store(1, SeqCst);
                y.store(2, SeqCst);
            });
            resume_unwind(Box::new(1));
        });
        assert!(catch_unwind(|| panic!("caught")).is_err());
        x.load(SeqCst);
        drop(lock.lock());
        other.join().unwrap_err();
        lock.is_poisoned()
    });
    assert!(report.verdict().is_pass(), "{report}");
    assert_eq!(seen, BTreeSet::from([false]));
    // A task that once caught a panic does not hide another's.
    let (seen, report) = outcomes(Explorer::new().environment(Environment::calm()), || {
        let lock = Arc::new(Mutex::new(()));
        let held = lock.clone();
        let caught = thread::spawn(|| {
            assert!(catch_unwind(|| panic!("caught")).is_err());
            thread::park();
        });
        let unwinds = thread::spawn(move || {
            let _held = held.lock();
            resume_unwind(Box::new(1));
        });
        unwinds.join().unwrap_err();
        caught.thread().unpark();
        caught.join().unwrap();
        lock.is_poisoned()
    });
    assert!(report.verdict().is_pass(), "{report}");
    assert_eq!(seen, BTreeSet::from([true]));
}

#[test]
fn a_static_may_be_used_by_its_own_destructor() {
    struct Two(Option<OnDrop<fn()>>, Option<Box<u64>>);
    static TWO: Mutex<Two> = Mutex::new(Two(None, None));
    let report = Explorer::new().explore(|| {
        TWO.lock().unwrap().0 = Some(OnDrop(|| {
            if let Ok(mut two) = TWO.try_lock() {
                two.1 = Some(Box::new(9));
            }
        }));
        choose(4);
    });
    assert!(report.verdict().is_pass(), "{report}");
    assert_eq!(report.executions(), 4);
}

#[test]
fn a_crash_of_a_destructor_at_the_end_is_found() {
    type Crash = OnDrop<fn()>;
    static CRASHES: Mutex<Option<Crash>> = Mutex::new(None);
    let report = Explorer::new().explore(|| {
        *CRASHES.lock().unwrap() = Some(OnDrop(|| {
            let address = std::hint::black_box(8 as *mut u8);
            // SAFETY: none: the point is that it is wrong.
            unsafe { address.write_volatile(1) };
        }));
        choose(4);
    });
    assert_eq!(kinds(&report), ["crash"], "{report}");
    assert_eq!(report.executions(), 1);
}

#[test]
fn fairness_says_what_it_leaves_out() {
    let note = |report: &Report| {
        let narrowed = report.limits().contains(&Limit::Fairness { every: 1 });
        assert_eq!(*report.coverage() == Coverage::Exhaustive, !narrowed, "{report}");
        narrowed
    };
    // If its task were parked, nothing would be left out.
    let spins = Explorer::new().set("spin_loops", "run").explore(|| {
        let ready = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| ready.store(true, SeqCst));
            while !ready.load(SeqCst) {
                thread::yield_now();
            }
        });
    });
    assert!(spins.verdict().is_pass() && note(&spins), "{spins}");
    let yields = Explorer::new().explore(|| {
        let n = AtomicUsize::new(0);
        thread::scope(|scope| {
            scope.spawn(|| n.load(SeqCst));
            n.store(1, SeqCst);
            thread::yield_now();
            n.store(2, SeqCst);
        });
    });
    assert!(yields.verdict().is_pass() && !note(&yields), "{yields}");
}

#[test]
fn a_loop_that_waits_for_what_comes_after_a_time_out_ends() {
    for environment in [Environment::calm(), Environment::default()] {
        let report = Explorer::new()
            .environment(environment)
            .steps_per_execution(300)
            .explore(|| {
                let done = Arc::new(AtomicBool::new(false));
                let late = done.clone();
                let sleeper = thread::spawn(move || {
                    thread::park_timeout(Duration::from_millis(1));
                    late.store(true, SeqCst);
                });
                while !done.load(SeqCst) {
                    thread::yield_now();
                }
                sleeper.join().unwrap();
            });
        assert!(report.verdict().is_pass(), "{report}");
    }
}

#[test]
fn a_wait_without_time_may_time_out_at_once() {
    let (seen, report) = outcomes(Explorer::new().environment(Environment::calm()), || {
        let (sender, receiver) = intermezzo_explorer::sync::mpsc::channel();
        let sends = thread::spawn(move || sender.send(1).is_ok());
        let received = receiver.recv_timeout(Duration::ZERO).ok();
        drop(receiver);
        let _ = sends.join();
        received
    });
    assert!(report.verdict().is_pass(), "{report}");
    assert_eq!(seen, BTreeSet::from([None, Some(1)]));
}

#[test]
fn of_equal_deadlines_either_may_come_first() {
    let (seen, report) = outcomes(Explorer::new().environment(Environment::calm()), || {
        let order = Mutex::new(Vec::new());
        thread::scope(|scope| {
            for sleeper in [1, 2] {
                let order = &order;
                scope.spawn(move || {
                    thread::park_timeout(Duration::from_millis(1));
                    order.lock().unwrap().push(sleeper);
                });
            }
        });
        order.into_inner().unwrap()
    });
    assert!(report.verdict().is_pass(), "{report}");
    assert_eq!(seen, BTreeSet::from([vec![1, 2], vec![2, 1]]));
}

#[test]
fn a_timed_wait_alone_may_wake_for_no_reason() {
    let (seen, report) = outcomes(Explorer::new(), || {
        let lock = Mutex::new(());
        let (_, result) = Condvar::new()
            .wait_timeout(lock.lock().unwrap(), Duration::from_secs(1))
            .unwrap();
        result.timed_out()
    });
    assert!(report.verdict().is_pass(), "{report}");
    assert_eq!(seen, BTreeSet::from([false, true]));
}

#[test]
fn a_task_that_never_began_counts_as_ended() {
    let drops = Arc::new(StdAtomicUsize::new(0));
    let runs = StdAtomicUsize::new(0);
    let report = Explorer::new().set("stack", "forgotten=0").explore(|| {
        runs.fetch_add(1, SeqCst);
        let _counted = OnDrop(|| {
            drops.fetch_add(1, SeqCst);
        });
        thread::scope(|scope| {
            scope.spawn(|| ());
            choose(0);
        });
    });
    assert_eq!(kinds(&report), ["misuse"], "{report}");
    assert_eq!(drops.load(SeqCst), runs.load(SeqCst));
}

#[test]
fn a_lock_whose_holder_is_abandoned_while_it_unlocks_is_free() {
    // A deadlock leaves the first task right before it unlocks; the second's destructor wants that lock.
    let drops = Arc::new(StdAtomicUsize::new(0));
    let runs = StdAtomicUsize::new(0);
    let report = Explorer::new()
        .set("stack", "forgotten=0")
        .keep_going(true)
        .explore(|| {
            runs.fetch_add(1, SeqCst);
            let (a, b) = (Arc::new(Mutex::new(())), Mutex::new(()));
            let c = a.clone();
            let drops = drops.clone();
            let other = thread::spawn(move || {
                let _wants = OnDrop(move || {
                    drop(c.lock());
                    drops.fetch_add(1, SeqCst);
                });
                loop {
                    thread::park();
                }
            });
            drop(a.lock().unwrap());
            let _held = b.lock().unwrap();
            let _again = b.lock().unwrap();
            other.join().unwrap();
        });
    assert_eq!(kinds(&report), ["deadlock"], "{report}");
    assert_eq!(drops.load(SeqCst), runs.load(SeqCst));
}
