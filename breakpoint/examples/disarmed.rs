//! The cost of a place that is not armed, in instructions: `valgrind --tool=callgrind
//! target/release/examples/disarmed with`, and the same with `without`; the difference, by the number of rounds.

use intermezzo_breakpoint as breakpoint;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

const ROUNDS: u64 = 1_000_000;

fn main() {
    let n = AtomicU64::new(0);
    let with = std::env::args().nth(1).is_some_and(|word| word == "with");
    // Each round looks up `n` again, so that neither loop is unrolled.
    if with {
        for _ in 0..ROUNDS {
            let n = black_box(&n);
            breakpoint::conflict("lost-update", n).meet();
            n.fetch_add(1, Relaxed);
        }
    } else {
        for _ in 0..ROUNDS {
            let n = black_box(&n);
            n.fetch_add(1, Relaxed);
        }
    }
    assert_eq!(n.load(Relaxed), ROUNDS);
}
