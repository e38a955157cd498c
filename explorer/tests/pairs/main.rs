//! Every pair of operations on one object: the results of both orders must be found.
//!
//! Other tests draw programs at random, or count what a model counts. Both share assumptions with the code that they test:
//! that an operation needs no schedule point, or commutes with another. Here each operation of each object meets each
//! other one (`tables.rs`), and two references have the expected results:
//!
//! - std itself, whose objects one thread uses in every order of the operations;
//! - depth-first search in which every operation is a schedule point, which also has the orders in which a task waits.
//!
//! `PAIRED=1` and `PAIRED=2` compare more; `PAIRED_KIND=Arc` compares those of one kind.

#![allow(clippy::print_stdout, reason = "a run by hand shows the figures")]
#![allow(
    clippy::duplicate_mod,
    clippy::default_constructed_unit_structs,
    reason = "the tables are compiled twice, with other objects"
)]
#![allow(
    clippy::incompatible_msrv,
    reason = "tests may use what is newer than the oldest supported Rust"
)]

mod controlled;
mod inside;
mod limits;
mod ours;
mod plain;
#[path = "../fuzz/records.rs"]
mod records;
mod run;
mod searches;

use run::Program;
use searches::{Tally, compare};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

pub(crate) use controlled::state::{ALL, Kind};

/// The payload of a program's own panics.
pub(crate) struct Expected;

/// Returns the programs of a kind.
///
/// With size 0, these are each operation with each other one, alone and before an access to the other object: an operation
/// that another one caused came before it. With 1, each operation also comes before and after two others. With 2, two
/// others are of one task, or of two.
fn programs(kind: Kind, size: u32) -> Vec<Program> {
    let own = ours::of(kind).len();
    let all = own + controlled::tables::FLAG.len();
    let (store, load) = (own, own + 1);
    let mut programs = Vec::new();
    let mut add = |tasks: &[&[usize]]| {
        let tasks = tasks.iter().map(|ops| ops.to_vec()).collect();
        programs.push(Program::new(kind, tasks));
    };
    for a in 0..all {
        for b in 0..all {
            add(&[&[a], &[b]]);
            add(&[&[a, store], &[load, b]]);
            add(&[&[load, a], &[b, store]]);
            for c in (0..all).filter(|_| size > 0) {
                add(&[&[a, b], &[c]]);
                add(&[&[a], &[b, c]]);
                for d in (0..all).filter(|_| size > 1) {
                    add(&[&[a, b], &[c, d]]);
                }
                if size > 1 {
                    add(&[&[a], &[b], &[c]]);
                }
            }
        }
    }
    programs
}

#[test]
fn every_order_of_two_operations_is_found() {
    let size = std::env::var("PAIRED").map_or(0, |size| size.parse().expect("PAIRED is a number"));
    let only = std::env::var("PAIRED_KIND").ok();
    let kinds = ALL
        .iter()
        .filter(|kind| only.as_ref().is_none_or(|only| *only == format!("{kind:?}")));
    let programs: Vec<Program> = kinds.flat_map(|&kind| programs(kind, size)).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let (mut tally, mut differ) = (Tally::default(), Vec::new());
        while let Some(program) = programs.get(next.fetch_add(1, SeqCst)) {
            if let Err(difference) = compare(program, &mut tally) {
                differ.push(format!("{program}: {difference}"));
            }
        }
        (tally, differ)
    };
    let results = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..2).map(|_| scope.spawn(work)).collect();
        let results = threads.into_iter().map(|thread| thread.join());
        results
            .map(|result| result.expect("comparing does not panic"))
            .collect::<Vec<_>>()
    });
    let (mut tally, mut differ) = (Tally::default(), Vec::new());
    for (more, texts) in results {
        tally.add(&more);
        differ.extend(texts);
    }
    println!("{} programs: {tally:?}", programs.len());
    let shown = differ.iter().take(60).cloned().collect::<Vec<_>>().join("\n");
    assert!(differ.is_empty(), "{} programs differ:\n{shown}", differ.len());
}
