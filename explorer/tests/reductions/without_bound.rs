//! Partial-order reduction with a bound on preemptions, which the default strategy tries without the bound first.

use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::sync::{Arc, RwLock};
use intermezzo_explorer::{Coverage, Environment, Explorer, Reduction, Report, Strategy, thread};
use std::time::Duration;

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
fn a_small_test_is_covered_without_the_bound() {
    let whole = explorer(Strategy::dfs()).explore(lost_updates);
    let found = explorer(Strategy::auto()).preemptions(1).explore(lost_updates);
    assert_eq!(*found.coverage(), Coverage::Exhaustive, "{found}");
    assert_eq!(
        (found.executions(), found.traces()),
        (whole.executions(), whole.traces())
    );
    assert!(notes(&found).is_empty(), "{found}");
}

/// Asserts that the default search covers what is within this bound, if its long search without the bound has this many
/// steps. Returns its report, and that of the search that has the bound from the beginning.
fn covers_what_is_within(most: u32, steps_without_bound: u64, test: fn()) -> (Report, Report) {
    let bounded = explorer(Strategy::dfs()).preemptions(most).explore(test);
    let found = explorer(Strategy::auto())
        .preemptions(most)
        .steps_without_bound(steps_without_bound)
        .explore(test);
    assert_eq!(found.coverage(), bounded.coverage(), "{found}");
    assert!(
        matches!(found.coverage(), Coverage::Bounded { preemptions: Some(only), .. } if *only == most),
        "{found}"
    );
    assert_eq!(found.traces(), bounded.traces(), "{found}");
    assert!(found.executions() > bounded.executions(), "{found}");
    let note = format!(
        "preemptions: at most {most} from here on, because the test has many executions without a bound"
    );
    assert_eq!(notes(&found), [&note]);
    (found, bounded)
}

/// Every search is too long for the short time, and the one without the bound for the long one.
#[test]
fn a_large_test_is_covered_within_the_bound() {
    let (found, bounded) = covers_what_is_within(1, 30, lost_updates);
    // The search within the bound has begun twice.
    assert!(found.executions() > bounded.executions() + 3, "{found}");
}

/// Three tasks, each of which adds one this many times.
fn additions(count: usize) {
    let counter = Arc::new(AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..count {
                    counter.fetch_add(1, SeqCst);
                }
            });
        }
    });
}

/// The search within the bound ends in the short time that it has at first, so it is run once.
#[test]
fn a_test_that_is_small_within_the_bound_is_covered_after_a_short_search() {
    let test = || additions(4);
    let short = explorer(Strategy::dfs()).preemptions(0).explore(test);
    let steps = short.steps() + 100;
    let (found, bounded) = covers_what_is_within(0, 2 * steps, test);
    let whole = explorer(Strategy::dfs()).explore(test);
    assert!(whole.steps() > steps, "{whole}");
    // The steps of the earlier searches and its own, in total; the last execution of each may be longer.
    assert!(
        found.steps() < steps / 2 + bounded.steps() + 2 * found.max_steps(),
        "{found}"
    );
}

/// After an eighth of its short time the first search seems to have completed very little. So it ends there, and the search
/// within the bound is no trial, and runs once, to the end.
#[test]
fn a_search_that_is_far_from_its_end_keeps_the_bound() {
    let test = || {
        let counters: [AtomicUsize; 5] = Default::default();
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for counter in &counters {
                        counter.fetch_add(1, SeqCst);
                    }
                });
            }
        });
    };
    let steps = 100_000;
    let (found, bounded) = covers_what_is_within(2, steps, test);
    assert!(bounded.steps() > steps / 2, "{bounded}");
    assert!(
        found.steps() < steps / 4 / 8 + bounded.steps() + 2 * found.max_steps(),
        "{found}"
    );
}

/// Neither search ends in a short time, and then the one without the bound does: everything is covered, without a note.
#[test]
fn a_slightly_larger_test_is_covered_without_the_bound() {
    let whole = explorer(Strategy::dfs()).explore(lost_updates);
    let bounded = explorer(Strategy::dfs()).preemptions(2).explore(lost_updates);
    let steps = whole.steps() + 100;
    assert!(bounded.steps() > steps / 2, "{bounded}");
    let found = explorer(Strategy::auto())
        .preemptions(2)
        .steps_without_bound(steps)
        .explore(lost_updates);
    assert_eq!(*found.coverage(), Coverage::Exhaustive, "{found}");
    assert_eq!(found.traces(), whole.traces(), "{found}");
    assert!(found.executions() > whole.executions(), "{found}");
    assert!(notes(&found).is_empty(), "{found}");
}

