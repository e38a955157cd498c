//! The executions that remain with a breakpoint armed: exactly the expected ones, each once.

use super::armed;
use intermezzo::breakpoint;
use intermezzo::sync::Mutex;
use intermezzo::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo::{Environment, Explorer, Report, thread};
use std::collections::BTreeMap;
use std::sync::Mutex as StdMutex;

/// Explores everything and counts the results.
fn outcomes<T: Ord + Send>(
    breakpoints: &str,
    body: impl Fn() -> T + Send + Sync,
) -> (BTreeMap<T, u64>, Report) {
    let counts = StdMutex::new(BTreeMap::new());
    let report = Explorer::new()
        .environment(Environment::calm())
        .breakpoints(armed(breakpoints))
        .explore(|| {
            let outcome = body();
            *counts.lock().unwrap().entry(outcome).or_insert(0) += 1;
        });
    assert!(report.verdict().is_pass(), "{report}");
    (counts.into_inner().unwrap(), report)
}

/// Two tasks that write, one after the other.
fn two_writes() -> usize {
    let n = AtomicUsize::new(0);
    thread::scope(|s| {
        s.spawn(|| {
            breakpoint::conflict("order", &n).first_here();
            n.store(1, SeqCst);
        });
        s.spawn(|| {
            breakpoint::conflict("order", &n).second();
            n.store(2, SeqCst);
        });
    });
    n.load(SeqCst)
}

#[test]
fn the_stated_order_is_the_only_one() {
    let (free, report) = outcomes("none", two_writes);
    assert_eq!(free, BTreeMap::from([(1, 1), (2, 1)]));
    assert!(matches!(report.coverage(), intermezzo::Coverage::Exhaustive));
    let (bound, report) = outcomes("order", two_writes);
    assert_eq!(bound, BTreeMap::from([(2, 1)]));
    let text = report.to_string();
    let words: Vec<&str> = text.split_whitespace().collect();
    assert!(words.join(" ").contains("breakpoints are armed"), "{text}");
    assert!(
        report
            .to_string()
            .contains("breakpoint order: hit in 1 execution (2 visits, 0 skipped, 1 hit, 0 timed out)"),
        "{report}"
    );
    let (other, _) = outcomes("another", two_writes);
    assert_eq!(other, free);
}

/// A turn lasts until it is dropped.
#[test]
fn a_turn_covers_all_its_steps() {
    let body = || {
        let n = AtomicUsize::new(0);
        let seen = AtomicUsize::new(9);
        thread::scope(|s| {
            s.spawn(|| {
                let turn = breakpoint::conflict("turn", &n).first();
                n.store(1, SeqCst);
                n.store(2, SeqCst);
                drop(turn);
                n.store(3, SeqCst);
            });
            s.spawn(|| {
                breakpoint::conflict("turn", &n).second();
                seen.store(n.load(SeqCst), SeqCst);
            });
        });
        seen.load(SeqCst)
    };
    let (free, _) = outcomes("none", body);
    assert_eq!(free.keys().copied().collect::<Vec<_>>(), [0, 1, 2, 3]);
    let (bound, _) = outcomes("turn", body);
    assert_eq!(bound.keys().copied().collect::<Vec<_>>(), [2, 3]);
}

/// No task waits for ever for a partner that does not come, nor for a turn that ends when the other task has continued.
#[test]
fn nothing_is_stuck_because_of_a_breakpoint() {
    let (outcomes, report) = outcomes("alone", || {
        let n = AtomicUsize::new(0);
        thread::scope(|s| {
            s.spawn(|| {
                assert!(!breakpoint::conflict("alone", &n).first_here());
                n.fetch_add(1, SeqCst);
            });
            s.spawn(|| assert!(!breakpoint::conflict("alone", &n).first().hit()));
        });
        assert!(!breakpoint::at("alone").second(), "another object");
        n.load(SeqCst)
    });
    assert_eq!(outcomes.keys().copied().collect::<Vec<_>>(), [1]);
    assert_eq!(report.breakpoints()[0].hits, 0);
    assert_eq!(report.breakpoints()[0].timeouts, 3 * report.executions());
}

