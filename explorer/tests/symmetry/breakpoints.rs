//! Symmetric tasks that reach armed breakpoints have the outcomes of tasks that are created one by one.

use crate::run::spawn;
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::{Environment, Explorer, Report, breakpoint};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

/// The results of the tasks, sorted, and the final value.
type Outcomes = BTreeSet<(Vec<usize>, usize)>;

/// The operations of a task.
type Body = fn(&AtomicUsize) -> usize;

/// Explores symmetric tasks with this body, or tasks that are created one by one, next to what the test itself does
/// meanwhile.
fn explore(
    symmetric: bool,
    tasks: usize,
    body: Body,
    meanwhile: fn(&AtomicUsize),
    armed: &str,
) -> (Outcomes, Report) {
    let outcomes = Mutex::new(Outcomes::new());
    let report = Explorer::new()
        .environment(Environment::calm())
        .breakpoints(armed.parse().expect("a breakpoint is named"))
        .explore(|| {
            let n = Arc::new(AtomicUsize::new(0));
            let shared = n.clone();
            let handles = spawn(tasks, symmetric, move || body(&shared));
            meanwhile(&n);
            let results = handles.into_iter().map(|handle| handle.join());
            let mut results: Vec<usize> = results.map(|result| result.expect("no task panics")).collect();
            results.sort_unstable();
            outcomes.lock().unwrap().insert((results, n.load(SeqCst)));
        });
    assert!(report.verdict().is_pass(), "{report}");
    (outcomes.into_inner().unwrap(), report)
}

/// Compares the two kinds of tasks with and without the armed breakpoint. Returns the numbers of executions with it, of
/// symmetric tasks and of the others.
#[track_caller]
fn compare(tasks: usize, body: Body, meanwhile: fn(&AtomicUsize), named: &str) -> (u64, u64) {
    let [free, armed] = ["another", named].map(|armed| {
        let [(shown, symmetric), (wanted, plain)] =
            [true, false].map(|symmetric| explore(symmetric, tasks, body, meanwhile, armed));
        assert_eq!(shown, wanted, "{armed}: {symmetric}\n{plain}");
        assert_eq!(symmetric.coverage(), plain.coverage(), "{armed}");
        let hits = [&symmetric, &plain].map(|report| report.breakpoints()[0].hits > 0);
        assert_eq!(hits, [armed == named; 2], "{armed}: {symmetric}\n{plain}");
        (shown, symmetric.executions(), plain.executions())
    });
    assert!(
        armed.0.is_subset(&free.0) && armed.0 != free.0,
        "{armed:?} {free:?}"
    );
    assert!(free.1 < free.2, "{free:?}");
    assert!(armed.1 <= armed.2, "{armed:?}");
    (armed.1, armed.2)
}

/// Each reads, meets another task, and then writes.
fn lost_update(n: &AtomicUsize) -> usize {
    let value = n.load(SeqCst);
    breakpoint::conflict("lost-update", n).meet();
    n.store(value + 1, SeqCst);
    value
}

#[test]
fn symmetric_tasks_meet_after_their_first_steps() {
    for tasks in [2, 3] {
        let (symmetric, plain) = compare(tasks, lost_update, |_| (), "lost-update");
        assert!(symmetric < plain, "{symmetric} {plain}");
    }
}

/// A task that reaches a breakpoint before its first step lets the next one begin.
#[test]
fn symmetric_tasks_meet_before_their_first_steps() {
    fn body(n: &AtomicUsize) -> usize {
        breakpoint::conflict("early", n).meet();
        n.fetch_add(1, SeqCst)
    }
    fn meanwhile(n: &AtomicUsize) {
        n.fetch_max(2, SeqCst);
    }
    for tasks in [2, 3] {
        let run = |symmetric, armed| explore(symmetric, tasks, body, meanwhile, armed);
        for armed in ["another", "early"] {
            let [(shown, symmetric), (wanted, plain)] = [true, false].map(|symmetric| run(symmetric, armed));
            assert_eq!(shown, wanted, "{armed}: {symmetric}\n{plain}");
            assert_eq!(
                symmetric.breakpoints()[0].hits > 0,
                armed == "early",
                "{symmetric}"
            );
            assert!(
                symmetric.executions() <= plain.executions(),
                "{symmetric}\n{plain}"
            );
        }
    }
}

/// The test's own body goes second, after any of the tasks.
#[test]
fn one_of_the_symmetric_tasks_goes_first() {
    fn body(n: &AtomicUsize) -> usize {
        let value = n.load(SeqCst);
        breakpoint::conflict("order", n).first_here();
        n.store(value + 1, SeqCst);
        value
    }
    fn meanwhile(n: &AtomicUsize) {
        breakpoint::conflict("order", n).second();
        n.store(7, SeqCst);
    }
    compare(2, body, meanwhile, "order");
}
