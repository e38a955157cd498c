//! Tests that do not do the same each time: retries, losses and their report. No search panics or calls a correct test
//! wrong.

use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::sync::{Arc, Mutex};
use intermezzo_explorer::{
    Coverage, Explorer, Reduction, Report, Strategy, Verdict, choose, collections, thread, time,
};
use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool as StdAtomicBool, AtomicUsize as StdAtomicUsize};
use std::sync::{Mutex as StdMutex, OnceLock};

/// Returns every search, with its name here.
fn searches() -> Vec<(&'static str, Explorer)> {
    let explorer = || Explorer::new().executions(2_000);
    vec![
        ("dfs", explorer()),
        ("bounded", explorer().preemptions(2)),
        ("random", explorer().strategy(Strategy::random()).executions(200)),
        ("caching", explorer().reduction(Reduction::Caching)),
        (
            "bounded caching",
            explorer().reduction(Reduction::Caching).preemptions(2),
        ),
        ("source-dpor", explorer().reduction(Reduction::SourceDpor)),
        ("dpor", explorer().reduction(Reduction::Dpor)),
        (
            "assuming dpor",
            explorer().reduction(Reduction::Dpor).set("spin_loops", "assume"),
        ),
        ("assuming dfs", explorer().set("spin_loops", "assume")),
        (
            "bounded dpor",
            explorer().reduction(Reduction::Dpor).preemptions(2),
        ),
        ("ranked", explorer().strategy(Strategy::named("ranked").unwrap())),
        (
            "ranked caching",
            explorer()
                .set("strategy", "ranked(variables=1)")
                .reduction(Reduction::Caching),
        ),
        (
            "ranked threads",
            explorer().set("strategy", "ranked(threads=2)").preemptions(1),
        ),
    ]
}

fn kinds(report: &Report) -> Vec<String> {
    let findings = report.findings().iter();
    findings
        .map(|finding| finding.kind.as_str().into_owned())
        .collect()
}

fn reason(report: &Report) -> &str {
    match report.coverage() {
        Coverage::Bounded {
            reason: Some(reason), ..
        } => reason,
        _ => "",
    }
}

/// Two tasks with a lock, an atomic and a value, and `more` operations of one of them.
fn busy(more: usize) {
    let n = Arc::new(AtomicUsize::new(0));
    let lock = Mutex::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            *lock.lock().unwrap() += choose(2);
            (0..more).for_each(|_| _ = n.fetch_add(1, SeqCst));
        });
        scope.spawn(|| {
            n.store(1, SeqCst);
            *lock.lock().unwrap() += 1;
        });
    });
}

/// An execution that departs once is retried, whichever it is. The coverage then says that one departed.
#[test]
fn what_departs_once_is_tried_again() {
    for (name, explorer) in searches() {
        let sure = explorer.explore(|| busy(2));
        for odd in 2..40 {
            let calls = StdAtomicUsize::new(0);
            let (_, explorer) = searches().into_iter().find(|(known, _)| *known == name).unwrap();
            let report = explorer.explore(|| {
                busy(if calls.fetch_add(1, SeqCst) + 1 == odd {
                    0
                } else {
                    2
                });
            });
            assert!(report.verdict().is_pass(), "{name}, {odd}: {report}");
            let departed = report
                .notes()
                .iter()
                .any(|note| note.contains("each was as prescribed"));
            let reduced = report.reduction() != "none";
            match report.coverage() {
                Coverage::Sampled { .. } => continue,
                covered if !departed => assert_eq!(covered, sure.coverage(), "{name}, {odd}"),
                _ => assert!(
                    reason(&report).contains("1 execution departed from its schedule"),
                    "{name}, {odd}: {report}"
                ),
            }
            if departed && !reduced {
                assert_eq!(
                    report.executions(),
                    sure.executions() + 1,
                    "{name}, {odd}: {report}"
                );
            }
        }
    }
}

