//! The rows of `docs/LINEARIZABILITY.md`. A test makes each row, and compares it with the document or writes it there.

mod document;
mod wait;

pub use document::Row;
pub use intermezzo::refinement::{Refinement, fresh, one_of, refine};
pub use wait::block_on;

/// Sets the size of scenarios for most structures: two tasks of one or two operations each, up to two
/// operations before them and one afterwards.
pub fn scenarios<T: Sync + 'static>(subject: Refinement<T>, most: usize) -> Refinement<T> {
    subject
        .threads(2..=2)
        .ops(1..=2)
        .init(0..=2)
        .post(0..=1)
        .scenarios(most)
        .executions(3_000)
}
