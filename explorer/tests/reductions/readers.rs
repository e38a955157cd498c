//! Reader-writer locks: the sequences in which a writer goes before readers.
//!
//! A writer waits for all readers, whose operations commute. So it may come before some readers only after others, before
//! all only because they wait for each other, or before one that another step made a reader.

use super::program::Op::{Downgrade, Load, Park, Read, Release, Spawn, Store, TryWrite, Unpark, Write};
use super::program::{Op, Program};
use super::{CASES, Expected, compare, explorer, name};
use crate::run::explore;
use intermezzo_explorer::sync::RwLock;
use intermezzo_explorer::{Environment, Reduction, thread};

/// The maximum number of interleavings of a program.
const MOST: u64 = 100_000;

/// Compares all searches of a program with the model.
#[track_caller]
pub(super) fn agree(program: &[&[Op]]) {
    let program = Program(program.iter().map(|ops| ops.to_vec()).collect());
    let expected = Expected::of(&program, MOST).expect("few interleavings");
    for case in CASES {
        for jobs in [1, 2] {
            if let Err(problem) = compare(&program, &expected, case, jobs) {
                panic!("{} by {jobs}: {problem}", name(case));
            }
        }
    }
}

/// The writer that waits at the end may come between the readers: after one that gives its share back, and before the
/// one that keeps it.
#[test]
fn a_writer_that_is_blocked_goes_between_readers() {
    agree(&[&[Spawn(1), Spawn(2), Write], &[Read, Write], &[Read]]);
    agree(&[
        &[Spawn(1), Spawn(2), Spawn(3), Write],
        &[Read, Write],
        &[Read],
        &[Read, Release, Read],
    ]);
}

/// No reader gives back its share before the other one has one. So the writer comes before both, or after both.
#[test]
fn a_writer_goes_before_readers_that_wait_for_each_other() {
    let waits = |other| [Read, Unpark(other), Park, Release];
    let main = [Spawn(1), Spawn(2), Read, Unpark(1), Park, Release];
    agree(&[&main, &waits(0), &[Write, Release]]);
    // A third one reads and does not wait.
    let main = [&[Spawn(3)], &main[..]].concat();
    agree(&[&main, &waits(0), &[Write, Release], &[Read]]);
}

/// A reader that was the writer before waits for another one.
#[test]
fn a_writer_goes_before_one_that_becomes_a_reader() {
    let main = [Spawn(1), Spawn(2), Write, Downgrade, Unpark(1), Park, Release];
    agree(&[&main, &[Read, Unpark(0), Park, Release], &[Write, Release]]);
    agree(&[&[Spawn(1), Write, Downgrade, Release], &[Write, Release]]);
}

/// Between the shares of readers that wait for each other, another task fails to take the lock.
#[test]
fn a_writer_goes_before_readers_and_a_failed_attempt() {
    agree(&[
        &[Spawn(1), Spawn(2), Spawn(3), Read, Unpark(3), Park, Release],
        &[Park, Read, Unpark(0), Release],
        &[Write],
        &[Park, TryWrite, Unpark(1)],
    ]);
}

/// Readers come in any order. It only matters which of them come before the writer.
#[test]
fn each_reader_comes_before_the_writer_or_after_it() {
    let report = explorer((Reduction::Dpor, None), Environment::calm()).explore(|| {
        let lock = RwLock::new(0);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| drop(lock.read()));
            }
            scope.spawn(|| drop(lock.write()));
        });
    });
    let ran = (report.reduction(), report.executions(), report.traces());
    assert_eq!(ran, ("dpor", 16, Some(16)), "{report}");
}

/// Becoming a reader is not a step that another writer could precede. It would have to precede the step that took the lock.
#[test]
fn nothing_is_planned_before_a_writer_becomes_a_reader() {
    let tasks: [&[Op]; 3] = [
        &[Spawn(1), Spawn(2), Write, Downgrade, Release],
        &[Write, Release],
        &[Store(0, 1), Load(0)],
    ];
    let program = Program(tasks.map(<[Op]>::to_vec).to_vec());
    let explore = |reduction| explore(&program, explorer((reduction, None), Environment::calm()), false).0;
    let dpor = explore(Reduction::Dpor);
    let traces = explore(Reduction::None).traces();
    let ran = (dpor.reduction(), Some(dpor.executions()), dpor.redundant());
    assert_eq!(ran, ("dpor", traces, 0), "{dpor}");
}
