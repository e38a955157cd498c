//! The search of a test that says nothing: bounded first, then drawn.

use crate::common::{counter, told};
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::{Coverage, Environment, Explorer, Reduction, Report, Strategy, thread};

fn auto() -> Explorer {
    Explorer::new()
        .environment(Environment::calm())
        .program("test")
        .strategy(Strategy::auto())
}

/// Four tasks of four steps: 63,063,000 orders. It fails only in few of them.
fn large(fails: bool) {
    let n = AtomicUsize::new(0);
    thread::scope(|scope| {
        for task in 0..4 {
            let n = &n;
            scope.spawn(move || {
                let last = (0..4).map(|_| n.swap(task + 1, SeqCst)).last();
                assert!(!fails || task != 0 || last != Some(4));
            });
        }
    });
}

fn noted(report: &Report, text: &str) -> bool {
    report.notes().iter().any(|note| note.contains(text))
}

#[test]
fn a_small_test_is_searched_to_its_end() {
    for jobs in [1, 2] {
        let explorer = |strategy| {
            Explorer::new()
                .environment(Environment::calm())
                .program("test")
                .strategy(strategy)
                .jobs(jobs)
        };
        for limit in [None, Some(181), Some(100_000)] {
            let of = |explorer: Explorer| match limit {
                None => explorer.explore(counter),
                Some(most) => explorer.executions(most).explore(counter),
            };
            let report = of(explorer(Strategy::auto()));
            assert_eq!(report.coverage(), &Coverage::Exhaustive, "{limit:?}: {report}");
            assert_eq!(told(&report), told(&of(explorer(Strategy::dfs()))), "{limit:?}");
            assert_eq!(report.strategy(), "dfs");
        }
        let bounded = explorer(Strategy::auto()).preemptions(1).explore(counter);
        let same = explorer(Strategy::dfs()).preemptions(1).explore(counter);
        assert_eq!(told(&bounded), told(&same));
        assert!(matches!(
            bounded.coverage(),
            Coverage::Bounded {
                preemptions: Some(1),
                reason: None,
                ..
            }
        ));
    }
}

#[test]
fn a_large_test_is_drawn_from() {
    for jobs in [1, 3] {
        let report = auto().jobs(jobs).executions(3_000).explore(|| large(false));
        assert!(report.verdict().is_pass(), "{report}");
        assert_eq!(report.executions(), 3_000);
        assert!(
            matches!(
                report.coverage(),
                Coverage::Bounded {
                    preemptions: Some(1),
                    ..
                }
            ),
            "{report}"
        );
        assert!(report.strategy().starts_with("auto(dfs,portfolio("), "{report}");
        assert!(
            noted(&report, "executions by strategy: dfs 1500, profile 2, "),
            "{report}"
        );
        assert!(noted(&report, "was left after 1500 executions"), "{report}");
    }
}

#[test]
fn where_nothing_was_completed_only_numbers_are_claimed() {
    let report = auto().executions(4).explore(|| large(false));
    assert_eq!(report.coverage(), &Coverage::Sampled { executions: 4 });
    let report = auto()
        .reduction(Reduction::Dpor)
        .executions(100)
        .explore(|| large(false));
    assert_eq!(
        report.coverage(),
        &Coverage::Sampled { executions: 100 },
        "{report}"
    );
    assert!(noted(&report, "dfs 50, profile 2, "), "{report}");
}

#[test]
fn it_ends_without_any_limit() {
    let report = auto().explore(|| large(false));
    assert_eq!(report.executions(), 25_000, "{report}");
}

#[test]
fn what_is_not_found_soon_is_drawn_uniformly() {
    let executions = |most: u64| {
        let report = auto().executions(most).minimise(0).explore(|| large(false));
        let note = report
            .notes()
            .iter()
            .find(|note| note.starts_with("executions by strategy"));
        note.unwrap().clone()
    };
    // Of 5,001 that are drawn two are learned from: none of the policies has more turns than the others.
    assert_eq!(
        executions(10_002),
        "executions by strategy: dfs 5001, profile 2, surw(one) 834, pos 833, places 833, pct(3) 833, random 833, surw(all) 833"
    );
    // Then 10 of 15 are the last one's.
    assert_eq!(
        executions(10_300),
        "executions by strategy: dfs 5150, profile 2, surw(one) 844, pos 844, places 843, pct(3) 843, random 843, surw(all) 931"
    );
}

#[test]
fn what_is_drawn_is_found_by_somebody() {
    let report = auto().executions(20).explore(|| large(true));
    assert!(report.verdict().is_fail(), "{report}");
    let found_by = report.findings()[0].found_by.clone();
    let drawn = report.first_failure().unwrap() > 10;
    assert_eq!(found_by.is_some(), drawn, "{report}");
}

#[test]
fn it_goes_on_from_a_checkpoint() {
    let file = std::env::temp_dir().join(format!("intermezzo-auto-{}", std::process::id()));
    let whole = auto().keep_going(true).executions(2_000).explore(|| large(false));
    let mut last = None;
    for (time, jobs) in [(0, 1), (1, 2), (2, 1), (600, 2)] {
        let report = auto()
            .keep_going(true)
            .executions(2_000)
            .time(std::time::Duration::from_millis(5 * time))
            .jobs(jobs)
            .checkpoint(&file)
            .explore(|| large(false));
        last = Some(report);
    }
    let last = last.unwrap();
    let _ = std::fs::remove_file(&file);
    assert_eq!(last.executions(), whole.executions(), "{last}");
    assert_eq!(last.strategy(), whole.strategy());
}