/// A search within the bound that gives way to another reduction does so for its short time only.
#[test]
fn another_reduction_within_the_bound_does_not_end_the_search_without_it() {
    let test = || {
        let word = Arc::new(AtomicUsize::new(0));
        let tasks = (0..2).map(|_| {
            let word = word.clone();
            thread::spawn(move || {
                for _ in 0..2 {
                    word.fetch_add(1, SeqCst);
                    thread::yield_now();
                    word.fetch_add(1, SeqCst);
                }
            })
        });
        let tasks: Vec<_> = tasks.collect();
        for task in tasks {
            task.join().unwrap();
        }
    };
    let within = explorer(Strategy::auto()).preemptions(1).steps_without_bound(0);
    let within = within.explore(test);
    assert_eq!(within.reduction(), "caching", "{within}");
    let whole = explorer(Strategy::dfs()).explore(test);
    let found = explorer(Strategy::named("auto(fair_yields=1)").unwrap())
        .preemptions(1)
        .steps_without_bound(whole.steps() + 100)
        .explore(test);
    assert_eq!(found.reduction(), whole.reduction(), "{found}");
    assert_ne!(found.reduction(), "caching", "{found}");
    assert_eq!(found.coverage(), whole.coverage(), "{found}");
    assert_eq!(found.traces(), whole.traces(), "{found}");
    assert!(notes(&found).is_empty(), "{found}");
}

/// Readers and a writer are reduced within the bound, too, and without it by source sets.
#[test]
fn readers_and_a_writer_are_reduced_by_all_searches() {
    let test = || {
        let lock = RwLock::new(0);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| *lock.read().unwrap());
            }
            scope.spawn(|| *lock.write().unwrap() = 1);
        });
    };
    let ran = |explorer: Explorer, reduction| {
        let report = explorer.reduction(reduction).explore(test);
        (
            report.reduction().to_owned(),
            report.traces(),
            report.executions(),
        )
    };
    let dfs = || explorer(Strategy::dfs());
    let sources = ran(dfs(), Reduction::SourceDpor);
    assert_eq!(sources, ("source-dpor".to_owned(), Some(16), 16));
    let within = || dfs().preemptions(1);
    let (all, dpor) = (ran(within(), Reduction::None), ran(within(), Reduction::Dpor));
    assert_eq!(all, ("none".to_owned(), Some(16), 600));
    assert_eq!(dpor, ("dpor".to_owned(), Some(16), 284));
}

/// The second task checks if the first one has ended if it comes first, so that the reduction changes in some search
/// or other; and the others have many orders.
fn late_look() {
    let (first, word) = (&AtomicUsize::new(0), &AtomicUsize::new(0));
    thread::scope(|scope| {
        let one = scope.spawn(|| {
            first.store(1, SeqCst);
            for _ in 0..2 {
                word.fetch_add(1, SeqCst);
            }
        });
        scope.spawn(move || {
            if first.load(SeqCst) == 0 {
                one.is_finished();
            }
            word.fetch_add(1, SeqCst);
        });
        scope.spawn(|| word.fetch_add(1, SeqCst));
    });
}

fn sleeps_and_waits() {
    let word = AtomicUsize::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::park_timeout(Duration::from_millis(5));
            word.load(SeqCst);
        });
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(1));
            word.fetch_add(1, SeqCst);
            thread::sleep(Duration::from_millis(1));
        });
        scope.spawn(|| word.fetch_add(1, SeqCst));
    });
}

/// Whenever one search gives way to the other, the result is that of one search alone.
#[test]
fn no_execution_is_left_out_between_two_searches() {
    let (mut whole_ends, mut bound_ends) = (0, 0);
    for test in [lost_updates as fn(), late_look, sleeps_and_waits] {
        let whole = explorer(Strategy::dfs()).explore(test);
        for most in 0..3 {
            let bounded = explorer(Strategy::dfs()).preemptions(most).explore(test);
            for steps in (0..3_000).step_by(61) {
                let found = explorer(Strategy::auto())
                    .preemptions(most)
                    .steps_without_bound(steps)
                    .explore(test);
                let (alone, ends) = match found.coverage() {
                    Coverage::Exhaustive => (&whole, &mut whole_ends),
                    _ => (&bounded, &mut bound_ends),
                };
                *ends += 1;
                assert_eq!(found.coverage(), alone.coverage(), "{steps} steps: {found}");
                assert_eq!(found.traces(), alone.traces(), "{steps} steps: {found}");
            }
        }
    }
    assert!(
        whole_ends > 50 && bound_ends > 50,
        "{whole_ends} and {bound_ends}"
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
