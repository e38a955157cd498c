//! Waiting loops with a time limit: each ends when its condition holds or the time is over, however long that is.

use super::{kinds, outcomes};
use intermezzo_explorer::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::sync::{Arc, Mutex, mpsc};
use intermezzo_explorer::time::Instant;
use intermezzo_explorer::{Environment, Explorer, Strategy, hint, thread};
use std::collections::BTreeSet;
use std::time::Duration;

const LIMITS: [Duration; 4] = [
    Duration::from_millis(1),
    Duration::from_millis(50),
    Duration::from_secs(10),
    Duration::from_secs(24 * 3600),
];

/// Returns the outcomes of a loop that looks for something as long as time allows: `true` if it was found.
fn waits<S: Send + 'static>(
    make: fn() -> S,
    give: fn(&S),
    look: fn(&S) -> bool,
    limit: Duration,
) -> BTreeSet<bool>
where
    Arc<S>: Send,
{
    let explorer = Explorer::new()
        .environment(Environment::calm())
        .steps_per_execution(2_000);
    let (seen, report) = outcomes(explorer.preemptions(1), move || {
        let shared = Arc::new(make());
        let other = shared.clone();
        let gives = thread::spawn(move || give(&other));
        let begun = Instant::now();
        let got = loop {
            if look(&shared) {
                break true;
            }
            if begun.elapsed() > limit {
                break false;
            }
        };
        gives.join().unwrap();
        got
    });
    assert!(report.verdict().is_pass(), "{limit:?}: {report}");
    seen
}

#[test]
fn a_spin_with_a_limit_of_time_ends() {
    let both = BTreeSet::from([false, true]);
    for limit in LIMITS {
        let flag = waits(
            AtomicBool::default,
            |flag| flag.store(true, SeqCst),
            |flag| flag.load(SeqCst),
            limit,
        );
        let lock = waits(
            Mutex::<bool>::default,
            |lock| *lock.lock().unwrap() = true,
            |lock| *lock.lock().unwrap(),
            limit,
        );
        // Each look writes.
        let turns = waits(
            AtomicUsize::default,
            |turns| {
                turns.fetch_add(1_000_000, SeqCst);
            },
            |turns| turns.fetch_add(1, SeqCst) >= 1_000_000,
            limit,
        );
        assert_eq!(
            [flag, lock, turns],
            [both.clone(), both.clone(), both.clone()],
            "{limit:?}"
        );
    }
}

#[test]
fn a_loop_that_gives_way_and_waits_for_nothing_ends() {
    for limit in LIMITS {
        let report = Explorer::new().steps_per_execution(2_000).explore(move || {
            let never = AtomicBool::new(false);
            let begun = Instant::now();
            while !never.load(SeqCst) && begun.elapsed() < limit {
                hint::spin_loop();
            }
        });
        assert!(report.verdict().is_pass(), "{limit:?}: {report}");
    }
}

#[test]
fn a_loop_of_timed_waits_ends() {
    for limit in LIMITS {
        let report = Explorer::new()
            .steps_per_execution(2_000)
            .executions(200)
            .explore(move || {
                let (sender, receiver) = mpsc::channel::<()>();
                let begun = Instant::now();
                while begun.elapsed() < limit {
                    receiver.recv_timeout(Duration::from_micros(10)).unwrap_err();
                }
                drop(sender);
            });
        assert!(report.verdict().is_pass(), "{limit:?}: {report}");
    }
}

#[test]
fn work_takes_little_time() {
    let report = Explorer::new().explore(|| {
        let n = AtomicUsize::new(0);
        let begun = Instant::now();
        for round in 0..50 {
            n.store(round, SeqCst);
            let _ = Instant::now();
        }
        assert!(begun.elapsed() < Duration::from_millis(1));
    });
    assert_eq!(kinds(&report), [""; 0], "{report}");
}

#[test]
fn the_clock_does_not_depend_on_steps_that_commute() {
    // A look must not depend on whether the other task stores before the looks or between them.
    let (seen, report) = outcomes(Explorer::new().environment(Environment::calm()), || {
        let n = Arc::new(AtomicUsize::new(0));
        let other = n.clone();
        let stores = thread::spawn(move || {
            other.store(1, SeqCst);
            other.store(2, SeqCst);
        });
        let begun = Instant::now();
        let mut looks = Vec::new();
        for _ in 0..3 {
            thread::yield_now();
            looks.push(begun.elapsed());
        }
        stores.join().unwrap();
        looks
    });
    assert!(report.verdict().is_pass(), "{report}");
    let micros = |number| Duration::from_micros(number);
    assert_eq!(seen, BTreeSet::from([vec![micros(1), micros(3), micros(7)]]));
}

#[test]
fn a_loop_that_sleeps_between_checks_gives_other_tasks_time() {
    // Tests of many crates wait for a second like this. If each check moved the clock by more than the one before, a few
    // checks would take longer than the other task's steps.
    let explorer = Explorer::new().strategy(Strategy::random()).executions(200);
    let report = explorer.environment(Environment::calm()).explore(|| {
        let (n, done) = (AtomicUsize::new(0), AtomicBool::new(false));
        thread::scope(|scope| {
            scope.spawn(|| {
                (0..200).for_each(|_| _ = n.fetch_add(1, SeqCst));
                done.store(true, SeqCst);
            });
            let begun = Instant::now();
            while !done.load(SeqCst) {
                assert!(begun.elapsed() < Duration::from_secs(1), "the time is over");
                thread::sleep(Duration::from_millis(1));
            }
        });
    });
    assert!(report.verdict().is_pass(), "{report}");
}

#[test]
fn a_loop_that_sleeps_between_checks_ends_however_long_it_waits() {
    for limit in LIMITS {
        let explorer = Explorer::new().steps_per_execution(2_000);
        let report = explorer.environment(Environment::calm()).explore(move || {
            let begun = Instant::now();
            while begun.elapsed() < limit {
                thread::sleep(Duration::from_millis(1));
            }
        });
        assert!(report.verdict().is_pass(), "{limit:?}: {report}");
    }
}

#[test]
fn the_limit_on_steps_may_be_reached_where_time_passes() {
    // The step that is one too many changes the clock, and its operation is not recorded.
    for steps in 1..12 {
        let explorer = Explorer::new().environment(Environment::calm());
        let report = explorer.steps_per_execution(steps).keep_going(true).explore(|| {
            let (sender, receiver) = mpsc::channel::<()>();
            let parked = thread::spawn(|| thread::park_timeout(Duration::from_millis(1)));
            let received = receiver.recv_timeout(Duration::from_millis(2));
            assert!(received.is_err());
            parked.join().unwrap();
            drop(sender);
        });
        let kinds = kinds(&report);
        assert!(
            kinds.iter().all(|kind| kind == "step_limit"),
            "{steps} steps: {report}"
        );
    }
}
