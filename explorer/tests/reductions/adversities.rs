//! Reductions in an adversarial environment: they have the same outcomes as a search of every schedule.
//!
//! The model has no spurious wake-ups, no time-outs, and no choice of the waiter that a notification wakes. So a
//! reduction is compared with the engine's own search without one.

use crate::program::{Family, Op, Program, Sample};
use crate::run::{Outcomes, explore, explore_by};
use crate::{
    CASES, Case, check, explorer, is_offered, is_plain, name, numbers_differ, same_outcomes, variable,
};
use intermezzo_explorer::{Environment, Reduction, Report};
use quickcheck::TestResult;

/// The default number of random programs of a family that are compared.
const PROGRAMS: u64 = 20;

/// The maximum number of executions of a program.
pub(crate) const EXECUTIONS_MAX: u64 = 400;

/// Each kind of adversity: in each task a wait ends early once, and an operation fails once.
pub(crate) const ADVERSE: Environment = Environment {
    spurious_wakeups: 1,
    timeouts: 1,
    weak_failures: 1,
    try_lock_failures: 1,
    notify_any: true,
    arc_counts: true,
    address_reuse: 0,
    stale_reads: 0,
    seed: 0,
};

/// The same environment, in which no wait times out early.
pub(crate) const UNTIMED: Environment = Environment {
    timeouts: 0,
    ..ADVERSE
};

/// A search of every schedule: its report, and the program's outcomes.
type Every = (Report, Outcomes);

/// Returns a program's outcomes in every schedule within a bound; `None` if there are too many.
fn every_schedule(
    program: &Program,
    environment: Environment,
    bound: Option<u32>,
    executions_max: u64,
) -> Option<Every> {
    let explorer = explorer((Reduction::None, bound), environment).executions(executions_max);
    let (report, outcomes) = explore(program, explorer, true);
    (report.executions() < executions_max).then_some((report, outcomes))
}

/// Compares one search of a program, by this many workers, with every schedule.
fn compare(
    program: &Program,
    environment: Environment,
    case: Case,
    jobs: usize,
    (every, wanted): &Every,
) -> Result<(), String> {
    let (report, outcomes, _) = explore_by(jobs, program, explorer(case, environment), true);
    same_outcomes(&report, &outcomes, wanted)?;
    if case.1.is_some() {
        return Ok(());
    }
    // Stale reads that another order gives make more traces, which partial-order reduction leaves out.
    let leaves_out = environment.has_memory_model() && matches!(report.reduction(), "dpor" | "source-dpor");
    let (found, wanted) = (report.traces(), every.traces());
    if found > wanted || found < wanted && !leaves_out {
        return Err(format!("{found:?} traces, where there are {wanted:?}"));
    }
    // As in a calm environment: a failure that the environment causes is no reason for another reduction.
    let locks = program.any(|op| matches!(op, Op::Lock(_)));
    // Caching may take over where an exchange both fails and chooses its store.
    let by_trees =
        case.0 == Reduction::Dpor && jobs == 1 && !numbers_differ(program) && !environment.has_memory_model();
    let is_optimal = by_trees && is_plain(program);
    // The clock may come into use in an order that depends on the schedule. Then source sets take over.
    let is_sound = match report.reduction() {
        "dpor" => true,
        "source-dpor" => !is_plain(program),
        _ => false,
    };
    if by_trees && suits_trees(program) && !is_sound {
        return Err(format!("the reduction at work was {}", report.reduction()));
    }
    if is_optimal && !locks && (report.redundant() > 0 || Some(report.executions()) != report.traces()) {
        let (executions, redundant) = (report.executions(), report.redundant());
        return Err(format!(
            "{executions} executions, of which {redundant} are redundant, for {:?} traces",
            report.traces()
        ));
    }
    Ok(())
}

/// `true` if wakeup trees are sound for everything that the program does.
fn suits_trees(program: &Program) -> bool {
    is_plain(&program.without_all(|op| {
        matches!(
            op,
            Op::Wait | Op::NotifyOne | Op::NotifyAll | Op::Park | Op::Unpark(_) | Op::Choose
        )
    }))
}

