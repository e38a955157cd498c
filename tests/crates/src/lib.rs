//! Tests of published crates, as their users would write them: nothing here knows of intermezzo. A module for each crate.
#![cfg(test)]

mod channels;
mod executors;
mod known_bugs;
mod locks;
mod maps;
mod memory;
mod once;
mod queues;
mod signals;

use std::thread;

/// Runs the first function in another thread and the second in this one.
fn both<A: Send, B>(other: impl FnOnce() -> A + Send, own: impl FnOnce() -> B) -> (A, B) {
    thread::scope(|scope| {
        let other = scope.spawn(other);
        let own = own();
        (other.join().unwrap(), own)
    })
}

/// Returns the values in order.
fn sorted<T: Ord>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut values: Vec<T> = values.into_iter().collect();
    values.sort();
    values
}
