//! The memory model of C++20, compared with an oracle that checks its axioms on every candidate execution.

mod litmus;
#[allow(dead_code, reason = "the oracle has its own tests of each part")]
mod oracle;
#[path = "../support/mod.rs"]
mod support;

use intermezzo_engine::environment::Environment;
use intermezzo_engine::memory_model::Cpp20;
use intermezzo_engine::runtime::{Executor, Listeners, Stop};
use intermezzo_engine::schedule::Choice;
use intermezzo_engine::strategy::Strategy;
use intermezzo_engine::trace::{Fingerprints, SoundReduction};
use intermezzo_explorer::sync::atomic::{AtomicU32, Ordering, fence};
use intermezzo_explorer::{choices, thread};
use intermezzo_search::{Caching, DepthFirst, Dpor, Insertion, Replay, Visits};
use oracle::{Model, Op, Order, Outcome, Program, outcomes, random_program};
use rand::{RngExt as _, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

fn ordering(order: Order) -> Ordering {
    match order {
        Order::Relaxed => Ordering::Relaxed,
        Order::Acquire => Ordering::Acquire,
        Order::Release => Ordering::Release,
        Order::AcqRel => Ordering::AcqRel,
        Order::SeqCst => Ordering::SeqCst,
    }
}

fn perform(op: Op, atomics: &[AtomicU32]) -> Option<u32> {
    match op {
        Op::Load(var, order) => Some(atomics[var].load(ordering(order))),
        Op::Store(var, value, order) => {
            atomics[var].store(value, ordering(order));
            None
        }
        Op::Add(var, value, order) => Some(atomics[var].fetch_add(value, ordering(order))),
        Op::Exchange {
            var,
            expected,
            new,
            success,
            failure,
        } => {
            let (Ok(read) | Err(read)) =
                atomics[var].compare_exchange(expected, new, ordering(success), ordering(failure));
            Some(read)
        }
        Op::Fence(order) => {
            fence(ordering(order));
            None
        }
    }
}

/// Performs the operations in tasks, and returns what they read and the newest store of each variable.
fn run(program: &Program, variables: usize) -> Outcome {
    let atomics: Vec<AtomicU32> = (0..variables).map(|_| AtomicU32::new(0)).collect();
    let mut reads = vec![Vec::new(); program.len()];
    thread::scope(|scope| {
        for (ops, read) in program.iter().zip(&mut reads) {
            let atomics = &atomics;
            scope.spawn(move || read.extend(ops.iter().filter_map(|&op| perform(op, atomics))));
        }
    });
    let last = atomics.into_iter().map(AtomicU32::into_inner).collect();
    Outcome { reads, last }
}

/// A search, by the weakest reduction for which it is sound.
type Search = (SoundReduction, fn() -> Box<dyn Strategy>);

const SEARCHES: [Search; 4] = [
    (SoundReduction::Nothing, || Box::new(DepthFirst::new())),
    (SoundReduction::Caching, || {
        let visits: Visits = Arc::new(Fingerprints::new(1 << 28));
        Box::new(Caching::new(Box::new(DepthFirst::new()), visits, false))
    }),
    (SoundReduction::SourceSets, || {
        Box::new(Dpor::new(Insertion::SourceSets))
    }),
    (SoundReduction::WakeupTrees, || {
        Box::new(Dpor::new(Insertion::WakeupTrees))
    }),
];

/// Returns a program's outcome in the execution with exactly these choices; `None` if it cannot make them.
fn replayed(program: &Program, variables: usize, choices: Vec<Choice>) -> Option<Outcome> {
    let mut executor = executor(Box::new(Replay::new(choices)));
    assert!(executor.prepare());
    let found = Mutex::new(None);
    let outcome = executor.execute(&|| *found.lock().unwrap() = Some(run(program, variables)));
    found
        .into_inner()
        .unwrap()
        .filter(|_| !outcome.departed && outcome.trouble.is_none())
}

fn executor(search: Box<dyn Strategy>) -> Executor {
    let listeners = Listeners::new(Vec::new());
    let mut executor = Executor::new(search, Environment::calm(), support::limits(), None, listeners);
    executor.read_by(Box::new(Cpp20::default()), u32::MAX);
    executor
}

/// Explores a program under the memory model of C++20. Returns the outcomes and the number of executions; `None` if the program does
/// something for which the search is not sound.
fn explored(
    program: &Program,
    variables: usize,
    (sound, search): Search,
) -> Option<(BTreeSet<Outcome>, u64)> {
    let mut executor = executor(search());
    let found = Mutex::new(BTreeSet::new());
    let last = Mutex::new(None);
    let (mut executions, mut given_up) = (0, 0);
    while executor.prepare() {
        let outcome = executor.execute(&|| {
            let result = run(program, variables);
            found.lock().unwrap().insert(result.clone());
            *last.lock().unwrap() = choices().map(|choices| (choices, result));
        });
        assert!(!outcome.departed, "{program:?}");
        if let Some(trouble) = outcome.trouble {
            assert!(
                matches!(trouble.stop, Stop::Inconsistent),
                "{program:?}: {:?}",
                trouble.stop
            );
            given_up += 1;
        }
        if executor.trace().sound() > sound {
            return None;
        }
        executions += 1;
        // What is left out is a matter of the search: a replay has every alternative.
        if let Some((choices, result)) = last.lock().unwrap().take().filter(|_| executions % 16 == 1) {
            assert_eq!(replayed(program, variables, choices), Some(result), "{program:?}");
        }
    }
    assert!(executor.redundant() >= given_up);
    Some((found.into_inner().unwrap(), executions))
}

/// Compares the random programs of these seeds, which have one shape, with the oracle. Returns the number of those with
/// outcomes that are not sequentially consistent.
fn compare(seeds: std::ops::Range<u64>, (threads, ops, variables): (usize, usize, usize)) -> usize {
    let programs = seeds.end - seeds.start;
    let mut executions = [0; SEARCHES.len()];
    let mut explored_by = [0_u64; SEARCHES.len()];
    let mut is_weak = |seed: &u64| {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(*seed);
        let program = random_program(
            &mut |below| random.random_range(0..below),
            threads,
            ops,
            variables,
        );
        let expected = outcomes(&program, variables, Model::Cpp20);
        for (at, search) in SEARCHES.into_iter().enumerate() {
            let Some((found, count)) = explored(&program, variables, search) else {
                continue;
            };
            let differ: Vec<_> = found.symmetric_difference(&expected).collect();
            assert!(
                differ.is_empty(),
                "seed {seed}, search {at}: {program:?} differs in {differ:?}"
            );
            executions[at] += count;
            explored_by[at] += 1;
        }
        expected != outcomes(&program, variables, Model::Sc)
    };
    let weak = seeds.filter(&mut is_weak).count();
    // No program does what a reduction is not sound for, and reductions leave something out.
    assert_eq!(explored_by, [programs; SEARCHES.len()]);
    assert!(
        executions[0] > executions[1] && executions[1] > executions[3],
        "{executions:?}"
    );
    weak
}

fn programs() -> u64 {
    std::env::var("EXPLORED_WEAK")
        .ok()
        .and_then(|count| count.parse().ok())
        .unwrap_or(300)
}

#[test]
fn two_tasks_have_the_outcomes_of_the_axioms() {
    assert!(compare(0..programs(), (2, 3, 2)) > 0);
}

#[test]
fn three_tasks_have_the_outcomes_of_the_axioms() {
    assert!(compare(0..programs(), (3, 2, 2)) > 0);
}

#[test]
fn four_tasks_have_the_outcomes_of_the_axioms() {
    assert!(compare(0..programs() / 10, (4, 2, 2)) > 0);
}
