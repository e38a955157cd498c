//! Compares ranked search with the model. For each bound on preemptions and variables, it runs exactly the interleavings
//! within it, each once. With pruning, it shows all of their outcomes and traces.

use crate::adversities::{ADVERSE, EXECUTIONS_MAX};
use crate::common::Collect;
use crate::model::{Leaf, executions};
use crate::program::{Family, Program, Sample};
use crate::run::{Outcomes, Records, explore};
use crate::{check, check_share, same_outcomes, variable};
use intermezzo_explorer::{
    Arrays, Coverage, Environment, Explorer, RankBound, RankedOptions, Reduction, Report, Strategy,
    StrategyKind, VariableSets,
};
use quickcheck::TestResult;
use std::collections::BTreeSet;

/// The maximum number of interleavings of a program.
const INTERLEAVINGS_MAX: usize = 200;

/// The number of programs that all families compare together, unless `EXPLORED_PROGRAMS` sets it.
const PROGRAMS: u64 = 200;

/// The bounds to compare: on preemptions and on variables.
const BOUNDS: [(Option<u32>, Option<u32>); 10] = [
    (Some(0), None),
    (Some(1), Some(0)),
    (Some(1), Some(1)),
    (Some(2), Some(1)),
    (Some(2), Some(2)),
    (Some(3), Some(1)),
    (Some(3), Some(2)),
    (Some(2), None),
    (None, Some(1)),
    (None, None),
];

/// The bounds that an execution of the model needs, and its results.
struct Known {
    preemptions: u32,
    variables: u32,
    complete: bool,
    records: Records,
    trace: Vec<u8>,
}

impl Known {
    fn is_within(&self, (preemptions, variables): (Option<u32>, Option<u32>)) -> bool {
        preemptions.is_none_or(|most| self.preemptions <= most)
            && variables.is_none_or(|most| self.variables <= most)
    }
}

/// Returns every execution; `None` if there are too many.
fn known(program: &Program) -> Option<Vec<Known>> {
    let mut found = Vec::new();
    let mut take = |leaf: &Leaf<'_>| {
        let variables: BTreeSet<u8> = leaf.preempted.iter().flatten().copied().collect();
        assert_eq!(leaf.preempted.len(), leaf.preemptions as usize);
        found.push(Known {
            preemptions: leaf.preemptions,
            variables: variables.len() as u32,
            complete: leaf.complete,
            records: leaf.records,
            trace: leaf.trace(),
        });
        found.len() <= INTERLEAVINGS_MAX
    };
    executions(program, &mut take).then_some(found)
}

/// Returns the ranked search with these options.
fn ranked_with(variables: Option<u32>, sets: VariableSets, arrays: Arrays) -> Strategy {
    let options = RankedOptions {
        variables,
        sets,
        arrays,
        ..RankedOptions::DEFAULT
    };
    StrategyKind::Ranked(options).into()
}

fn explorer(bounds: (Option<u32>, Option<u32>), sets: VariableSets, reduction: Reduction) -> Explorer {
    let mut explorer = Explorer::new()
        .program("random program")
        .environment(Environment::calm())
        .strategy(ranked_with(bounds.1, sets, Arrays::Elements))
        .reduction(reduction)
        .keep_going(true)
        .minimise(0);
    if let Some(most) = bounds.0 {
        explorer = explorer.preemptions(most);
    }
    explorer
}

/// Returns the coverage that a search within the bounds may report when it is over.
fn claim(known: &[Known], bounds: (Option<u32>, Option<u32>)) -> Coverage {
    if known.iter().all(|known| known.is_within(bounds)) {
        return Coverage::Exhaustive;
    }
    // A bound is stated if it leaves out something that the other one does not. If neither does, the first one is
    // stated.
    let leaves_out = |only: (Option<u32>, Option<u32>), other: (Option<u32>, Option<u32>)| {
        let fewer = |known: &&Known| known.is_within(other);
        known.iter().filter(fewer).any(|known| !known.is_within(only))
    };
    let by_preemptions = leaves_out((bounds.0, None), (None, bounds.1));
    let by_variables = leaves_out((None, bounds.1), (bounds.0, None));
    let preemptions = bounds.0.filter(|_| by_preemptions || !by_variables);
    let variables = bounds.1.filter(|_| by_variables);
    let all = [preemptions, variables].into_iter().flatten().min();
    let rank = RankBound {
        preemptions,
        variables,
        arrays: Arrays::Elements,
        per_place: None,
        threads: None,
        epsilon: None,
    };
    Coverage::Bounded {
        preemptions: all,
        delays: None,
        depth: None,
        rank: (all != preemptions).then_some(rank),
        reason: None,
    }
}

fn compare(
    program: &Program,
    known: &[Known],
    bounds: (Option<u32>, Option<u32>),
    sets: VariableSets,
    reduction: Reduction,
) -> Result<(), String> {
    let (report, outcomes): (Report, Outcomes) = explore(program, explorer(bounds, sets, reduction), false);
    let within = || known.iter().filter(|known| known.is_within(bounds));
    let mut wanted = Outcomes::default();
    for known in within() {
        let of = if known.complete {
            &mut wanted.complete
        } else {
            &mut wanted.stuck
        };
        of.insert(known.records);
    }
    same_outcomes(&report, &outcomes, &wanted)?;
    let interleavings = within().count() as u64;
    let traces: BTreeSet<&[u8]> = within()
        .filter(|known| known.complete)
        .map(|known| known.trace.as_slice())
        .collect();
    if report.traces() != Some(traces.len() as u64) {
        return Err(format!(
            "{:?} traces, where there are {}",
            report.traces(),
            traces.len()
        ));
    }
    let executions = report.executions();
    let right = match reduction {
        Reduction::None => executions == interleavings,
        _ => executions <= interleavings && report.reduction() == "caching",
    };
    if !right {
        return Err(format!(
            "{executions} executions of {interleavings} interleavings"
        ));
    }
    if reduction == Reduction::None && *report.coverage() != claim(known, bounds) {
        let claimed = claim(known, bounds);
        return Err(format!("it claims {:?}, and not {claimed:?}", report.coverage()));
    }
    Ok(())
}

