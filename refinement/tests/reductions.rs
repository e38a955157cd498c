//! Reductions show every history: as many as without any.
//!
//! `COMPARED_SCENARIOS` sets the number of scenarios of each object, `COMPARED_SEED` the first seed.

use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::sync::{Condvar, Mutex, RwLock};
use intermezzo_explorer::{Environment, Reduction};
use intermezzo_refinement::{Refinement, RefinementReport, fresh, refine};

fn number(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(value) => value
            .parse()
            .unwrap_or_else(|_| panic!("{name}={value}: a number is wanted")),
        Err(_) => default,
    }
}

/// Runs scenario after scenario with each reduction.
fn compare<T: Sync + 'static>(name: &str, test: impl Fn() -> Refinement<T>) {
    let seed = number("COMPARED_SEED", 1);
    let mut compared = 0;
    for at in 0..number("COMPARED_SCENARIOS", 12) {
        let run = |reduction: Reduction| -> RefinementReport {
            test()
                .threads(2..=2)
                .ops(1..=2)
                .init(0..=1)
                .post(0..=1)
                .scenarios(1)
                .seed(seed * 1000 + at)
                .executions(30_000)
                .explorer(move |explorer| {
                    explorer
                        .environment(Environment::calm())
                        .reduction(reduction)
                        .keep_going(true)
                        .minimise(0)
                })
                .run()
        };
        let whole = run(Reduction::None);
        if !whole.short.is_empty() {
            continue;
        }
        compared += 1;
        for reduction in [Reduction::Dpor, Reduction::SourceDpor, Reduction::Caching] {
            let reduced = run(reduction);
            let told = |report: &RefinementReport| (report.histories, report.traces, report.verdict());
            assert_eq!(
                told(&reduced),
                told(&whole),
                "{name}, seed {seed}, scenario {at}, {reduction:?}:\n{reduced}\nand without:\n{whole}"
            );
        }
    }
    assert!(compared > 3, "{name}: {compared} scenarios were compared");
}

#[test]
fn of_atomics() {
    compare("counter", || {
        refine(|| AtomicUsize::new(0))
            .op("add", (), |n, ()| n.store(n.load(SeqCst) + 1, SeqCst))
            .op("add at once", (), |n, ()| n.fetch_add(1, SeqCst))
            .op("get", (), |n, ()| n.load(SeqCst))
    });
    compare("two cells", || {
        refine(|| (AtomicUsize::new(0), AtomicUsize::new(0)))
            .op("set", fresh::<usize>(), |(a, b), value| {
                a.store(value, SeqCst);
                b.store(value, SeqCst);
            })
            .op("nothing", (), |_, ()| ())
            .op("get", (), |(a, b), ()| (a.load(SeqCst), b.load(SeqCst)))
    });
}

#[test]
fn of_locks() {
    compare("stack", || {
        refine(|| Mutex::new(Vec::new()))
            .op("push", fresh::<u8>(), |stack, value| {
                stack.lock().unwrap().push(value)
            })
            .op("pop", (), |stack, ()| stack.lock().unwrap().pop())
            .op("try_pop", (), |stack, ()| Some(stack.try_lock().ok()?.pop()))
    });
    compare("shared", || {
        refine(|| RwLock::new(0))
            .op("set", fresh::<u8>(), |n, value| *n.write().unwrap() = value)
            .op("get", (), |n, ()| *n.read().unwrap())
    });
}

#[test]
fn of_waits() {
    compare("event", || {
        refine(|| (Mutex::new(false), Condvar::new()))
            .op("set", (), |(set, changed), ()| {
                *set.lock().unwrap() = true;
                changed.notify_all();
            })
            .op("reset", (), |(set, _), ()| *set.lock().unwrap() = false)
            .op("wait", (), |(set, changed), ()| {
                let mut is_set = set.lock().unwrap();
                while !*is_set {
                    is_set = changed.wait(is_set).unwrap();
                }
            })
    });
}
