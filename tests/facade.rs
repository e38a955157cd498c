//! The facade as a user sees it: the attribute, its settings, and the output of a failing test.

use intermezzo::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo::sync::{Arc, Mutex};
use intermezzo::{Environment, Explorer, thread};

#[intermezzo::test]
fn an_atomic_increment_is_not_lost() {
    let n = Arc::new(AtomicUsize::new(0));
    let t = {
        let n = n.clone();
        thread::spawn(move || n.fetch_add(1, SeqCst))
    };
    n.fetch_add(1, SeqCst);
    t.join().unwrap();
    assert_eq!(n.load(SeqCst), 2);
}

#[intermezzo::test(
    preemptions = 2,
    executions = 10_000,
    strategy = "random",
    seed = 7,
    time = 2.5
)]
fn settings_are_taken() -> Result<(), std::fmt::Error> {
    let lock = Mutex::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| *lock.lock().unwrap() += 1);
        }
    });
    assert_eq!(*lock.lock().unwrap(), 2);
    Ok(())
}

fn lost_update() {
    let n = AtomicUsize::new(0);
    thread::scope(|scope| {
        scope.spawn(|| n.store(n.load(SeqCst) + 1, SeqCst));
        n.store(n.load(SeqCst) + 1, SeqCst);
    });
    assert_eq!(n.load(SeqCst), 2);
}

/// Returns the message with which `run_test` panics.
fn failure(settings: &[(&str, &str)], test: fn()) -> String {
    let settings: Vec<(String, String)> = settings
        .iter()
        .map(|(n, v)| (n.to_string(), v.to_string()))
        .collect();
    let run = move || {
        let settings: Vec<(&str, &str)> = settings.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        let source = intermezzo::Source {
            package: option_env!("CARGO_MANIFEST_DIR"),
            package_name: None,
            binary: None,
            is_in_suite: true,
            file: file!(),
            should_panic: None,
            expected: &[],
            expects_finding: false,
        };
        intermezzo::run_test("facade::case", &settings, source, test);
    };
    // On a thread of its own, because the panic is expected.
    let panic = std::thread::spawn(run).join().unwrap_err();
    panic
        .downcast_ref::<String>()
        .expect("a panic with a text")
        .clone()
}

#[test]
fn a_failing_test_panics_with_the_report() {
    let text = failure(&[], lost_update);
    assert!(
        text.starts_with("error[assertion]: main panicked at [1]: ")
            && text.contains("\n[1] tests/facade.rs:"),
        "{text}"
    );
    assert!(text.contains("INTERMEZZO_REPLAY=imz1."), "{text}");
    assert!(text.contains("facade::case failed: "), "{text}");
}

#[test]
fn an_unknown_setting_is_refused_with_the_known_ones() {
    let text = failure(&[("premptions", "2")], || ());
    assert!(
        text.starts_with("setting `premptions`: there is no such setting; did you mean `preemptions`? there are: strategy, "),
        "{text}"
    );
}

#[test]
fn an_invalid_value_is_refused_with_its_origin() {
    let text = failure(&[("preemptions", "two")], || ());
    let says = "setting `preemptions`: `two` is not a number in range: give digits, as in 10_000, or `none` (from #[intermezzo::test])";
    assert_eq!(text, says);
    // Each value is valid, but they contradict each other.
    let text = failure(&[("strategy", "pos"), ("reduction", "dpor")], || ());
    assert!(
        text.starts_with("setting `reduction`: executions drawn at random"),
        "{text}"
    );
    assert!(
        text.ends_with("(`reduction` is from #[intermezzo::test])"),
        "{text}"
    );
}

#[test]
fn an_error_that_the_test_returns_is_a_finding() {
    let text = failure(&[], || intermezzo::Outcome::check(Err::<(), &str>("no")));
    assert!(text.contains("the test returned an error: \"no\""), "{text}");
}

#[test]
fn statics_are_fresh_in_every_execution() {
    static COUNT: AtomicUsize = AtomicUsize::new(5);
    static LIST: Mutex<Vec<u32>> = Mutex::new(Vec::new());
    // Used outside the exploration first, with values that must not show inside.
    COUNT.store(100, SeqCst);
    LIST.lock().unwrap().push(0);
    let report = Explorer::new().environment(Environment::calm()).explore(|| {
        assert_eq!(COUNT.load(SeqCst), 5);
        assert!(LIST.lock().unwrap().is_empty());
        thread::scope(|scope| {
            for task in 0..2 {
                scope.spawn(move || {
                    COUNT.fetch_add(1, SeqCst);
                    LIST.lock().unwrap().push(task);
                });
            }
        });
        assert_eq!((COUNT.load(SeqCst), LIST.lock().unwrap().len()), (7, 2));
    });
    assert!(report.verdict().is_pass(), "{report}");
    assert!(report.executions() > 5, "{report}");
    assert_eq!(
        (COUNT.load(SeqCst), LIST.lock().unwrap().len()),
        (100, 1),
        "outside it is as it was left"
    );
}