/// A prefix that is never the same twice ends the search, or is left out with `keep_going`.
#[test]
fn what_departs_each_time_is_lost_and_said_to_be() {
    let test = |calls: &StdAtomicUsize| match choose(4) {
        1 => _ = choose(2 + calls.fetch_add(1, SeqCst)),
        _ => _ = choose(2),
    };
    let calls = StdAtomicUsize::new(0);
    let report = Explorer::new().explore(|| test(&calls));
    assert_eq!(
        (report.verdict(), kinds(&report)),
        (Verdict::Inconclusive, vec!["divergence".into()])
    );
    let message = &report.findings()[0].message;
    assert!(
        message.contains("choice 2 should have been a value of `choose`, one of 2, but was a value"),
        "{message}"
    );
    assert!(
        reason(&report).starts_with("the test did not do the same thing twice"),
        "{report}"
    );
    // The first two values, one execution that departs, and two retries.
    assert_eq!(report.executions(), 2 + 1 + 3, "{report}");

    calls.store(0, SeqCst);
    let report = Explorer::new()
        .keep_going(true)
        .set("warm_up", "retries=4")
        .explore(|| test(&calls));
    assert_eq!(
        (report.verdict(), kinds(&report).len()),
        (Verdict::Inconclusive, 1),
        "{report}"
    );
    assert_eq!(report.executions(), 2 + 1 + 5 + 4, "{report}");
    assert_eq!(
        reason(&report),
        "1 execution always departed from its schedule, so all that begin like it were left out"
    );
    assert!(
        report
            .notes()
            .iter()
            .any(|note| note.contains("5 executions departed") && note.contains("1 execution never")),
        "{report}"
    );
}

/// The first event that differs is named, although every choice fits.
#[test]
fn the_first_event_that_differs_is_named() {
    let calls = StdAtomicUsize::new(0);
    let report = Explorer::new().set("warm_up", "retries=0").explore(|| {
        let (one, other) = (AtomicUsize::new(0), Mutex::new(0));
        one.load(SeqCst);
        if calls.fetch_add(1, SeqCst) == 0 {
            one.store(1, SeqCst);
        } else {
            *other.lock().unwrap() += 1;
        }
        one.load(SeqCst);
        choose(2);
        choose(2);
    });
    assert_eq!(kinds(&report), ["divergence"], "{report}");
    let message = &report.findings()[0].message;
    assert!(
        message.starts_with("event 3 was lock of mutex 0.2 by main at ")
            && message.contains(", but store of atomic 0.1 by main at "),
        "{message}"
    );
    assert_eq!(report.verdict(), Verdict::Inconclusive);
}

/// A table that is set up once and kept: its first use does more than later ones.
fn with_lazy(table: &OnceLock<usize>) {
    let n = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                // Not `get_or_init`: a lock of std would be held across schedule points.
                if table.get().is_none() {
                    let sum = (0..3).map(|_| n.fetch_add(1, SeqCst)).sum();
                    _ = table.set(sum);
                }
                n.fetch_add(1, SeqCst);
            });
        }
    });
}

#[test]
fn a_warm_up_settles_what_is_set_up_once() {
    // These hardly ever begin two executions alike, so they need not notice.
    let notices = |name| !["random", "ranked threads"].contains(&name);
    for (name, explorer) in searches().into_iter().filter(|(name, _)| notices(name)) {
        let cold = OnceLock::new();
        let report = explorer.explore(|| with_lazy(&cold));
        assert_eq!(report.verdict(), Verdict::Inconclusive, "{name}: {report}");
        assert_eq!(kinds(&report), ["divergence"], "{name}: {report}");
        let (_, explorer) = searches().into_iter().find(|(known, _)| *known == name).unwrap();
        let (warm, ready) = (OnceLock::new(), OnceLock::from(0));
        let report = explorer.set("warm_up", 1).explore(|| with_lazy(&warm));
        assert!(report.verdict().is_pass(), "{name}: {report}");
        assert!(
            report
                .notes()
                .iter()
                .any(|note| note.starts_with("the test was run 1 time before")),
            "{report}"
        );
        let (_, explorer) = searches().into_iter().find(|(known, _)| *known == name).unwrap();
        let sure = explorer.explore(|| with_lazy(&ready));
        assert_eq!(
            (report.coverage(), report.executions()),
            (sure.coverage(), sure.executions()),
            "{name}: as if it had always been there"
        );
    }
}

