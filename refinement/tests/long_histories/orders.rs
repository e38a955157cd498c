//! The oracle: all orders of the operations, one after the other, knowing nothing of the checkers.

use intermezzo_refinement::history::Operation;

/// `true` if the operations have an order that keeps their order in time and gives each its result. `perform`
/// performs a call on a state. A pending operation may be left out.
pub(crate) fn exists<C, R: PartialEq, S: Clone>(
    operations: &[Operation<C, R>],
    initial: S,
    perform: &impl Fn(&mut S, &C) -> R,
) -> bool {
    let mut left: Vec<usize> = (0..operations.len()).collect();
    follows(operations, &mut left, &initial, perform)
}

fn follows<C, R: PartialEq, S: Clone>(
    operations: &[Operation<C, R>],
    left: &mut Vec<usize>,
    state: &S,
    perform: &impl Fn(&mut S, &C) -> R,
) -> bool {
    if left.iter().all(|&at| operations[at].returned.is_none()) {
        return true;
    }
    // The first return of those that are left: an operation that is called later has to wait for it.
    let first_return = left.iter().map(|&at| operations[at].returned_at).min();
    let first_return = first_return.expect("some are left");
    for place in 0..left.len() {
        let at = left[place];
        let operation = &operations[at];
        if operation.called_at > first_return {
            continue;
        }
        let mut next = state.clone();
        let value = perform(&mut next, &operation.call);
        if operation
            .returned
            .as_ref()
            .is_some_and(|returned| *returned != value)
        {
            continue;
        }
        left.remove(place);
        let found = follows(operations, left, &next, perform);
        left.insert(place, at);
        if found {
            return true;
        }
    }
    false
}
