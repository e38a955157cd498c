//! Several workers in one exploration: they run what one runs, each execution once, and their report says the same.

mod common;

use common::{Collect, counted, counter, told};
use intermezzo_explorer::search::{ChoicePoint, Plan};
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::sync::{Condvar, Mutex};
use intermezzo_explorer::{
    Coverage, Environment, ExploreError, Explorer, Strategy, choose, search, thread, trace::Trace,
};
use intermezzo_sdk::{Context, Execution, Interests, Monitor};
use std::time::Duration;

/// Loses updates, in several ways.
fn lost_updates() {
    let n = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| n.store(n.load(SeqCst) + 1, SeqCst));
        }
    });
    assert_eq!(n.into_inner(), 3);
}

/// Fails with as many messages as there are values, and now and then waits for ever.
fn many_findings() {
    let (ready, changed) = (Mutex::new(false), Condvar::new());
    let value = choose(140);
    thread::scope(|scope| {
        scope.spawn(|| {
            *ready.lock().unwrap() = true;
            changed.notify_one();
        });
        if value == 7 {
            drop(changed.wait(ready.lock().unwrap()));
        }
    });
    assert!(value.is_multiple_of(5), "the value is {value}");
}

/// Blocks and is woken: choices that cost nothing under a bound.
fn sections() {
    let n = Mutex::new(0);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                *n.lock().unwrap() += 1;
                *n.lock().unwrap() += 1;
            });
        }
    });
    assert_eq!(n.into_inner().unwrap(), 6);
}

const TESTS: [(&str, fn()); 4] = [
    ("counter", counter),
    ("lost_updates", lost_updates),
    ("many_findings", many_findings),
    ("sections", sections),
];

/// Searches that end by themselves.
fn searches() -> Vec<(&'static str, Explorer)> {
    vec![
        ("all", Explorer::new().executions(30_000)),
        ("at most 2 preemptions", Explorer::new().preemptions(2)),
        ("at most 0 preemptions", Explorer::new().preemptions(0)),
        (
            "random",
            Explorer::new().strategy(Strategy::random()).executions(2_000),
        ),
        (
            "random, at most 1 preemption",
            Explorer::new()
                .strategy(Strategy::random())
                .preemptions(1)
                .executions(500),
        ),
    ]
}

#[test]
fn the_report_is_that_of_a_single_worker() {
    for (name, test) in TESTS {
        for keep_going in [false, true] {
            let reports = |jobs| {
                let report = move |(search, explorer): (&'static str, Explorer)| {
                    let explorer = explorer
                        .program(name)
                        .environment(Environment::calm())
                        .keep_going(keep_going);
                    (search, explorer.jobs(jobs).explore(test))
                };
                searches().into_iter().map(report).collect::<Vec<_>>()
            };
            let single = reports(1);
            for jobs in [2, 3, 7] {
                for ((search, single), (_, several)) in single.iter().zip(&reports(jobs)) {
                    assert_eq!(
                        told(several),
                        told(single),
                        "{name}, {search}, keep_going = {keep_going}, {jobs} workers"
                    );
                    if keep_going || single.findings().is_empty() {
                        assert_eq!(
                            several.traces(),
                            single.traces(),
                            "{name}, {search}, {jobs} workers"
                        );
                    } else {
                        assert_eq!(several.traces(), None, "{name}, {search}, {jobs} workers");
                    }
                }
            }
        }
    }
}

#[test]
fn every_interleaving_is_run_once() {
    for bound in [None, Some(0), Some(1), Some(3)] {
        for jobs in [2, 5] {
            let (_, seen) = Collect::new();
            let shared = seen.clone();
            let mut explorer = Explorer::new()
                .jobs(jobs)
                .monitor_with(move || Collect::into(shared.clone()));
            if let Some(bound) = bound {
                explorer = explorer.preemptions(bound);
            }
            let report = explorer.explore(counter);
            let seen = counted(&seen.lock().unwrap());
            assert!(seen.values().all(|&times| times == 1), "{bound:?}: {seen:?}");
            assert_eq!(seen.len() as u64, report.executions());
            if bound.is_none() {
                assert_eq!((seen.len(), report.coverage()), (90, &Coverage::Exhaustive));
            }
        }
    }
}

