//! The searches that follow a search of a test that names none, with fewer yields that count for fairness.
//!
//! `MORE_YIELDS_PROGRAMS` is the number of random programs that are compared.

#[path = "../common/mod.rs"]
mod common;
mod later;

use intermezzo_explorer::sync::atomic::Ordering::{Relaxed, SeqCst};
use intermezzo_explorer::sync::atomic::{AtomicBool, AtomicUsize};
use intermezzo_explorer::{Coverage, Explorer, Limit, Reduction, Report, Strategy, hint, thread};
use intermezzo_sdk::{Interests, Monitor};
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;

/// A lock. The number of attempts that a task makes at a time is the caller's.
#[derive(Default)]
struct Lock {
    held: AtomicBool,
    data: AtomicUsize,
    gave_up: AtomicUsize,
}

impl Lock {
    /// Takes the lock. After this many failed attempts, counts that, and goes on trying. `pause` is called between two
    /// attempts.
    fn with(&self, attempts: usize, pause: impl Fn(usize), f: impl FnOnce(&AtomicUsize)) {
        let mut made = 0;
        while self.held.swap(true, SeqCst) {
            made += 1;
            if made == attempts {
                self.gave_up.fetch_add(1, SeqCst);
            }
            pause(made);
        }
        f(&self.data);
        self.held.store(false, SeqCst);
    }
}

/// Two tasks that take the lock. No task may have given up.
fn both_hold_on(attempts: usize, pause: fn(usize)) {
    let lock = Lock::default();
    let increment = |data: &AtomicUsize| {
        data.fetch_add(1, SeqCst);
    };
    thread::scope(|s| {
        s.spawn(|| lock.with(attempts, pause, increment));
        lock.with(attempts, pause, increment);
    });
    assert_eq!(lock.gave_up.load(SeqCst), 0);
}

fn auto(options: &str) -> Explorer {
    Explorer::new().strategy(Strategy::named(&format!("auto{options}")).unwrap())
}

fn is_fair(report: &Report, yields: u32) -> bool {
    let is_that = |limit: &Limit| matches!(limit, Limit::Fairness { every } if *every == yields);
    report.limits().iter().any(is_that)
}

/// Waits as crossbeam's `Backoff` does: by so many hints to the processor at first that a task yields 127 times, and by
/// yields then.
fn back_off(attempt: usize) {
    match attempt {
        ..=7 => (0..1 << (attempt - 1)).for_each(|_| hint::spin_loop()),
        _ => thread::yield_now(),
    }
}

#[test]
fn loops_that_give_up_get_there() {
    for (attempts, pause, yields) in [
        (2, (|_| thread::yield_now()) as fn(usize), None),
        (6, |_| thread::yield_now(), Some(1)),
        (10, |_| hint::spin_loop(), Some(1)),
        (30, |_| thread::yield_now(), Some(4)),
        (11, back_off, Some(16)),
    ] {
        let report = auto("").explore(|| both_hold_on(attempts, pause));
        assert_eq!(
            report.findings()[0].kind.as_str(),
            "assertion",
            "{attempts}: {report}"
        );
        let note = |yields| format!("with `fair_yields={yields}` no error was found: ");
        let before = report.notes().iter().find(|note| note.contains("fair_yields"));
        match yields {
            None => assert_eq!(before, None),
            Some(yields) => assert!(before.unwrap().starts_with(&note(yields)), "{attempts}: {report}"),
        }
        // The schedule has the number of yields that count.
        let schedule = &report.findings()[0].schedule;
        let again = Explorer::new().replay(schedule.clone());
        let again = again.explore(|| both_hold_on(attempts, pause));
        assert_eq!(again.findings()[0].message, report.findings()[0].message);
    }
    let report = auto("(fair_yields=1)").explore(|| both_hold_on(10, |_| thread::yield_now()));
    assert!(report.verdict().is_pass() && is_fair(&report, 1), "{report}");
}

