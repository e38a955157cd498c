//! Histories that are long: true ones, and with two results swapped.

#[path = "../../benches/long_histories/made.rs"]
mod made;

use intermezzo_refinement::check::long::{CheckLong, Decided, Long, check};
use intermezzo_refinement::history::{History, Operation};
use intermezzo_refinement::specs::{counter, priority_queue, queue, register, set, stack};

const OPERATIONS: usize = 20_000;

/// Checks that the history is linearizable, but not with the results of these operations swapped: the first and the
/// last third of those `of_interest`.
fn judges<S: CheckLong>(
    specification: &S,
    history: History<S::Call, S::Return>,
    of_interest: impl Fn(&Operation<S::Call, S::Return>) -> bool,
) where
    S::Call: Clone,
    S::Return: Clone,
    S::State: std::fmt::Debug,
{
    assert_eq!(history.len(), OPERATIONS);
    let decided = check(specification, &history);
    assert!(matches!(decided, Decided::Linearizable), "{decided:?}");
    let mut operations = history.operations().to_vec();
    let places: Vec<usize> = (0..operations.len())
        .filter(|&at| of_interest(&operations[at]))
        .collect();
    let (one, other) = (places[places.len() / 3], places[2 * places.len() / 3]);
    let value = operations[one].returned.take();
    let value = std::mem::replace(&mut operations[other].returned, value);
    operations[one].returned = value;
    let swapped = History::new(operations).expect("a history");
    match specification.check_long(&swapped) {
        Long::Violation(violation) => {
            assert!(violation.operations.len() < 20, "{violation:?}");
            let part = violation
                .operations
                .iter()
                .map(|&at| swapped.operations()[at].clone());
            let part = History::new(part.collect()).expect("a part of a history is one");
            assert!(!check(specification, &part).is_linearizable(), "{violation:?}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn queues() {
    judges(&queue::Queue::unbounded(), made::queue(OPERATIONS), |operation| {
        operation.call == queue::Call::Dequeue
    });
}

#[test]
fn stacks() {
    judges(&stack::Stack::new(), made::stack(OPERATIONS), |operation| {
        operation.call == stack::Call::Pop
    });
}

#[test]
fn priority_queues() {
    let queue = priority_queue::PriorityQueue::new();
    judges(&queue, made::priority_queue(OPERATIONS), |operation| {
        operation.call == priority_queue::Call::Poll
    });
}

/// Swapping two equal answers of sets changes nothing: instead, one of the two kinds is turned around.
#[test]
fn sets() {
    let history = made::set(OPERATIONS);
    let decided = check(&set::Set::new(), &history);
    assert!(matches!(decided, Decided::Linearizable), "{decided:?}");
    let mut operations = history.operations().to_vec();
    let removals = operations
        .iter_mut()
        .filter(|operation| matches!(operation.call, set::Call::Remove(_)));
    let failed = removals.filter(|operation| operation.returned == Some(false));
    let last = failed.last().expect("some key was removed twice");
    last.returned = Some(true);
    let found = set::Set::new().check_long(&History::new(operations).expect("a history"));
    assert!(matches!(found, Long::Violation(_)), "{found:?}");
}

#[test]
fn registers() {
    judges(
        &register::Register(u64::MAX),
        made::register(OPERATIONS),
        |operation| operation.call == register::Call::Read,
    );
}

#[test]
fn counters() {
    judges(&counter::Counter(0), made::counter(OPERATIONS), |operation| {
        operation.call != counter::Call::Get
    });
}
