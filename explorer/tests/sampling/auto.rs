//! The search of a test without settings: exhaustive search and samples, in turns.

use crate::common::{counter, told};
use intermezzo_explorer::report::TextStyle;
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::sync::mpsc::channel;
use intermezzo_explorer::{
    Coverage, Environment, Explorer, Reduction, Report, Strategy, Verbosity, preemptions_off, quiesce, thread,
};

fn auto() -> Explorer {
    Explorer::new()
        .environment(Environment::calm())
        .program("test")
        .strategy(Strategy::auto())
}

/// Four tasks with four steps: 63,063,000 orders. It fails only in a few of them.
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

fn shares(report: &Report) -> &str {
    let mut notes = report.notes().iter();
    notes
        .find_map(|note| note.strip_prefix("executions by strategy: "))
        .unwrap_or_else(|| panic!("no shares: {report}"))
}

/// The strategies begin again when a weaker reduction takes over.
#[test]
fn every_execution_is_attributed() {
    let report = auto().executions(100).explore(|| {
        let (sender, receiver) = channel();
        let n = AtomicUsize::new(0);
        thread::scope(|scope| {
            for task in 0..4 {
                let (n, sender) = (&n, sender.clone());
                scope.spawn(move || {
                    n.swap(1, SeqCst);
                    n.swap(2, SeqCst);
                    sender.send(task).unwrap();
                });
            }
        });
        quiesce();
        assert!(receiver.recv().is_ok());
    });
    assert!(noted(&report, "took over"), "{report}");
    let (shares, before) = shares(&report)
        .split_once("; before a weaker reduction took over ")
        .unwrap_or_else(|| panic!("none before: {report}"));
    let each = shares.split(", ").map(|share| share.rsplit_once(' ').unwrap().1);
    let sum: u64 = each
        .chain([before])
        .map(|number| number.parse::<u64>().unwrap())
        .sum();
    assert_eq!(sum, report.executions(), "{report}");
}

#[test]
fn a_small_test_is_searched_to_its_end() {
    for jobs in [1, 2] {
        let of = |explorer: Explorer| explorer.jobs(jobs).explore(counter);
        for limited in [auto(), auto().executions(100_000)] {
            let report = of(limited);
            assert_eq!(report.coverage(), &Coverage::Exhaustive, "{report}");
            assert_eq!(report.traces(), Some(90), "{report}");
            assert_eq!((report.strategy(), report.reduction()), ("auto", "dpor"));
        }
        let bounded = of(auto().preemptions(1));
        assert_eq!(bounded.reduction(), "caching");
        assert!(
            matches!(
                bounded.coverage(),
                Coverage::Bounded {
                    preemptions: Some(1),
                    reason: None,
                    ..
                }
            ),
            "{bounded}"
        );
    }
    assert_eq!(told(&auto().explore(counter)), told(&auto().explore(counter)));
}

/// If tasks share nothing, a single execution shows everything.
#[test]
fn independent_tasks_take_one_execution() {
    let report = auto().explore(|| {
        let own: Vec<AtomicUsize> = (0..4).map(AtomicUsize::new).collect();
        thread::scope(|scope| {
            for own in &own {
                scope.spawn(|| {
                    for _ in 0..4 {
                        own.fetch_add(1, SeqCst);
                    }
                });
            }
        });
    });
    assert_eq!(report.coverage(), &Coverage::Exhaustive, "{report}");
    assert_eq!((report.executions(), report.traces()), (1, Some(1)), "{report}");
}

#[test]
fn a_large_test_is_covered_in_part_and_drawn_from() {
    for jobs in [1, 3] {
        let report = auto().jobs(jobs).executions(3_000).explore(|| large(false));
        assert!(report.verdict().is_pass(), "{report}");
        assert_eq!(report.executions(), 3_000);
        let Coverage::Bounded {
            preemptions: Some(preemptions),
            reason: Some(reason),
            ..
        } = report.coverage()
        else {
            panic!("{report}");
        };
        assert_eq!(reason, "the limit of 3000 executions was reached");
        // The progress of the searches depends on the speed of the workers.
        let complete = if jobs == 1 { 1..=1 } else { 0..=1 };
        assert!(complete.contains(preemptions), "{report}");
        assert_eq!(report.strategy(), "auto");
        assert!(shares(&report).starts_with("dpor "), "{report}");
    }
}

/// Half of the first 300 executions are samples, and later half of the executions belong to `dpor`.
#[test]
fn shares_are_by_turns() {
    let of = |most: u64| auto().executions(most).minimise(0).explore(|| large(false));
    assert_eq!(
        shares(&of(31)),
        "dpor 8, dfs 8, profile 2, surw(one) 4, pos 2, places 4, pct(3) 1, random 1, surw(all) 1"
    );
    assert_eq!(
        shares(&of(300 + 400)),
        "dpor 275, dfs 175, profile 2, surw(one) 62, pos 31, places 62, pct(3) 31, random 31, surw(all) 31"
    );
}

