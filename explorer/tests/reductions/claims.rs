//! Compares the coverage that a report claims with searches of larger environments: they show nothing more unless the
//! report lists a limit.

use crate::lines;
use crate::program::{Family, Op, draw};
use crate::run::{Outcomes, explore};
use intermezzo_explorer::sync::atomic::AtomicU8;
use intermezzo_explorer::sync::atomic::Ordering::{AcqRel, SeqCst};
use intermezzo_explorer::sync::mpsc::channel;
use intermezzo_explorer::sync::{Arc, Mutex};
use intermezzo_explorer::time::Duration;
use intermezzo_explorer::{
    Coverage, Environment, Explorer, Limit, Reduction, Report, choose, schedule_point, thread,
};
use quickcheck::Gen;

/// The maximum numbers of executions of a search that is compared, and of the larger one.
const EXECUTIONS_MAX: u64 = 1_500;
const LARGER_MAX: u64 = 12_000;

/// A function that makes the environment larger by one bound, and a predicate for the limit about that bound.
type Bound = (fn(&mut Environment), fn(&Limit) -> bool);

const BOUNDS: [Bound; 4] = [
    (
        |environment| environment.timeouts += 1,
        |limit| matches!(limit, Limit::Timeouts { .. }),
    ),
    (
        |environment| environment.spurious_wakeups += 1,
        |limit| matches!(limit, Limit::SpuriousWakeups { .. }),
    ),
    (
        |environment| environment.weak_failures += 1,
        |limit| matches!(limit, Limit::WeakFailures { .. }),
    ),
    (
        |environment| environment.notify_any = true,
        |limit| matches!(limit, Limit::NotifyAny),
    ),
];

fn explorer(environment: Environment, executions: u64) -> Explorer {
    Explorer::new()
        .program("claims")
        .environment(environment)
        .reduction(Reduction::None)
        .keep_going(true)
        .minimise(0)
        .executions(executions)
}

fn is_exhaustive(report: &Report) -> bool {
    *report.coverage() == Coverage::Exhaustive
}

/// If a report says that every schedule of its environment was run, a search of a larger environment shows nothing
/// more, unless the enlarged bound is listed as a limit. And the listed limits do hide something.
#[test]
fn everything_without_a_listed_limit_was_explored() {
    let programs = crate::variable("CLAIMS_PROGRAMS").unwrap_or(60);
    let g = &mut Gen::from_size_and_seed(8, 33);
    let (mut compared, mut more) = (0, [0; BOUNDS.len()]);
    for number in 0..programs {
        let family = Family::ALL[number as usize % Family::ALL.len()];
        let program = draw(g, family);
        let environment = if number % 2 == 0 {
            Environment::calm()
        } else {
            Environment::default()
        };
        let (report, seen) = explore(&program, explorer(environment, EXECUTIONS_MAX), true);
        if !is_exhaustive(&report) {
            continue;
        }
        // A task ends with its last step. A check can come between the step and the end only if that step has a schedule
        // point of its own.
        let every = !program.any(|op| matches!(op, Op::IsFinished(_)));
        for (place, (enlarge, is_about)) in BOUNDS.iter().enumerate() {
            let mut larger = environment;
            enlarge(&mut larger);
            let explorer = explorer(larger, LARGER_MAX).every_operation(every);
            let (beyond, all) = explore(&program, explorer, true);
            if !is_exhaustive(&beyond) {
                continue;
            }
            let same = |a: &Outcomes, b: &Outcomes| a == b;
            if report.limits().iter().any(is_about) {
                more[place] += u32::from(!same(&all, &seen));
            } else {
                compared += 1;
                assert_eq!(
                    all, seen,
                    "{number} {program:?} in {larger:?} shows more: {report}"
                );
            }
        }
    }
    assert!(
        compared > programs && more[..3].iter().all(|&more| more > 0),
        "{compared} {more:?}"
    );
}

