//! The monitor of data races against an independent model: on random small programs both name the same pairs of
//! places, execution by execution, whatever the reduction.
//!
//! `RACE_PROGRAMS`, a number, sets how many programs are compared; `RACE_SEED` which; `RACE_STEPS` about how many steps
//! their tasks take together; `RACE_INTERLEAVINGS` how many interleavings a program has at most.

mod again;
#[path = "../reduction_compatible/program.rs"]
mod blocks;
mod cells;
#[path = "../reduction_compatible/memory.rs"]
mod memory;
mod model;
mod noting;
mod program;
mod run;
mod taken_back;

use cells::Shared;
use intermezzo::sync::Arc;
use intermezzo::{Explorer, Reduction, thread};
use model::{Outcomes, judge};
use program::{Draw, Program};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use run::{found, noted};
use std::collections::BTreeSet;
use std::fmt::Debug;

/// How many programs are compared, and which, unless said otherwise.
const PROGRAMS: u64 = 10_000;
const SEED: u64 = 2026;

/// How many steps tasks take together, and most interleavings: small programs find most, and many of them more.
const STEPS: u64 = 5;
const INTERLEAVINGS_MAX: u64 = 100;

const REDUCTIONS: [Reduction; 3] = [Reduction::None, Reduction::Caching, Reduction::Dpor];

/// A number that the caller set.
fn variable(name: &str, default: u64) -> u64 {
    let text = std::env::var(name).ok();
    text.map_or(default, |text| {
        text.parse()
            .unwrap_or_else(|_| panic!("{name}={text}: give a number"))
    })
}

/// Of so many programs one has two steps more.
const LARGER: u64 = 10;

/// Of so many programs one is explored once more, for the findings of the report.
const REPORTED: u64 = 16;

/// How what the monitor says differs from the races that there are: missed, and wrong.
fn difference<T: Ord + Clone + Debug>(races: &BTreeSet<T>, found: &BTreeSet<T>) -> Option<String> {
    let missed: Vec<_> = races.difference(found).collect();
    let wrong: Vec<_> = found.difference(races).collect();
    let differs = !missed.is_empty() || !wrong.is_empty();
    differs.then(|| format!("missed {missed:?}, wrong {wrong:?}"))
}

/// What is wrong with what the monitor says of a program.
fn objections(program: &Program, number: u64, outcomes: &Outcomes) -> Vec<String> {
    let (mut objections, union) = (Vec::new(), outcomes.union());
    let mut object = |what: &str, difference: Option<String>| {
        objections.extend(difference.map(|difference| format!("{what}: {difference}")));
    };
    for reduction in REDUCTIONS {
        let found = noted(program, reduction);
        let complete = difference(&outcomes.complete, &found.complete);
        object(&format!("{reduction:?}, complete"), complete);
        // A reduction gives executions up in the middle, too.
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
    let (mut compared, mut racy, mut pairs, mut executions) = (0, 0, 0, 0);
    while compared < programs {
        let steps = if compared.is_multiple_of(LARGER) {
            steps + 2
        } else {
            steps
        };
        let Some(program) = Draw::new(&mut rng).program(steps as usize) else {
            continue;
        };
        let Some(judgement) = judge(&program, most) else {
            continue;
        };
        compared += 1;
        let races = judgement.outcomes.union();
        racy += u64::from(!races.is_empty());
        pairs += races.len();
        executions += judgement.executions;
        let objections = objections(&program, compared, &judgement.outcomes);
        assert!(
            objections.is_empty(),
            "program {compared}: {objections:#?}\n{program:#?}"
        );
    }
    println!("{compared} programs, {racy} of them racy, {pairs} pairs of places, {executions} interleavings");
    // The drawing is worth something only if it yields both.
    assert!(5 * racy > compared && 5 * (compared - racy) > compared);
}

#[test]
fn who_finds_its_handle_the_only_one_knows_what_the_others_did() {
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
    // To count the handles tells nothing.
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