/// A server outside of the exploration: it is started once, used by each execution, and shut down once.
#[test]
fn what_comes_before_and_after_an_exploration_is_done_once() {
    let (started, used, ended) = (
        StdAtomicUsize::new(0),
        StdAtomicUsize::new(0),
        StdAtomicUsize::new(0),
    );
    struct Server<'a>(&'a StdAtomicUsize);
    impl Drop for Server<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, SeqCst);
        }
    }
    started.fetch_add(1, SeqCst);
    let server = Server(&ended);
    let report = Explorer::new().explore(|| {
        assert_eq!(server.0.load(SeqCst), 0);
        used.fetch_add(1, SeqCst);
        choose(3);
    });
    drop(server);
    assert!(report.verdict().is_pass(), "{report}");
    let counts = [&started, &used, &ended].map(|count| count.load(SeqCst));
    assert_eq!((report.executions(), counts), (3, [1, 3, 1]));
}

#[test]
fn what_a_warm_up_shows_is_not_judged() {
    let calls = StdAtomicUsize::new(0);
    let report = Explorer::new().set("warm_up", 2).explore(|| {
        assert!(calls.fetch_add(1, SeqCst) >= 2, "cold");
        choose(3);
    });
    assert!(report.verdict().is_pass(), "{report}");
    assert_eq!((report.executions(), calls.load(SeqCst)), (3, 5));
}

