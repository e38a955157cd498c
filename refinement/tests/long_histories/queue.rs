//! Queues, with looks at the front.

use crate::agreement::{Object, compare};
use intermezzo_refinement::specs::queue::{Call, Queue, Return};
use rand::RngExt;

fn perform(state: &mut Vec<u64>, call: &Call<u64>) -> Return<u64> {
    match call {
        Call::Enqueue(value) => {
            state.push(*value);
            Return::Done
        }
        Call::Dequeue if state.is_empty() => Return::Front(None),
        Call::Dequeue => Return::Front(Some(state.remove(0))),
        Call::Peek => Return::Front(state.first().copied()),
    }
}

#[test]
fn agree() {
    compare(&Object {
        name: "queue",
        specification: Queue::unbounded(),
        initial: Vec::new(),
        perform,
        call: |random, at| match random.random_range(0..2) {
            0 => Call::Enqueue(at),
            _ => Call::Dequeue,
        },
    });
}

#[test]
fn agree_with_peeks() {
    compare(&Object {
        name: "queue with peeks",
        specification: Queue::bounded(10),
        initial: Vec::new(),
        perform,
        call: |random, at| match random.random_range(0..8) {
            0..3 => Call::Enqueue(at),
            3..5 => Call::Dequeue,
            _ => Call::Peek,
        },
    });
}