/// Compares all reductions of a program with every schedule. Returns `None` if there are too many.
pub(crate) fn compare_all(
    program: &Program,
    environment: Environment,
    executions_max: u64,
) -> Option<Result<(), String>> {
    let unbounded = every_schedule(program, environment, None, executions_max)?;
    let bounded = [0, 1, 2].map(|bound| every_schedule(program, environment, Some(bound), executions_max));
    let with_reduction = |case: &Case| case.0 != Reduction::None && is_offered(*case);
    let mut cases = CASES.into_iter().filter(with_reduction);
    Some(cases.try_for_each(|case| {
        let wanted = match case.1 {
            Some(bound) => bounded[bound as usize].as_ref(),
            None => Some(&unbounded),
        };
        let wanted = wanted.expect("a bound leaves no more executions than there are");
        [1, 2].into_iter().try_for_each(|jobs| {
            compare(program, environment, case, jobs, wanted)
                .map_err(|problem| format!("{} by {jobs}: {problem}", name(case)))
        })
    }))
}

/// Loads read stale values, and operations fail.
const STALE: Environment = Environment {
    stale_reads: 2,
    ..UNTIMED
};

fn agrees_with_stale_reads<const FAMILY: usize>(Sample(program): Sample<FAMILY>) -> TestResult {
    agrees_in(STALE, &program)
}

/// Waits may time out early, too.
fn agrees_with_stale_reads_in_time<const FAMILY: usize>(Sample(program): Sample<FAMILY>) -> TestResult {
    let environment = Environment { timeouts: 1, ..STALE };
    agrees_in(environment, &program)
}

fn agrees_in(environment: Environment, program: &Program) -> TestResult {
    match compare_all(program, environment, EXECUTIONS_MAX) {
        None => TestResult::discard(),
        Some(Err(problem)) => TestResult::error(problem),
        Some(Ok(())) => TestResult::passed(),
    }
}

/// Under a memory model reads are choices, and a search within a bound counts no preemption for them.
fn stale_suite<const FAMILY: usize>(family: Family) {
    let programs = variable("EXPLORED_PROGRAMS").map_or(PROGRAMS, |all| all / 40);
    check(family, programs, agrees_with_stale_reads::<FAMILY>);
}

#[test]
fn atomics_are_stale() {
    stale_suite::<0>(Family::Atomics);
}

#[test]
fn atomics_are_stale_between_locks() {
    stale_suite::<1>(Family::Mutexes);
}

#[test]
fn atomics_are_stale_between_waits() {
    stale_suite::<3>(Family::Conditions);
}

#[test]
fn atomics_are_stale_between_parked_tasks() {
    stale_suite::<5>(Family::Parking);
}

#[test]
fn atomics_are_stale_where_time_passes() {
    let programs = variable("EXPLORED_PROGRAMS").map_or(PROGRAMS / 2, |all| all / 40);
    check(Family::Conditions, programs, agrees_with_stale_reads_in_time::<3>);
    check(Family::Parking, programs, agrees_with_stale_reads_in_time::<5>);
}

