//! The environment is adversarial, as in reality: behaviours that other explorers omit or get wrong.

use intermezzo_explorer::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::sync::{Condvar, Mutex};
use intermezzo_explorer::{Environment, Explorer, Report, Strategy, any_bool, choose, hint, thread, time};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex as StdMutex};
use std::time::Duration;

/// Explores a test that returns a value. Returns the set of these values.
fn outcomes<T: Ord + Send + 'static>(
    explorer: Explorer,
    test: impl Fn() -> T + Send + Sync,
) -> (BTreeSet<T>, Report) {
    let seen = StdMutex::new(BTreeSet::new());
    let report = explorer.explore(|| {
        let outcome = test();
        seen.lock().unwrap().insert(outcome);
    });
    (seen.into_inner().unwrap(), report)
}

fn passes(explorer: Explorer, test: impl Fn() + Send + Sync) -> Report {
    let report = explorer.explore(test);
    assert!(report.verdict().is_pass(), "{report}");
    report
}

#[test]
fn a_spurious_wake_up_breaks_a_wait_without_a_loop() {
    let test = || {
        let ready = Mutex::new(false);
        let changed = Condvar::new();
        thread::scope(|scope| {
            scope.spawn(|| {
                *ready.lock().unwrap() = true;
                changed.notify_one();
            });
            let mut held = ready.lock().unwrap();
            if !*held {
                held = changed.wait(held).unwrap();
            }
            assert!(*held, "woken and not ready");
        });
    };
    let report = Explorer::new().explore(test);
    assert_eq!(report.findings()[0].kind.as_str(), "panic", "{report}");
    assert!(
        report.findings()[0].message.contains("woken and not ready"),
        "{report}"
    );
    passes(Explorer::new().environment(Environment::calm()), test);
}

#[test]
fn a_wait_in_a_loop_is_right() {
    passes(Explorer::new(), || {
        let ready = Mutex::new(false);
        let changed = Condvar::new();
        thread::scope(|scope| {
            scope.spawn(|| {
                *ready.lock().unwrap() = true;
                changed.notify_one();
            });
            let held = changed
                .wait_while(ready.lock().unwrap(), |ready| !*ready)
                .unwrap();
            assert!(*held);
        });
    });
}

#[test]
fn a_notification_before_the_wait_is_lost() {
    let report = Explorer::new().environment(Environment::calm()).explore(|| {
        let held = Mutex::new(());
        let changed = Condvar::new();
        thread::scope(|scope| {
            scope.spawn(|| changed.notify_one());
            drop(changed.wait(held.lock().unwrap()));
        });
    });
    let finding = &report.findings()[0];
    assert_eq!(finding.kind.as_str(), "deadlock", "{report}");
    assert!(
        finding.message.contains("main waits to be notified by condvar"),
        "{report}"
    );
}

#[test]
fn notify_one_may_wake_any_waiter() {
    let first_woken = || {
        let state = Mutex::new((0, None));
        let changed = Condvar::new();
        let arrived = Condvar::new();
        thread::scope(|scope| {
            for waiter in [1, 2] {
                let (state, changed, arrived) = (&state, &changed, &arrived);
                scope.spawn(move || {
                    let mut held = state.lock().unwrap();
                    // The waiters arrive in order.
                    while held.0 != waiter - 1 {
                        held = arrived.wait(held).unwrap();
                    }
                    held.0 = waiter;
                    arrived.notify_all();
                    held = changed.wait(held).unwrap();
                    held.1.get_or_insert(waiter);
                });
            }
            let mut held = state.lock().unwrap();
            while held.0 != 2 {
                held = arrived.wait(held).unwrap();
            }
            changed.notify_one();
            while held.1.is_none() {
                drop(held);
                thread::yield_now();
                held = state.lock().unwrap();
            }
            changed.notify_all();
        });
        state.into_inner().unwrap().1
    };
    let any = Environment {
        notify_any: true,
        ..Environment::calm()
    };
    let (seen, report) = outcomes(Explorer::new().environment(any).preemptions(1), first_woken);
    assert_eq!(seen, BTreeSet::from([Some(1), Some(2)]), "{report}");
    let (seen, _) = outcomes(
        Explorer::new().environment(Environment::calm()).preemptions(1),
        first_woken,
    );
    assert_eq!(seen, BTreeSet::from([Some(1)]));
}

#[test]
fn a_weak_compare_exchange_fails_sometimes() {
    let test = || AtomicUsize::new(0).compare_exchange_weak(0, 1, SeqCst, SeqCst);
    let (seen, report) = outcomes(Explorer::new(), test);
    assert_eq!(seen, BTreeSet::from([Ok(0), Err(0)]), "{report}");
    let (seen, _) = outcomes(Explorer::new().environment(Environment::calm()), test);
    assert_eq!(seen, BTreeSet::from([Ok(0)]));
    let (seen, _) = outcomes(Explorer::new(), || {
        AtomicUsize::new(0).compare_exchange(0, 1, SeqCst, SeqCst)
    });
    assert_eq!(seen, BTreeSet::from([Ok(0)]), "the strong one does not fail");
}