#[test]
fn a_first_task_that_needs_the_seconds_lock_does_not_deadlock() {
    let (_, report) = outcomes("held", || {
        let lock = Mutex::new(0);
        thread::scope(|s| {
            s.spawn(|| {
                let _turn = breakpoint::at("held").first();
                *lock.lock().unwrap() += 1;
            });
            s.spawn(|| {
                let mut guard = lock.lock().unwrap();
                breakpoint::at("held").second();
                *guard += 1;
            });
        });
        assert_eq!(*lock.lock().unwrap(), 2);
    });
    let figures = &report.breakpoints()[0];
    assert!(
        figures.unordered > 0 && figures.unordered <= figures.hits,
        "{report}"
    );
}

/// Virtual time passes before a task at a breakpoint times out, and waiting loops do not prevent that.
#[test]
fn tasks_that_sleep_or_spin_reach_their_places() {
    let (outcomes, _) = outcomes("late", || {
        let go = AtomicUsize::new(0);
        let hit = AtomicUsize::new(0);
        thread::scope(|s| {
            s.spawn(|| {
                let met = breakpoint::at("late").first_here();
                hit.fetch_add(met.into(), SeqCst);
                go.store(1, SeqCst);
            });
            s.spawn(|| {
                thread::sleep(std::time::Duration::from_secs(3600));
                hit.fetch_add(breakpoint::at("late").second().into(), SeqCst);
            });
            s.spawn(|| {
                while go.load(SeqCst) == 0 {
                    thread::yield_now();
                }
            });
        });
        hit.load(SeqCst)
    });
    assert_eq!(outcomes.keys().copied().collect::<Vec<_>>(), [2]);
}

#[test]
fn a_loop_that_waits_for_a_task_at_a_breakpoint_ends_its_wait() {
    for awaits in [true, false] {
        let report = Explorer::new()
            .set("spin_loops", if awaits { "park" } else { "run" })
            .environment(Environment::calm())
            .breakpoints(armed("spin"))
            .explore(|| {
                let go = AtomicUsize::new(0);
                thread::scope(|s| {
                    s.spawn(|| {
                        assert!(!breakpoint::at("spin").first_here());
                        go.store(1, SeqCst);
                    });
                    s.spawn(|| {
                        while go.load(SeqCst) == 0 {
                            thread::yield_now();
                        }
                    });
                });
            });
        assert!(report.verdict().is_pass(), "{report}");
    }
}

#[test]
fn predicates_and_held_locks_decide_which_tasks_meet() {
    let body = |with_lock: bool| {
        move || {
            let table = Mutex::new(());
            let met = AtomicUsize::new(0);
            thread::scope(|s| {
                for part in 0..3_u32 {
                    let (table, met) = (&table, &met);
                    s.spawn(move || {
                        let _held = with_lock.then(|| breakpoint::held(table));
                        let hit = breakpoint::at("parts")
                            .when(|| part != 1)
                            .while_held(table)
                            .joint(|| part, |one, other| one != other)
                            .meet();
                        assert!(!(hit && part == 1));
                        met.fetch_add(hit.into(), SeqCst);
                    });
                }
            });
            met.load(SeqCst)
        }
    };
    let (with, _) = outcomes("parts", body(true));
    assert_eq!(with.keys().copied().collect::<Vec<_>>(), [2]);
    let (without, _) = outcomes("parts", body(false));
    assert_eq!(without.keys().copied().collect::<Vec<_>>(), [0]);
}

#[test]
fn visits_are_skipped_and_hits_bounded() {
    let body = || {
        let hits = AtomicUsize::new(0);
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    for round in 0..3 {
                        let hit = breakpoint::at("rounds").meet();
                        hits.fetch_add(if hit { 1 << (4 * round) } else { 0 }, SeqCst);
                    }
                });
            }
        });
        hits.load(SeqCst)
    };
    let report = |text: &str| {
        let explorer = Explorer::new().environment(Environment::calm()).executions(1);
        let hits = StdMutex::new(0);
        explorer
            .breakpoints(armed(text))
            .explore(|| *hits.lock().unwrap() = body());
        hits.into_inner().unwrap()
    };
    assert_eq!(report("rounds"), 0x222);
    assert_eq!(report("rounds hits=2"), 0x022);
    assert_eq!(report("rounds hits=0"), 0);
    assert_eq!(report("rounds skip=2"), 0x220);
}

