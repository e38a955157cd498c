//! Compares depth-first search with an independent enumerator of interleavings, on random small programs. Unbounded search
//! runs every interleaving exactly once. With a bound of c preemptions, it runs exactly those with at most c, each
//! once.

use crate::common::{Collect, counted};
use crate::model::executions;
use crate::program::{Family, Op, Program, Sample};
use crate::run::explore;
use crate::{check, variable};
use intermezzo_explorer::{Environment, Explorer};
use quickcheck::TestResult;
use std::collections::BTreeMap;

/// The maximum number of interleavings of a program.
const INTERLEAVINGS_MAX: usize = 2_000;

/// An interleaving as the sequence of tasks, and its preemptions.
type Interleaving = (Vec<u32>, u32);

/// Returns every interleaving, once for each combination of values that its tasks may choose; `None` if there are too
/// many.
fn enumerate(program: &Program) -> Option<Vec<Interleaving>> {
    let mut found = Vec::new();
    let all = executions(program, &mut |leaf| {
        found.push((leaf.path.to_vec(), leaf.preemptions));
        found.len() <= INTERLEAVINGS_MAX
    });
    all.then_some(found)
}

/// Returns the interleavings that the engine runs, with their counts.
fn explored(program: &Program, bound: Option<u32>) -> BTreeMap<Vec<u32>, u32> {
    let (monitor, seen) = Collect::new();
    let mut explorer = Explorer::new()
        .environment(Environment::calm())
        .keep_going(true)
        .monitor(monitor);
    if let Some(bound) = bound {
        explorer = explorer.preemptions(bound);
    }
    let (report, _) = explore(program, explorer, false);
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

fn agrees<const FAMILY: usize>(Sample(program): Sample<FAMILY>) -> TestResult {
    // A writer that becomes a reader has two events in one step.
    let program = program.without_all(|op| op == Op::Downgrade);
    let Some(expected) = enumerate(&program) else {
        return TestResult::discard();
    };
    let most = expected
        .iter()
        .map(|(_, preemptions)| *preemptions)
        .max()
        .unwrap_or(0);
    for bound in (0..=most).map(Some).chain([None]) {
        let within = |preemptions: u32| bound.is_none_or(|bound| preemptions <= bound);
        let expected: Vec<Vec<u32>> = expected
            .iter()
            .filter(|(_, preemptions)| within(*preemptions))
            .map(|(path, _)| path.clone())
            .collect();
        let (found, expected) = (explored(&program, bound), counted(&expected));
        if found != expected {
            return TestResult::error(format!(
                "bound {bound:?}: {found:?}, where there are {expected:?}"
            ));
        }
    }
    TestResult::passed()
}

/// The default number of random programs of a family that are compared.
const PROGRAMS: u64 = 150;

fn compare<const FAMILY: usize>(family: Family) {
    let programs = variable("EXPLORED_PROGRAMS").map_or(PROGRAMS, |all| all / 20);
    check(family, programs, agrees::<FAMILY>);
}

#[test]
fn search_visits_exactly_the_interleavings_within_the_bound() {
    compare::<1>(Family::Mutexes);
}

#[test]
fn search_visits_exactly_the_interleavings_of_readers_and_writers() {
    compare::<2>(Family::ReadersWriters);
}
