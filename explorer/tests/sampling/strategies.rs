//! Results of executions drawn at random: findings that replay, reports, and tests with nothing to draw.

use crate::same::SAMPLERS;
use intermezzo_explorer::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::sync::{Condvar, Mutex};
use intermezzo_explorer::{
    Coverage, Environment, Explorer, Strategy, TextStyle, Verbosity, choose, hint, thread,
};

fn explorer(strategy: &str) -> Explorer {
    Explorer::new().strategy(Strategy::named(strategy).unwrap())
}

/// Setters store `a = 1` and then `b = -1`; a checker expects both or neither (SCTBench CS.reorder_N_bad).
fn reorder(setters: u32) {
    let (a, b) = (AtomicI64::new(0), AtomicI64::new(0));
    let is = |x, y| a.load(SeqCst) == x && b.load(SeqCst) == y;
    thread::scope(|scope| {
        for _ in 0..setters {
            scope.spawn(|| {
                a.store(1, SeqCst);
                b.store(-1, SeqCst);
            });
        }
        scope.spawn(|| assert!(is(0, 0) || is(1, -1)));
    });
}

/// A bug that needs a chosen value, a notified waiter, and an order.
fn adversity() {
    let (ready, changed, n) = (Mutex::new(0), Condvar::new(), AtomicUsize::new(0));
    let late = choose(3);
    thread::scope(|scope| {
        for waiter in 0..2_usize {
            let (ready, changed, n) = (&ready, &changed, &n);
            scope.spawn(move || {
                let mut held = ready.lock().unwrap();
                while *held == 0 {
                    held = changed.wait(held).unwrap();
                }
                *held -= 1;
                drop(held);
                assert!(n.swap(waiter + 1, SeqCst) == 0 || waiter == 1 || late < 2);
            });
        }
        scope.spawn(|| {
            *ready.lock().unwrap() += 2;
            changed.notify_all();
        });
    });
}

#[test]
fn findings_replay() {
    for strategy in SAMPLERS {
        for (test, executions) in [((|| reorder(2)) as fn(), 2_000), (adversity, 2_000)] {
            let report = explorer(strategy)
                .program("test")
                .executions(executions)
                .explore(test);
            if strategy.starts_with("pct-all") && report.findings().is_empty() {
                // Choices of other kinds take their default.
                continue;
            }
            assert!(report.verdict().is_fail(), "{strategy}: {report}");
            let finding = &report.findings()[0];
            assert_eq!(finding.replays, None, "{strategy}: {report}");
            let again = Explorer::new()
                .program("test")
                .replay(finding.schedule.clone())
                .explore(test);
            assert_eq!(again.findings().len(), 1, "{strategy}: {again}");
            assert_eq!(again.findings()[0].message, finding.message, "{strategy}");
        }
    }
}

#[test]
fn it_does_not_matter_how_many_tasks_run_the_same_code() {
    // Means over 20 seeds; the bounds leave room for other seeds.
    for (strategy, setters, least) in [
        ("places", 2, 30.0),
        ("places", 4, 30.0),
        ("places", 9, 30.0),
        ("places", 19, 30.0),
        ("places", 49, 30.0),
        ("places", 99, 30.0),
        ("surw", 2, 20.0),
        ("surw", 9, 40.0),
    ] {
        let numbers = (0..20).map(|seed| {
            let report = explorer(strategy)
                .environment(Environment::calm())
                .seed(seed)
                .minimise(0)
                .executions(1_000)
                .explore(|| reorder(setters));
            report.first_failure().unwrap_or(1_000)
        });
        let mean = numbers.sum::<u64>() as f64 / 20.0;
        println!("reorder_{}: {strategy} {mean}", setters + 1);
        assert!(mean < least, "{strategy}, {setters} setters: {mean}");
    }
}

#[test]
fn a_test_without_choices_is_run() {
    for strategy in SAMPLERS {
        for body in [(|| {}) as fn(), || {
            AtomicUsize::new(1).fetch_add(1, SeqCst);
            thread::spawn(|| {}).join().unwrap();
        }] {
            let report = explorer(strategy).executions(10).explore(body);
            assert!(report.verdict().is_pass(), "{strategy}: {report}");
            let all = match strategy {
                "pct-all(3)" => 3..=10,
                _ => 10..=10,
            };
            assert!(all.contains(&report.executions()), "{strategy}: {report}");
        }
    }
}

#[test]
fn tasks_that_wait_in_loops_end() {
    for strategy in SAMPLERS {
        for awaits in [true, false] {
            let report = explorer(strategy)
                .set("spin_loops", if awaits { "park" } else { "run" })
                .executions(200)
                .steps_per_execution(2_000)
                .explore(|| {
                    let (flag, n) = (AtomicBool::new(false), AtomicUsize::new(0));
                    thread::scope(|scope| {
                        for _ in 0..2 {
                            scope.spawn(|| {
                                while !flag.load(SeqCst) {
                                    hint::spin_loop();
                                }
                                n.fetch_add(1, SeqCst);
                            });
                        }
                        scope.spawn(|| {
                            n.fetch_add(1, SeqCst);
                            flag.store(true, SeqCst);
                        });
                    });
                });
            assert!(
                report.verdict().is_pass(),
                "{strategy}, awaits {awaits}: {report}"
            );
        }
    }
}

