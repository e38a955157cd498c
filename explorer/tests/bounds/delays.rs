//! Delay bounding.

use super::{PROGRAMS, explored_program, once_each};
use crate::common::counted;
use crate::interleavings::{Interleaving, Program, check_programs, enumerate, path};
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::{Coverage, Explorer, thread};
use quickcheck::TestResult;
use std::collections::BTreeMap;

fn delays(interleaving: &Interleaving) -> u32 {
    interleaving.iter().map(|step| step.delays()).sum()
}

fn agrees(program: Program) -> TestResult {
    let Some(all) = enumerate(&program) else {
        return TestResult::discard();
    };
    let cost: BTreeMap<Vec<u32>, u32> = all.iter().map(|one| (path(one), delays(one))).collect();
    let most = cost.values().copied().max().unwrap_or(0);
    for bound in [0, 1, 2, 3, most.saturating_sub(1), most] {
        let (seen, report) = explored_program(&format!("strategy=dfs(delays={bound})"), &program);
        let expected = once_each(&all, |interleaving| delays(interleaving) <= bound);
        assert_eq!(counted(&seen), expected, "bound {bound} of {program:?}");
        assert!(
            seen.is_sorted_by_key(|path| cost[path]),
            "bound by bound: {program:?}"
        );
        let coverage = if expected.len() == all.len() {
            Coverage::Exhaustive
        } else {
            Coverage::Bounded {
                preemptions: None,
                delays: Some(bound),
                depth: None,
                rank: None,
                reason: None,
            }
        };
        assert_eq!(*report.coverage(), coverage, "bound {bound} of {program:?}");
    }
    let (seen, report) = explored_program("strategy=dfs(delays=none)", &program);
    assert_eq!(counted(&seen), once_each(&all, |_| true), "no bound: {program:?}");
    assert_eq!(
        (report.coverage(), report.strategy()),
        (&Coverage::Exhaustive, "dfs(delays=none)")
    );
    TestResult::passed()
}

#[test]
fn each_bound_is_complete_before_the_next_and_nothing_runs_twice() {
    check_programs(PROGRAMS, agrees);
}

/// Three tasks, of which the last must run before the first, so that two are skipped.
fn last_first() {
    let turn = AtomicUsize::new(0);
    thread::scope(|scope| {
        for task in 1..=3 {
            let turn = &turn;
            scope.spawn(move || turn.compare_exchange(0, task, SeqCst, SeqCst).is_ok());
        }
    });
    assert_ne!(turn.load(SeqCst), 3);
}

#[test]
fn a_stopped_search_reports_the_last_complete_bound() {
    let report = Explorer::new()
        .set("strategy", "dfs(delays=5)")
        .explore(last_first);
    assert!(report.verdict().is_fail());
    let coverage = report.coverage().to_string();
    assert_eq!(
        coverage,
        "every schedule with at most 1 delay was run (stopped at the first finding)"
    );
    let json = report.to_json();
    assert!(
        json.contains("\"kind\": \"bounded\",\n    \"delays\": 1,"),
        "{json}"
    );

    let report = Explorer::new()
        .set("strategy", "dfs(delays=1)")
        .explore(last_first);
    assert!(report.verdict().is_pass());
    let coverage = report.coverage().to_string();
    assert_eq!(
        coverage,
        "every schedule with at most 1 delay was run: a failure that is left needs at least 2"
    );
}
