//! Explores a test with an `Explorer` instead of the attribute, and prints the result.
//!
//! `cargo run --example lost_update`

#![allow(clippy::print_stdout, reason = "an example for the terminal")]

use intermezzo::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo::{Explorer, thread};

fn main() {
    let report = Explorer::new().preemptions(2).keep_going(true).explore(|| {
        let n = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| n.store(n.load(SeqCst) + 1, SeqCst));
            }
        });
        assert_eq!(n.load(SeqCst), 2, "an update was lost");
    });
    println!("{report}");
}