#[test]
fn a_portfolio_reports_the_results_of_each_strategy() {
    let report = explorer("portfolio(2*places,random,surw)")
        .environment(Environment::calm())
        .keep_going(true)
        .executions(402)
        .explore(|| reorder(3));
    assert_eq!(report.strategy(), "portfolio(2*places,random,surw(one))");
    assert_eq!(report.coverage(), &Coverage::Sampled { executions: 402 });
    let note = "executions by strategy: profile 2, places 200, random 100, surw(one) 100";
    assert!(report.notes().iter().any(|known| known == note), "{report}");
    let by = report.findings()[0].found_by.as_deref().unwrap();
    assert!(["profile", "places", "random", "surw(one)"].contains(&by), "{by}");
    assert!(report.to_json().contains("\"found_by\""));
    let text = report.text(&TextStyle::default().detail(Verbosity::Verbose));
    assert!(text.contains(&format!("found by {by}")), "{text}");
}

#[test]
fn settings_that_break_a_guarantee_are_refused() {
    for (explorer, name) in [
        (explorer("pct(3)").preemptions(2), "preemptions"),
        (explorer("surw").set("preempt", "ring.rs"), "preempt"),
        (
            explorer("places").reduction(intermezzo_explorer::Reduction::Dpor),
            "reduction",
        ),
    ] {
        let error = explorer.try_explore(|| {}).unwrap_err().to_string();
        assert!(error.starts_with(&format!("setting `{name}`")), "{error}");
    }
}

/// Returns the number of variables from which SURW draws in this test.
fn drawn_from(test: impl Fn() + Send + Sync) -> usize {
    let report = explorer("surw")
        .environment(Environment::calm())
        .executions(3)
        .explore(test);
    let note = report.notes().iter().find_map(|note| {
        let of = note.strip_prefix("surw(one): uniform over the orders of accesses to ")?;
        Some(match of.strip_prefix("one of ") {
            None => 1,
            Some(many) => many.split(' ').next()?.parse().expect("a number of variables"),
        })
    });
    note.unwrap_or_else(|| panic!("{report}"))
}

/// Two tasks that take a lock, each with an operation under it.
fn sections(
    lock: &Mutex<()>,
    one: impl Fn() -> usize + Send + Sync,
    other: impl Fn() -> usize + Send + Sync,
) {
    thread::scope(|scope| {
        scope.spawn(|| {
            let _held = lock.lock().unwrap();
            one();
        });
        scope.spawn(|| {
            let _held = lock.lock().unwrap();
            other();
        });
    });
}

#[test]
fn surw_draws_no_lock_whose_sections_all_access_one_variable() {
    let (lock, n) = (|| Mutex::new(()), || AtomicUsize::new(0));
    let all_access_one = || {
        let (lock, n) = (lock(), n());
        thread::scope(|scope| {
            // If every task waits for the lock, the lock represents the accesses under it.
            scope.spawn(|| n.fetch_add(1, SeqCst));
            sections(&lock, || n.fetch_add(1, SeqCst), || n.swap(1, SeqCst));
        });
    };
    assert_eq!(drawn_from(all_access_one), 1);
    let one_accesses_nothing = || {
        let (lock, n) = (lock(), n());
        thread::scope(|scope| {
            scope.spawn(|| n.fetch_add(1, SeqCst));
            sections(&lock, || n.fetch_add(1, SeqCst), || 0);
        });
    };
    assert_eq!(drawn_from(one_accesses_nothing), 2);
    let each_accesses_another = || {
        let (lock, n, m) = (lock(), n(), n());
        thread::scope(|scope| {
            scope.spawn(|| n.fetch_add(1, SeqCst) + m.fetch_add(1, SeqCst));
            sections(&lock, || n.fetch_add(1, SeqCst), || m.fetch_add(1, SeqCst));
        });
    };
    assert_eq!(drawn_from(each_accesses_another), 3);
    let one_accesses_what_nobody_shares = || {
        let (lock, n, own) = (lock(), n(), n());
        thread::scope(|scope| {
            scope.spawn(|| n.fetch_add(1, SeqCst));
            sections(&lock, || n.fetch_add(1, SeqCst), || own.fetch_add(1, SeqCst));
        });
    };
    assert_eq!(drawn_from(one_accesses_what_nobody_shares), 2);
}

/// The lock alone decides if an attempt fails.
#[test]
fn surw_draws_a_lock_with_a_failed_attempt() {
    let tried = || {
        let (lock, n) = (Mutex::new(()), AtomicUsize::new(0));
        thread::scope(|scope| {
            let held = lock.lock().unwrap();
            n.fetch_add(1, SeqCst);
            let task = scope.spawn(|| assert!(lock.try_lock().is_err()));
            task.join().unwrap();
            drop(held);
            scope.spawn(|| n.fetch_add(1, SeqCst));
            sections(&lock, || n.fetch_add(1, SeqCst), || n.swap(1, SeqCst));
        });
    };
    assert_eq!(drawn_from(tried), 2);
}
