//! The descriptions of violations.

use intermezzo_refinement::check::long::{CheckLong, Long};
use intermezzo_refinement::history::{History, Operation};
use intermezzo_refinement::specs::counter::Counter;
use intermezzo_refinement::specs::priority_queue::PriorityQueue;
use intermezzo_refinement::specs::queue::Queue;
use intermezzo_refinement::specs::register::Register;
use intermezzo_refinement::specs::set::Set;
use intermezzo_refinement::specs::stack::Stack;
use intermezzo_refinement::specs::{counter, priority_queue, queue, register, set, stack};

/// Returns a history of calls, with their results and times.
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

/// Returns the violation of a history: its reason, and the operations.
fn violation<S: CheckLong>(
    specification: &S,
    operations: impl IntoIterator<Item = (S::Call, S::Return, u64, u64)>,
) -> (String, Vec<usize>) {
    match specification.check_long(&history(operations)) {
        Long::Violation(violation) => (violation.why, violation.operations),
        other => panic!("no violation: {other:?}"),
    }
}

#[test]
fn a_value_that_overtakes_another() {
    use queue::{Call, Return};
    let (why, operations) = violation(
        &Queue::unbounded(),
        [
            (Call::Enqueue(1), Return::Done, 1, 2),
            (Call::Enqueue(2), Return::Done, 3, 4),
            (Call::Dequeue, Return::Front(Some(2)), 5, 6),
            (Call::Dequeue, Return::Front(Some(1)), 7, 8),
        ],
    );
    assert_eq!(
        why,
        "first in, first out: the value of #1 is before that of #0, as #2 finds it at the front and returns before #3 \
         is called, which finds the latter; the value of #0 is before that of #1, as it is there by the return of #0, \
         before #1 is called; none can be the first"
    );
    assert_eq!(operations, [0, 1, 2, 3]);
}

/// No two of the three values exclude each other: 1 stays at the front until 3 must be gone, which is before 2.
#[test]
fn three_values_in_a_circle() {
    use queue::{Call, Return};
    let (why, operations) = violation(
        &Queue::unbounded(),
        [
            (Call::Enqueue(1), Return::Done, 0, 13),
            (Call::Enqueue(2), Return::Done, 1, 2),
            (Call::Peek, Return::Front(Some(1)), 3, 6),
            (Call::Enqueue(3), Return::Done, 4, 11),
            (Call::Dequeue, Return::Front(Some(3)), 5, 8),
            (Call::Dequeue, Return::Front(Some(2)), 7, 14),
            (Call::Dequeue, Return::Front(Some(1)), 9, 15),
        ],
    );
    assert_eq!(why.matches("is before that of").count(), 3, "{why}");
    assert_eq!(operations, [0, 1, 2, 3, 4, 5, 6]);
}

#[test]
fn an_empty_queue_that_is_not() {
    use queue::{Call, Return};
    let (why, operations) = violation(
        &Queue::unbounded(),
        [
            (Call::Enqueue(1), Return::Done, 1, 2),
            (Call::Dequeue, Return::Front(None), 3, 9),
            (Call::Enqueue(2), Return::Done, 4, 5),
            (Call::Dequeue, Return::Front(Some(1)), 7, 8),
        ],
    );
    assert_eq!(
        why,
        "#1 finds nothing, though at every moment of it there is something: what #0 puts in, from the return of #0 \
         until the call of #3; what #2 puts in, from the return of #2 for ever, as no operation takes it"
    );
    assert_eq!(operations, [0, 1, 2, 3]);
}

#[test]
fn values_of_which_none_is_the_lowest() {
    use stack::{Call, Return};
    let (why, operations) = violation(
        &Stack::new(),
        [
            (Call::Push(1), Return::Done, 1, 2),
            (Call::Push(2), Return::Done, 3, 4),
            (Call::Push(3), Return::Done, 5, 6),
            (Call::Pop, Return::Top(Some(3)), 7, 8),
            (Call::Pop, Return::Top(Some(1)), 9, 10),
            (Call::Pop, Return::Top(Some(2)), 11, 12),
        ],
    );
    assert_eq!(
        why,
        "last in, first out: of the values pushed by #0, #1 one would have to be the lowest, and each has an \
         operation at every moment of which another must be there"
    );
    assert_eq!(operations, [0, 1, 4, 5]);
}

#[test]
fn a_greater_value_overlooked() {
    use priority_queue::{Call, Return};
    let (why, operations) = violation(
        &PriorityQueue::new(),
        [
            (Call::Insert(9), Return::Done, 1, 2),
            (Call::Insert(1), Return::Done, 3, 4),
            (Call::Poll, Return::Greatest(Some(1)), 5, 6),
        ],
    );
    assert_eq!(
        why,
        "#2 takes the value of #1, though at every moment at which it may there is something greater: what #0 puts \
         in, from the return of #0 for ever, as no operation takes it"
    );
    assert_eq!(operations, [0, 1, 2]);
}

#[test]
fn a_key_not_found() {
    use set::Call;
    let (why, operations) = violation(
        &Set::new(),
        [
            (Call::Insert(1), true, 1, 2),
            (Call::Contains(1), false, 3, 4),
            (Call::Remove(1), true, 5, 6),
        ],
    );
    assert_eq!(
        why,
        "#1 does not find a key that is there from the return of #0 until the call of #2"
    );
    assert_eq!(operations, [0, 1, 2]);
}

#[test]
fn two_values_of_a_register_at_once() {
    use register::{Call, Return};
    let (why, operations) = violation(
        &Register(0),
        [
            (Call::Write(1), Return::Done, 1, 2),
            (Call::Read, Return::Value(1), 3, 4),
            (Call::Read, Return::Value(0), 5, 6),
        ],
    );
    assert_eq!(
        why,
        "the register holds two values at once: from the beginning until the call of #2 it holds the first value; from \
         the return of #0 until the call of #1 it holds the value of #0"
    );
    assert_eq!(operations, [0, 1, 2]);
}

#[test]
fn an_addition_lost() {
    use counter::Call;
    let (why, operations) = violation(
        &Counter(0),
        [(Call::FetchAdd(1), 0, 1, 3), (Call::FetchAdd(1), 0, 2, 4)],
    );
    assert_eq!(
        why,
        "#1 found a sum of 0, and #0 found a sum of 0 and added 1 to it: they can come in neither order"
    );
    assert_eq!(operations, [0, 1]);
}

#[test]
fn what_is_not_decided() {
    use queue::{Call, Return};
    let twice = history([
        (Call::Enqueue(1), Return::Done, 1, 2),
        (Call::Enqueue(1), Return::Done, 3, 4),
    ]);
    assert_eq!(
        Queue::unbounded().check_long(&twice),
        Long::NotApplicable("a value is put in twice")
    );
    assert_eq!(
        Queue::bounded(1).check_long(&twice),
        Long::NotApplicable("the queue may be full")
    );
}
