//! Objects under the memory model of C++20: random ones against brute force, and known ones whose orderings are right or too
//! weak.

mod criteria;
mod deque;
mod known;
mod random;
mod wording;

use intermezzo_explorer::{Environment, Explorer};

/// Lets reads be stale, and nothing else of the environment.
fn weak(stale_reads: u32) -> impl Fn(Explorer) -> Explorer + Send + Sync + Copy + 'static {
    move |explorer: Explorer| {
        explorer.environment(Environment {
            stale_reads,
            ..Environment::calm()
        })
    }
}
