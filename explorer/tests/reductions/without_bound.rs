//! Partial-order reduction with a bound on preemptions, which the default strategy tries without the bound first.

use intermezzo_explorer::sync::Arc;
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::{Coverage, Environment, Explorer, Reduction, Report, Strategy, thread};

/// Three tasks, each of which adds one in two steps.
fn lost_updates() {
    let counter = Arc::new(AtomicUsize::new(0));
    let tasks: Vec<_> = (0..3)
        .map(|_| {
            let counter = counter.clone();
            thread::spawn(move || {
                let before = counter.load(SeqCst);
                counter.store(before + 1, SeqCst);
            })
        })
        .collect();
    for task in tasks {
        task.join().unwrap();
    }
}

fn explorer(strategy: Strategy) -> Explorer {
    Explorer::new()
        .strategy(strategy)
        .environment(Environment::calm())
        .reduction(Reduction::Dpor)
}

/// Returns the notes of a report that say that the bound holds from some execution on.
fn notes(report: &Report) -> Vec<&String> {
    let notes = report.notes().iter();
    notes.filter(|note| note.starts_with("preemptions: ")).collect()
}

#[test]
fn what_is_small_without_the_bound_is_covered_as_a_whole() {
    let whole = explorer(Strategy::dfs()).explore(lost_updates);
    let found = explorer(Strategy::auto()).preemptions(1).explore(lost_updates);
    assert_eq!(*found.coverage(), Coverage::Exhaustive, "{found}");
    assert_eq!(
        (found.executions(), found.traces()),
        (whole.executions(), whole.traces())
    );
    assert!(notes(&found).is_empty(), "{found}");
}

#[test]
fn what_is_large_without_the_bound_is_covered_within_it() {
    let bounded = explorer(Strategy::dfs()).preemptions(1).explore(lost_updates);
    let found = explorer(Strategy::auto())
        .preemptions(1)
        .steps_without_bound(30)
        .explore(lost_updates);
    assert_eq!(found.coverage(), bounded.coverage(), "{found}");
    assert!(
        matches!(
            found.coverage(),
            Coverage::Bounded {
                preemptions: Some(1),
                ..
            }
        ),
        "{found}"
    );
    assert_eq!(found.traces(), bounded.traces(), "{found}");
    assert!(found.executions() > bounded.executions(), "{found}");
    assert_eq!(
        notes(&found),
        ["preemptions: at most 1 from here on, because the test has many executions without a bound"]
    );
}

#[test]
fn several_workers_have_the_bound_from_the_beginning() {
    let bounded = explorer(Strategy::dfs()).preemptions(1).explore(lost_updates);
    let found = explorer(Strategy::auto())
        .preemptions(1)
        .jobs(2)
        .explore(lost_updates);
    assert_eq!(found.coverage(), bounded.coverage(), "{found}");
    assert_eq!(found.traces(), bounded.traces(), "{found}");
}
