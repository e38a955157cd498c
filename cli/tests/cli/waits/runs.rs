//! Runs random programs with waiting loops in an ordinary crate. A module with the programs follows, and a test for each.

#![cfg(test)]

use std::io::Write as _;

mod alike {
    pub use std::sync::atomic::AtomicUsize;
    pub use std::{hint, thread};
}

/// Runs the program of this number, and adds its outcome to the file of that name in the directory `OUTCOMES`.
fn run(number: u64) {
    let program = programs::Dice::of(number).program(true);
    let outcome = programs::run_all(&program, programs::STRONG);
    let path = format!("{}/{number}", std::env::var("OUTCOMES").unwrap());
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
    // Written by one call, because an execution may be cut off.
    file.write_all(format!("{outcome:?}\n").as_bytes()).unwrap();
}
