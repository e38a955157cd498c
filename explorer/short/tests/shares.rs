//! Shares of a search: what each says, and what all of them together show.

use intermezzo_explorer::report::united_traces;
use intermezzo_explorer::sync::Mutex;
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::{Coverage, Expected, Explorer, Reduction, Report, Strategy, choose, thread};
use std::sync::atomic::AtomicUsize as Plain;

/// The numbers of shares.
const TOTALS: [u32; 3] = [2, 3, 8];

const REDUCTIONS: [Reduction; 4] = [
    Reduction::None,
    Reduction::Caching,
    Reduction::SourceDpor,
    Reduction::Dpor,
];

/// Explores every share.
fn in_shares(total: u32, explorer: impl Fn() -> Explorer, test: impl Fn() + Send + Sync) -> Vec<Report> {
    (1..=total)
        .map(|number| {
            let share = explorer().program("test").minimise(0).partition(number, total);
            share.explore(&test)
        })
        .collect()
}

fn executions(reports: &[Report]) -> u64 {
    reports.iter().map(Report::executions).sum()
}

/// Two tasks, with a value that is chosen before them and one within one of them.
fn chosen_values() {
    let wanted = choose(3);
    let n = AtomicUsize::new(wanted);
    thread::scope(|scope| {
        scope.spawn(|| n.fetch_add(choose(4), SeqCst));
        scope.spawn(|| n.fetch_add(10, SeqCst));
        n.load(SeqCst);
    });
}

#[test]
fn chosen_values_are_divided_too() {
    for reduction in REDUCTIONS {
        let explorer = || Explorer::new().reduction(reduction);
        let whole = explorer().explore(chosen_values);
        for total in TOTALS {
            let shares = in_shares(total, explorer, chosen_values);
            let traces = shares.iter().map(|share| &*share.share().unwrap().traces);
            assert_eq!(
                united_traces(traces),
                Ok(whole.traces()),
                "{reduction:?} in {total}"
            );
            if reduction != Reduction::Caching {
                let shown = |report: &Report| report.executions() - report.redundant();
                let all: u64 = shares.iter().map(shown).sum();
                assert_eq!(all, shown(&whole), "{reduction:?} in {total}");
            }
        }
    }
}

/// Several reports of a program with one failing execution.
#[test]
fn a_bug_is_in_one_share() {
    let test = || {
        let digits: Vec<usize> = (0..4).map(|_| choose(4)).collect();
        assert_ne!(digits, [2, 1, 3, 0]);
    };
    for total in TOTALS {
        let shares = in_shares(total, || Explorer::new().keep_going(true), test);
        assert_eq!(executions(&shares), 256);
        let failing: Vec<&Report> = shares.iter().filter(|share| share.verdict().is_fail()).collect();
        assert_eq!(failing.len(), 1);
        assert_eq!(failing[0].findings()[0].count, 1);
        assert!(shares.iter().all(|share| share.share().unwrap().ended));
        // A search that stops at it has not ended.
        let shares = in_shares(total, Explorer::new, test);
        let ended = shares.iter().filter(|share| share.share().unwrap().ended);
        assert_eq!(ended.count(), total as usize - 1);
        assert_eq!(
            shares.iter().filter(|share| share.verdict().is_pass()).count(),
            total as usize - 1
        );
        // Its schedule replays, whatever the share.
        let failing = shares.iter().find(|share| share.verdict().is_fail()).unwrap();
        let schedule = failing.findings()[0].schedule.clone();
        let again = Explorer::new()
            .program("test")
            .partition(1, total)
            .replay(schedule)
            .explore(test);
        assert!(again.verdict().is_fail() && again.share().is_none());
    }
}

/// Tasks that are created by tasks, and a panic while another one waits for it.
#[test]
fn failures_of_tasks_are_found_once() {
    let test = || {
        let n = AtomicUsize::new(0);
        let lock = Mutex::new(0);
        let count = || n.fetch_add(1, SeqCst);
        thread::scope(|scope| {
            scope.spawn(|| {
                scope.spawn(count);
                let mut held = lock.lock().unwrap();
                *held += 1;
                assert!(count() < 2, "all others were first");
            });
            scope.spawn(|| {
                count();
                drop(lock.lock());
            });
        });
    };
    for reduction in REDUCTIONS {
        let explorer = || Explorer::new().reduction(reduction).keep_going(true);
        let whole = explorer().minimise(0).explore(test);
        assert!(whole.verdict().is_fail());
        for total in TOTALS {
            let shares = in_shares(total, explorer, test);
            let mut kinds: Vec<&str> = Vec::new();
            for finding in shares.iter().flat_map(Report::findings) {
                if !kinds.contains(&&*finding.message) {
                    kinds.push(&finding.message);
                }
            }
            kinds.sort_unstable();
            let mut wanted: Vec<&str> = whole.findings().iter().map(|finding| &*finding.message).collect();
            wanted.sort_unstable();
            assert_eq!(kinds, wanted, "{reduction:?} in {total}");
            if reduction == Reduction::None {
                assert_eq!(executions(&shares), whole.executions());
            }
        }
    }
}

