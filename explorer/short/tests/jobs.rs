//! Several workers in one exploration. Together they run the executions that one worker runs, each once, and their
//! report says the same.

#[path = "../../tests/common/mod.rs"]
mod common;

use common::{Collect, counted, counter, told};
use intermezzo_explorer::search::{ChoicePoint, Parallel, Plan, SoFar, Status};
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::sync::{Condvar, Mutex, RwLock};
use intermezzo_explorer::{
    Coverage, Environment, ExploreError, Explorer, Finding, Reduction, Report, Strategy, choose, search,
    thread, trace::Trace,
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

/// Fails with as many messages as there are values, and sometimes waits for ever.
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

/// Blocks and is woken, which are choices that cost nothing under a bound.
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

/// Returns searches that end by themselves.
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
                    assert_eq!(
                        several.traces(),
                        single.traces(),
                        "{name}, {search}, keep_going = {keep_going}, {jobs} workers"
                    );
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

/// A search with only the required methods.
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
    fn status(&self, _: &SoFar<'_>) -> Status {
        Status::named("plain")
    }
}

#[test]
fn what_cannot_be_shared_is_refused() {
    let (monitor, _) = Collect::new();
    let two = || Explorer::new().jobs(2);
    for (explorer, says) in [
        (two().monitor(monitor), "attach it with `monitor_with`"),
        (
            two().strategy(Strategy::custom(Plain)),
            "the search `plain` is not split",
        ),
    ] {
        let error = explorer.try_explore(counter).unwrap_err();
        assert!(matches!(&error, ExploreError::Setting(error) if error.name == "jobs"));
        assert!(error.to_string().contains(says), "{error}");
    }
    let single = Explorer::new().strategy(Strategy::custom(Plain)).executions(3);
    assert_eq!(single.explore(counter).executions(), 3);
}

/// A user-defined search that several workers share, based on one that can be shared.
struct Shared(Box<dyn search::Strategy>);

impl search::Strategy for Shared {
    fn next(&mut self, plan: &mut Plan, trace: &Trace) -> bool {
        self.0.next(plan, trace)
    }
    fn choose(&mut self, point: &ChoicePoint<'_>) -> Option<u32> {
        self.0.choose(point)
    }
    fn coverage(&self, finished: bool) -> Coverage {
        self.0.coverage(finished)
    }
    fn status(&self, _: &SoFar<'_>) -> Status {
        Status::named("shared")
    }
    fn parallel(&mut self) -> Option<&mut dyn Parallel> {
        self.0.parallel()
    }
}

#[test]
fn a_search_of_ones_own_may_be_shared() {
    let run = |jobs| {
        let search = Shared(Box::new(search::DepthFirst::new()));
        let explorer = Explorer::new().keep_going(true).jobs(jobs);
        explorer.strategy(Strategy::custom(search)).explore(lost_updates)
    };
    let (one, two) = (run(1), run(2));
    assert_eq!(one.executions(), two.executions());
    assert_eq!(one.findings(), two.findings());
    assert_eq!(one.traces(), two.traces());
    assert_eq!(two.coverage(), &Coverage::Exhaustive);
}

/// A monitor that panics.
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

/// An execution that departs once is retried by the worker that ran it. The coverage is no longer exhaustive.
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
            let whole = *report.coverage() == Coverage::Exhaustive;
            assert_eq!(
                (report.executions(), whole),
                (expected, !departed),
                "{jobs}, {odd}: {report}"
            );
        }
    }
}

/// Readers that share a lock, for which a weaker reduction is needed than the requested one.
fn readers() {
    let lock = RwLock::new(0);
    thread::scope(|scope| {
        scope.spawn(|| *lock.write().unwrap() += 1);
        for _ in 0..2 {
            scope.spawn(|| assert!(*lock.read().unwrap() < 2));
        }
    });
    assert_eq!(lock.into_inner().unwrap(), 1);
}

/// Returns the results that do not depend on the workers' pace: coverage, traces, executions, and findings.
fn reduced(report: &Report) -> (String, Option<u64>, u64, Vec<(String, String)>) {
    let found = |finding: &Finding| (finding.kind.to_string(), finding.message.clone());
    let mut findings: Vec<_> = report.findings().iter().map(found).collect();
    findings.sort();
    let outcome = format!("{} {:?}", report.reduction(), report.coverage());
    // Other counts depend on the time of the fallback, or on the order of the workers.
    let executions = match report.reduction() {
        "dpor" => report.executions(),
        _ => 0,
    };
    (outcome, report.traces(), executions, findings)
}

#[test]
fn partial_order_reductions_come_to_the_same() {
    for (name, test) in TESTS.into_iter().chain([("readers", readers as fn())]) {
        for reduction in [Reduction::Dpor, Reduction::SourceDpor] {
            let report = |jobs, reduction| {
                let explorer = Explorer::new().program(name).reduction(reduction);
                let explorer = explorer.environment(Environment::calm()).keep_going(true);
                explorer.jobs(jobs).explore(test)
            };
            // Several workers do not use wakeup trees if values are chosen.
            let single = match name {
                "many_findings" => report(1, Reduction::SourceDpor),
                _ => report(1, reduction),
            };
            for jobs in [2, 3, 7] {
                let several = report(jobs, reduction);
                assert_eq!(several.reduction(), single.reduction(), "{name}, {jobs} workers");
                assert_eq!(
                    reduced(&several),
                    reduced(&single),
                    "{name}, {reduction:?}, {jobs} workers: {several}"
                );
                if several.reduction() == "dpor" {
                    assert_eq!(several.redundant(), single.redundant(), "{name}, {jobs} workers");
                }
            }
        }
    }
}

