//! Priority queues.

use crate::agreement::{Object, compare};
use intermezzo_refinement::specs::priority_queue::{Call, PriorityQueue, Return};
use rand::RngExt;

#[test]
fn agree() {
    compare(&Object {
        name: "priority queue",
        specification: PriorityQueue::new(),
        initial: Vec::<u64>::new(),
        perform: |state, call| match call {
            Call::Insert(value) => {
                state.push(*value);
                Return::Done
            }
            Call::Poll => {
                let greatest = state.iter().copied().max();
                state.retain(|&value| Some(value) != greatest);
                Return::Greatest(greatest)
            }
        },
        call: |random, at| match random.random_range(0..2) {
            // Distinct, in no order.
            0 => Call::Insert(at * 7 % 11),
            _ => Call::Poll,
        },
    });
}