#[test]
fn a_share_claims_nothing_of_the_whole_search() {
    let shares = in_shares(8, Explorer::new, || _ = choose(3));
    assert_eq!(executions(&shares), 3);
    for (share, number) in shares.iter().zip(1..) {
        let part = share.share().unwrap();
        assert_eq!(part.share.to_string(), format!("{number}/8"));
        assert!(part.ended && share.verdict().is_pass());
        assert_eq!(part.covers, Coverage::Exhaustive);
        let words = format!("only share {number}/8 of the search");
        assert!(share.coverage().to_string().contains(&words), "{share}");
        assert!(share.to_string().contains(&words), "{share}");
    }
    let cut = Explorer::new()
        .partition(1, 2)
        .executions(3)
        .explore(|| _ = choose(20));
    assert!(!cut.share().unwrap().ended);
    assert!(cut.coverage().to_string().contains("the limit of "), "{cut}");
}

#[test]
fn samples_are_dealt_out_by_number() {
    for name in ["random", "pct(3)", "pos", "surw(all)", "portfolio(pos,random)"] {
        for total in TOTALS {
            let explorer = || {
                let strategy = Strategy::named(name).unwrap();
                Explorer::new().strategy(strategy).executions(101)
            };
            let shares = in_shares(total, explorer, chosen_values);
            assert_eq!(executions(&shares), 101, "{name}");
            let drawn: u64 = shares
                .iter()
                .map(|share| match share.coverage() {
                    Coverage::Sampled { executions } => *executions,
                    other => panic!("{other:?}"),
                })
                .sum();
            assert_eq!(drawn, 101);
            let whole = explorer().explore(chosen_values);
            let traces = shares.iter().map(|share| &*share.share().unwrap().traces);
            assert_eq!(united_traces(traces), Ok(whole.traces()), "{name} in {total}");
        }
    }
}

#[test]
fn each_share_warms_up() {
    let runs = Plain::new(0);
    let shares = in_shares(
        2,
        || Explorer::new().set("warm_up", 3),
        || {
            runs.fetch_add(1, SeqCst);
            choose(10);
        },
    );
    let elsewhere: u64 = shares.iter().map(|share| share.share().unwrap().elsewhere).sum();
    assert_eq!(executions(&shares), 10);
    assert_eq!(runs.into_inner() as u64, 10 + elsewhere + 2 * 3);
}

#[test]
fn what_is_not_divided_is_refused() {
    let refused = |explorer: Explorer| {
        let refused = explorer.partition(1, 2).try_explore(|| {});
        refused.map(|report| report.to_string()).unwrap_err().to_string()
    };
    for (explorer, says) in [
        (
            Explorer::new().strategy(Strategy::auto()),
            "give `strategy` `dfs`",
        ),
        (
            Explorer::new().strategy(Strategy::named("best-first").unwrap()),
            "depends on those before",
        ),
        (Explorer::new().jobs(2), "explored by one worker"),
        (
            Explorer::new().expect(Expected::named("deadlock", "").unwrap()),
            "declares what its exploration shows",
        ),
    ] {
        let problem = refused(explorer);
        assert!(
            problem.starts_with("setting `partition`: ") && problem.contains(says),
            "{problem}"
        );
    }
}

/// A test that returns the same in all executions but one.
#[test]
fn what_differs_from_the_default_execution_is_found_in_some_share() {
    for total in TOTALS {
        let found = (1..=total).filter(|&number| {
            let explorer = Explorer::new()
                .minimise(0)
                .keep_going(true)
                .partition(number, total);
            let report = explorer.explore_deterministic(|| choose(30) == 17);
            report
                .findings()
                .iter()
                .any(|finding| finding.kind.as_str() == "determinism")
        });
        assert_eq!(found.count(), 1);
    }
}
