//! Samples of tests whose tasks share by `Arc`.

use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::sync::{Arc, Mutex};
use intermezzo_explorer::{Environment, Explorer, Strategy, thread};

/// Searches that sample, each with the maximum mean number of executions that it may take to find a rare order of tasks.
/// `pct(2)` needs the right task at the right one of some hundred places.
const STRATEGIES: [(&str, u64); 6] = [
    ("random", 100),
    ("pos", 100),
    ("surw(one)", 100),
    ("surw(all)", 100),
    ("places", 100),
    ("pct(2)", 1_000),
];

const SEEDS: u64 = 10;

fn explorer(strategy: &str, seed: u64) -> Explorer {
    Explorer::new()
        .strategy(Strategy::named(strategy).unwrap())
        .environment(Environment::calm())
        .set("minimise", 0)
        .seed(seed)
}

/// Several tasks set two variables one after the other, and the test fails if the last task sees only the second. Each
/// task has handles of its own.
fn reorder(setters: usize) {
    let (first, second) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let setters = (0..setters).map(|_| {
        let (first, second) = (first.clone(), second.clone());
        thread::spawn(move || {
            first.store(1, SeqCst);
            second.store(1, SeqCst);
        })
    });
    let mut tasks: Vec<_> = setters.collect();
    tasks.push(thread::spawn(move || {
        let first = first.load(SeqCst);
        assert!(first == 1 || second.load(SeqCst) == 0, "out of order");
    }));
    for task in tasks {
        task.join().unwrap();
    }
}

/// A task asks for the number of handles, and fails if another task is between a store and a clone then.
fn counted() {
    let (stored, shared) = (Arc::new(AtomicUsize::new(0)), Arc::new(()));
    let other = {
        let (stored, shared) = (stored.clone(), shared.clone());
        thread::spawn(move || {
            stored.store(1, SeqCst);
            let more = shared.clone();
            stored.store(2, SeqCst);
            drop(more);
        })
    };
    if stored.load(SeqCst) == 1 {
        let handles = Arc::strong_count(&shared);
        assert!(handles != 2 || stored.load(SeqCst) == 2, "before the clone");
    }
    other.join().unwrap();
}

/// Returns the mean number of executions to the failure over the seeds. It must be found with all of them.
fn mean(strategy: &str, limit: u64, test: impl Fn() + Send + Sync + Copy) -> u64 {
    let executions = (0..SEEDS).map(|seed| {
        let report = explorer(strategy, seed).set("executions", limit).explore(test);
        let failure = report.first_failure();
        failure.unwrap_or_else(|| panic!("{strategy} did not find it with seed {seed}"))
    });
    executions.sum::<u64>() / SEEDS
}

#[test]
fn tasks_that_share_by_handles_run_at_the_same_time() {
    for (strategy, most) in STRATEGIES {
        let mean = mean(strategy, 5_000, || reorder(9));
        println!("reorder(9) by {strategy}: {mean} executions");
        // With a preemption at each clone, `random` and `pos` find it in none of 5,000.
        assert!(mean < most, "{strategy} took {mean} executions");
    }
}

#[test]
fn a_bug_that_needs_a_preemption_at_a_clone_is_found() {
    for (strategy, _) in STRATEGIES {
        let mean = mean(strategy, 2_000, counted);
        println!("counted by {strategy}: {mean} executions");
    }
}

/// The last handle is dropped between a task's check and its upgrade, in one of eight executions that are drawn uniformly.
#[test]
fn tasks_are_preempted_where_they_upgrade_a_handle() {
    static GONE: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    let report = explorer("random", 0).set("executions", 800).explore(|| {
        let (alive, value) = (Arc::new(AtomicUsize::new(1)), Arc::new(()));
        let (seen, weak) = (alive.clone(), Arc::downgrade(&value));
        let other = thread::spawn(move || {
            if seen.load(SeqCst) == 1 && weak.upgrade().is_none() {
                GONE.fetch_add(1, SeqCst);
            }
        });
        alive.store(0, SeqCst);
        drop(value);
        other.join().unwrap();
    });
    assert_eq!(report.executions(), 800);
    let gone = GONE.load(SeqCst);
    assert!((60..140).contains(&gone), "in {gone} of 800 executions");
}

#[test]
fn tasks_run_concurrently_in_profile_runs_of_maple() {
    let two_locks = || {
        let (first, second) = (Arc::new(Mutex::new(0)), Arc::new(Mutex::new(0)));
        let mut tasks = Vec::new();
        for _ in 0..10 {
            let (first, second) = (first.clone(), second.clone());
            tasks.push(thread::spawn(move || {
                *first.lock().unwrap() = 1;
                *second.lock().unwrap() = 2;
            }));
        }
        for _ in 0..10 {
            let (first, second) = (first.clone(), second.clone());
            tasks.push(thread::spawn(move || {
                let first = *first.lock().unwrap();
                assert!(first == 0 || *second.lock().unwrap() == 2, "between the locks");
            }));
        }
        tasks.into_iter().for_each(|task| task.join().unwrap());
    };
    let finds = |seed: &u64| {
        let report = explorer("maple", *seed).set("executions", 500).explore(two_locks);
        report.first_failure().is_some()
    };
    let found = (0..SEEDS).filter(finds).count();
    println!("two locks by maple: with {found} seeds of {SEEDS}");
    // With a preemption at each clone, it was found with 4 seeds.
    assert!(found > 5, "with {found} seeds");
}

#[test]
fn the_report_says_how_clones_are_treated() {
    fn notes(test: impl Fn() + Send + Sync) -> String {
        let report = explorer("pct(2)", 0)
            .set("executions", 20)
            .set("keep_going", true)
            .explore(test);
        report.notes().join("\n")
    }
    let text = "a quarter of that, if a task has to be preempted where it clones a handle";
    assert!(notes(counted).contains(text), "{}", notes(counted));
    let without = || {
        let shared = AtomicUsize::new(0);
        thread::scope(|scope| {
            scope.spawn(|| shared.store(1, SeqCst));
            shared.store(2, SeqCst);
        });
    };
    assert!(!notes(without).contains(text), "{}", notes(without));
    let samples = "samples: in three executions of four, no task is preempted where it clones an `Arc`";
    assert!(notes(counted).contains(samples), "{}", notes(counted));
    assert!(!notes(without).contains(samples), "{}", notes(without));
}
