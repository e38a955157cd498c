//! Reductions in an adversarial environment: they have the same outcomes as a search of every schedule.
//!
//! The model has no spurious wake-ups, no time-outs, and no choice of the waiter that a notification wakes. So a
//! reduction is compared with the engine's own search without one.

use crate::program::{Family, Program, Sample};
use crate::run::{Outcomes, explore};
use crate::{CASES, Case, check, explorer, is_offered, name, same_outcomes, variable};
use intermezzo_explorer::{Environment, Reduction};
use quickcheck::TestResult;

/// The default number of random programs of a family that are compared.
const PROGRAMS: u64 = 250;

/// The maximum number of executions of a program.
pub(crate) const EXECUTIONS_MAX: u64 = 400;

/// Each kind of adversity, once per execution.
pub(crate) const ADVERSE: Environment = Environment {
    spurious_wakeups: 1,
    timeouts: 1,
    weak_failures: 1,
    try_lock_failures: 1,
    notify_any: true,
    arc_counts: true,
    seed: 0,
};

/// Returns a program's outcomes in every schedule within a bound; `None` if there are too many.
fn every_schedule(program: &Program, bound: Option<u32>, executions_max: u64) -> Option<Outcomes> {
    let explorer = explorer((Reduction::None, bound), ADVERSE).executions(executions_max);
    let (report, outcomes) = explore(program, explorer, true);
    (report.executions() < executions_max).then_some(outcomes)
}

fn compare(program: &Program, case: Case, wanted: &Outcomes) -> Result<(), String> {
    let (report, outcomes) = explore(program, explorer(case, ADVERSE), true);
    same_outcomes(&report, &outcomes, wanted)
}

/// Compares all reductions of a program with every schedule. Returns `None` if there are too many.
pub(crate) fn compare_all(program: &Program, executions_max: u64) -> Option<Result<(), String>> {
    let unbounded = every_schedule(program, None, executions_max)?;
    let bounded = [0, 1, 2].map(|bound| every_schedule(program, Some(bound), executions_max));
    let with_reduction = |case: &Case| case.0 != Reduction::None && is_offered(*case);
    let mut cases = CASES.into_iter().filter(with_reduction);
    Some(cases.try_for_each(|case| {
        let wanted = match case.1 {
            Some(bound) => bounded[bound as usize].as_ref(),
            None => Some(&unbounded),
        };
        let wanted = wanted.expect("a bound leaves no more executions than there are");
        compare(program, case, wanted).map_err(|problem| format!("{}: {problem}", name(case)))
    }))
}

fn agrees<const FAMILY: usize>(Sample(program): Sample<FAMILY>) -> TestResult {
    match compare_all(&program, EXECUTIONS_MAX) {
        None => TestResult::discard(),
        Some(Ok(())) => TestResult::passed(),
        Some(Err(problem)) => TestResult::error(problem),
    }
}

fn suite<const FAMILY: usize>(family: Family) {
    let programs = variable("EXPLORED_PROGRAMS").map_or(PROGRAMS, |all| all / 40);
    check(family, programs, agrees::<FAMILY>);
}

#[test]
fn weak_exchanges_fail() {
    suite::<0>(Family::Atomics);
}

#[test]
fn tries_fail() {
    suite::<1>(Family::Mutexes);
}

#[test]
fn waits_end() {
    suite::<3>(Family::Conditions);
}

#[test]
fn receiving_times_out() {
    suite::<4>(Family::Channels);
}

#[test]
fn parking_ends() {
    suite::<5>(Family::Parking);
}
