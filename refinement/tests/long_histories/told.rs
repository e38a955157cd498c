//! What violations are said to be.

use intermezzo_refinement::check::long::{CheckLong, Long};
use intermezzo_refinement::history::{History, Operation};
use intermezzo_refinement::specs::counter::Counter;
use intermezzo_refinement::specs::priority_queue::PriorityQueue;
use intermezzo_refinement::specs::queue::Queue;
use intermezzo_refinement::specs::register::Register;
use intermezzo_refinement::specs::set::Set;
use intermezzo_refinement::specs::stack::Stack;
use intermezzo_refinement::specs::{counter, priority_queue, queue, register, set, stack};

/// A history of calls, what they returned, and from when to when.
fn history<C, R>(operations: impl IntoIterator<Item = (C, R, u64, u64)>) -> History<C, R> {
    let operations = operations.into_iter().zip(0..);
    let operations = operations.map(|((call, returned, called_at, returned_at), process)| Operation {
        process,
        call,
        returned: Some(returned),
        called_at,
        returned_at,
    });
    History::new(operations.collect()).expect("a history")
}

/// The violation of a history: why, and the operations.
fn violation<S: CheckLong>(
    specification: &S,
    operations: impl IntoIterator<Item = (S::Call, S::Return, u64, u64)>,
) -> (String, Vec<usize>) {
    match specification.check_long(&history(operations)) {
        Long::Violation(violation) => (violation.why, violation.operations),
        other => panic!("no violation: {other:?}"),
    }
}
