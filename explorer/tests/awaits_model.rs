//! Compares random programs with waiting loops with a model that runs every round of every loop. Both have the same
//! outcomes, and a livelock in the same programs.

#[path = "awaits_model/programs.rs"]
mod programs;

/// The types that the programs use.
mod alike {
    pub(super) use intermezzo_explorer::sync::atomic::AtomicUsize;
    pub(super) use intermezzo_explorer::{hint, thread};
}

use intermezzo_explorer::{Coverage, Environment, Explorer, Reduction, Report};
use programs::{Dice, Line, Order, Outcome, Program, STRONG, model, run_all};
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

/// Programs that need more executions are not compared.
const EXECUTIONS_MAX: u64 = 4_000;

/// The number of programs that are compared.
const PROGRAMS: usize = 100;

/// The result of exploring a program: its outcomes, and `true` if there is a livelock.
type Shown = (BTreeSet<Outcome>, bool);

/// Explores the program. Returns `None` if that takes too long.
fn explored(program: &Program, reduction: Reduction, assume: bool) -> Option<Shown> {
    explored_and_counted(program, reduction, assume).map(|(shown, _)| shown)
}

/// Like `explored`, and returns the number of traces too.
fn explored_and_counted(
    program: &Program,
    reduction: Reduction,
    assume: bool,
) -> Option<(Shown, Option<u64>)> {
    let explorer = Explorer::new()
        .reduction(reduction)
        .set("spin_loops", if assume { "assume" } else { "park" });
    let (shown, report) = explored_by(explorer, program, STRONG);
    assert!(
        report
            .findings()
            .iter()
            .all(|finding| finding.message.starts_with("no task can continue")),
        "parked, not given up: {program:?}: {report}"
    );
    (*report.coverage() == Coverage::Exhaustive).then(|| (shown, report.traces()))
}

/// Explores the program with this explorer. Returns its outcomes and the report.
fn explored_by(explorer: Explorer, program: &Program, order: Order) -> (Shown, Report) {
    let outcomes = Mutex::new(BTreeSet::new());
    // Without fairness, which would leave out steps of a task that never leaves its loop.
    let explorer = explorer
        .set("spin_loops", format!("fair_yields={}", u32::MAX))
        .keep_going(true)
        .minimise(0)
        .executions(EXECUTIONS_MAX);
    let report = explorer.explore(|| {
        let outcome = run_all(program, order);
        outcomes.lock().unwrap().insert(outcome);
    });
    let kinds: BTreeSet<String> = report
        .findings()
        .iter()
        .map(|finding| finding.kind.to_string())
        .collect();
    assert!(
        kinds.iter().all(|kind| kind == "livelock"),
        "{program:?}: {report}"
    );
    let shown = (outcomes.into_inner().unwrap(), !kinds.is_empty());
    (shown, report)
}

/// Compares this many programs, of ordinary lines or of the others.
fn compare(programs: usize, reduction: Reduction, ordinary: bool) {
    let mut dice = Dice(0x696e_7465_726d_657a);
    let (mut compared, mut livelocks, mut several) = (0, 0, 0);
    for number in 0..programs {
        let program = match ordinary {
            true => Dice::of(number as u64).program(true),
            false => dice.program(false),
        };
        let (outcomes, livelock) = model(&program);
        let Some((seen, found)) = explored(&program, reduction, false) else {
            continue;
        };
        assert_eq!((&seen, found), (&outcomes, livelock), "{program:?}");
        compared += 1;
        livelocks += usize::from(livelock);
        several += usize::from(outcomes.len() > 1);
    }
    assert!(
        5 * compared > 3 * programs && 4 * livelocks > programs && 5 * several > programs,
        "{compared} {livelocks} {several}"
    );
}

#[test]
fn outcomes_are_those_of_the_model() {
    compare(PROGRAMS, Reduction::None, false);
}

#[test]
fn reductions_leave_no_outcome_out() {
    for reduction in [Reduction::Caching, Reduction::SourceDpor, Reduction::Dpor] {
        compare(PROGRAMS, reduction, false);
    }
}

/// Locks that are tested before they are set, bounded spins with a yield after them, and loops that count.
#[test]
fn outcomes_of_ordinary_loops_are_those_of_the_model() {
    for reduction in [
        Reduction::None,
        Reduction::Caching,
        Reduction::SourceDpor,
        Reduction::Dpor,
    ] {
        compare(PROGRAMS / 4, reduction, true);
    }
}

/// The loops may also read old values.
#[test]
fn reductions_leave_no_outcome_of_stale_reads_out() {
    let programs = std::env::var("AWAITING_PROGRAMS").map_or(PROGRAMS, |n| n.parse().unwrap());
    let orders = [
        Order {
            loads: Relaxed,
            stores: Relaxed,
            both: Relaxed,
        },
        Order {
            loads: Acquire,
            stores: Release,
            both: AcqRel,
        },
    ];
    let mut dice = Dice(0x7374_616c_6520_7265);
    let (mut compared, mut weak) = (0, 0);
    for number in 0..programs {
        let program = dice.program(false);
        let order = orders[number % 2];
        let outcomes = |reduction| {
            let explorer = Explorer::new()
                .reduction(reduction)
                .set("environment", "stale_reads=1")
                .set("steps", 400);
            let ((outcomes, _), report) = explored_by(explorer, &program, order);
            (*report.coverage() == Coverage::Exhaustive).then_some(outcomes)
        };
        let Some(all) = outcomes(Reduction::None) else {
            continue;
        };
        for reduction in [Reduction::Caching, Reduction::SourceDpor, Reduction::Dpor] {
            let found = outcomes(reduction);
            assert_eq!(found.as_ref(), Some(&all), "{number}: {program:?}, {reduction:?}");
        }
        compared += 1;
        weak += usize::from(all != model(&program).0);
    }
    assert!(2 * compared > programs && weak > 0, "{compared} {weak}");
}