/// The number of executions depends on the workers' pace; the result does not.
#[test]
fn the_bounded_reduction_comes_to_the_same() {
    for (name, test) in TESTS.into_iter().chain([("readers", readers as fn())]) {
        let report = |jobs| {
            let explorer = Explorer::new()
                .program(name)
                .reduction(Reduction::Dpor)
                .preemptions(1);
            let explorer = explorer.environment(Environment::calm()).keep_going(true);
            explorer.jobs(jobs).explore(test)
        };
        let single = report(1);
        for jobs in [2, 3] {
            let several = report(jobs);
            assert_eq!(
                reduced(&several),
                reduced(&single),
                "{name}, {jobs} workers: {several}"
            );
        }
    }
}

#[test]
fn a_partial_order_reduction_ends_with_the_first_finding() {
    for jobs in [2, 5] {
        let explorer = || Explorer::new().program("lost").reduction(Reduction::Dpor);
        let report = explorer().jobs(jobs).explore(lost_updates);
        let [finding] = report.findings() else {
            panic!("{jobs} workers: {report}")
        };
        assert!(
            (1..=report.executions()).contains(&report.first_failure().unwrap()),
            "{report}"
        );
        assert!(report.traces().is_some(), "{report}");
        let replayed = explorer().replay(finding.schedule.clone()).explore(lost_updates);
        assert_eq!(replayed.findings()[0].message, finding.message);
    }
}

#[test]
fn limits_hold_for_partial_order_reductions() {
    for most in [0, 1, 2, 10, 89, 90, 91] {
        let explorer = Explorer::new().reduction(Reduction::Dpor).jobs(3);
        let report = explorer.executions(most).explore(counter);
        let whole = *report.coverage() == Coverage::Exhaustive;
        assert_eq!(
            (report.executions(), whole),
            (most.min(90), most > 90),
            "{report}"
        );
    }
}

/// With a reduction too, an execution that departed is retried, and nothing is lost.
#[test]
fn what_departs_once_is_tried_again_with_a_reduction() {
    for odd in 2..30 {
        let calls = std::sync::atomic::AtomicUsize::new(0);
        let report = Explorer::new().reduction(Reduction::Dpor).jobs(3).explore(|| {
            if calls.fetch_add(1, SeqCst) + 1 != odd {
                counter();
            }
        });
        assert_eq!(
            (report.findings().len(), report.traces()),
            (0, Some(90)),
            "{odd}: {report}"
        );
    }
}

/// Two tasks that add to each other's number, and one that reads both.
fn fibonacci(iterations: u64) {
    let (x, y) = (AtomicUsize::new(1), AtomicUsize::new(1));
    let add = |sum: &AtomicUsize| {
        for _ in 0..iterations {
            let (x, y) = (x.load(SeqCst), y.load(SeqCst));
            sum.store(x + y, SeqCst);
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| add(&x));
        scope.spawn(|| add(&y));
        scope.spawn(|| assert!(x.load(SeqCst) <= 144 && y.load(SeqCst) <= 144));
    });
}

/// Two tasks read variables that two others write.
fn big0() {
    let variables: [AtomicUsize; 4] = Default::default();
    let [x, y, z, w] = &variables;
    let read = |variables: &[&AtomicUsize]| {
        for variable in variables {
            variable.load(SeqCst);
        }
    };
    let write = |one: &AtomicUsize, other: &AtomicUsize| {
        for value in 1..=3 {
            one.store(value, SeqCst);
            other.store(value, SeqCst);
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| read(&[x, y, z, w, x, y, z]));
        scope.spawn(|| read(&[x, y, z]));
        scope.spawn(|| write(x, y));
        scope.spawn(|| write(z, w));
    });
}

/// With `EXPLORED_LARGE=1`, runs the ones with many traces too.
#[test]
fn wakeup_trees_run_each_trace_once() {
    let all: [(fn(), u64, bool); 4] = [
        (|| fibonacci(2), 140, false),
        (|| fibonacci(4), 19_605, true),
        (big0, 69_112, true),
        (|| fibonacci(5), 218_243, true),
    ];
    let large = std::env::var_os("EXPLORED_LARGE").is_some();
    for (test, traces, is_large) in all {
        if is_large && !large {
            continue;
        }
        for jobs in [2, 3] {
            let report = Explorer::new()
                .reduction(Reduction::Dpor)
                .jobs(jobs)
                .explore(test);
            assert!(report.verdict().is_pass(), "{report}");
            assert_eq!(
                (report.executions(), report.redundant(), report.traces()),
                (traces, 0, Some(traces)),
                "{jobs} workers"
            );
        }
    }
}