/// The same for fair scheduling: if a report is exhaustive, a search that counts fewer yields shows nothing more.
#[test]
fn schedules_that_fairness_leaves_out_are_reported() {
    let programs = crate::variable("CLAIMS_PROGRAMS").unwrap_or(100);
    let g = &mut Gen::from_size_and_seed(8, 34);
    let (mut compared, mut more) = (0, 0);
    for number in 0..programs {
        let program = lines::draw(g, lines::Kind::Polling);
        let search = |yields| {
            let explorer = Explorer::new()
                .reduction(Reduction::Caching)
                .set("spin_loops", format!("fair_yields={yields}"));
            lines::explore(&program, explorer)
        };
        let (report, seen) = search(1);
        let (all, every) = search(u32::MAX);
        if !is_exhaustive(&all) {
            continue;
        }
        let narrowed = report
            .limits()
            .iter()
            .any(|limit| matches!(limit, Limit::Fairness { .. }));
        assert_eq!(is_exhaustive(&report), !narrowed, "{program:?}: {report}");
        if narrowed {
            more += u64::from(seen != every);
        } else {
            compared += 1;
            assert_eq!(seen, every, "{number} {program:?}: {report}");
        }
    }
    assert!(
        compared > programs / 10 && more > programs / 10,
        "{compared} {more}"
    );
}

/// `true` if a report's text and its JSON form contain these.
fn says(report: &Report, words: &str, json: &str) -> bool {
    let text: Vec<String> = report.to_string().split_whitespace().map(str::to_owned).collect();
    text.join(" ").contains(words) && report.to_json().contains(json)
}

#[test]
fn a_pass_names_weak_memory_and_a_single_task_as_limits() {
    let alone = Explorer::new().explore(|| {});
    let words = "1 execution; every schedule was run; not explored: other tasks (the test created none)";
    assert!(says(&alone, words, "\"kind\": \"one_task\""), "{alone}");
    let with = |order| {
        Explorer::new().explore(move || {
            let n = AtomicU8::new(0);
            thread::scope(|scope| {
                scope.spawn(|| n.swap(1, order));
            });
            n.swap(2, order);
        })
    };
    assert_eq!(with(SeqCst).limits(), []);
    let two = with(AcqRel);
    let memory = Limit::Memory { model: "sc".into() };
    assert_eq!(two.limits(), [memory], "{two}");
    let words = "every schedule was run; not explored: weak memory";
    assert!(says(&two, words, "\"model\": \"sc\""), "{two}");
    let fails = Explorer::new().explore(|| assert_eq!(choose(2), 0));
    assert!(!fails.to_string().contains("not explored"), "{fails}");
}

/// Objects of std are not seen: a pass of a test that has no others says so. What the tasks share may be behind an `Arc`.
#[test]
fn a_pass_says_that_tasks_share_no_controlled_object() {
    let tasks = |use_it: fn(&Shared)| {
        Explorer::new().explore(move || {
            let shared = Arc::new(Shared::default());
            let handles = [0, 1].map(|_| {
                let shared = shared.clone();
                thread::spawn(move || use_it(&shared))
            });
            for handle in handles {
                handle.join().unwrap();
            }
        })
    };
    let unseen = tasks(|shared| *shared.of_std.lock().unwrap() += 1);
    let words = "not explored: accesses to what tasks share (they share nothing of intermezzo, and objects of std are not \
                 seen)";
    assert!(says(&unseen, words, "\"kind\": \"nothing_shared\""), "{unseen}");
    for seen in [
        tasks(|shared| shared.seen.store(1, SeqCst)),
        tasks(|shared| drop(shared.lock.lock())),
        tasks(|_| schedule_point()),
        // One of the tasks waits for ever.
        tasks(|shared| std::mem::forget(shared.lock.lock())),
    ] {
        assert!(!seen.limits().contains(&Limit::NothingShared), "{seen}");
    }
}