/// For a failure, only a verbose text has notes on samples.
#[test]
fn a_failure_comes_without_notes_on_samples() {
    let style = |detail| TextStyle::default().detail(detail);
    let has = |text: &str, note: &str| text.contains(&format!("note: {note}"));
    for fails in [false, true] {
        let report = auto().executions(300).minimise(0).explore(|| {
            let n = AtomicUsize::new(0);
            thread::scope(|scope| {
                scope.spawn(|| n.swap(1, SeqCst));
                large(false);
                assert!(!fails || n.load(SeqCst) == 1);
            });
        });
        let texts = [Verbosity::Normal, Verbosity::Verbose].map(|detail| report.text(&style(detail)));
        for note in ["executions by strategy", "surw(one): uniform"] {
            assert!(noted(&report, note), "{report}");
            assert_eq!(
                texts.each_ref().map(|text| has(text, note)),
                [!fails, true],
                "{report}"
            );
        }
    }
}

#[test]
fn where_nothing_was_completed_only_numbers_are_claimed() {
    let report = auto().executions(4).explore(|| large(false));
    assert_eq!(report.coverage(), &Coverage::Sampled { executions: 4 });
}

/// A reduction that is requested is an exhaustive search, which only a limit ends.
#[test]
fn a_requested_reduction_is_kept() {
    let report = auto()
        .reduction(Reduction::Dpor)
        .executions(30_000)
        .explore(|| large(false));
    assert_eq!((report.strategy(), report.reduction()), ("dfs", "dpor"));
    assert_eq!(report.executions(), 30_000);
    assert!(!noted(&report, "executions by strategy"), "{report}");
    let report = auto()
        .reduction(Reduction::None)
        .executions(300)
        .explore(|| large(false));
    assert_eq!(report.reduction(), "none");
    assert!(shares(&report).starts_with("dfs 150, profile 2, "), "{report}");
}

#[test]
fn it_ends_without_any_limit_and_says_why() {
    let report = auto().explore(|| large(false));
    assert_eq!(report.executions(), 50_000, "{report}");
    let Coverage::Bounded { reason, .. } = report.coverage() else {
        panic!("{report}");
    };
    assert_eq!(
        reason.as_deref(),
        Some(
            "the limit of 50000 executions was reached, which holds where none is set (set `executions` or `time` to \
             change it)"
        )
    );
}

/// Three tasks with four steps: 34,650 orders.
fn within_reach() {
    let n = AtomicUsize::new(0);
    thread::scope(|scope| {
        for task in 0..3 {
            let n = &n;
            scope.spawn(move || (0..4).for_each(|_| _ = n.swap(task, SeqCst)));
        }
    });
}

#[test]
fn a_search_within_reach_continues_beyond_the_default_limit() {
    let report = auto().explore(within_reach);
    assert_eq!(report.coverage(), &Coverage::Exhaustive, "{report}");
    // Half of the executions up to the limit belong to the search that ends, and all after it.
    assert_eq!(report.executions(), 34_650 + 25_075, "{report}");

    // A limit that is set is kept, and each of several workers knows only its own share.
    for limited in [auto().executions(50_000), auto().jobs(2)] {
        let report = limited.explore(within_reach);
        assert_eq!(report.executions(), 50_000, "{report}");
        assert!(matches!(report.coverage(), Coverage::Bounded { .. }), "{report}");
    }
}

#[test]
fn findings_of_samples_name_their_strategy() {
    let report = auto().executions(20).explore(|| large(true));
    assert!(report.verdict().is_fail(), "{report}");
    assert!(report.findings()[0].found_by.is_some(), "{report}");
}

/// The reduction that covers all traces is not sound for waits for quiet. The report names the one that takes over, and the
/// operation with its place.
#[test]
fn a_weaker_reduction_takes_over_and_says_why() {
    let test = || {
        let (sender, receiver) = channel();
        let n = AtomicUsize::new(0);
        thread::scope(|scope| {
            scope.spawn(|| {
                n.fetch_add(1, SeqCst);
                sender.send(1).unwrap();
            });
            n.fetch_add(1, SeqCst);
            quiesce();
            _ = receiver.recv();
        });
    };
    let report = auto().explore(test);
    assert_eq!(report.coverage(), &Coverage::Exhaustive, "{report}");
    assert_eq!(report.reduction(), "caching", "{report}");
    let note = report.notes().iter().find(|note| note.starts_with("reduction: "));
    let note = note.unwrap_or_else(|| panic!("{report}"));
    let (before, place) = note.split_once(" at ").unwrap_or_else(|| panic!("{note}"));
    assert_eq!(
        before,
        "reduction: `caching` took over, because the test does something for which a stronger one is not sound: quiesce"
    );
    assert!(place.contains("auto.rs:"), "{note}");
}

/// No reduction respects regions without preemptions. If a test has one, the default search uses no reduction.
#[test]
fn regions_are_respected() {
    let report = auto().explore(|| {
        let n = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| preemptions_off(|| n.store(n.load(SeqCst) + 1, SeqCst)));
            }
        });
        assert_eq!(n.load(SeqCst), 2);
    });
    assert!(report.verdict().is_pass(), "{report}");
    assert_eq!(report.reduction(), "none", "{report}");
    assert!(
        noted(
            &report,
            "reduction: none from here on, because the test turns preemptions off in a region"
        ),
        "{report}"
    );
    assert!(!noted(&report, "preemptions_off: ignored"), "{report}");
}

#[test]
fn it_continues_from_a_checkpoint() {
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
