//! Best-first search.

use super::{PROGRAMS, explored_program, once_each, preemptions};
use crate::common::counted;
use crate::interleavings::{Op, Program, check_programs, enumerate, path};
use intermezzo_explorer::Coverage;
use quickcheck::TestResult;
use std::collections::BTreeMap;

const ORDERS: [&str; 9] = [
    "constant",
    "preemptions",
    "switches,most-enabled",
    "shallowest",
    "2*rare+deepest,fewest-enabled",
    "rare-variable,rare-operation",
    "most-conflicts,rare-switch+rare-state",
    "random",
    "most-preemptions",
];

fn agrees(program: Program) -> TestResult {
    let Some(all) = enumerate(&program) else {
        return TestResult::discard();
    };
    for order in ORDERS {
        let (seen, report) = explored_program(&format!("strategy=best-first({order})"), &program);
        assert_eq!(
            counted(&seen),
            once_each(&all, |_| true),
            "{order} of {program:?}"
        );
        assert_eq!(*report.coverage(), Coverage::Exhaustive);
        assert_eq!(report.strategy(), format!("best-first({order})"));
    }
    let (seen, _) = explored_program("strategy=best-first(rare) preemptions=1", &program);
    assert_eq!(
        counted(&seen),
        once_each(&all, |one| preemptions(one) <= 1),
        "{program:?}"
    );

    // A prefix never has fewer preemptions than the one from which it branches off, so this order holds for executions.
    let cost: BTreeMap<Vec<u32>, u32> = all.iter().map(|one| (path(one), preemptions(one))).collect();
    let (seen, _) = explored_program("strategy=best-first", &program);
    assert!(seen.is_sorted_by_key(|path| cost[path]), "{program:?}");
    TestResult::passed()
}

#[test]
fn every_order_runs_each_execution_once() {
    check_programs(PROGRAMS, agrees);
}

#[test]
fn orders_differ() {
    let program = Program(vec![vec![Op::Add(0); 3]; 2]);
    let second =
        |order: &str| explored_program(&format!("strategy=best-first({order})"), &program).0[1].clone();
    // The second task first, or the last step of the first one delayed.
    assert_eq!(second("shallowest"), [2, 2, 2, 1, 1, 1]);
    assert_eq!(second("deepest"), [1, 1, 2, 2, 2, 1]);
    assert_eq!(second("preemptions"), [2, 2, 2, 1, 1, 1]);
    assert_eq!(second("most-preemptions"), [1, 1, 2, 2, 2, 1]);
}

/// The third task is the only one with which the first one's next operation conflicts.
#[test]
fn conflicts_and_new_states_come_first() {
    let executions = |order: &str, program: &Program| {
        explored_program(&format!("strategy=best-first({order})"), program).0
    };
    let program = Program(vec![vec![Op::Add(0)], vec![Op::Add(1)], vec![Op::Add(0)]]);
    assert_eq!(executions("shallowest", &program)[..2], [[1, 2, 3], [2, 3, 1]]);
    assert_eq!(
        executions("most-conflicts,shallowest", &program)[..2],
        [[1, 2, 3], [3, 1, 2]]
    );

    // Different beginnings lead to one state, which then waits for others.
    let program = Program(vec![vec![Op::Add(0), Op::Store(1)]; 3]);
    for order in ["rare-state", "rare-switch"] {
        let seen = executions(order, &program);
        assert_ne!(seen, executions("constant", &program), "{order}");
    }
}

#[test]
fn the_order_of_a_seed_is_its_own() {
    let program = Program(vec![vec![Op::Add(0); 3]; 2]);
    let order = |seed| explored_program(&format!("strategy=best-first(random) seed={seed}"), &program).0;
    assert_eq!(order(1), order(1));
    assert_ne!(order(1), order(2));
}

#[test]
fn dropped_prefixes_are_reported() {
    let program = Program(vec![vec![Op::Add(0); 3]; 3]);
    let (seen, report) = explored_program("strategy=best-first(shallowest,prefixes=5)", &program);
    assert!(seen.len() < enumerate(&program).map_or(usize::MAX, |all| all.len()));
    assert_eq!(
        report.coverage().to_string(),
        "not every schedule was run: prefixes were dropped because the queue was full"
    );
    let note = report
        .notes()
        .iter()
        .find(|note| note.contains("at most 5 are kept"));
    assert!(note.is_some(), "{report}");
    // Depth-first search needs little memory.
    let (seen, report) = explored_program("strategy=best-first(constant,prefixes=40)", &program);
    assert_eq!((seen.len(), report.coverage()), (1_680, &Coverage::Exhaustive));
}
