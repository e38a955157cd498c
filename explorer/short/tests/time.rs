//! A limit of time ends an execution that is running. The execution counts for nothing, and a search that continues runs
//! it again.

#[path = "../../tests/common/mod.rs"]
mod common;

use common::{Directory, told};
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::{Coverage, Environment, Explorer, Reduction, Report, Strategy, Verdict, thread};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Much longer than the limits of time below, and much shorter than the executions would take.
const SOON: Duration = Duration::from_secs(20);

/// Returns an explorer with a limit of one second.
fn second() -> Explorer {
    Explorer::new()
        .program("time")
        .environment(Environment::calm())
        .steps_per_execution(u64::MAX)
        .time(Duration::from_secs(1))
}

/// Returns one with a shorter limit, for tests that wait for it many times.
fn moment() -> Explorer {
    second().time(Duration::from_millis(300))
}

/// Explores, and asserts that it ended soon.
#[track_caller]
fn soon(explorer: Explorer, test: impl Fn() + Send + Sync) -> Report {
    let began = Instant::now();
    let report = explorer.explore(test);
    assert!(began.elapsed() < SOON, "{report}");
    report
}

/// Takes steps that always do something new.
fn endless(n: &AtomicUsize) {
    loop {
        n.fetch_add(1, SeqCst);
    }
}

/// Two tasks that count for ever.
fn endless_test() {
    let n = AtomicUsize::new(0);
    thread::scope(|scope| {
        scope.spawn(|| endless(&n));
        scope.spawn(|| endless(&n));
    });
}

/// Sets a search.
type Search = fn(Explorer) -> Explorer;

/// All searches that a limit of time may end.
fn searches() -> Vec<(&'static str, Search)> {
    vec![
        ("auto", |explorer| explorer),
        ("dfs", |explorer| {
            explorer.strategy(Strategy::dfs()).reduction(Reduction::None)
        }),
        ("caching", |explorer| {
            explorer.strategy(Strategy::dfs()).reduction(Reduction::Caching)
        }),
        ("caching, bounded", |explorer| {
            let explorer = explorer.strategy(Strategy::dfs()).preemptions(2);
            explorer.reduction(Reduction::Caching)
        }),
        ("preemptions", |explorer| {
            let explorer = explorer.strategy(Strategy::dfs()).preemptions(2);
            explorer.reduction(Reduction::None)
        }),
        ("dpor", |explorer| {
            explorer.strategy(Strategy::dfs()).reduction(Reduction::Dpor)
        }),
        ("source-dpor", |explorer| {
            explorer
                .strategy(Strategy::dfs())
                .reduction(Reduction::SourceDpor)
        }),
        ("random", |explorer| {
            explorer.strategy(Strategy::random()).executions(300)
        }),
        ("pct", |explorer| {
            explorer.strategy(Strategy::pct(3)).executions(300)
        }),
    ]
}

#[test]
fn an_execution_that_would_take_minutes_ends_with_the_time() {
    for (name, search) in searches() {
        for jobs in [1, 2] {
            let report = soon(search(moment()).jobs(jobs), endless_test);
            assert_eq!(report.verdict(), Verdict::Inconclusive, "{name}: {report}");
            assert_eq!((report.executions(), report.findings().len()), (0, 0), "{name}");
            let text = report.to_string();
            assert!(text.contains("cut off after "), "{name}: {text}");
            assert!(text.contains("no execution came to its end"), "{name}: {text}");
            assert!(!text.contains("same thing twice"), "{name}: {text}");
        }
    }
}

#[test]
fn the_verdict_says_where_the_time_ended() {
    let report = soon(second().strategy(Strategy::dfs()), endless_test);
    let text = report.to_string();
    let said = "the limit of 1 second was reached within an execution of ";
    assert!(text.replace("\n  ", " ").contains(said), "{text}");
}

/// The executions before the search, too.
#[test]
fn executions_that_are_not_judged_end_with_the_time() {
    let report = soon(second().set("warm_up", 3), endless_test);
    assert_eq!(report.verdict(), Verdict::Inconclusive, "{report}");
}

/// The executions that were completed before count.
#[test]
fn executions_before_one_that_is_cut_off_count() {
    for (name, search) in searches() {
        let run = AtomicU64::new(0);
        let report = soon(search(moment()), || {
            let is_long = run.fetch_add(1, Relaxed) >= 2;
            let n = AtomicUsize::new(0);
            thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| {
                        n.fetch_add(1, SeqCst);
                        n.fetch_add(1, SeqCst);
                    });
                }
            });
            if is_long {
                endless(&n);
            }
        });
        assert_eq!(report.verdict(), Verdict::Pass, "{name}: {report}");
        assert_eq!(report.executions(), 2, "{name}: {report}");
        assert!(report.findings().is_empty(), "{name}: {report}");
    }
}