#[test]
fn three_locks_in_a_circle() {
    let report = Explorer::new()
        .environment(Environment::calm())
        .breakpoints(armed("philosophers"))
        .explore(|| {
            let forks: [Mutex<()>; 3] = Default::default();
            thread::scope(|s| {
                for at in 0..3 {
                    let (left, right) = (&forks[at], &forks[(at + 1) % 3]);
                    s.spawn(move || {
                        let _left = left.lock().unwrap();
                        breakpoint::deadlock("philosophers", left, right).meet();
                        let _right = right.lock().unwrap();
                    });
                }
            });
        });
    assert_eq!(report.findings()[0].kind.as_str(), "deadlock", "{report}");
    assert_eq!(report.first_failure(), Some(1));
}

/// A breakpoint that no task reaches may be misspelled: the report says so, and claims less than every schedule.
#[test]
fn a_breakpoint_that_is_not_reached_is_reported() {
    let (_, report) = outcomes("odrer", two_writes);
    let note = "breakpoint `odrer`: no task came to it";
    assert!(
        report.notes().iter().any(|said| said.starts_with(note)),
        "{report}"
    );
    let coverage = report.coverage().to_string();
    assert!(
        *report.coverage() != intermezzo::Coverage::Exhaustive
            && coverage.contains("no task came to the breakpoint `odrer`"),
        "{coverage}"
    );
}

#[test]
fn the_test_itself_arms_nothing() {
    let (_, report) = outcomes("none", || {
        breakpoint::arm("order").unwrap();
        assert!(!breakpoint::is_armed("order"));
        two_writes()
    });
    assert!(
        report
            .notes()
            .iter()
            .any(|note| note.starts_with("breakpoint::arm: ignored")),
        "{report}"
    );
    assert_eq!(breakpoint::statistics(), []);
}

/// A joint predicate that panics is a panic of its task. The breakpoint is armed in the next execution as before.
#[test]
fn a_predicate_may_panic() {
    let report = Explorer::new()
        .environment(Environment::calm())
        .breakpoints(armed("panics"))
        .keep_going(true)
        .explore(|| {
            let n = AtomicUsize::new(0);
            thread::scope(|s| {
                for part in 0..2 {
                    let n = &n;
                    s.spawn(move || {
                        n.fetch_add(1, SeqCst);
                        let disagree = |_: &i32, _: &i32| panic!("on purpose");
                        breakpoint::at("panics").joint(|| part, disagree).meet();
                    });
                }
            });
        });
    assert!(report.executions() > 1, "{report}");
    let failures: u64 = report.findings().iter().map(|finding| finding.count).sum();
    assert_eq!(failures, report.executions(), "{report}");
    assert!(report.findings()[0].message.contains("on purpose"), "{report}");
}

#[test]
fn a_loop_that_waits_for_a_task_at_a_breakpoint_does_not_keep_it_there() {
    // Each round locks and unlocks, so it is not recognised as a round without effect.
    let (seen, report) = outcomes("alone", || {
        let done = Mutex::new(false);
        thread::scope(|s| {
            s.spawn(|| {
                breakpoint::at("alone").meet();
                *done.lock().unwrap() = true;
            });
            while !*done.lock().unwrap() {
                thread::yield_now();
            }
        });
    });
    assert!(seen[&()] > 0);
    assert!(report.to_string().contains("timed out"), "{report}");
}

/// A task that is held back at its wait times out first. The other's wait ends all the same, although no task can continue
/// before that.
#[test]
fn a_wait_that_is_held_back_does_not_keep_time_from_passing() {
    let line = line!() + 5;
    // The first visit is to read the clock.
    let (seen, report) = outcomes(&format!("exact.rs:{line} before exact.rs:1 skip=1"), || {
        thread::scope(|s| {
            s.spawn(|| {
                thread::park_timeout(std::time::Duration::from_millis(1));
            });
            s.spawn(|| thread::park_timeout(std::time::Duration::from_millis(2)));
        });
    });
    assert!(seen[&()] > 0);
    assert!(report.to_string().contains("timed out"), "{report}");
}
