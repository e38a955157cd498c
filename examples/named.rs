//! Gives variables names where the source has none of their own: elements of an array.
//!
//! `cargo run --example named`

#![allow(clippy::print_stdout, reason = "an example for the terminal")]

use intermezzo::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo::{Explorer, thread};

fn main() {
    let report = Explorer::new().explore(|| {
        let counters = [AtomicUsize::new(0), AtomicUsize::new(0)];
        let [hits, misses] = &counters;
        intermezzo::name(hits, "hits");
        intermezzo::name(misses, "misses");
        thread::scope(|scope| {
            for counter in &counters {
                scope.spawn(move || counter.store(counter.load(SeqCst) + 1, SeqCst));
            }
            misses.store(misses.load(SeqCst) + 1, SeqCst);
        });
        assert_eq!(misses.load(SeqCst), 2, "a miss was lost");
    });
    println!("{report}");
}
