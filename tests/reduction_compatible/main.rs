//! Monitors that claim to be reduction compatible have the same findings in all executions of one trace, so that reductions
//! hide nothing from them.
//!
//! Every schedule of small random programs is run, and executions are grouped by their traces. The reports of a monitor
//! in each group must be the same, in kind and words. The names of variables do not count: variables are named by the
//! task that is the first to be about to use them, which a trace does not determine.

mod memory;
mod program;
mod recorder;
mod trace;

use intermezzo::monitors::{Atomicity, DataRaces, Leaks, LockOrder, Misuses, StaleLoads};
use intermezzo::sdk::Monitor;
use intermezzo::{Environment, Explorer};
use program::{Family, Program};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use recorder::{Recorder, Seen};
use std::sync::{Arc, Mutex};

const SEED: u64 = 0x1a7e;
/// The number of programs of each family.
const PROGRAMS: u64 = if cfg!(debug_assertions) { 25 } else { 300 };
/// The maximum number of executions of a program.
const EXECUTIONS: u64 = if cfg!(debug_assertions) { 500 } else { 2_000 };

/// Returns the monitors under test. A new monitor needs a line here.
fn monitors() -> Vec<Box<dyn Monitor>> {
    vec![
        Box::new(DataRaces::new()),
        Box::new(StaleLoads::new()),
        Box::new(LockOrder::new()),
        Box::new(Atomicity::with_arguments("blocks=both,triples=true").expect("arguments")),
        Box::new(Leaks::with_arguments("tasks=true").expect("arguments")),
        Box::new(Misuses::new()),
    ]
}

#[test]
fn monitors_that_are_compared_say_so() {
    for monitor in monitors() {
        assert!(monitor.reduction_compatible(), "{}", monitor.name());
    }
}

/// Returns the observations in all executions of the program, or in the first ones; and `true` if these were all.
fn explore(program: &Program, environment: Environment) -> (Seen, bool) {
    let seen = Arc::<Mutex<Seen>>::default();
    let explored = program.clone();
    let report = Explorer::new()
        .monitors("none")
        .environment(environment)
        .keep_going(true)
        .minimise(0)
        .executions(EXECUTIONS)
        .monitor(Recorder::new(monitors(), seen.clone()))
        .explore(move || program::run(&explored));
    let seen = std::mem::take(&mut *seen.lock().expect("no monitor panicked"));
    let all = report.executions() < EXECUTIONS;
    if all && environment == Environment::calm() {
        // Otherwise the executions of one trace would not be those that the engine treats as one.
        assert_eq!(
            Some(seen.traces() as u64),
            report.traces(),
            "{program:?}\n{report}"
        );
    }
    (seen, all)
}

/// Compares the findings of monitors in random programs. In some programs they must find something.
fn compare(family: Family, environment: Environment) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED + family as u64);
    let (mut executions, mut traces, mut found) = (0, 0, 0);
    for number in 0..PROGRAMS {
        let program = program::draw(&mut random, family);
        let (seen, _) = explore(&program, environment);
        if let Some(difference) = seen.differences.first() {
            panic!("program {number} of {family:?}: {program:?}\n{difference}");
        }
        executions += seen.executions;
        traces += seen.traces();
        found += seen.found();
    }
    assert!(
        executions > 2 * traces && found > 0,
        "too little to compare: {executions} executions, {traces} traces, {found} of them with findings"
    );
}

#[test]
fn locks_in_any_order() {
    compare(Family::Locks, Environment::calm());
}

#[test]
fn blocks_of_atomics() {
    compare(Family::Atomics, Environment::calm());
}

#[test]
fn conditions_and_channels() {
    compare(Family::Waiting, Environment::calm());
}

#[test]
fn waits_that_end_early() {
    let environment = Environment {
        spurious_wakeups: 1,
        ..Environment::calm()
    };
    compare(Family::Waiting, environment);
}

#[test]
fn memory_that_is_released() {
    compare(Family::Memory, Environment::calm());
}

#[test]
fn everything_together() {
    compare(Family::Mixed, Environment::calm());
}