/// A test with a name.
type Named = (&'static str, Box<dyn Fn() + Send + Sync>);

/// Tests that depend on something that the schedule does not determine, each in its own way. None has a bug.
fn uncontrolled() -> Vec<Named> {
    let calls = StdAtomicUsize::new(0);
    let rounds = StdAtomicUsize::new(0);
    let draws = StdAtomicUsize::new(0x2545_F491);
    let flag = std::sync::Arc::new(StdAtomicBool::new(false));
    vec![
        (
            "a counter",
            Box::new(move || busy(calls.fetch_add(1, SeqCst) % 3)),
        ),
        (
            "hash order",
            Box::new(|| {
                let slots: HashMap<usize, AtomicUsize> =
                    (0..6).map(|slot| (slot, AtomicUsize::new(0))).collect();
                thread::scope(|scope| {
                    scope.spawn(|| slots.values().for_each(|slot| slot.store(1, SeqCst)));
                    let odd = slots.iter().filter(|(slot, _)| *slot % 2 == 1);
                    odd.take(1)
                        .for_each(|(slot, value)| _ = value.load(SeqCst) + choose(*slot + 1));
                });
            }),
        ),
        (
            "loops that wait, or go round so often",
            Box::new(move || {
                let call = rounds.fetch_add(1, SeqCst);
                let (lock, n) = (AtomicUsize::new(0), AtomicUsize::new(0));
                thread::scope(|scope| {
                    for task in 0..2 {
                        let (lock, n) = (&lock, &n);
                        scope.spawn(move || {
                            let mut left = 2 + call % 3;
                            while lock.compare_exchange(0, 1, SeqCst, SeqCst).is_err() && left > 0 {
                                left -= usize::from((call / 3 + task).is_multiple_of(2));
                                thread::yield_now();
                            }
                            (0..call % 5).for_each(|_| _ = n.fetch_add(1, SeqCst));
                            lock.store(0, SeqCst);
                        });
                    }
                });
            }),
        ),
        (
            "real time",
            Box::new(|| {
                let nanoseconds = std::time::Instant::now().elapsed().as_nanos() as usize;
                busy(nanoseconds % 3);
            }),
        ),
        (
            "anything",
            Box::new(move || {
                let odd = |one_in: usize| {
                    // A random generator that is never reset: xorshift.
                    let mut state = draws.load(SeqCst);
                    state ^= state << 13;
                    state ^= state >> 7;
                    state ^= state << 17;
                    draws.store(state, SeqCst);
                    state.is_multiple_of(one_in)
                };
                let (n, lock) = (AtomicUsize::new(0), Mutex::new(0));
                thread::scope(|scope| {
                    for task in 0..2 {
                        let (n, lock) = (&n, &lock);
                        scope.spawn(move || {
                            for _ in 0..2 {
                                if odd(20) {
                                    choose(2 + task);
                                }
                                if odd(20) {
                                    thread::yield_now();
                                }
                                match odd(30) {
                                    true => *lock.lock().unwrap() += 1,
                                    false => _ = n.fetch_add(1, SeqCst),
                                }
                                if odd(100) {
                                    thread::spawn(|| ());
                                }
                            }
                        });
                    }
                    if odd(20) {
                        drop(lock.try_lock());
                    }
                });
            }),
        ),
        (
            "a thread of std",
            Box::new(move || {
                let other = flag.clone();
                let thread = std::thread::spawn(move || other.fetch_xor(true, SeqCst));
                busy(usize::from(flag.load(SeqCst)));
                thread.join().unwrap();
            }),
        ),
    ]
}

#[test]
fn no_search_panics_or_fails_a_test_without_a_bug() {
    for keep_going in [false, true, false, true, true] {
        for (uncontrolled, test) in uncontrolled() {
            for (name, explorer) in searches() {
                let report = explorer.executions(300).keep_going(keep_going).explore(&test);
                assert!(!report.verdict().is_fail(), "{uncontrolled}, {name}: {report}");
                let lost = kinds(&report) == ["divergence"];
                assert!(
                    lost || kinds(&report).is_empty(),
                    "{uncontrolled}, {name}: {report}"
                );
                assert_eq!(
                    report.verdict() == Verdict::Inconclusive,
                    lost,
                    "{uncontrolled}, {name}: {report}"
                );
                let whole = matches!(
                    report.coverage(),
                    Coverage::Exhaustive | Coverage::Bounded { reason: None, .. }
                );
                assert!(
                    !(lost && whole),
                    "{uncontrolled}, {name}: what was lost is said: {report}"
                );
            }
        }
    }
}

/// A failure in an execution that departed counts: it happened.
#[test]
fn a_failure_of_an_execution_that_departed_counts() {
    for (name, explorer) in searches().into_iter().filter(|(name, _)| *name != "random") {
        let calls = StdAtomicUsize::new(0);
        let report = explorer.explore(|| {
            assert!(calls.fetch_add(1, SeqCst) != 2, "assertion: the third time");
            busy(2);
        });
        assert!(report.verdict().is_fail(), "{name}: {report}");
        assert_eq!(
            (kinds(&report), report.first_failure()),
            (vec!["assertion".into()], Some(3)),
            "{name}"
        );
    }
}

#[test]
fn a_finding_that_its_schedule_does_not_show_says_so() {
    let explore = |fails: fn(usize) -> bool, retries| {
        let calls = StdAtomicUsize::new(0);
        Explorer::new()
            .set("warm_up", format!("retries={retries}"))
            .explore(|| {
                choose(2);
                assert!(!fails(calls.fetch_add(1, SeqCst) + 1), "assertion: now and then");
            })
    };
    for (fails, retries, shown, all) in [
        ((|call| call == 1) as fn(usize) -> bool, 2, 0, 3),
        (|call| call == 1, 0, 0, 1),
        (|call| call % 2 == 1, 4, 2, 5),
    ] {
        let report = explore(fails, retries);
        assert!(report.verdict().is_fail(), "{report}");
        let replays = report.findings()[0].replays.expect("it was not shown again");
        assert_eq!((replays.shown, replays.all), (shown, all));
        let text = format!("its schedule does not reproduce it ({shown} of {all} replay");
        assert!(report.to_string().contains(&text), "{report}");
        let json: serde_json::Value = serde_json::from_str(&report.to_json()).unwrap();
        assert_eq!(json["findings"][0]["replays"]["all"], all);
    }
    let sure = explore(|_| true, 2);
    assert_eq!(sure.findings()[0].replays, None, "{sure}");
}

/// A replay that departs is retried too.
#[test]
fn a_replay_is_tried_again() {
    let found = Explorer::new().program("flaky").explore(|| {
        assert!(choose(3) == 0, "assertion: not the first");
    });
    let schedule = found.findings()[0].schedule.clone();
    let calls = StdAtomicUsize::new(0);
    let report = Explorer::new().program("flaky").replay(schedule).explore(|| {
        let alternatives = if calls.fetch_add(1, SeqCst) < 2 { 2 } else { 3 };
        assert!(choose(alternatives) == 0, "assertion: not the first");
    });
    assert_eq!(
        (kinds(&report), report.executions()),
        (vec!["assertion".into()], 3),
        "{report}"
    );
}

/// A test whose number of steps depends on the order in which a table iterates.
macro_rules! in_the_order_of {
    ($map:ty) => {
        || {
            let steps = AtomicUsize::new(0);
            let map: $map = (0..8).map(|key| (key, key)).collect();
            thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| {
                        map.values()
                            .take_while(|&&value| value > 3)
                            .for_each(|_| _ = steps.fetch_add(1, SeqCst))
                    });
                }
            });
        }
    };
}