/// A task that gives up waits for good, until the lock is given back. So every loop ends.
fn waits_after(attempts: usize) {
    let lock = Lock::default();
    let waiting = AtomicUsize::new(0);
    let main = thread::current();
    thread::scope(|s| {
        s.spawn(|| {
            lock.held.store(true, SeqCst);
            lock.data.fetch_add(1, SeqCst);
            lock.held.store(false, SeqCst);
            if waiting.load(SeqCst) > 0 {
                main.unpark();
            }
        });
        let mut made = 0;
        while lock.held.load(SeqCst) {
            made += 1;
            if made < attempts {
                thread::yield_now();
                continue;
            }
            waiting.store(1, SeqCst);
            if lock.held.load(SeqCst) {
                thread::park();
            }
        }
    });
}

#[test]
fn a_search_ends_with_every_schedule_where_all_loops_end() {
    let report = auto("").explore(|| waits_after(10));
    assert_eq!(*report.coverage(), Coverage::Exhaustive, "{report}");
    let report = auto("(fair_yields=1)").explore(|| waits_after(10));
    assert!(
        matches!(report.coverage(), Coverage::Bounded { .. }) && is_fair(&report, 1),
        "{report}"
    );
    let report = auto("(fair_yields=4)").explore(|| waits_after(100));
    assert!(is_fair(&report, 4), "{report}");
    // The setting has the first number.
    let report = auto("")
        .set("spin_loops", "fair_yields=3")
        .explore(|| waits_after(4));
    assert_eq!(*report.coverage(), Coverage::Exhaustive, "{report}");
    assert!(
        report.notes().iter().all(|note| !note.contains("fair_yields")),
        "{report}"
    );
}

#[test]
fn searches_that_follow_keep_to_the_limits() {
    for most in [10, 50, 300, 2_000] {
        let ran = AtomicU64::new(0);
        let report = auto("").executions(most).explore(|| {
            ran.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            let lock = Lock::default();
            thread::scope(|s| {
                for _ in 0..2 {
                    s.spawn(|| {
                        lock.with(5, |_| thread::yield_now(), |data| data.store(1, Relaxed));
                    });
                }
                lock.with(5, |_| thread::yield_now(), |data| data.store(2, Relaxed));
            });
        });
        assert!(report.verdict().is_pass(), "{report}");
        let ran = ran.into_inner();
        // An execution does not count where a weaker reduction takes over.
        assert!(ran <= most + 10, "{ran}: {report}");
        assert!(report.executions() <= most, "{report}");
    }
}

/// A search that reaches a limit does not take the place of one that was complete.
#[test]
fn a_search_that_does_not_end_is_noted() {
    let test = || {
        let lock = Lock::default();
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| lock.with(3, |_| thread::yield_now(), |_| ()));
            }
        });
    };
    let first = auto("(fair_yields=1)").executions(100_000).explore(test);
    assert!(is_fair(&first, 1), "{first}");
    let report = auto("").executions(first.executions() * 4 / 3 + 20).explore(test);
    assert!(is_fair(&report, 1), "{report}");
    assert_eq!(report.executions(), first.executions());
    assert_eq!(report.coverage(), first.coverage());
    let noted: Vec<_> = report
        .notes()
        .iter()
        .filter(|note| note.contains("fair_yields"))
        .collect();
    assert_eq!(noted.len(), 1, "{report}");
    assert!(
        noted[0]
            .starts_with("with `fair_yields=4`, which leaves out fewer schedules, the search did not end")
    );
    // By time, there is some left for the next search, which does not run.
    let slow = || {
        std::thread::sleep(std::time::Duration::from_millis(2));
        test();
    };
    let report = auto("(stale_reads=0)")
        .time(std::time::Duration::from_secs(1))
        .explore(slow);
    let noted = report.notes().iter().filter(|note| note.contains("fair_yields"));
    assert!(noted.count() <= 1, "{report}");
}

/// One task waits while the other one takes some steps. It may not make this many attempts.
fn long_rounds(attempts: usize) {
    let lock = Lock::default();
    thread::scope(|s| {
        s.spawn(|| {
            lock.with(
                usize::MAX,
                |_| thread::yield_now(),
                |data| {
                    (0..20).for_each(|_| data.store(1, SeqCst));
                },
            );
        });
        lock.with(attempts, |_| thread::yield_now(), |_| ());
    });
    assert_eq!(lock.gave_up.load(SeqCst), 0);
}