/// A value for tasks to share.
#[derive(Default)]
struct Shared {
    of_std: std::sync::Mutex<u8>,
    seen: AtomicU8,
    lock: Mutex<u8>,
}

/// A task waits twice for another, and the bug shows only if both waits end early.
#[test]
fn a_bug_that_takes_two_early_time_outs_is_not_claimed_to_be_missing() {
    let test = || {
        let ready = AtomicU8::new(0);
        thread::scope(|scope| {
            let waiter = scope.spawn(|| {
                let early = (0..2).filter(|_| {
                    thread::park_timeout(Duration::from_secs(1));
                    ready.load(SeqCst) == 0
                });
                assert!(early.count() < 2, "early both times");
            });
            ready.store(1, SeqCst);
            waiter.thread().unpark();
        });
    };
    let search = |timeouts| {
        let environment = Environment {
            timeouts,
            ..Environment::calm()
        };
        // A wait that times out counts as a yield: if fewer yields counted, fair scheduling would leave it out.
        Explorer::new()
            .environment(environment)
            .set("spin_loops", "fair_yields=3")
            .minimise(0)
            .explore(test)
    };
    let report = search(1);
    let limit = Limit::Timeouts { most: 1, beyond: 0 };
    assert!(
        report.verdict().is_pass() && report.limits().contains(&limit),
        "{report}"
    );
    assert!(
        says(
            &report,
            "more than 1 early time-out in a task",
            "\"kind\": \"timeouts\""
        ),
        "{report}"
    );
    assert!(search(2).verdict().is_fail());
}

/// A reduction need not run an order in which a task waits. Then a limit says that an early time-out was possible all the same.
#[test]
fn a_bug_that_takes_a_time_out_in_an_order_that_is_left_out_is_not_claimed_to_be_missing() {
    let test = || {
        let (sender, receiver) = channel();
        let waiter = thread::spawn(move || assert_eq!(receiver.recv_timeout(Duration::from_secs(1)), Ok(1)));
        sender.send(1).unwrap();
        waiter.join().unwrap();
    };
    for reduction in [
        Reduction::None,
        Reduction::Caching,
        Reduction::SourceDpor,
        Reduction::Dpor,
    ] {
        let search = |timeouts| {
            let environment = Environment {
                timeouts,
                ..Environment::calm()
            };
            Explorer::new()
                .environment(environment)
                .reduction(reduction)
                .minimise(0)
                .explore(test)
        };
        let report = search(0);
        let limit = Limit::Timeouts { most: 0, beyond: 0 };
        assert!(
            report.verdict().is_pass() && report.limits().contains(&limit),
            "{reduction:?}: {report}"
        );
        assert!(search(1).verdict().is_fail());
    }
}

/// Fair scheduling cuts a poll that ends by itself, so a pass does not cover every schedule.
#[test]
fn a_bug_that_takes_four_yields_is_not_claimed_to_be_missing() {
    let test = || {
        let ready = AtomicU8::new(0);
        thread::scope(|scope| {
            scope.spawn(|| ready.store(1, SeqCst));
            let mut rounds = 0;
            while rounds < 4 && ready.load(SeqCst) == 0 {
                rounds += 1;
                thread::yield_now();
            }
            assert!(rounds < 4, "nothing came");
        });
    };
    let search = |yields| {
        Explorer::new()
            .set("spin_loops", format!("fair_yields={yields}"))
            .minimise(0)
            .explore(test)
    };
    let report = search(1);
    assert!(report.verdict().is_pass(), "{report}");
    assert_ne!(report.coverage(), &Coverage::Exhaustive, "{report}");
    let words = "not every schedule was run: fair scheduling left out schedules in which a task that yields goes on while others \
                 wait (`spin_loops` has `fair_yields=1`: a larger number leaves out fewer schedules)";
    assert!(says(&report, words, "\"every\": 1"), "{report}");
    assert!(search(4).verdict().is_fail());
}