/// Hash tables of the look-alikes iterate in the same order each time, unlike std's, and clocks do not differ.
#[test]
fn hash_tables_and_clocks_that_are_controlled() {
    let controlled = Explorer::new().explore(in_the_order_of!(collections::HashMap<usize, usize>));
    assert_eq!(controlled.coverage(), &Coverage::Exhaustive, "{controlled}");
    assert!(controlled.notes().is_empty(), "{controlled}");

    static MOMENTS: StdMutex<BTreeSet<time::SystemTime>> = StdMutex::new(BTreeSet::new());
    let clock = Explorer::new().explore(|| {
        MOMENTS.lock().unwrap().insert(time::SystemTime::now());
        busy(1);
    });
    assert!(clock.executions() > 1 && clock.verdict().is_pass(), "{clock}");
    assert_eq!(MOMENTS.lock().unwrap().len(), 1);
}

/// Returns the likely source of the first departure, as reported.
fn source(test: impl Fn() + Send + Sync + 'static) -> String {
    let report = Explorer::new().explore(test);
    assert_eq!(
        (report.verdict(), kinds(&report)),
        (Verdict::Inconclusive, vec!["divergence".into()]),
        "{report}"
    );
    report.findings()[0]
        .suggestion
        .clone()
        .expect("it says what to do")
}

#[test]
fn the_likely_source_is_named() {
    let table = source(|| {
        let slots: HashMap<usize, AtomicUsize> = (0..12).map(|slot| (slot, AtomicUsize::new(0))).collect();
        slots.values().for_each(|slot| slot.store(1, SeqCst));
        (0..6).for_each(|slot| _ = slots[&slot].load(SeqCst) + choose(2));
    });
    assert!(table.contains("hash table of std"), "{table}");

    let ready = OnceLock::new();
    let first = source(move || with_lazy(&ready));
    assert!(first.contains("state that the first execution set up"), "{first}");

    let calls = StdAtomicUsize::new(0);
    let order = source(move || {
        // The order of two variables differs from run to run.
        let variables = [0, 1].map(|_| AtomicUsize::new(0));
        let first = calls.fetch_add(1, SeqCst) % 2;
        variables.iter().for_each(|variable| _ = variable.load(SeqCst));
        [first, 1 - first]
            .iter()
            .for_each(|&at| variables[at].store(1, SeqCst));
        (0..6).for_each(|_| _ = choose(2));
    });
    assert!(order.contains("an order by address"), "{order}");

    let calls = StdAtomicUsize::new(0);
    let other = source(move || {
        choose(2);
        choose(3 + calls.fetch_add(1, SeqCst) / 3);
    });
    assert!(other.contains("time, randomness, an address"), "{other}");
}

/// A test that departs seldom passes; one that departs in more than one execution of ten does not.
#[test]
fn too_many_departures_are_a_finding() {
    let departs_in_one_of = |one_of: usize, keep_going: bool| {
        let calls = StdAtomicUsize::new(0);
        let explorer = Explorer::new().keep_going(keep_going);
        explorer.explore(move || {
            let odd = calls.fetch_add(1, SeqCst) % one_of == one_of - 1;
            (0..6).for_each(|_| _ = choose(if odd { 3 } else { 2 }));
        })
    };
    let few = departs_in_one_of(20, false);
    assert!(few.verdict().is_pass(), "{few}");
    assert_eq!(few.executions(), 64 + 3, "{few}");
    let many = departs_in_one_of(2, false);
    assert_eq!(
        (many.verdict(), kinds(&many), many.executions()),
        (Verdict::Inconclusive, vec!["divergence".into()], 20),
        "{many}"
    );
    // The search nevertheless does all of its work.
    let all = departs_in_one_of(2, true);
    assert_eq!(
        (all.verdict(), kinds(&all)),
        (Verdict::Inconclusive, vec!["divergence".into()]),
        "{all}"
    );
    assert!(all.executions() > 120, "{all}");
}