/// Loops that were seen to wait are assumed to do so from their first round on. No outcome is lost by that, and all
/// searches agree on the traces.
#[test]
fn outcomes_and_traces_with_loops_assumed_to_wait() {
    let mut dice = Dice(0x696e_7465_726d_657a);
    let (mut compared, mut several) = (0, 0);
    for _ in 0..PROGRAMS {
        let program = dice.program(false);
        let Some(all) = explored_and_counted(&program, Reduction::None, true) else {
            continue;
        };
        assert_eq!(all.0, model(&program), "{program:?}");
        for reduction in [Reduction::Caching, Reduction::SourceDpor, Reduction::Dpor] {
            let Some(reduced) = explored_and_counted(&program, reduction, true) else {
                continue;
            };
            assert_eq!(reduced, all, "{program:?}, {reduction:?}");
            compared += 1;
        }
        several += usize::from(all.1 > Some(1));
    }
    assert!(
        2 * compared > 3 * PROGRAMS && 3 * several > PROGRAMS,
        "{compared} {several}"
    );
}

/// Another task's change must come in the middle of a round that would fail without it.
#[test]
fn failed_rounds_can_be_continued_after_a_change() {
    for stores in [
        vec![Line::Store(0, 1), Line::Store(1, 2)],
        vec![Line::Store(0, 2), Line::Store(0, 1), Line::Store(1, 2)],
        vec![Line::Load(0), Line::Store(0, 1), Line::Store(1, 2)],
    ] {
        for first in [false, true] {
            let mut program = vec![stores.clone(), vec![Line::Either([0, 1], [1, 2])]];
            if first {
                program.reverse();
            }
            for reduction in Reduction::ALL.map(|(_, reduction)| reduction) {
                if reduction != Reduction::OrderedAtomics {
                    let expected = Some(model(&program));
                    assert_eq!(
                        explored(&program, reduction, true),
                        expected,
                        "{program:?}, {reduction:?}"
                    );
                }
            }
        }
    }
}

/// This program needs an execution that wakeup trees would miss.
#[test]
fn wakeup_trees_give_way_to_parked_tasks() {
    let program = vec![
        vec![Line::Store(1, 1), Line::Store(0, 2)],
        vec![Line::Store(0, 0), Line::Twice(0, 2)],
        vec![Line::Either([1, 0], [0, 2]), Line::Twice(1, 1)],
    ];
    assert_eq!(explored(&program, Reduction::Dpor, false), Some(model(&program)));
}

/// Within a bound on preemptions, and without one, every reduction shows the outcomes and the traces of plain
/// depth-first search. The exception are the traces of partial-order reductions without a bound. Within one trace it
/// depends on the time of other tasks' writes whether a round of several steps counts, so plain depth-first search
/// counts more.
#[test]
fn reductions_leave_no_trace_out() {
    let programs = std::env::var("AWAITING_PROGRAMS").map_or(PROGRAMS, |n| n.parse().unwrap());
    let mut dice = Dice(0x696e_7465_726d_657a);
    let (mut compared, mut several, mut problems) = (0, 0, Vec::new());
    for _ in 0..programs {
        let program = dice.program(false);
        for (bound, assume) in [
            (None, false),
            (Some(0), false),
            (Some(1), false),
            (Some(2), false),
            (Some(1), true),
        ] {
            let search = |reduction| {
                let explorer = Explorer::new()
                    .environment(Environment::calm())
                    .reduction(reduction);
                let explorer = explorer.set("spin_loops", if assume { "assume" } else { "park" });
                let (shown, report) = explored_by(
                    match bound {
                        Some(bound) => explorer.preemptions(bound),
                        None => explorer,
                    },
                    &program,
                    STRONG,
                );
                (report.executions() < EXECUTIONS_MAX).then(|| (shown, report.traces()))
            };
            let Some(all) = search(Reduction::None) else {
                continue;
            };
            let reductions: &[Reduction] = match bound {
                None => &[Reduction::Caching, Reduction::SourceDpor, Reduction::Dpor],
                Some(_) => &[Reduction::Caching, Reduction::Dpor],
            };
            for &reduction in reductions {
                let Some(reduced) = search(reduction) else {
                    continue;
                };
                compared += 1;
                let counts = bound.is_some() || reduction == Reduction::Caching;
                if reduced.0 != all.0 || counts && reduced.1 != all.1 {
                    problems.push(format!(
                        "{program:?}, {reduction:?} within {bound:?}, assumed {assume}: {:?} traces for {:?}",
                        reduced.1, all.1
                    ));
                }
            }
            several += usize::from(all.1 > Some(1));
        }
    }
    problems.sort_by_key(String::len);
    let (count, few) = (
        problems.len(),
        problems.iter().take(15).cloned().collect::<Vec<_>>(),
    );
    assert!(problems.is_empty(), "{count} of {compared}: {few:#?}");
    assert!(
        compared > 7 * programs && several > programs,
        "{compared} {several}"
    );
}
