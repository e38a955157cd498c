//! Compares the monitor of data races with an independent model: on random small programs both name the same pairs of
//! places, execution by execution, whatever the reduction.
//!
//! These environment variables change what is compared:
//!
//! - `RACE_PROGRAMS`: the number of programs
//! - `RACE_SEED`: the seed from which they are drawn
//! - `RACE_STEPS`: the approximate number of steps of a program's tasks together
//! - `RACE_INTERLEAVINGS`: the maximum number of interleavings of a program

mod again;
#[path = "../reduction_compatible/program.rs"]
mod blocks;
#[path = "../common/by_workers.rs"]
mod by_workers;
mod cells;
#[path = "../reduction_compatible/memory.rs"]
mod memory;
mod model;
mod noting;
mod primitives;
mod program;
mod run;
mod symmetric;
mod taken_back;

use by_workers::by_workers;
use cells::Shared;
use intermezzo::sync::{Arc, Weak, mpsc};
use intermezzo::{Explorer, Reduction, thread};
use model::{Outcomes, judge};
use program::{Draw, Program};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use run::{found, noted};
use std::collections::BTreeSet;
use std::fmt::Debug;

/// The default number of programs, and the default seed.
const PROGRAMS: u64 = 2_000;
const SEED: u64 = 2026;

/// The default number of steps of all tasks together, and the default maximum number of interleavings. Small programs
/// find most errors, and more of them can be run.
const STEPS: u64 = 5;
const INTERLEAVINGS_MAX: u64 = 100;

const REDUCTIONS: [Reduction; 3] = [Reduction::None, Reduction::Caching, Reduction::Dpor];

/// Returns a number from an environment variable.
fn variable(name: &str, default: u64) -> u64 {
    let text = std::env::var(name).ok();
    text.map_or(default, |text| {
        text.parse()
            .unwrap_or_else(|_| panic!("{name}={text}: give a number"))
    })
}

/// One in this many programs has two more steps.
const LARGER: u64 = 10;

/// One in this many programs is explored once more, for the findings of the report.
const REPORTED: u64 = 16;

/// Returns the difference between the monitor's findings and the actual races: missed, and wrong.
fn difference<T: Ord + Clone + Debug>(races: &BTreeSet<T>, found: &BTreeSet<T>) -> Option<String> {
    let missed: Vec<_> = races.difference(found).collect();
    let wrong: Vec<_> = found.difference(races).collect();
    let differs = !missed.is_empty() || !wrong.is_empty();
    differs.then(|| format!("missed {missed:?}, wrong {wrong:?}"))
}

/// Returns the errors of the monitor for a program.
fn objections(program: &Program, number: u64, outcomes: &Outcomes) -> Vec<String> {
    let (mut objections, union) = (Vec::new(), outcomes.union());
    let mut object = |what: &str, difference: Option<String>| {
        objections.extend(difference.map(|difference| format!("{what}: {difference}")));
    };
    for reduction in REDUCTIONS {
        let found = noted(program, reduction);
        let complete = difference(&outcomes.complete, &found.complete);
        object(&format!("{reduction:?}, complete"), complete);
        // A reduction also abandons executions in the middle.
        let stuck = match reduction {
            Reduction::None => difference(&outcomes.stuck, &found.stuck),
            _ => difference(&outcomes.stuck, &(&found.stuck & &outcomes.stuck)),
        };
        object(&format!("{reduction:?}, stuck"), stuck);
        object(&format!("{reduction:?}"), difference(&union, &found.union()));
    }
    if number.is_multiple_of(REPORTED) {
        object("reported", difference(&union, &found(program, Reduction::Dpor)));
    }
    objections
}