/// A failure without an end is no finding, but the test has not passed either.
#[test]
fn a_failure_in_an_execution_that_is_cut_off_is_told() {
    let run = AtomicU64::new(0);
    let report = soon(second().strategy(Strategy::random()), || {
        let n = AtomicUsize::new(0);
        if run.fetch_add(1, Relaxed) == 0 {
            return;
        }
        let failing = thread::Builder::new().name("failing".into());
        failing.spawn(|| panic!("it broke")).unwrap();
        endless(&n);
    });
    assert_eq!(report.verdict(), Verdict::Inconclusive, "{report}");
    assert!(report.findings().is_empty(), "{report}");
    let text = report.to_string();
    assert!(text.contains("panic: it broke"), "{text}");
    assert!(!text.contains("no execution came to its end"), "{text}");
}

/// Code that catches the unwinding of its task does not keep it alive.
#[test]
fn a_program_that_catches_everything_is_ended() {
    for forgotten in ["0", "1000000000"] {
        let report = soon(second().set("stack", format!("forgotten={forgotten}")), || {
            let n = AtomicUsize::new(0);
            loop {
                let _ = catch_unwind(AssertUnwindSafe(|| endless(&n)));
                n.fetch_add(1, SeqCst);
            }
        });
        assert_eq!(report.verdict(), Verdict::Inconclusive, "{report}");
        assert!(report.findings().is_empty(), "{report}");
    }
}

/// Two tasks that lose updates; from the execution with this number on, the last to end goes on for ever.
fn losing(run: &AtomicU64, endless_from: u64) {
    let is_long = run.fetch_add(1, Relaxed) >= endless_from;
    let n = AtomicUsize::new(0);
    let ended = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                n.store(n.load(SeqCst) + 1, SeqCst);
                if ended.fetch_add(1, SeqCst) == 1 && is_long {
                    endless(&n);
                }
            });
        }
    });
    assert!(n.into_inner() > 1, "two updates were lost");
}

/// The execution that was cut off is run again: nothing is lost, and nothing is counted twice.
#[test]
fn a_search_that_continues_runs_the_execution_again() {
    for (name, search) in searches() {
        let explorer = || {
            search(Explorer::new())
                .program("losing")
                .environment(Environment::calm())
                .keep_going(true)
                .steps_per_execution(u64::MAX)
        };
        let limit = |explorer: Explorer| match name {
            "auto" | "random" | "pct" => explorer.executions(300),
            _ => explorer,
        };
        let never = AtomicU64::new(0);
        let whole = limit(explorer()).explore(|| losing(&never, u64::MAX));
        let continues = |jobs: [usize; 2], from| {
            let (run, endless_from) = (AtomicU64::new(0), AtomicU64::new(from));
            // A checkpoint belongs to one test.
            let test = || losing(&run, endless_from.load(Relaxed));
            let directory = Directory::new("time");
            let cut_off = soon(
                explorer()
                    .time(Duration::from_millis(300))
                    .checkpoint(directory.file())
                    .jobs(jobs[0]),
                test,
            );
            assert_eq!(cut_off.executions(), from, "{name}: {cut_off}");
            endless_from.store(u64::MAX, Relaxed);
            let again = limit(explorer())
                .checkpoint(directory.file())
                .jobs(jobs[1])
                .explore(test);
            if jobs == [1, 1] {
                assert_eq!(told(&again), told(&whole), "{name}, from {from}");
            }
            if name != "auto" && !name.contains("caching") {
                assert_eq!(
                    again.traces(),
                    whole.traces(),
                    "{name}, from {from}, workers {jobs:?}"
                );
                // `dpor` starts again as `source-dpor` once an execution failed. When that is depends on the workers' pace.
                if name != "dpor" || jobs == [1, 1] {
                    assert_eq!(
                        again.executions(),
                        whole.executions(),
                        "{name}, from {from}, workers {jobs:?}"
                    );
                }
            }
            assert_eq!(
                again.coverage(),
                whole.coverage(),
                "{name}, from {from}, workers {jobs:?}"
            );
            assert_eq!(again.findings().len(), whole.findings().len(), "{name}, {jobs:?}");
        };
        std::thread::scope(|scope| {
            for (jobs, from) in [([1, 1], 0), ([1, 1], 11), ([2, 2], 3)] {
                let continues = &continues;
                scope.spawn(move || continues(jobs, from));
            }
        });
    }
}

/// The analysis of a long execution ends with the time, too. It takes time that grows with the square of the length.
#[test]
fn the_analysis_of_a_long_execution_ends_with_the_time() {
    let test = || {
        let (n, m) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for _ in 0..10_000 {
                        n.fetch_add(1, SeqCst);
                        m.fetch_add(1, SeqCst);
                    }
                });
            }
        });
    };
    for reduction in [Reduction::Dpor, Reduction::SourceDpor] {
        for jobs in [1, 2] {
            let directory = Directory::new("analysis");
            let explorer = second().strategy(Strategy::dfs()).reduction(reduction);
            let report = soon(explorer.jobs(jobs).checkpoint(directory.file()), test);
            assert_ne!(report.verdict(), Verdict::Fail, "{report}");
            assert_ne!(*report.coverage(), Coverage::Exhaustive, "{report}");
        }
    }
    let report = soon(second(), test);
    assert_ne!(report.verdict(), Verdict::Fail, "{report}");
    assert_ne!(*report.coverage(), Coverage::Exhaustive, "{report}");
}
