//! The arena as the program's global allocator: explorations with it.
//!
//! `cargo test -p intermezzo-engine --features unmodified,intermezzo-lookalikes/unmodified --test arena`

mod allocator;
mod ends;
mod left;
mod reuse;
mod setup;

use intermezzo_engine::runtime::arena::{Shortage, outside, shortage};
use intermezzo_explorer::Explorer;
use intermezzo_explorer::report::Report;
use setup::{ARENA, alone, explorer};
use std::sync::{Mutex, PoisonError};

/// The variable by which memory of ended executions cannot be accessed.
const CHECK: &str = "INTERMEZZO_ARENA_CHECK";

/// Explores a test that has the arena.
fn explored(explorer: Explorer, test: impl Fn() + Send + Sync) -> Report {
    let report = explorer.explore(test);
    let short = shortage().filter(|&short| short != Shortage::Full);
    assert_eq!(short, None, "the arena was there");
    report
}

/// Notes of executions, which outlive them.
struct Notes<T>(Mutex<Vec<T>>);

impl<T> Notes<T> {
    const fn new() -> Notes<T> {
        Notes(Mutex::new(Vec::new()))
    }

    fn add(&self, note: T) {
        outside(|| self.0.lock().unwrap_or_else(PoisonError::into_inner).push(note));
    }

    fn take(&self) -> Vec<T> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn address<T: ?Sized>(value: &T) -> usize {
    std::ptr::from_ref(value).cast::<u8>().addr()
}

/// All tests of this file again, in a process in which a use of an ended execution's memory crashes.
#[test]
fn no_memory_of_an_ended_execution_is_used() {
    if std::env::var_os(CHECK).is_some() {
        return;
    }
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .env(CHECK, "1")
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{:?}\n{}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}