#[test]
fn a_try_lock_of_a_free_lock_fails_only_if_asked_to() {
    let test = || Mutex::new(()).try_lock().is_ok();
    assert_eq!(outcomes(Explorer::new(), test).0, BTreeSet::from([true]));
    let harsh = Environment {
        try_lock_failures: 1,
        ..Environment::default()
    };
    assert_eq!(
        outcomes(Explorer::new().environment(harsh), test).0,
        BTreeSet::from([false, true])
    );
}

#[test]
fn a_timed_wait_alone_times_out() {
    let report = passes(Explorer::new(), || {
        let began = time::Instant::now();
        let held = Mutex::new(());
        let (_, result) = Condvar::new()
            .wait_timeout(held.lock().unwrap(), Duration::from_secs(3600))
            .unwrap();
        // It may also wake spuriously. Alone, it has no other reason.
        assert!(!result.timed_out() || began.elapsed() >= Duration::from_secs(3600));
        thread::park_timeout(Duration::from_millis(1));
    });
    assert!(
        report.elapsed() < Duration::from_secs(60),
        "virtual time costs none"
    );
}

#[test]
fn a_timed_wait_may_time_out_or_be_notified() {
    let test = || {
        let ready = Mutex::new(false);
        let changed = Condvar::new();
        thread::scope(|scope| {
            scope.spawn(|| {
                *ready.lock().unwrap() = true;
                changed.notify_one();
            });
            let (held, result) = changed
                .wait_timeout_while(ready.lock().unwrap(), Duration::from_millis(5), |ready| !*ready)
                .unwrap();
            (*held, result.timed_out())
        })
    };
    let (seen, report) = outcomes(Explorer::new(), test);
    assert_eq!(seen, BTreeSet::from([(false, true), (true, false)]), "{report}");
    let (seen, _) = outcomes(Explorer::new().environment(Environment::calm()), test);
    assert_eq!(
        seen,
        BTreeSet::from([(true, false)]),
        "no early time-out when it is switched off"
    );
}

#[test]
fn joining_a_thread_that_panicked_is_an_error() {
    passes(Explorer::new(), || {
        let payload = thread::spawn(|| panic!("boom")).join().unwrap_err();
        assert_eq!(*payload.downcast_ref::<&str>().unwrap(), "boom");
    });
}

#[test]
fn a_panic_that_nobody_joins_is_a_finding() {
    let report = Explorer::new().explore(|| drop(thread::spawn(|| panic!("boom"))));
    assert_eq!(report.findings()[0].kind.as_str(), "panic", "{report}");
    assert!(
        report.findings()[0]
            .message
            .starts_with("task 1 panicked at explorer/short/tests/environment.rs:"),
        "{report}"
    );
}

#[test]
fn a_panic_that_is_caught_inside_is_none() {
    passes(Explorer::new(), || {
        thread::spawn(|| assert!(std::panic::catch_unwind(|| panic!("boom")).is_err()));
    });
}

#[test]
fn a_lock_held_in_a_panic_is_poisoned() {
    passes(Explorer::new(), || {
        let lock = Arc::new(Mutex::new(1));
        let held = lock.clone();
        thread::spawn(move || {
            let _held = held.lock().unwrap();
            panic!("boom");
        })
        .join()
        .unwrap_err();
        assert!(lock.is_poisoned());
        assert_eq!(*lock.lock().unwrap_err().into_inner(), 1);
        lock.clear_poison();
        assert!(lock.lock().is_ok());
    });
}

#[test]
fn a_yielding_spin_loop_does_not_hang_the_search() {
    for spinners in [1, 2] {
        passes(Explorer::new(), move || {
            let ready = AtomicBool::new(false);
            thread::scope(|scope| {
                for spin in [thread::yield_now, hint::spin_loop, || {
                    thread::sleep(Duration::from_millis(1))
                }]
                .iter()
                .take(spinners)
                {
                    scope.spawn(|| {
                        while !ready.load(SeqCst) {
                            spin();
                        }
                    });
                }
                scope.spawn(|| ready.store(true, SeqCst));
            });
        });
    }
}

#[test]
fn a_loop_that_only_yields_does_not_keep_the_others_out() {
    passes(Explorer::new(), || {
        static DONE: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);
        DONE.store(false, SeqCst);
        let n = AtomicUsize::new(0);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !DONE.load(SeqCst) {
                    thread::yield_now();
                }
            });
            n.fetch_add(1, SeqCst);
            DONE.store(true, SeqCst);
        });
    });
}

#[test]
fn a_loop_that_waits_for_time_to_pass_ends() {
    passes(Explorer::new(), || {
        let began = time::Instant::now();
        while began.elapsed() < Duration::from_secs(10) {
            hint::spin_loop();
        }
        thread::sleep(Duration::from_secs(5));
        assert!(began.elapsed() >= Duration::from_secs(15));
    });
}

