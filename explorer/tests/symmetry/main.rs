//! Groups of symmetric tasks in random programs: the outcomes, up to permutations of the groups, are the same as if the
//! tasks were created one by one.
//!
//! `SYMMETRIC_PROGRAMS`, `SYMMETRIC_SEED` and `SYMMETRIC_FROM` choose the programs.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the figures are read by who runs the test by hand"
)]

mod breakpoints;
#[path = "../../../tests/common/by_workers.rs"]
mod by_workers;
#[path = "../common/mod.rs"]
mod common;
mod compare;
mod program;
mod run;

use by_workers::on_workers;
use compare::{Tally, compare};
use program::draw;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

/// The default number of programs, and the default seed.
const PROGRAMS: u64 = 400;
const SEED: u64 = 2029;

fn variable(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().expect("a number is wanted"))
}

#[test]
fn permutations_of_symmetric_tasks_have_the_same_outcomes() {
    let (programs, seed) = (
        variable("SYMMETRIC_PROGRAMS", PROGRAMS),
        variable("SYMMETRIC_SEED", SEED),
    );
    let from = variable("SYMMETRIC_FROM", 0);
    let next = AtomicU64::new(from);
    let work = || {
        let (mut tally, mut differ) = (Tally::default(), Vec::new());
        loop {
            let number = next.fetch_add(1, SeqCst);
            if number >= from + programs || differ.len() > 2 {
                return (tally, differ);
            }
            let mut program = draw(seed, number);
            let Err(mut difference) = compare(&program, number, &mut tally) else {
                continue;
            };
            'smaller: loop {
                for smaller in program.smaller() {
                    match compare(&smaller, number, &mut Tally::default()) {
                        Err(found) if found.0 == difference.0 => {
                            (program, difference) = (smaller, found);
                            continue 'smaller;
                        }
                        _ => {}
                    }
                }
                break;
            }
            let (search, what) = difference;
            differ.push(format!(
                "program {number} of seed {seed}: {program:?}\n  {search}: {what}"
            ));
        }
    };
    let (mut tally, mut differ) = (Tally::default(), Vec::new());
    for (more, texts) in on_workers(work) {
        tally.add(&more);
        differ.extend(texts);
    }
    println!("{tally:#?}");
    assert!(differ.is_empty(), "{}", differ.join("\n"));
    assert!(
        programs < 1_000 || tally.compared * 10 >= programs * 8,
        "too few programs are small enough"
    );
    assert!(programs < 1_000 || tally.orbits_counted * 3 > tally.compared);
}