/// A loop that counts its rounds may make more of them than an execution may have steps. That is no error of the test.
#[test]
fn more_rounds_are_no_livelock() {
    let report = auto("")
        .steps_per_execution(150)
        .explore(|| long_rounds(usize::MAX));
    assert!(report.verdict().is_pass() && is_fair(&report, 1), "{report}");
    let noted = report.notes().iter().find(|note| note.contains("fair_yields"));
    assert!(noted.unwrap().contains("one did not end ("), "{report}");
}

/// A monitor of which there is only one.
struct Silent;

impl Monitor for Silent {
    fn name(&self) -> &str {
        "silent"
    }

    fn interests(&self) -> Interests {
        Interests::NONE
    }

    fn reduction_compatible(&self) -> bool {
        true
    }
}

#[test]
fn other_searches_have_none_after_them() {
    let test = || both_hold_on(10, |_| thread::yield_now());
    for explorer in [Explorer::new(), auto("").monitor(Silent)] {
        let report = explorer.explore(test);
        assert!(report.verdict().is_pass(), "{report}");
        assert!(is_fair(&report, 1), "{report}");
    }
}

/// Draws numbers, by xorshift.
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end
    }
}

/// Runs a program in which each task takes the lock with its number of attempts, and returns its outcome.
fn outcome(program: &[(usize, u64)]) -> Vec<usize> {
    let lock = Lock::default();
    let seen: Vec<usize> = thread::scope(|s| {
        let lock = &lock;
        let tasks: Vec<_> = program
            .iter()
            .map(|&(attempts, what)| {
                s.spawn(move || {
                    let mut seen = 0;
                    let mut made = 0;
                    while lock.held.swap(true, SeqCst) {
                        made += 1;
                        if made == attempts {
                            return 100 + lock.data.load(SeqCst);
                        }
                        thread::yield_now();
                    }
                    for _ in 0..=what {
                        seen = lock.data.fetch_add(1, SeqCst);
                    }
                    lock.held.store(false, SeqCst);
                    seen
                })
            })
            .collect();
        tasks.into_iter().map(|task| task.join().unwrap()).collect()
    });
    seen
}

/// Without fairness every search ends here, so a search without a reduction has all outcomes.
#[test]
fn outcomes_are_those_without_fairness() {
    let mut draw = Draw(0x005e_ed1e_550f_0a11);
    let (mut compared, mut more) = (0, 0);
    let programs = std::env::var("MORE_YIELDS_PROGRAMS").map_or(60, |number| number.parse().unwrap());
    for _ in 0..programs {
        let tasks = 2 + draw.below(2);
        let most = if tasks == 2 { 9 } else { 3 };
        let program: Vec<(usize, u64)> = (0..tasks)
            .map(|_| (1 + draw.below(most) as usize, draw.below(2)))
            .collect();
        let outcomes = |explorer: Explorer| {
            let outcomes = Mutex::new(BTreeSet::new());
            let report = explorer.explore(|| {
                let outcome = outcome(&program);
                outcomes.lock().unwrap().insert(outcome);
            });
            (outcomes.into_inner().unwrap(), report)
        };
        let all = Explorer::new()
            .reduction(Reduction::None)
            .set("spin_loops", "fair_yields=1_000")
            .executions(200_000);
        let (all, reference) = outcomes(all);
        if *reference.coverage() != Coverage::Exhaustive {
            continue;
        }
        compared += 1;
        let (found, report) = outcomes(auto("").executions(1_000_000));
        assert_eq!(*report.coverage(), Coverage::Exhaustive, "{program:?}: {report}");
        assert_eq!(found, all, "{program:?}");
        let (fair, _) = outcomes(auto("(fair_yields=1)").executions(1_000_000));
        more += u32::from(fair != all);
    }
    assert!(
        compared > programs / 2 && more > programs / 12,
        "{compared} {more}"
    );
}