#[test]
fn explorations_of_one_static_do_not_meet() {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let explore = || {
        let report = Explorer::new().explore(|| {
            thread::scope(|scope| {
                for _ in 0..3 {
                    scope.spawn(|| {
                        (0..3).for_each(|_| {
                            COUNT.fetch_add(1, SeqCst);
                        })
                    });
                }
            });
            assert_eq!(COUNT.load(SeqCst), 9);
        });
        assert!(report.verdict().is_pass(), "{report}");
        assert_eq!(report.executions(), 1680);
    };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(explore);
        }
    });
}

/// With or without the explorer, a region returns the value of its closure.
#[intermezzo::test(strategy = "dfs(delays=3)")]
fn regions_give_their_value() {
    let n = AtomicUsize::new(0);
    let add = || n.fetch_add(1, SeqCst);
    let step = || {
        intermezzo::preemptions_off(|| {
            intermezzo::preemptions_on(|| intermezzo::preemptions_preferred(add)) + 1
        })
    };
    thread::scope(|scope| {
        scope.spawn(step);
        scope.spawn(step);
    });
    assert_eq!(step(), 3);
}

#[intermezzo::test(
    strategy = "best-first(preemptions,2*rare+deepest,prefixes=10_000)",
    preempt = "!queue::ring, !slots.rs, !atomic 0.7",
    environment = "calm",
    seed = 7
)]
fn search_settings_are_taken() {
    assert_eq!(Mutex::new(1).into_inner().unwrap(), 1);
}

/// Takes two locks in two orders, but never at the same time, so no execution fails.
fn locks_in_two_orders() {
    let (a, b) = (Mutex::new(()), Mutex::new(()));
    thread::scope(|scope| {
        scope.spawn(|| {
            let _a = a.lock().unwrap();
            let _b = b.lock().unwrap();
        });
        scope.spawn(|| {
            let Ok(_b) = b.lock() else { return };
            // Released before another task could wait for it.
            let _a = a.try_lock();
        });
    });
}

#[intermezzo::test(monitors = "lock-order; leak:tasks=true")]
fn monitors_are_attached_by_name() {
    locks_in_two_orders();
}

#[test]
fn a_monitor_that_is_named_finds_its_bug() {
    fn leaks() {
        std::mem::forget(intermezzo::alloc::Track::new(1));
    }
    let text = failure(&[("monitors", "leak")], leaks);
    assert!(text.starts_with("error[leak]: "), "{text}");
    let text = failure(&[("monitors", "leeks")], leaks);
    assert!(text.contains("leeks"), "{text}");
    let text = failure(&[("monitors", "misuse; leek")], leaks);
    assert!(text.contains("did you mean `leak`?"), "{text}");
    let text = failure(&[("monitors", "leak:tusks=true")], leaks);
    assert!(text.contains("there is no argument `tusks`"), "{text}");
}

/// The facade has everything that a test of an object needs.
#[test]
fn the_facade_can_test_objects() {
    use intermezzo::refinement::{fresh, refine};
    refine(|| Mutex::new(Vec::new()))
        .op("push", fresh::<u8>(), |stack: &Mutex<Vec<u8>>, value| {
            stack.lock().unwrap().push(value)
        })
        .op("pop", (), |stack, ()| stack.lock().unwrap().pop())
        .scenarios(5)
        .check();
}

/// Names that an expansion might use too.
mod names_of_the_users_own {
    static CALLS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);

    fn body() {
        CALLS.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }

    fn test() -> Result<(), String> {
        body();
        Ok(())
    }

    mod core {}

    #[intermezzo::test]
    fn functions_of_the_test_file_are_called() -> Result<(), String> {
        body();
        test()?;
        if CALLS.load(std::sync::atomic::Ordering::Relaxed) < 2 {
            return Err("not called".to_owned());
        }
        Ok(())
    }
}

/// The facade under another name.
mod another_name {
    pub(crate) use intermezzo::*;
}

#[another_name::test(crate = crate::another_name, executions = 0x10_u64)]
pub(crate) fn the_attribute_finds_the_facade_under_another_name() {
    _ = another_name::any_bool();
}

#[another_name::test(crate = "another_name")]
fn the_other_name_may_be_a_text() {}

macro_rules! tests {
    ($($name:ident, $most:literal => $body:block)*) => {
        $(
            #[intermezzo::test(executions = $most)]
            fn $name() $body
        )*
    };
}

tests! {
    a_test_from_a_macro, 5 => { _ = AtomicUsize::new(0).load(SeqCst) }
}
