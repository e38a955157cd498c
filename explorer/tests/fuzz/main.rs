//! Random programs with some seventy kinds of operations of the look-alikes: compares every search with depth-first search
//! in which every operation is a schedule point.
//!
//! These environment variables change what is compared:
//!
//! - `FUZZED_PROGRAMS`: the number of programs
//! - `FUZZED_SEED`: the seed from which they are drawn
//! - `FUZZED_FROM`: the number of the first program
//! - `FUZZED_EXECUTIONS`: the maximum number of executions of the reference
//! - `FUZZED_THEME`: a group of operations that is drawn often, by its number in `operation`
//! - `FUZZED_REDUCTIONS`, if set: compare only the reductions
//! - `FUZZED_KEEP_GOING`, if set: list all differences instead of only the first

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "what it did is for whoever runs it by hand"
)]

#[path = "../../../tests/common/by_workers.rs"]
mod by_workers;
mod clock;
#[path = "../common/mod.rs"]
mod common;
mod ends;
mod program;
mod records;
mod reference;
mod run;
mod searches;
mod shares;
mod tokens;

use by_workers::on_workers;
use program::{Program, draw};
use searches::{Difference, Tally, compare};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};

/// The default number of programs, and the default seed.
const PROGRAMS: u64 = 2_500;
const SEED: u64 = 2027;

/// The default maximum number of executions of the reference.
const EXECUTIONS_MAX: u64 = 500;

/// Returns a number from an environment variable.
fn variable(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{name}={text}: a number is wanted")),
    )
}

fn executions_max() -> u64 {
    variable("FUZZED_EXECUTIONS").unwrap_or(EXECUTIONS_MAX)
}

/// Returns the smallest program with the same difference.
fn smallest(program: Program, number: u64, difference: Difference) -> (Program, Difference) {
    let (mut program, mut difference) = (program, difference);
    'smaller: loop {
        for smaller in program.smaller() {
            let found = compare(&smaller, number, executions_max(), &mut Tally::default());
            if let Err(found) = found
                && found.search == difference.search
            {
                (program, difference) = (smaller, found);
                continue 'smaller;
            }
        }
        return (program, difference);
    }
}

/// Fails with these differences, if there are any.
fn assert_none(differ: &[String]) {
    let texts = differ.join("\n");
    assert!(differ.is_empty(), "{} programs differ:\n{texts}", differ.len());
}

#[test]
fn every_search_has_the_outcomes_of_the_reference() {
    let programs = variable("FUZZED_PROGRAMS").unwrap_or(PROGRAMS);
    let seed = variable("FUZZED_SEED").unwrap_or(SEED);
    let from = variable("FUZZED_FROM").unwrap_or(0);
    let theme = variable("FUZZED_THEME").map(|theme| theme as usize);
    let keeps_going = std::env::var_os("FUZZED_KEEP_GOING").is_some();
    let (next, failed) = (AtomicU64::new(from), AtomicBool::new(false));
    let work = || {
        let (mut tally, mut differ) = (Tally::default(), Vec::new());
        while keeps_going || !failed.load(SeqCst) {
            let number = next.fetch_add(1, SeqCst);
            if number >= from + programs {
                break;
            }
            let program = draw(seed, number, theme);
            if let Err(difference) = compare(&program, number, executions_max(), &mut tally) {
                failed.store(true, SeqCst);
                let (program, difference) = smallest(program, number, difference);
                let text = format!("program {number} of seed {seed}: {:?}\n{difference}", program.0);
                eprintln!("{text}");
                differ.push(text);
            }
        }
        (tally, differ)
    };
    let (mut tally, mut differ) = (Tally::default(), Vec::new());
    for (more, texts) in on_workers(work) {
        tally.add(&more);
        differ.extend(texts);
    }
    println!("{tally}");
    if keeps_going {
        println!("{}", tally.odd.join("\n"));
    }
    assert_none(&differ);
    assert!(
        programs < 1_000 || tally.compared * 10 >= programs * 8,
        "too few programs are small enough: {tally}"
    );
}

/// The default number of programs whose searches are explored in shares.
const SHARED_PROGRAMS: u64 = 120;

#[test]
fn shares_have_the_outcomes_of_a_whole_search() {
    let programs = variable("FUZZED_PROGRAMS").unwrap_or(SHARED_PROGRAMS);
    let seed = variable("FUZZED_SEED").unwrap_or(SEED);
    let from = variable("FUZZED_FROM").unwrap_or(0);
    let theme = variable("FUZZED_THEME").map(|theme| theme as usize);
    let next = AtomicU64::new(from);
    let work = || {
        let (mut tally, mut differ) = (shares::Tally::default(), Vec::new());
        loop {
            let number = next.fetch_add(1, SeqCst);
            if number >= from + programs {
                return (tally, differ);
            }
            let program = draw(seed, number, theme);
            if let Err(difference) = shares::compare(&program, number, executions_max(), &mut tally) {
                differ.push(format!(
                    "program {number} of seed {seed}: {:?}\n{difference}",
                    program.0
                ));
            }
        }
    };
    let (mut tally, mut differ) = (shares::Tally::default(), Vec::new());
    for (more, texts) in on_workers(work) {
        tally.add(&more);
        differ.extend(texts);
    }
    println!("{tally}");
    assert_none(&differ);
    assert!(
        tally.searches() > programs,
        "too few programs are small enough: {tally}"
    );
}