#[test]
fn limits_hold_for_all_workers_together() {
    for most in [0, 1, 2, 10, 63, 64, 65, 89, 90, 91] {
        let report = Explorer::new().jobs(4).executions(most).explore(counter);
        assert_eq!(report.executions(), most.min(90));
        assert_eq!(
            *report.coverage() == Coverage::Exhaustive,
            most > 90,
            "{most}: {report}"
        );
    }
    let endless = || {
        Explorer::new()
            .jobs(3)
            .strategy(Strategy::random())
            .keep_going(true)
    };
    let report = endless().executions(1_001).explore(lost_updates);
    assert_eq!(report.executions(), 1_001);
    let report = endless().time(Duration::from_millis(50)).explore(counter);
    assert!(report.elapsed() < Duration::from_secs(20), "{report}");
}

/// A search that is no more than the methods it must have.
struct Plain;

impl search::Strategy for Plain {
    fn next(&mut self, plan: &mut Plan, _: &Trace) -> bool {
        plan.truncate(0);
        true
    }
    fn choose(&mut self, _: &ChoicePoint<'_>) -> Option<u32> {
        Some(0)
    }
    fn coverage(&self, _: bool) -> Coverage {
        Coverage::Sampled { executions: 1 }
    }
    fn name(&self) -> String {
        "plain".into()
    }
}

#[test]
fn what_cannot_be_shared_is_refused() {
    let (monitor, _) = Collect::new();
    let two = || Explorer::new().jobs(2);
    for (explorer, says) in [
        (two().monitor(monitor), "attach it with `monitor_with`"),
        (two().strategy(Strategy::custom(Plain)), "a search of your own"),
    ] {
        let error = explorer.try_explore(counter).unwrap_err();
        assert!(matches!(&error, ExploreError::Setting(error) if error.name == "jobs"));
        assert!(error.to_string().contains(says), "{error}");
    }
    let single = Explorer::new().strategy(Strategy::custom(Plain)).executions(3);
    assert_eq!(single.explore(counter).executions(), 3);
}

/// A monitor that cannot go on.
struct Broken;

impl Monitor for Broken {
    fn name(&self) -> &str {
        "broken"
    }
    fn interests(&self) -> Interests {
        Interests::NONE
    }
    fn reduction_compatible(&self) -> bool {
        true
    }
    fn on_execution_end(&mut self, execution: &Execution<'_>, _: &mut Context<'_>) {
        assert!(execution.number < 20, "the monitor is broken");
    }
}

#[test]
fn the_panics_of_each_workers_monitor_are_one_finding() {
    let explorer = || Explorer::new().jobs(3).keep_going(true);
    let report = explorer().monitor_with(|| Broken).explore(sections);
    let [finding] = report.findings() else {
        panic!("{report}")
    };
    assert_eq!(
        (&*finding.kind.as_str(), finding.monitor.as_str()),
        ("misuse", "engine")
    );
    assert!(finding.message.contains("the monitor is broken"), "{report}");
    assert!((1..=3).contains(&finding.count), "{report}");
    assert_eq!(report.executions(), explorer().explore(sections).executions());
}

#[test]
fn statics_are_each_workers_own() {
    static COUNT: AtomicUsize = AtomicUsize::new(5);
    let report = Explorer::new().jobs(4).explore(|| {
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| COUNT.fetch_add(1, SeqCst));
            }
        });
        assert_eq!(COUNT.load(SeqCst), 8);
    });
    assert!(report.verdict().is_pass(), "{report}");
    assert_eq!(COUNT.load(SeqCst), 5);
}

#[test]
fn a_replay_takes_one_worker() {
    let found = Explorer::new().program("lost").explore(lost_updates);
    let schedule = found.findings()[0].schedule.clone();
    let replayed = Explorer::new()
        .program("lost")
        .jobs(4)
        .replay(schedule)
        .explore(lost_updates);
    assert_eq!(
        (replayed.executions(), replayed.findings()),
        (1, found.findings())
    );
}

/// An execution that departs once is tried again by the worker that ran it, and nothing is lost by it.
#[test]
fn what_departs_once_is_tried_again() {
    for jobs in 2..4 {
        for odd in 2..30 {
            let calls = std::sync::atomic::AtomicUsize::new(0);
            let report = Explorer::new().jobs(jobs).explore(|| {
                if calls.fetch_add(1, SeqCst) + 1 != odd {
                    counter();
                }
            });
            assert!(report.verdict().is_pass(), "{jobs}, {odd}: {report}");
            let departed = report.notes().iter().any(|note| note.contains("departed"));
            let expected = 90 + u64::from(departed);
            assert_eq!(
                (report.executions(), report.coverage()),
                (expected, &Coverage::Exhaustive),
                "{jobs}, {odd}: {report}"
            );
        }
    }
}
