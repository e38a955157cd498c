//! Reads of the clock, deadlines, and operations that advance the clock: all searches have the same results.

use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::thread::thread_local;
use intermezzo_explorer::time::{Duration, Instant};
use intermezzo_explorer::{Coverage, Environment, Explorer, Reduction, Strategy, thread};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// Returns the results of all executions in this environment. They are the same with every operation a schedule point,
/// and by every search.
fn seen<T>(environment: Environment, test: impl Fn() -> T + Send + Sync) -> BTreeSet<T>
where
    T: Ord + Clone + std::fmt::Debug + Send,
{
    let explore = |explorer: Explorer| {
        let seen = Arc::new(Mutex::new(BTreeSet::new()));
        let report = explorer.explore(|| {
            let saw = test();
            seen.lock().unwrap().insert(saw);
        });
        assert_eq!(*report.coverage(), Coverage::Exhaustive, "{report}");
        let seen = seen.lock().unwrap().clone();
        (seen, report)
    };
    let of = || Explorer::new().environment(environment).minimise(0);
    let (wanted, _) = explore(of().every_operation(true));
    let (found, none) = explore(of());
    assert_eq!(found, wanted);
    for reduction in [Reduction::Caching, Reduction::SourceDpor, Reduction::Dpor] {
        for jobs in [1, 2] {
            let (found, report) = explore(of().reduction(reduction).jobs(jobs));
            assert_eq!(found, wanted, "{reduction:?}, {jobs} jobs");
            assert_eq!(report.traces(), none.traces(), "{reduction:?}, {jobs} jobs");
        }
    }
    for (name, strategy) in [
        ("auto", Strategy::auto()),
        ("delays", Strategy::named("dfs(delays=none)").unwrap()),
        ("best-first", Strategy::named("best-first").unwrap()),
    ] {
        assert_eq!(explore(of().strategy(strategy)).0, wanted, "{name}");
    }
    assert_eq!(
        explore(of().reduction(Reduction::OrderedAtomics)).0,
        wanted,
        "ordered atomics"
    );
    wanted
}

#[test]
fn a_read_of_the_clock_may_come_after_another_tasks_sleep() {
    let seen = seen(Environment::calm(), || {
        let start = Instant::now();
        let task = thread::spawn(move || start.elapsed() < ms(5));
        thread::sleep(ms(5));
        task.join().unwrap()
    });
    assert_eq!(seen, [false, true].into());
}

#[test]
fn two_reads_of_the_clock_come_in_either_order() {
    let seen = seen(Environment::calm(), || {
        let times = [0, 1].map(|_| thread::spawn(Instant::now));
        let [one, other] = times.map(|task| task.join().unwrap());
        one < other
    });
    assert_eq!(seen, [false, true].into());
}

#[test]
fn the_first_reader_of_the_clock_need_not_swap_first() {
    let seen = seen(Environment::calm(), || {
        let first = Arc::new(AtomicUsize::new(0));
        let tasks = [1, 2].map(|me| {
            let first = first.clone();
            thread::spawn(move || {
                let now = Instant::now();
                _ = first.compare_exchange(0, me, SeqCst, SeqCst);
                now
            })
        });
        let [one, other] = tasks.map(|task| task.join().unwrap());
        (one < other, first.load(SeqCst))
    });
    assert_eq!(seen, [(false, 1), (false, 2), (true, 1), (true, 2)].into());
}

#[test]
fn a_wait_may_begin_after_a_sleep_and_so_end_later() {
    let seen = seen(Environment::calm(), || {
        let first = AtomicUsize::new(0);
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(ms(3));
                thread::park_timeout(ms(2));
                _ = first.compare_exchange(0, 1, SeqCst, SeqCst);
            });
            scope.spawn(|| {
                thread::park_timeout(ms(4));
                _ = first.compare_exchange(0, 2, SeqCst, SeqCst);
            });
        });
        first.load(SeqCst)
    });
    assert_eq!(seen, [1, 2].into());
}

#[test]
fn a_wait_without_a_notification_may_end_before_its_time() {
    let environment = Environment {
        spurious_wakeups: 1,
        ..Environment::calm()
    };
    let seen = seen(environment, || {
        let start = Instant::now();
        thread::park_timeout(ms(5));
        start.elapsed() < ms(1)
    });
    assert_eq!(seen, [false, true].into());
}

#[test]
fn thread_locals_may_wait_when_they_are_dropped() {
    struct Waits(Cell<u64>);
    impl Drop for Waits {
        fn drop(&mut self) {
            match self.0.get() {
                0 => thread::sleep(ms(2)),
                1 => thread::park_timeout(ms(2)),
                _ => _ = Instant::now(),
            }
        }
    }
    thread_local! {
        static WAITS: Waits = const { Waits(Cell::new(0)) };
    }
    for how in 0..3 {
        seen(Environment::calm(), move || {
            let task = thread::spawn(move || WAITS.with(|waits| waits.0.set(how)));
            thread::park_timeout(ms(1));
            task.is_finished()
        });
    }
}
