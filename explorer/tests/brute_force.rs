//! Depth first search against an independent enumerator of interleavings, on random small programs:
//! unbounded search runs every interleaving exactly once, and with a bound of c preemptions exactly those
//! with at most c, each once.

mod bounds;
mod common;

use common::interleavings::{Interleaving, Program, check_programs, enumerate, path, run};
use common::{Collect, counted};
use intermezzo_explorer::{Environment, Explorer};
use quickcheck::TestResult;
use std::collections::BTreeMap;

/// What the engine runs: each interleaving, and how often.
fn explored(program: &Program, bound: Option<u32>) -> BTreeMap<Vec<u32>, u32> {
    let (monitor, seen) = Collect::new();
    let mut explorer = Explorer::new()
        .environment(Environment::calm())
        .keep_going(true)
        .monitor(monitor);
    if let Some(bound) = bound {
        explorer = explorer.preemptions(bound);
    }
    let report = explorer.explore(|| run(program));
    assert!(
        report
            .findings()
            .iter()
            .all(|finding| finding.kind.as_str() == "deadlock"),
        "{report}"
    );
    let seen = seen.lock().unwrap();
    assert_eq!(seen.len() as u64, report.executions());
    counted(&seen)
}

fn agrees(program: Program) -> TestResult {
    let Some(expected) = enumerate(&program) else {
        return TestResult::discard();
    };
    let preemptions =
        |interleaving: &Interleaving| interleaving.iter().filter(|step| step.preempts()).count() as u32;
    let most = expected.iter().map(preemptions).max().unwrap_or(0);
    for bound in (0..=most).map(Some).chain([None]) {
        let expected: BTreeMap<Vec<u32>, u32> = expected
            .iter()
            .filter(|interleaving| bound.is_none_or(|bound| preemptions(interleaving) <= bound))
            .map(|interleaving| (path(interleaving), 1))
            .collect();
        let found = explored(&program, bound);
        assert_eq!(found, expected, "bound {bound:?} of {program:?}");
    }
    TestResult::passed()
}

/// How many random programs are compared.
const PROGRAMS: u64 = 1_000;

#[test]
fn search_visits_exactly_the_interleavings_within_the_bound() {
    check_programs(PROGRAMS, agrees);
}