#[test]
fn a_sequential_test_works_under_every_strategy() {
    for strategy in ["dfs", "random"] {
        for preemptions in ["none", "0", "2"] {
            let mut settings = intermezzo_explorer::Settings::default();
            settings.set("strategy", strategy).unwrap();
            settings.set("preemptions", preemptions).unwrap();
            settings.set("executions", "10").unwrap();
            let report = passes(Explorer::with_settings(settings), || {
                let n = AtomicUsize::new(1);
                n.store(2, SeqCst);
                assert_eq!(n.load(SeqCst), 2);
            });
            assert_eq!(report.executions(), if strategy == "dfs" { 1 } else { 10 });
        }
    }
}

#[test]
fn more_tasks_than_fit_a_word() {
    let report = Explorer::new()
        .strategy(Strategy::random())
        .executions(20)
        .explore(|| {
            let n = AtomicUsize::new(0);
            let lock = Mutex::new(0);
            thread::scope(|scope| {
                for _ in 0..300 {
                    scope.spawn(|| {
                        n.fetch_add(1, SeqCst);
                        *lock.lock().unwrap() += 1;
                    });
                }
            });
            assert_eq!((n.into_inner(), lock.into_inner().unwrap()), (300, 300));
        });
    assert!(report.verdict().is_pass(), "{report}");
    assert_eq!(report.max_tasks(), 301);
}

#[test]
fn every_value_is_chosen() {
    let (seen, report) = outcomes(Explorer::new(), || (choose(3), any_bool()));
    assert_eq!(seen, (0..3).flat_map(|n| [(n, false), (n, true)]).collect());
    assert_eq!(report.executions(), 6);
}

#[test]
fn a_timed_out_wait_is_a_yield() {
    // A task that times out repeatedly yields: bound 0 reaches the end.
    passes(Explorer::new().preemptions(0), || {
        let ready = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !ready.load(SeqCst) {
                    thread::park_timeout(Duration::from_millis(1));
                }
            });
            scope.spawn(|| ready.store(true, SeqCst));
        });
    });
}

/// A lock spins for a while before it looks again. A wait of 49 days does not end meanwhile.
#[test]
fn no_time_passes_during_a_pause_of_several_yields() {
    for pauses in [1, 2, 64] {
        let calm = Explorer::new().environment(Environment::calm());
        passes(calm, move || {
            let is_set = Arc::new(AtomicBool::new(false));
            let sets = is_set.clone();
            let waiter = thread::current();
            let task = thread::spawn(move || {
                for _ in 0..pauses {
                    hint::spin_loop();
                }
                sets.store(true, SeqCst);
                waiter.unpark();
            });
            thread::park_timeout(Duration::from_hours(49 * 24));
            assert!(is_set.load(SeqCst));
            task.join().unwrap();
        });
    }
}

/// A loop that only yields may wait for time to pass.
#[test]
fn time_passes_while_a_task_yields_without_end() {
    passes(Explorer::new().environment(Environment::calm()), || {
        let over = Arc::new(std::sync::atomic::AtomicBool::new(false));
        let waits = over.clone();
        let task = thread::spawn(move || {
            // Not seen by the explorer.
            while !waits.load(SeqCst) {
                thread::yield_now();
            }
        });
        thread::park_timeout(Duration::from_hours(1));
        over.store(true, SeqCst);
        task.join().unwrap();
    });
}

#[test]
fn addresses_are_used_again_only_where_executions_have_memory_of_their_own() {
    let environment = Environment {
        address_reuse: 1,
        ..Environment::calm()
    };
    let refused = Explorer::new().environment(environment).try_explore(|| ());
    let error = refused.expect_err("this program is no unmodified test");
    assert!(error.to_string().contains("--unmodified"), "{error}");
}

/// A task that has yielded goes on by itself if another one has written what it waits for.
#[test]
fn time_does_not_pass_while_a_yielding_task_would_read_a_newer_value() {
    for loops in ["park", "run"] {
        let mut settings = intermezzo_explorer::Settings::default();
        settings.set("spin_loops", loops).unwrap();
        let explorer = Explorer::with_settings(settings);
        passes(explorer.environment(Environment::calm()), || {
            let (is_open, is_done) = (AtomicBool::new(false), AtomicBool::new(false));
            let main = thread::current();
            thread::scope(|scope| {
                scope.spawn(|| {
                    while !is_open.load(SeqCst) {
                        thread::yield_now();
                    }
                    is_done.store(true, SeqCst);
                    main.unpark();
                });
                scope.spawn(|| {
                    is_open.store(true, SeqCst);
                    while !is_done.load(SeqCst) {
                        thread::yield_now();
                    }
                });
                thread::park_timeout(Duration::from_hours(1));
                assert!(is_done.load(SeqCst), "the wait was over before its time");
            });
        });
    }
}