#[test]
#[expect(
    clippy::print_stdout,
    reason = "the harness shows it on failure, or when asked to"
)]
fn random_programs_race_as_the_model_says() {
    let (programs, steps) = (variable("RACE_PROGRAMS", PROGRAMS), variable("RACE_STEPS", STEPS));
    let most = variable("RACE_INTERLEAVINGS", INTERLEAVINGS_MAX);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(variable("RACE_SEED", SEED));
    let mut judged = Vec::new();
    while (judged.len() as u64) < programs {
        let steps = if (judged.len() as u64).is_multiple_of(LARGER) {
            steps + 2
        } else {
            steps
        };
        let Some(program) = Draw::new(&mut rng).program(steps as usize) else {
            continue;
        };
        judged.extend(judge(&program, most).map(|judgement| (program, judgement)));
    }
    by_workers(0..programs, |number| {
        let (program, judgement) = &judged[number as usize];
        let objections = objections(program, number + 1, &judgement.outcomes);
        assert!(
            objections.is_empty(),
            "program {}: {objections:#?}\n{program:#?}",
            number + 1
        );
    });
    let races = judged
        .iter()
        .map(|(_, judgement)| judgement.outcomes.union().len());
    let (racy, pairs) = (
        races.clone().filter(|pairs| *pairs > 0).count(),
        races.sum::<usize>(),
    );
    let executions: u64 = judged.iter().map(|(_, judgement)| judgement.executions).sum();
    let compared = judged.len();
    println!("{compared} programs, {racy} of them racy, {pairs} pairs of places, {executions} interleavings");
    // The comparison is meaningful only if both kinds are drawn.
    assert!(5 * racy > compared && 5 * (compared - racy) > compared);
}

#[test]
fn the_only_handle_is_ordered_after_the_others() {
    let report = Explorer::new().monitors("none;data-race").explore(|| {
        let mut own = Arc::new(Shared::default());
        let other = own.clone();
        thread::scope(|scope| {
            scope.spawn(move || other.write(0));
            if let Some(shared) = Arc::get_mut(&mut own) {
                shared.write(1);
            }
        });
    });
    assert!(report.verdict().is_pass(), "{report}");
    // Reading the number of handles orders nothing.
    let report = Explorer::new().monitors("none;data-race").explore(|| {
        let own = Arc::new(Shared::default());
        let other = own.clone();
        thread::scope(|scope| {
            scope.spawn(move || other.write(0));
            if Arc::strong_count(&own) == 1 {
                own.write(1);
            }
        });
    });
    assert_eq!(report.findings()[0].kind.as_str(), "data_race", "{report}");
}

/// One of two tasks is the last to drop its handle, and neither learns this. If no effect shows which, a reduction runs
/// one of the two orders, and must find the race in it.
#[test]
fn dropping_a_handle_orders_nothing() {
    fn race<T: Send + Sync>(value: T, writer_is_first: bool) {
        let shared = Shared::default();
        let own = Arc::new(value);
        let others = own.clone();
        let writer = || {
            shared.write(0);
            drop(others);
        };
        let reader = || {
            drop(own);
            shared.write(1);
        };
        thread::scope(|scope| match writer_is_first {
            true => drop((scope.spawn(writer), scope.spawn(reader))),
            false => drop((scope.spawn(reader), scope.spawn(writer))),
        });
    }
    for reduction in REDUCTIONS {
        for (has_destructor, writer_is_first) in [(false, false), (false, true), (true, false), (true, true)]
        {
            let report = Explorer::new()
                .monitors("none;data-race")
                .reduction(reduction)
                .explore(move || match has_destructor {
                    true => race(vec![1], writer_is_first),
                    false => race(1, writer_is_first),
                });
            let is_found = report.verdict().is_fail();
            assert!(
                is_found,
                "{reduction:?}, {has_destructor}, {writer_is_first}: {report}"
            );
        }
    }
}

/// A weak handle that becomes a strong one finds the value as it was made.
#[test]
fn an_upgrade_is_ordered_after_the_creation() {
    let report = Explorer::new().monitors("none;data-race").explore(|| {
        let (sender, receiver) = mpsc::channel::<Weak<Shared>>();
        let reader = thread::spawn(move || {
            let weak = receiver.recv().unwrap();
            if let Some(shared) = weak.upgrade() {
                shared.write(1);
            }
        });
        let own = Arc::new_cyclic(|weak| {
            sender.send(weak.clone()).unwrap();
            let shared = Shared::default();
            shared.write(0);
            shared
        });
        reader.join().unwrap();
        drop(own);
    });
    assert!(report.verdict().is_pass(), "{report}");
}

/// The result of a detached task is dropped by the last one that gives it up, which is ordered after the other one's steps.
#[test]
fn the_drop_of_a_result_is_ordered_after_its_creation() {
    struct Result(Arc<Shared>);
    impl Drop for Result {
        fn drop(&mut self) {
            self.0.write(1);
        }
    }
    let report = Explorer::new().monitors("none;data-race").explore(|| {
        drop(thread::spawn(|| {
            let shared = Arc::new(Shared::default());
            shared.write(0);
            Result(shared)
        }));
        thread::yield_now();
    });
    assert!(report.verdict().is_pass(), "{report}");
}
