//! Executions that are cut because every enabled task sleeps, while other tasks wait.
//!
//! In the executions that show the rest, such a task continues only after a step that comes earlier there. So its races
//! must be found here, too.

use super::program::Op::{Load, Lock, Park, Receive, Release, Send, Spawn, Store, TryReceive, Unpark};
use super::program::Program;
use super::readers::agree;
use super::{CASES, Expected, compare, explorer, name, variable};
use crate::run::explore;
use intermezzo_explorer::report::united_traces;
use intermezzo_explorer::{Environment, Reduction};
use quickcheck::{Arbitrary, Gen};

/// Programs with more interleavings are not compared.
const MOST: u64 = 60_000;

/// The second task waits in its critical section for the first one, which sleeps. The third one, which can release it, too,
/// waits for the lock.
#[test]
fn a_task_that_waits_for_a_lock_goes_first() {
    agree(&[
        &[Spawn(1), Spawn(2), Spawn(3), Send(0, 1)],
        &[Lock(0), Receive(0), Release],
        &[Lock(0), Send(0, 2), Release],
        &[Lock(0), Release],
    ]);
}

/// Asserts that the shares of a search have all traces together.
#[track_caller]
fn shares_agree(program: &Program, expected: &Expected) {
    for reduction in [Reduction::SourceDpor, Reduction::Dpor] {
        let alone = compare(program, expected, (reduction, None), 1);
        alone.unwrap_or_else(|problem| panic!("{program:?}: {problem}"));
        let whole = || explorer((reduction, None), Environment::calm());
        let (wanted, _) = explore(program, whole(), false);
        for count in [2, 3, 8, 20] {
            let shares = (1..=count).map(|number| {
                let share = whole().set("partition", format!("{number}/{count}"));
                explore(program, share, false).0
            });
            let shares: Vec<_> = shares.collect();
            let parts = shares.iter().map(|report| &*report.share().unwrap().traces);
            assert_eq!(
                united_traces(parts),
                Ok(wanted.traces()),
                "{program:?} {} in {count}",
                name((reduction, None))
            );
        }
    }
}

/// In a share, tasks sleep if other shares run their steps.
#[test]
fn shares_together_show_all_of_critical_sections() {
    for_each_drawn(8, 40, |_, program, expected| shares_agree(program, expected));
}

/// Draws a program of critical sections in which tasks wait for each other.
fn draw(g: &mut Gen) -> Program {
    let below = |g: &mut Gen, most: usize| usize::arbitrary(g) % most;
    let step = |g: &mut Gen, task: usize| match below(g, 8) {
        // The first task that receives is the only one.
        0 | 1 if task == 1 => [Receive(0), TryReceive(0)][usize::from(below(g, 4) == 0)],
        0 | 1 => Send(0, task as u8),
        2 => Park,
        3 | 4 => Unpark(below(g, 4)),
        5 => Load(0),
        _ => Store(0, task as u8),
    };
    let mut tasks = vec![vec![Spawn(1), Spawn(2), Spawn(3)]];
    let first = step(g, 0);
    tasks[0].push(first);
    for task in 1..4 {
        let mut ops = Vec::new();
        if below(g, 6) == 0 {
            ops.push(step(g, task));
        }
        ops.push(Lock(0));
        if below(g, 4) > 0 {
            ops.push(step(g, task));
        }
        ops.push(Release);
        tasks.push(ops);
    }
    Program(tasks)
}

/// Calls `each` with the number of each drawn program that is small enough, the program, and what the model expects of it.
fn for_each_drawn(seed: u64, programs: u64, mut each: impl FnMut(usize, &Program, &Expected)) {
    let g = &mut Gen::from_size_and_seed(8, variable("BLOCKED_SEED").unwrap_or(seed));
    let all = variable("BLOCKED_PROGRAMS").unwrap_or(programs);
    let mut compared = 0;
    for _ in 0..all {
        let program = draw(g);
        if let Some(expected) = Expected::of(&program, MOST) {
            each(compared, &program, &expected);
            compared += 1;
        }
    }
    assert!(2 * compared as u64 > all, "{compared} of {all}");
}

#[test]
fn random_critical_sections_agree() {
    for_each_drawn(7, 70, |number, program, expected| {
        for case in CASES {
            if let Err(problem) = compare(program, expected, case, 1 + number % 3) {
                panic!("{program:?} {}: {problem}", name(case));
            }
        }
    });
}