fn agrees<const FAMILY: usize>(Sample(program): Sample<FAMILY>) -> TestResult {
    let compared = [UNTIMED, ADVERSE].map(|environment| compare_all(&program, environment, EXECUTIONS_MAX));
    match compared {
        [None, _] => TestResult::discard(),
        [_, Some(Err(problem))] | [Some(Err(problem)), _] => TestResult::error(problem),
        _ => TestResult::passed(),
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

/// A time-out may take the place of a token after steps that it need not follow. Source sets missed two traces.
#[test]
fn a_wait_that_a_token_ended_may_time_out_after_other_steps() {
    let program = Program(vec![
        vec![Op::Spawn(1), Op::Spawn(2), Op::Choose, Op::Park],
        vec![Op::Unpark(2), Op::Park],
        vec![Op::Unpark(1)],
    ]);
    assert_eq!(compare_all(&program, ADVERSE, EXECUTIONS_MAX), Some(Ok(())));
}

/// Each sequence of these programs is covered by two others: with one fate of the exchange, and with the other. Wakeup
/// trees planned it once more, and found nothing new.
#[test]
fn sequences_are_covered_by_two_fates() {
    use Op::{Exchange, Load, Spawn, Store};
    let programs = [
        [
            vec![Spawn(1), Spawn(2), Spawn(3), Load(0)],
            vec![Exchange(1, 0, 0)],
            vec![Store(0, 1)],
            vec![Load(1)],
        ],
        [
            vec![Spawn(1), Spawn(2), Spawn(3), Store(0, 0)],
            vec![Exchange(1, 1, 0)],
            vec![Store(1, 1)],
            vec![Load(0)],
        ],
        [
            vec![Spawn(2), Spawn(3), Store(1, 1), Spawn(1), Store(0, 1)],
            vec![Exchange(1, 1, 0)],
            vec![Store(0, 1)],
            vec![Store(1, 0)],
        ],
        [
            vec![Spawn(1), Spawn(2), Spawn(3), Store(0, 0)],
            vec![Store(1, 1)],
            vec![Store(0, 1)],
            vec![Exchange(1, 0, 1)],
        ],
        // The exchange is not the first operation of its task.
        [
            vec![Spawn(1), Spawn(2), Spawn(3), Store(1, 1)],
            vec![Store(0, 1), Exchange(0, 1, 0)],
            vec![Store(1, 1)],
            vec![Store(0, 0)],
        ],
        // An exchange that could succeed elsewhere always fails here.
        [
            vec![Spawn(1), Spawn(2), Spawn(3), Store(0, 1)],
            vec![Exchange(1, 0, 0)],
            vec![Store(0, 1)],
            vec![Exchange(1, 2, 1)],
        ],
        // A sequence with one fate is begun, but continues with another step.
        [
            vec![Spawn(1), Spawn(2), Spawn(3), Store(0, 1)],
            vec![Exchange(1, 0, 0), Load(0)],
            vec![Load(1)],
            vec![Load(0)],
        ],
    ];
    for program in programs.map(|tasks| Program(tasks.to_vec())) {
        let compared = compare_all(&program, UNTIMED, EXECUTIONS_MAX);
        assert_eq!(compared, Some(Ok(())), "{program:?}");
    }
}

/// Likewise for a `try_lock`. Before its step, another task may take and release the lock, which is in one branch and not
/// in the sequence.
#[test]
fn sequences_are_covered_by_two_fates_of_a_try_lock() {
    use Op::{Add, Load, Lock, Spawn, Store, TryLock};
    let programs = [
        [
            vec![Spawn(1), Spawn(2), Spawn(3), Load(0)],
            vec![TryLock(1)],
            vec![Lock(1)],
            vec![Store(0, 1)],
        ],
        // Both may fail.
        [
            vec![Spawn(1), Spawn(2), Spawn(3), Store(0, 0)],
            vec![TryLock(1)],
            vec![TryLock(1)],
            vec![Store(0, 0)],
        ],
        [
            vec![Spawn(1), Spawn(2), Spawn(3), Store(1, 1)],
            vec![TryLock(0)],
            vec![Load(1)],
            vec![TryLock(0)],
        ],
        [
            vec![Spawn(2), Spawn(3), TryLock(1), Spawn(1)],
            vec![Lock(0)],
            vec![TryLock(1)],
            vec![TryLock(0)],
        ],
        // The lock comes into use late, so that its number depends on the execution.
        [
            vec![Spawn(1), Spawn(2), Spawn(3), Add(1, 1)],
            vec![Store(0, 1), TryLock(1)],
            vec![Load(0)],
            vec![Add(1, 1)],
        ],
    ];
    for program in programs.map(|tasks| Program(tasks.to_vec())) {
        let compared = compare_all(&program, UNTIMED, 2_000);
        assert_eq!(compared, Some(Ok(())), "{program:?}");
    }
}

/// The last exchange always fails, which is known from a sequence that was planned with it.
#[test]
fn a_branch_shows_how_the_last_step_of_a_sequence_ends() {
    use Op::{Exchange, Spawn, Store};
    let program = Program(vec![
        vec![Spawn(1), Spawn(2), Exchange(1, 0, 1)],
        vec![Exchange(0, 0, 0), Store(1, 0)],
        vec![Exchange(1, 1, 0), Exchange(0, 1, 1)],
    ]);
    assert_eq!(compare_all(&program, UNTIMED, 2_000), Some(Ok(())));
}
