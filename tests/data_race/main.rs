//! The monitor of data races against an independent model: on random small programs both name the same pairs of
//! places, whatever the reduction.
//!
//! `RACE_PROGRAMS`, a number, sets how many programs are compared; `RACE_SEED` which; `RACE_STEPS` about how many steps
//! their tasks take together; `RACE_INTERLEAVINGS` how many interleavings a program has at most.

mod cells;
mod model;
mod program;
mod run;

use intermezzo::Reduction;
use model::judge;
use program::{Draw, Program};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use run::explore;

/// How many programs are compared, and which, unless said otherwise.
const PROGRAMS: u64 = 10_000;
const SEED: u64 = 2026;

/// How many steps tasks take together, and most interleavings: small programs find most, and many of them more.
const STEPS: u64 = 5;
const INTERLEAVINGS_MAX: u64 = 60;

const REDUCTIONS: [Reduction; 3] = [Reduction::None, Reduction::Caching, Reduction::Dpor];

/// A number that the caller set.
fn variable(name: &str, default: u64) -> u64 {
    let text = std::env::var(name).ok();
    text.map_or(default, |text| {
        text.parse()
            .unwrap_or_else(|_| panic!("{name}={text}: give a number"))
    })
}

/// What is wrong with what the monitor says of a program.
fn objection(program: &Program, races: &std::collections::BTreeSet<model::Pair>) -> Option<String> {
    REDUCTIONS.into_iter().find_map(|reduction| {
        let (report, found) = explore(program, reduction);
        let missed: Vec<_> = races.difference(&found).collect();
        let wrong: Vec<_> = found.difference(races).collect();
        let told = !missed.is_empty() || !wrong.is_empty();
        told.then(|| format!("{reduction:?}: missed {missed:?}, wrong {wrong:?}\n{program:#?}\n{report}"))
    })
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
        let Some(program) = Draw::new(&mut rng).program(steps as usize) else {
            continue;
        };
        let Some(judgement) = judge(&program, most) else {
            continue;
        };
        compared += 1;
        racy += u64::from(!judgement.races.is_empty());
        pairs += judgement.races.len();
        executions += judgement.executions;
        if let Some(objection) = objection(&program, &judgement.races) {
            panic!("program {compared}: {objection}");
        }
    }
    println!("{compared} programs, {racy} of them racy, {pairs} pairs of places, {executions} interleavings");
    // The drawing is worth something only if it yields both.
    assert!(5 * racy > compared && 5 * (compared - racy) > compared);
}