fn agrees<const FAMILY: usize>(Sample(program): Sample<FAMILY>) -> TestResult {
    let Some(known) = known(&program) else {
        return TestResult::discard();
    };
    for bounds in BOUNDS {
        for (name, sets) in VariableSets::ALL {
            for reduction in [Reduction::None, Reduction::Caching] {
                if let Err(problem) = compare(&program, &known, bounds, sets, reduction) {
                    return TestResult::error(format!("{bounds:?} {name} {reduction:?}: {problem}"));
                }
            }
        }
    }
    TestResult::passed()
}

fn suite<const FAMILY: usize>(family: Family) {
    check_share(family, PROGRAMS, agrees::<FAMILY>);
}

#[test]
fn ranks_of_atomics_are_complete() {
    suite::<0>(Family::Atomics);
}

#[test]
fn ranks_of_mutexes_are_complete() {
    suite::<1>(Family::Mutexes);
}

#[test]
fn ranks_of_readers_and_writers_are_complete() {
    suite::<2>(Family::ReadersWriters);
}

#[test]
fn ranks_of_conditions_are_complete() {
    suite::<3>(Family::Conditions);
}

#[test]
fn ranks_of_channels_are_complete() {
    suite::<4>(Family::Channels);
}

#[test]
fn ranks_of_parking_are_complete() {
    suite::<5>(Family::Parking);
}

#[test]
fn ranks_of_tasks_are_complete() {
    suite::<6>(Family::Tasks);
}

#[test]
fn ranks_of_all_together_are_complete() {
    suite::<7>(Family::Mixed);
}

#[test]
fn ranks_of_probing_are_complete() {
    suite::<8>(Family::Probing);
}

/// Returns the executions of a search, in order.
fn order(program: &Program, explorer: Explorer) -> Vec<Vec<u32>> {
    let (monitor, seen) = Collect::new();
    let _ = explore(program, explorer.monitor(monitor), false);
    std::mem::take(&mut *seen.lock().unwrap())
}

fn plain_when_nothing_is_chosen<const FAMILY: usize>(Sample(program): Sample<FAMILY>) -> TestResult {
    if known(&program).is_none() {
        return TestResult::discard();
    }
    for most in 0..4 {
        let ranked = explorer((Some(most), None), VariableSets::Dynamic, Reduction::None);
        let plain = Explorer::new()
            .program("random program")
            .environment(Environment::calm())
            .keep_going(true)
            .minimise(0)
            .preemptions(most);
        let plain = order(&program, plain);
        if order(&program, ranked) != plain {
            return TestResult::error(format!("another order with {most} preemptions"));
        }
        let arrays = explorer((Some(most), None), VariableSets::Dynamic, Reduction::None)
            .strategy(ranked_with(None, VariableSets::Dynamic, Arrays::Whole));
        if order(&program, arrays) != plain {
            return TestResult::error(format!("another order with {most} preemptions and whole arrays"));
        }
    }
    TestResult::passed()
}

/// With as many variables as preemptions, and variables chosen in order of their use, the search is plain iterative
/// preemption bounding.
#[test]
fn without_a_choice_of_variables_the_search_is_plain() {
    check(Family::Mixed, 200, plain_when_nothing_is_chosen::<7>);
}

/// In an adversarial environment, which the model does not have, a pruned search has the outcomes of every schedule
/// within the bounds.
fn pruned_agrees<const FAMILY: usize>(Sample(program): Sample<FAMILY>) -> TestResult {
    for bounds in [
        (None, None),
        (Some(1), None),
        (Some(2), Some(1)),
        (Some(3), Some(1)),
        (None, Some(1)),
    ] {
        let explorer = |reduction| explorer(bounds, VariableSets::Each, reduction).environment(ADVERSE);
        let all = explorer(Reduction::None).executions(EXECUTIONS_MAX);
        let (every, wanted) = explore(&program, all, true);
        if every.executions() == EXECUTIONS_MAX {
            return TestResult::discard();
        }
        let (pruned, found) = explore(&program, explorer(Reduction::Caching), true);
        if let Err(problem) = same_outcomes(&pruned, &found, &wanted) {
            return TestResult::error(format!("{bounds:?}: {problem}"));
        }
        if pruned.traces() != every.traces() {
            let (found, wanted) = (pruned.traces(), every.traces());
            return TestResult::error(format!(
                "{bounds:?}: {found:?} traces, where there are {wanted:?}"
            ));
        }
    }
    TestResult::passed()
}

fn adverse<const FAMILY: usize>(family: Family) {
    let programs = variable("EXPLORED_PROGRAMS").map_or(40, |all| all / 40);
    check(family, programs, pruned_agrees::<FAMILY>);
}

#[test]
fn pruning_loses_nothing_in_adversarial_environments() {
    adverse::<0>(Family::Atomics);
    adverse::<1>(Family::Mutexes);
    adverse::<3>(Family::Conditions);
    adverse::<4>(Family::Channels);
    adverse::<5>(Family::Parking);
}
