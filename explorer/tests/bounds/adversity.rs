//! All complete searches run the same executions, for all kinds of choices.

use super::explored;
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::sync::{Condvar, Mutex};
use intermezzo_explorer::{Coverage, Environment, choose, thread};
use std::collections::BTreeSet;
use std::time::Duration;

/// A task that waits, with a time limit or without, for another task that draws a number and may notify it.
fn waiting() {
    let (state, changed) = (Mutex::new(0), Condvar::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            let guard = state.lock().unwrap();
            drop(changed.wait_timeout(guard, Duration::from_millis(1)));
        });
        scope.spawn(|| {
            *state.lock().unwrap() += choose(3);
            changed.notify_one();
        });
    });
}

/// A task that waits for another by yielding, and exchanges that may fail spuriously.
fn yielding() {
    let turn = AtomicUsize::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            while turn.load(SeqCst) == 0 {
                thread::yield_now();
            }
        });
        scope.spawn(|| while turn.compare_exchange_weak(0, 1, SeqCst, SeqCst).is_err() {});
        scope.spawn(|| turn.load(SeqCst));
    });
}

#[test]
fn complete_searches_run_the_same() {
    for (name, test) in [("waiting", waiting as fn()), ("yielding", yielding)] {
        let run = |settings: &str| {
            let all = Environment::default();
            let bounds = format!(
                "{settings} environment=spurious_wakeups={},timeouts={},weak_failures={},notify_any=true",
                all.spurious_wakeups, all.timeouts, all.weak_failures
            );
            let (seen, report) = explored(&bounds, test);
            let distinct: BTreeSet<Vec<u32>> = seen.into_iter().collect();
            // Fair scheduling holds back a task that yields twice, and reports that.
            let is_all = match report.coverage() {
                Coverage::Exhaustive => true,
                Coverage::Bounded { reason, .. } => {
                    name == "yielding"
                        && reason
                            .as_ref()
                            .is_some_and(|reason| reason.starts_with("fair scheduling"))
                }
                _ => false,
            };
            assert!(is_all, "{name} {settings}: {report}");
            let executions = report.executions() - report.redundant();
            (distinct, executions, report.traces())
        };
        let plain = run("");
        assert!(plain.1 > 20, "{name}: {}", plain.1);
        for settings in [
            "preemptions=99",
            "strategy=dfs(delays=none)",
            "strategy=best-first",
            "strategy=ranked",
            "strategy=ranked(sets=dynamic) preemptions=99",
            "strategy=best-first(random,rare)",
            "strategy=dfs(depth=99)",
            "strategy=dfs(step=2)",
        ] {
            assert_eq!(run(settings), plain, "{name} {settings}");
        }
        let (distinct, executions, traces) = run("reduction=ordered-atomics");
        assert!(distinct.is_subset(&plain.0) && executions <= plain.1, "{name}");
        assert_eq!(traces, plain.2, "{name}");
    }
}

#[test]
fn values_cost_no_delay() {
    let (seen, report) = explored("strategy=dfs(delays=0)", waiting);
    // Three values, whatever the order.
    assert!(seen.len() >= 3 && report.executions() % 3 == 0, "{report}");
}
