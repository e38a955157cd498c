//! Partial-order reduction within a bound does not continue from states that it has explored. The programs here are
//! large enough to reach many states several times.

use crate::lines::{Kind, Line, detached, draw_within, searched, searched_by};
use intermezzo_explorer::{Coverage, Explorer, Reduction};
use quickcheck::Gen;

/// The maximum number of lines of each task, for two tasks, three and so on.
const LINES: [usize; 3] = [8, 5, 3];

/// Programs that need more executions are not compared.
const EXECUTIONS_MAX: u64 = 3_000;

#[test]
fn steps_after_known_states_are_planned() {
    let g = &mut Gen::from_size_and_seed(8, 41);
    let all = crate::variable("KNOWN_PROGRAMS").unwrap_or(250);
    let (mut compared, mut too_large, mut by_caching, mut by_dpor, mut known) = (0, 0, 0, 0, 0);
    for number in 0..all {
        let kind = [Kind::Plain, Kind::Plain, Kind::Timed, Kind::Polling][number as usize % 4];
        let program = draw_within(g, kind, &LINES);
        for bound in 0..4 {
            let (wanted, seen) = searched(&program, Reduction::Caching, Some(bound));
            if wanted.executions() >= EXECUTIONS_MAX || matches!(wanted.coverage(), Coverage::Sampled { .. })
            {
                break;
            }
            let (found, same) = searched(&program, Reduction::Dpor, Some(bound));
            if found.executions() >= EXECUTIONS_MAX {
                // It reaches a state with more preemptions first, and later with fewer.
                too_large += 1;
                break;
            }
            let missed: Vec<_> = seen.symmetric_difference(&same).collect();
            assert!(missed.is_empty(), "{number} {program:?} at {bound}: {missed:?}");
            if *found.coverage() == Coverage::Exhaustive {
                let (whole, _) = searched(&program, Reduction::Dpor, None);
                assert_eq!(found.traces(), whole.traces(), "{number} {program:?} at {bound}");
            }
            assert_eq!(found.traces(), wanted.traces(), "{number} {program:?} at {bound}");
            if found.reduction() != "dpor" {
                // The reduction gave way, because fairness held tasks back.
                continue;
            }
            compared += 1;
            by_caching += wanted.executions();
            by_dpor += found.executions();
            known += u64::from(found.redundant() > 0);
        }
    }
    assert!(
        compared > 2 * all && 4 * known > compared,
        "{known} of {compared}"
    );
    assert!(50 * too_large < compared, "{too_large} of {compared}");
    assert!(by_dpor < by_caching, "{by_dpor} {by_caching}");
}

/// A yield makes a switch free. Unless fairness holds a task back, that is all it does: the reduction explores what a
/// search without fairness and without a reduction does.
#[test]
fn yields_that_hold_no_task_back_only_make_switches_free() {
    let g = &mut Gen::from_size_and_seed(8, 43);
    let programs = crate::variable("KNOWN_PROGRAMS").unwrap_or(250);
    let (mut compared, mut gave_way) = (0, 0);
    // Time ends the waits of the second and the third task at once. Whether the second ran last depends on the first one.
    let known = detached(vec![
        vec![Line::Load(1)],
        vec![Line::Sleep(1), Line::Park(1)],
        vec![Line::Park(2)],
    ]);
    let drawn = (0..programs).map(|number| {
        let kinds = [
            Kind::Yielding,
            Kind::Polling,
            Kind::Yielding,
            Kind::Timed,
            Kind::YieldingAndTimed,
            Kind::PollingAndTimed,
            Kind::SleepingAndTimed,
        ];
        let kind = kinds[number as usize % kinds.len()];
        draw_within(g, kind, &[5, 3, 2])
    });
    for (number, program) in [known].into_iter().chain(drawn).enumerate() {
        for bound in 0..3 {
            let without_fairness = Explorer::new()
                .set("spin_loops", "fair_yields=1_000")
                .reduction(Reduction::None);
            let (wanted, outcomes) = searched_by(without_fairness, &program, Some(bound));
            if wanted.executions() >= EXECUTIONS_MAX {
                break;
            }
            for jobs in [1, 2] {
                let explorer = Explorer::new().reduction(Reduction::Dpor).jobs(jobs);
                let (found, same_outcomes) = searched_by(explorer, &program, Some(bound));
                if found.reduction() != "dpor" {
                    gave_way += 1;
                    continue;
                }
                // With two workers only the traces are compared.
                let different: Vec<_> = outcomes.symmetric_difference(&same_outcomes).collect();
                assert!(
                    jobs > 1 || different.is_empty(),
                    "{number} {program:?} at {bound}: {different:?}"
                );
                assert_eq!(found.traces(), wanted.traces(), "{number} {program:?} at {bound}");
                // An execution that ends at a known state continues by default, where fairness may hold a task back.
                let covered = found.coverage();
                let is_cut =
                    |covered: &Coverage| matches!(covered, Coverage::Bounded { reason: Some(_), .. });
                assert!(
                    *covered == Coverage::Exhaustive
                        || covered == wanted.coverage()
                        || found.redundant() > 0 && is_cut(covered),
                    "{number} {program:?} at {bound}: {covered:?}"
                );
                compared += 1;
            }
        }
    }
    assert!(compared > programs, "{compared} compared, {gave_way} gave way");
}
